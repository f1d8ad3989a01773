// What `docker save` writes, unpacked: manifest.json, a configuration, and the layers as archives of their own.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "image/image_plan.hpp"

namespace skerry::image {

// Nothing when the directory has no manifest.json that names layers: a root file system may have a file of that name.
base::Result<std::optional<ImagePlan>> ReadDockerArchive(int layout_fd);

}  // namespace skerry::image

// OCI image layout: oci-layout, index.json, blobs/sha256/….
#pragma once

#include <optional>

#include "base/result.hpp"
#include "image/image_plan.hpp"

namespace skerry::image {

// Nothing when the directory is no such layout. Of several images the one for this machine is taken; an index may lead
// to one more index.
base::Result<std::optional<ImagePlan>> ReadOciLayout(int layout_fd);

}  // namespace skerry::image

// Where the commands store images.
#pragma once

#include "base/result.hpp"
#include "image/image_store.hpp"

namespace skerry::cli {

// The store in the person's home.
base::Result<image::ImageStore> OpenImageStore();

}  // namespace skerry::cli

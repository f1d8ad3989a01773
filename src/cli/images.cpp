#include "cli/images.hpp"

#include "cli/command.hpp"

namespace skerry::cli {

base::Result<image::ImageStore> OpenImageStore() {
  const std::string home = Context::Home();
  if (home.empty())
    return base::Err(base::Code::kUnavailable, "there is no home directory to keep images in; set HOME");
  return image::ImageStore::Open(home + "/.skerry/images");
}

}  // namespace skerry::cli

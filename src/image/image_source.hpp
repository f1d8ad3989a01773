// From a file or directory that somebody gave us to a tree.
#pragma once

#include <string>

#include "base/result.hpp"
#include "image/image.hpp"
#include "image/import_budget.hpp"

namespace skerry::image {

// Unpacks what is at `path` into a new directory `root` of `work_fd`: a tar archive of a root file system, a `docker
// save` archive, or an OCI image layout (archive or directory). Every layer is checked against its digest. What else is
// needed meanwhile lies in `work_fd` too; after an error the caller removes all of it. The image has no name and no
// time yet.
base::Result<Image> UnpackSource(const std::string& path, int work_fd, ImportBudget& budget);

}  // namespace skerry::image

// From the file or directory that an import names to a tree.
#pragma once

#include <string>

#include "base/result.hpp"
#include "image/image.hpp"
#include "image/import_budget.hpp"

namespace skerry::image {

// Unpacks the tar archive of a root file system, the `docker save` archive or the OCI image layout (archive or
// directory) at `path` into a new directory `root` of `work_fd`. Every layer is checked against its digest. Temporary
// files lie in `work_fd` too; after an error the caller removes everything in it. The image has no name and no time of
// creation yet.
base::Result<Image> UnpackSource(const std::string& path, int work_fd, ImportBudget& budget);

}  // namespace skerry::image

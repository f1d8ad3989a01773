#include "workspace/temporary_workspace.hpp"

#include <sys/stat.h>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/remove_tree.hpp"

namespace skerry::workspace {

base::Status MakePrivateDirectory(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) < 0 && errno != EEXIST) return os::ErrnoErr("make directory " + part);
    if (at == std::string::npos) return {};
  }
}

base::Result<TemporaryWorkspace> TemporaryWorkspace::Create(const std::string& base_directory) {
  SKERRY_RETURN_IF_ERROR(MakePrivateDirectory(base_directory));
  const std::string path = base_directory + "/" + base::RandomId("run-");
  if (::mkdir(path.c_str(), 0700) < 0) return os::ErrnoErr("make workspace " + path);
  return TemporaryWorkspace(path);
}

TemporaryWorkspace::~TemporaryWorkspace() {
  if (!path_.empty()) (void)os::RemoveTree(path_);
}

}  // namespace skerry::workspace

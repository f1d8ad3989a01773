#include "workspace/temporary_workspace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/remove_tree.hpp"

namespace skerry::workspace {
namespace {

// Makes a directory and its parents with mode 0700; one that is there is fine.
base::Status MakeDirectories(const std::string& path) {
  if (!path.starts_with('/'))
    return base::Err(base::Code::kInvalidArgument,
                     "sandbox.workspace.baseDir " + path + " is not absolute; set it, or set HOME");
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) < 0 && errno != EEXIST) return os::ErrnoErr("make directory " + part);
    if (at == std::string::npos) return {};
  }
}

// Whoever owns a directory on the way, or may write to it, can put something else in the place of what is below. Shared
// ones like /tmp are safe by their sticky bit.
base::Status CheckOwner(const std::string& directory) {
  struct stat facts{};
  if (::stat(directory.c_str(), &facts) < 0) return os::ErrnoErr(directory);
  const bool others_write = (facts.st_mode & S_IWOTH) != 0 && (facts.st_mode & S_ISVTX) == 0;
  const bool ours = facts.st_uid == 0 || facts.st_uid == ::geteuid();
  if (ours && !others_write) return {};
  return base::Err(base::Code::kPermissionDenied,
                   directory +
                       " can be changed by other users, so workspaces below it are not safe; set "
                       "sandbox.workspace.baseDir to a directory of your own");
}

base::Result<std::string> RealTrustedPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real == nullptr) return os::ErrnoErr(path);
  std::string resolved = real.get();
  for (std::string part = resolved; !part.empty(); part = part.substr(0, part.find_last_of('/')))
    SKERRY_RETURN_IF_ERROR(CheckOwner(part));
  return resolved;
}

}  // namespace

base::Result<TemporaryWorkspace> TemporaryWorkspace::Create(const std::string& base_directory) {
  SKERRY_RETURN_IF_ERROR(MakeDirectories(base_directory));
  SKERRY_ASSIGN_OR_RETURN(const std::string base, RealTrustedPath(base_directory));
  base::UniqueFd base_fd(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!base_fd.valid()) return os::ErrnoErr(base);
  const std::string name = base::RandomId("run-");
  if (::mkdirat(base_fd.get(), name.c_str(), 0700) < 0) return os::ErrnoErr("make workspace " + base + "/" + name);
  TemporaryWorkspace workspace(std::move(base_fd), name);
  workspace.path_ = base + "/" + name;
  workspace.fd_.Reset(::openat(workspace.base_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!workspace.fd_.valid()) return os::ErrnoErr(workspace.path_);
  return workspace;
}

TemporaryWorkspace::~TemporaryWorkspace() {
  if (base_.valid()) (void)os::RemoveTree(base_.get(), name_);
}

}  // namespace skerry::workspace

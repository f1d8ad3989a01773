#include "launcher/host_identity.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/ids.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/namespace.hpp"

namespace skerry::launcher {
namespace {

// Far above the ids that distributions, directories and container engines hand out, below the signed limit.
constexpr std::uint64_t kFirstId = 0x6000'0000;
constexpr std::uint64_t kIdCount = 0x1000'0000;

base::Status WriteMap(const std::string& path, unsigned on_disk, unsigned seen) {
  return os::WriteControlFile(path, std::to_string(on_disk) + " " + std::to_string(seen) + " 1\n");
}

// A user namespace is needed only as the carrier of the map: a child holds it for the moment it takes to open it.
base::Result<base::UniqueFd> OwnerMap(const struct stat& owner, const HostIdentity& identity) {
  SKERRY_ASSIGN_OR_RETURN(os::Cloned holder, os::CloneInto(CLONE_NEWUSER, -1));
  if (holder.child) {
    ::pause();
    ::_exit(0);
  }
  const std::string directory = "/proc/" + std::to_string(holder.process.pid());
  const auto mapped = [&]() -> base::Result<base::UniqueFd> {
    SKERRY_RETURN_IF_ERROR(WriteMap(directory + "/uid_map", owner.st_uid, identity.user));
    SKERRY_RETURN_IF_ERROR(WriteMap(directory + "/gid_map", owner.st_gid, identity.group));
    base::UniqueFd fd(::open((directory + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return os::ErrnoErr("open user namespace");
    return fd;
  };
  auto result = mapped();
  (void)holder.process.Signal(SIGKILL);
  (void)holder.process.Reap();
  return result;
}

base::Result<base::UniqueFd> CloneTree(int workspace_fd) {
  base::UniqueFd tree(::open_tree(workspace_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!tree.valid()) return os::ErrnoErr("open_tree of the workspace");
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
    return os::ErrnoErr("mount_setattr of the workspace");
  return tree;
}

}  // namespace

HostIdentity ChooseIdentity() {
  if (::geteuid() != 0) return {::geteuid(), ::getegid()};
  const auto id = static_cast<uid_t>(kFirstId + base::RandomU64() % kIdCount);
  return {id, id};
}

base::Result<base::UniqueFd> PrepareWorkspaceTree(const StartRequest& request, int workspace_fd,
                                                  const HostIdentity& identity, std::vector<std::string>& degraded) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd tree, CloneTree(workspace_fd));
  if (request.workspace_owner == WorkspaceOwner::kSkerry) {
    if (::fchownat(workspace_fd, "", identity.user, identity.group, AT_EMPTY_PATH) < 0)
      return os::ErrnoErr("give the workspace to the sandbox");
    return tree;
  }
  struct stat owner{};
  if (::fstatat(workspace_fd, "", &owner, AT_EMPTY_PATH) < 0) return os::ErrnoErr("look at the workspace");
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd map, OwnerMap(owner, identity));
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(map.get());
  if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0) {
    if (errno != EINVAL) return os::ErrnoErr("id-mapped mount of the workspace");
    degraded.emplace_back(
        "workspace: its file system has no id-mapped mounts; only files open to everybody can be read or written");
  }
  return tree;
}

}  // namespace skerry::launcher

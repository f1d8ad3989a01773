#include "launcher/host_tree.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/namespace.hpp"
#include "os/pipe.hpp"

namespace skerry::launcher {
namespace {

base::Status WriteMap(const std::string& path, unsigned on_disk, unsigned seen) {
  return os::WriteControlFile(path, std::to_string(on_disk) + " " + std::to_string(seen) + " 1\n");
}

// Lives until the other end of the pipe is closed, and never for long, even when the launcher hangs.
[[noreturn]] void HoldNamespace(const os::Pipe& life) {
  constexpr int kLongestMs = 2000;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close(life.write_end.get());
  pollfd entry{life.read_end.get(), POLLIN, 0};
  (void)::poll(&entry, 1, kLongestMs);
  ::_exit(0);
}

// The user namespace only carries the id map: a child holds it until it is opened.
base::Result<base::UniqueFd> OwnerMap(const struct stat& owner, const HostIdentity& identity) {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe life, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Cloned holder, os::CloneInto(CLONE_NEWUSER, -1));
  if (holder.child) HoldNamespace(life);
  const std::string directory = "/proc/" + std::to_string(holder.process.pid());
  const auto mapped = [&]() -> base::Result<base::UniqueFd> {
    SKERRY_RETURN_IF_ERROR(WriteMap(directory + "/uid_map", owner.st_uid, identity.user));
    SKERRY_RETURN_IF_ERROR(WriteMap(directory + "/gid_map", owner.st_gid, identity.group));
    base::UniqueFd fd(::open((directory + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return os::ErrnoErr("open user namespace");
    return fd;
  };
  auto result = mapped();
  life.write_end.Reset();
  (void)holder.process.Reap();
  return result;
}

// Set-uid programs and device files of the host have no effect inside (A18).
base::Result<base::UniqueFd> CloneTree(const std::string& path, int fd) {
  base::UniqueFd tree(::open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!tree.valid()) return os::ErrnoErr("open_tree of " + path);
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
    return os::ErrnoErr("mount_setattr of " + path);
  return tree;
}

}  // namespace

base::Status HostTrees::Add(const std::string& path, int fd, const HostIdentity& identity,
                            std::vector<std::string>& degraded) {
  struct stat facts{};
  if (::fstatat(fd, "", &facts, AT_EMPTY_PATH) < 0) return os::ErrnoErr("look at " + path);
  HostTree row{.path = path.c_str(), .device = facts.st_dev, .inode = facts.st_ino};
  if (::geteuid() == 0) {
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd tree, CloneTree(path, fd));
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd map, OwnerMap(facts, identity));
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<std::uint64_t>(map.get());
    if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0) {
      if (errno != EINVAL) return os::ErrnoErr("id-mapped mount of " + path);
      degraded.emplace_back(path +
                            ": its file system has no id-mapped mounts; only what is open to everybody can be used");
    }
    row.tree = tree.get();
    mounts_.push_back(std::move(tree));
  }
  trees_.push_back(row);
  return {};
}

}  // namespace skerry::launcher

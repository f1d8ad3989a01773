#include "launcher/preparation.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "os/errno_error.hpp"
#include "os/seccomp.hpp"

namespace skerry::launcher {
namespace {

// Where an empty root can be mounted for the moment before the pivot; any directory that exists will do.
const char* RootMountPoint() {
  for (const char* path : {"/tmp", "/mnt", "/run", "/var"})
    if (::access(path, F_OK) == 0) return path;
  return "/";
}

constexpr std::array kNamespaceRules = {
    os::LandlockRule{.path = "/", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/workspace", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/tmp", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/home/agent", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/dev/shm", .grant = os::LandlockGrant::kReadWrite},
    os::LandlockRule{.path = "/dev", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/proc", .grant = os::LandlockGrant::kProcess},
};

constexpr std::array kSubprocessRules = {
    os::LandlockRule{.path = "/usr", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/bin", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/sbin", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/lib", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/lib64", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/ld.so.cache", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/alternatives", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/localtime", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/ssl/certs", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/ssl/openssl.cnf", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/nsswitch.conf", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/passwd", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/dev/null", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/zero", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/full", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/random", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/urandom", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/proc/self", .grant = os::LandlockGrant::kProcess},
};

std::vector<os::LandlockRule> LandlockRules(const StartRequest& request, int workspace_fd) {
  std::vector<os::LandlockRule> rules;
  if (request.isolation == Isolation::kNamespaces) {
    rules.assign(kNamespaceRules.begin(), kNamespaceRules.end());
  } else {
    rules.assign(kSubprocessRules.begin(), kSubprocessRules.end());
    rules.push_back({.fd = workspace_fd, .grant = os::LandlockGrant::kReadWrite});
    rules.push_back({.path = request.scratch_path.c_str(), .grant = os::LandlockGrant::kReadWrite});
  }
  return rules;
}

// What a cgroup does not limit is limited per process as well as that goes.
os::ProcessLimits LimitsFor(const StartRequest& request, const os::Cgroup& cgroup) {
  constexpr std::uint64_t kWatchSlack = 4ULL << 30U;  // what one process can get hold of between two looks
  os::ProcessLimits limits;
  limits.open_files = request.open_files;
  limits.file_bytes = request.file_bytes;
  // Counted per user namespace since Linux 5.14, so other processes of the same user do not matter.
  if (!cgroup.LimitsPids() && request.isolation == Isolation::kNamespaces) limits.processes = request.pids;
  if (!cgroup.LimitsMemory() && request.memory_bytes != 0) limits.data_bytes = request.memory_bytes + kWatchSlack;
  return limits;
}

void NoteWhatIsMissing(const StartRequest& request, const os::Cgroup& cgroup, int landlock_abi,
                       std::vector<std::string>& degraded) {
  if (landlock_abi == 0)
    degraded.emplace_back("landlock: not in this kernel; the second fence around files is missing");
  if (!cgroup.LimitsMemory())
    degraded.emplace_back("cgroup memory: not available to this user; memory is watched every 10 ms instead");
  if (!cgroup.LimitsPids())
    degraded.emplace_back(request.isolation == Isolation::kNamespaces
                              ? "cgroup pids: not available to this user; processes are limited by RLIMIT_NPROC"
                              : "cgroup pids: not available to this user; the number of processes is not limited");
  if (!cgroup.LimitsCpu()) degraded.emplace_back("cgroup cpu: not available to this user; no share of the CPU is kept");
}

// Without namespaces there is no id to hide behind: root gives itself up to the owner of the workspace.
base::Result<HostIdentity> IdentityFor(const StartRequest& request, const struct stat& workspace) {
  if (request.isolation == Isolation::kNamespaces || request.workspace_owner == WorkspaceOwner::kSkerry ||
      ::geteuid() != 0)
    return ChooseIdentity();
  if (workspace.st_uid != 0 && workspace.st_gid != 0) return HostIdentity{workspace.st_uid, workspace.st_gid};
  return base::Err(base::Code::kPermissionDenied,
                   request.workspace_path + " belongs to root, and without namespaces a program never runs as root; " +
                       "use the native sandbox or a directory of a plain user");
}

// What the subprocess backend may write must be its own.
base::Status GiveAway(const StartRequest& request, int workspace_fd, const HostIdentity& identity) {
  if (::geteuid() != 0) return {};
  if (request.workspace_owner == WorkspaceOwner::kSkerry &&
      ::fchownat(workspace_fd, "", identity.user, identity.group, AT_EMPTY_PATH) < 0)
    return os::ErrnoErr("give the workspace away");
  if (::chown(request.scratch_path.c_str(), identity.user, identity.group) < 0)
    return os::ErrnoErr(request.scratch_path);
  return {};
}

}  // namespace

base::Result<Preparation> Preparation::Make(const StartRequest& request, int workspace_fd, const os::Cgroup& cgroup,
                                            std::vector<std::string>& degraded) {
  Preparation prepared(request, workspace_fd);
  if (::fstatat(workspace_fd, "", &prepared.workspace_, AT_EMPTY_PATH) < 0)
    return os::ErrnoErr("look at the workspace");
  SKERRY_ASSIGN_OR_RETURN(prepared.identity_, IdentityFor(request, prepared.workspace_));
  SKERRY_RETURN_IF_ERROR(prepared.PrepareWorkspace(degraded));
  prepared.join_cgroups_ = cgroup.JoinFds();
  if (request.isolation == Isolation::kNamespaces) prepared.mounts_ = PlanRoot({.tmp_bytes = request.tmp_bytes});
  prepared.landlock_rules_ = LandlockRules(request, workspace_fd);
  prepared.filter_ = os::CompileFilter(os::SandboxSyscalls());
  prepared.limits_ = LimitsFor(request, cgroup);
  prepared.landlock_abi_ = os::LandlockAbi();
  NoteWhatIsMissing(request, cgroup, prepared.landlock_abi_, degraded);
  return prepared;
}

base::Status Preparation::PrepareWorkspace(std::vector<std::string>& degraded) {
  if (request_.isolation == Isolation::kNone) return GiveAway(request_, workspace_fd_, identity_);
  if (::geteuid() != 0) return {};  // the child binds it by its path
  SKERRY_ASSIGN_OR_RETURN(workspace_tree_, PrepareWorkspaceTree(request_, workspace_fd_, identity_, degraded));
  return {};
}

ChildPlan Preparation::PlanFor(int report, int control, int init_program) {
  // The init lies outside the sandbox's root and is reached through its descriptor alone.
  landlock_rules_.push_back({.fd = init_program, .grant = os::LandlockGrant::kReadAndExecute});
  const bool namespaces = request_.isolation == Isolation::kNamespaces;
  ChildPlan plan;
  plan.isolation = request_.isolation;
  plan.report = report;
  plan.control = control;
  plan.init = init_program;
  plan.join_cgroups = join_cgroups_;
  plan.user = namespaces ? kAgentId : identity_.user;
  plan.group = namespaces ? kAgentId : identity_.group;
  plan.mounts = mounts_;
  plan.root_mount_point = RootMountPoint();
  plan.workspace_tree = workspace_tree_.get();
  plan.workspace_path = request_.workspace_path.c_str();
  plan.workspace_device = workspace_.st_dev;
  plan.workspace_inode = workspace_.st_ino;
  plan.limits = limits_;
  plan.landlock_abi = landlock_abi_;
  plan.landlock_rules = landlock_rules_;
  plan.filter = filter_;
  return plan;
}

}  // namespace skerry::launcher

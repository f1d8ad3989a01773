#include "launcher/sandbox_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "launcher/host_identity.hpp"
#include "launcher/mount_plan.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/errno_error.hpp"
#include "os/landlock.hpp"
#include "os/namespace.hpp"
#include "os/process_tree.hpp"
#include "os/seccomp.hpp"
#include "os/socket.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kSetupPatience = 20s;
constexpr auto kKillPatience = 10s;
constexpr std::uint64_t kNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

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

std::vector<os::LandlockRule> LandlockRules(const StartRequest& request, int init_program, int workspace_fd) {
  std::vector<os::LandlockRule> rules;
  if (request.isolation == Isolation::kNamespaces) {
    rules.assign(kNamespaceRules.begin(), kNamespaceRules.end());
  } else {
    rules.assign(kSubprocessRules.begin(), kSubprocessRules.end());
    rules.push_back({.fd = workspace_fd, .grant = os::LandlockGrant::kReadWrite});
    rules.push_back({.path = request.scratch_path.c_str(), .grant = os::LandlockGrant::kReadWrite});
  }
  // The init lies outside the sandbox's root and is reached through its descriptor alone.
  rules.push_back({.fd = init_program, .grant = os::LandlockGrant::kReadAndExecute});
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

// Waits for the child to be done with setting up: its end of the socket closes when it became the init.
base::Status AwaitInit(int report) {
  auto message = os::ReceiveMessage(report, base::Deadline::After(kSetupPatience));
  if (!message) return std::unexpected(std::move(message).error());
  if (message->EndOfStream()) return {};
  SetupFailure failure;
  if (message->bytes.size() != sizeof failure)
    return base::Err(base::Code::kInternal, "malformed report of the set-up");
  std::memcpy(&failure, message->bytes.data(), sizeof failure);
  failure.step.back() = '\0';
  return base::Err(base::Code::kUnavailable,
                   std::string("set-up step failed: ") + failure.step.data() + ": " + os::ErrnoText(failure.error));
}

// A kernel or a container that refuses user namespaces says so in different ways; people need to know what to change.
base::Error ExplainCloneError(base::Error error) {
  error.code = base::Code::kUnavailable;
  error.message = "cannot make namespaces (" + error.message +
                  "): user namespaces must be allowed; see sysctl kernel.unprivileged_userns_clone, "
                  "user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns";
  return error;
}

base::Status WriteMaps(pid_t child, const HostIdentity& identity) {
  const auto setgroups = ::geteuid() == 0 ? os::Setgroups::kKeep : os::Setgroups::kDeny;
  return os::WriteIdMaps(child, {kAgentId, identity.user}, {kAgentId, identity.group}, setgroups);
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

base::Result<SandboxProcess> SandboxProcess::Start(const StartRequest& request, int workspace_fd, int init_program) {
  struct stat workspace{};
  if (::fstatat(workspace_fd, "", &workspace, AT_EMPTY_PATH) < 0) return os::ErrnoErr("look at the workspace");
  const bool namespaces = request.isolation == Isolation::kNamespaces;
  SKERRY_ASSIGN_OR_RETURN(const HostIdentity identity, IdentityFor(request, workspace));
  const os::CgroupLimits limits{request.memory_bytes, request.pids, static_cast<std::uint32_t>(request.cpu_percent)};
  SKERRY_ASSIGN_OR_RETURN(os::Cgroup cgroup, os::Cgroup::Create(os::CgroupHierarchy::Detect(), request.name, limits));
  SandboxProcess sandbox(std::move(cgroup), request.isolation, request.memory_bytes);

  base::UniqueFd tree;
  if (namespaces && ::geteuid() == 0) {
    SKERRY_ASSIGN_OR_RETURN(tree, PrepareWorkspaceTree(request, workspace_fd, identity, sandbox.degraded_));
  } else if (!namespaces) {
    SKERRY_RETURN_IF_ERROR(GiveAway(request, workspace_fd, identity));
  }

  SKERRY_ASSIGN_OR_RETURN(os::SocketPair report, os::SocketPair::Create());
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair control, os::SocketPair::Create());
  const std::vector<int> join = sandbox.cgroup_.JoinFds();
  const std::vector<MountStep> mounts =
      namespaces ? PlanRoot({.tmp_bytes = request.tmp_bytes}) : std::vector<MountStep>{};
  const std::vector<sock_filter> filter = os::CompileFilter(os::SandboxSyscalls());
  const std::vector<os::LandlockRule> rules = LandlockRules(request, init_program, workspace_fd);

  ChildPlan plan;
  plan.isolation = request.isolation;
  plan.report = report.second.get();
  plan.control = control.second.get();
  plan.init = init_program;
  plan.join_cgroups = join;
  plan.user = namespaces ? kAgentId : identity.user;
  plan.group = namespaces ? kAgentId : identity.group;
  plan.mounts = mounts;
  plan.root_mount_point = RootMountPoint();
  plan.workspace_tree = tree.get();
  plan.workspace_path = request.workspace_path.c_str();
  plan.workspace_device = workspace.st_dev;
  plan.workspace_inode = workspace.st_ino;
  plan.limits = LimitsFor(request, sandbox.cgroup_);
  plan.landlock_abi = os::LandlockAbi();
  plan.landlock_rules = rules;
  plan.filter = filter;
  NoteWhatIsMissing(request, sandbox.cgroup_, plan.landlock_abi, sandbox.degraded_);

  auto cloned = os::CloneInto(namespaces ? kNamespaces | os::kNewTime : 0, sandbox.cgroup_.Version2Fd());
  if (!cloned) return std::unexpected(ExplainCloneError(std::move(cloned).error()));
  if (cloned->child) RunSandboxChild(plan);
  sandbox.init_ = std::move(cloned->process);
  report.second.Reset();
  control.second.Reset();
  if (namespaces) SKERRY_RETURN_IF_ERROR(WriteMaps(sandbox.init_.pid(), identity));
  SKERRY_RETURN_IF_ERROR(os::SendMessage(report.first.get(), "!"));
  SKERRY_RETURN_IF_ERROR(AwaitInit(report.first.get()));
  sandbox.control_ = std::move(control.first);
  return sandbox;
}

bool SandboxProcess::OverMemoryLimit() {
  const std::uint64_t used = os::ProcessTreeMemory(init_.pid(), memory_bytes_);
  memory_peak_ = std::max(memory_peak_, used);
  over_memory_limit_ = over_memory_limit_ || used > memory_bytes_;
  return over_memory_limit_;
}

Ended SandboxProcess::Kill() {
  const auto deadline = base::Deadline::After(kKillPatience);
  cgroup_.Kill();
  // The kernel lets the first process of a pid namespace end only when every other one in it has, so its end is proof.
  if (init_.valid()) {
    (void)init_.Signal(SIGKILL);
    (void)init_.WaitForExit(deadline);
  }
  bool empty = cgroup_.WaitEmpty(deadline);
  if (isolation_ == Isolation::kNone) empty = os::KillAllDescendants(deadline) && empty;
  if (init_.valid() && isolation_ == Isolation::kNamespaces) (void)init_.Reap();
  init_ = {};
  return {.usage = CurrentUsage(), .processes_left = empty ? 0U : 1U};
}

Usage SandboxProcess::CurrentUsage() const {
  const os::CgroupUsage usage = cgroup_.Usage();
  return {.out_of_memory_kills = usage.out_of_memory_kills + (over_memory_limit_ ? 1U : 0U),
          .memory_peak_bytes = std::max(usage.memory_peak_bytes, memory_peak_),
          .forks_refused = usage.forks_refused};
}

SandboxProcess::~SandboxProcess() {
  if (init_.valid()) (void)Kill();
}

}  // namespace skerry::launcher

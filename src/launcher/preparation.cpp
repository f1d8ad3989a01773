#include "launcher/preparation.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "os/directory.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/seccomp.hpp"

namespace skerry::launcher {
namespace {

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
    // The interpreter reads a file there at its start, through a link.
    os::LandlockRule{.path = "/etc/python3", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/python3.11", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/etc/python3.13", .grant = os::LandlockGrant::kReadAndExecute},
    os::LandlockRule{.path = "/dev/null", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/zero", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/full", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/random", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/dev/urandom", .grant = os::LandlockGrant::kDevices},
    os::LandlockRule{.path = "/proc/self", .grant = os::LandlockGrant::kProcess},
};

std::vector<os::LandlockRule> RulesInNamespaces(const StartRequest& request) {
  std::vector<os::LandlockRule> rules(NamespaceRules().begin(), NamespaceRules().end());
  for (const HostBind& bind : request.binds)
    if (bind.access == os::Access::kReadWrite)
      rules.push_back({.path = bind.target.c_str(), .grant = os::LandlockGrant::kReadWrite});
  return rules;
}

std::vector<os::LandlockRule> RulesWithoutNamespaces(const StartRequest& request, int workspace_fd) {
  std::vector<os::LandlockRule> rules(kSubprocessRules.begin(), kSubprocessRules.end());
  rules.push_back({.fd = workspace_fd, .grant = os::LandlockGrant::kReadWrite});
  rules.push_back({.path = request.scratch_path.c_str(), .grant = os::LandlockGrant::kReadWrite});
  return rules;
}

// Descriptors that a plain user has in flight over unix sockets are counted for all programs of that user, and a
// program may send more as long as the count is below its own limit of open files: half of the usual limit leaves the
// other half to the user's other programs.
std::uint64_t OpenFilesFor(const StartRequest& request) {
  constexpr std::uint64_t kHalfOfTheUsual = 512;
  return ::geteuid() == 0 ? request.open_files : std::min(request.open_files, kHalfOfTheUsual);
}

// A limit that the cgroup cannot keep is set per process, as far as that goes.
os::ProcessLimits LimitsFor(const StartRequest& request, const os::Cgroup& cgroup) {
  constexpr std::uint64_t kWatchSlack = 4ULL << 30U;  // what one process can allocate between two looks
  os::ProcessLimits limits;
  limits.open_files = OpenFilesFor(request);
  limits.file_bytes = request.file_bytes;
  // Counted per user namespace since Linux 5.14, so other processes of the same user do not matter.
  if (!cgroup.LimitsPids() && request.isolation == Isolation::kNamespaces) limits.processes = request.pids;
  if (!cgroup.LimitsMemory() && request.memory_bytes != 0) limits.data_bytes = request.memory_bytes + kWatchSlack;
  return limits;
}

void NoteWhatIsMissing(const StartRequest& request, const os::Cgroup& cgroup, int landlock_abi,
                       std::vector<std::string>& degraded) {
  if (request.workspace == WorkspaceKind::kLayered && !os::TmpfsHasUserAttributes())
    degraded.emplace_back(
        "workspace: this kernel's tmpfs has no user attributes (Linux 6.6 brings them); a directory that was removed "
        "cannot be made again in the same run");
  if (landlock_abi == 0)
    degraded.emplace_back("landlock: not in this kernel; the second fence around files is missing");
  if (!cgroup.LimitsMemory())
    degraded.emplace_back(
        "cgroup memory: not available to this user; memory is watched every 10 ms instead, and there are no memory "
        "files");
  if (!cgroup.LimitsPids())
    degraded.emplace_back(request.isolation == Isolation::kNamespaces
                              ? "cgroup pids: not available to this user; processes are limited by RLIMIT_NPROC"
                              : "cgroup pids: not available to this user; the number of processes is not limited");
  if (!cgroup.LimitsCpu()) degraded.emplace_back("cgroup cpu: not available to this user; no share of the CPU is kept");
}

// Without namespaces there is no id to hide behind: root becomes the owner of the workspace.
base::Result<HostIdentity> IdentityWithoutNamespaces(const StartRequest& request, int workspace_fd) {
  if (request.workspace_owner == WorkspaceOwner::kSkerry || ::geteuid() != 0) return ChooseIdentity();
  struct stat workspace{};
  if (::fstatat(workspace_fd, "", &workspace, AT_EMPTY_PATH) < 0) return os::ErrnoErr("look at the workspace");
  if (workspace.st_uid != 0 && workspace.st_gid != 0) return HostIdentity{workspace.st_uid, workspace.st_gid};
  return base::Err(base::Code::kRejected,
                   request.workspace_path + " belongs to root, and without namespaces a program never runs as root; " +
                       "use the native sandbox or a directory of a plain user");
}

// The directories that the subprocess backend may write to are given to the sandbox's user.
base::Status GiveAway(const StartRequest& request, int workspace_fd, const HostIdentity& identity) {
  if (::geteuid() != 0) return {};
  if (request.workspace_owner == WorkspaceOwner::kSkerry &&
      ::fchownat(workspace_fd, "", identity.user, identity.group, AT_EMPTY_PATH) < 0)
    return os::ErrnoErr("give the workspace away");
  if (::chown(request.scratch_path.c_str(), identity.user, identity.group) < 0)
    return os::ErrnoErr(request.scratch_path);
  return {};
}

// The top level of a root file system; links are not followed.
base::Result<std::vector<RootEntry>> ListRoot(const std::string& path, int fd) {
  constexpr std::size_t kMaxEntries = 100;
  const os::Directory directory = os::ListingOf(base::UniqueFd(::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (directory == nullptr) return os::ErrnoErr("list root file system " + path);
  std::vector<RootEntry> entries;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (os::IsDots(entry->d_name)) continue;
    if (entries.size() == kMaxEntries)
      return base::Err(base::Code::kTooLarge, path + ": more than 100 entries at the top are no root file system");
    SKERRY_ASSIGN_OR_RETURN(std::string link, LinkTarget(::dirfd(directory.get()), entry->d_name));
    entries.push_back({entry->d_name, std::move(link)});
  }
  return entries;
}

// Whether a file that a program makes inside is at once a file of the host.
bool WritesToHost(const StartRequest& request) {
  return request.workspace == WorkspaceKind::kDirect ||
         std::ranges::any_of(request.binds, [](const HostBind& bind) { return bind.access == os::Access::kReadWrite; });
}

os::FilterOptions FilterFor(const StartRequest& request, const os::Cgroup& cgroup) {
  os::FilterOptions options;
  if (!WritesToHost(request)) options.refused_mode_bits = S_ISUID;
  if (!cgroup.LimitsMemory()) options.unmapped_memory = os::FilterOptions::UnmappedMemory::kNotCounted;
  return options;
}

std::size_t DescriptorsOf(const StartRequest& request) {
  return (request.workspace == WorkspaceKind::kEmpty ? 0U : 1U) + (request.root_path.empty() ? 0U : 1U) +
         request.binds.size();
}

}  // namespace

base::Result<Preparation> Preparation::Make(const StartRequest& request, std::span<const base::UniqueFd> fds,
                                            const os::Cgroup& cgroup, MachineFacts& machine,
                                            std::vector<std::string>& degraded, std::optional<HostIdentity> identity) {
  if (fds.size() != DescriptorsOf(request))
    return base::Err(base::Code::kInvalidArgument, "a start request without its directories");
  Preparation prepared(request);
  SKERRY_RETURN_IF_ERROR(request.isolation == Isolation::kNamespaces
                             ? prepared.PrepareNamespaces(fds, identity, degraded)
                             : prepared.PrepareSubprocess(fds));
  // A vacancy plans its mounts itself.
  if (request.isolation == Isolation::kNamespaces && !identity) {
    SKERRY_RETURN_IF_ERROR(prepared.PlanMounts(machine));
  }
  prepared.join_cgroups_ = cgroup.JoinFds();
  prepared.filter_options_ = FilterFor(request, cgroup);
  prepared.filter_ = machine.Filter(prepared.filter_options_);
  prepared.limits_ = LimitsFor(request, cgroup);
  prepared.sockets_are_watched_ = !cgroup.LimitsSockets();
  if (!request.pretend_missing.Has(base::Feature::kLandlock)) prepared.landlock_abi_ = machine.landlock_abi();
  NoteWhatIsMissing(request, cgroup, prepared.landlock_abi_, degraded);
  if (request.demand == Demand::kEverything && request.cpu_percent != 0 && !cgroup.LimitsCpu())
    return base::Err(
        base::Code::kUnavailable,
        "limits.maxCpuPercent cannot be kept: no cpu controller for this user; set it to 0, run as root, or "
        "use --mode permissive");
  return prepared;
}

base::Status Preparation::PlanMounts(MachineFacts& machine) {
  SKERRY_ASSIGN_OR_RETURN(root_, PlanRoot(request_, entries_));
  if (FitsTemplate(request_)) root_template_ = machine.RootTemplateFor();
  return {};
}

base::Status Preparation::PrepareNamespaces(std::span<const base::UniqueFd> fds, std::optional<HostIdentity> identity,
                                            std::vector<std::string>& degraded) {
  if (request_.workspace == WorkspaceKind::kLayered && request_.pretend_missing.Has(base::Feature::kOverlay))
    return base::Err(base::Code::kUnavailable, "set-up step failed: set up /workspace: no overlay in this kernel");
  identity_ = identity ? *identity : ChooseIdentity();
  std::size_t next = 0;
  if (request_.workspace != WorkspaceKind::kEmpty)
    SKERRY_RETURN_IF_ERROR(trees_.Add(request_.workspace_path, fds[next++].get(), identity_, degraded));
  if (!request_.root_path.empty()) {
    SKERRY_ASSIGN_OR_RETURN(entries_, ListRoot(request_.root_path, fds[next].get()));
    SKERRY_RETURN_IF_ERROR(trees_.Add(request_.root_path, fds[next++].get(), identity_, degraded));
  }
  for (const HostBind& bind : request_.binds)
    SKERRY_RETURN_IF_ERROR(trees_.Add(bind.source, fds[next++].get(), identity_, degraded));
  landlock_rules_ = RulesInNamespaces(request_);
  return {};
}

base::Status Preparation::PrepareSubprocess(std::span<const base::UniqueFd> fds) {
  const int workspace_fd = fds.front().get();
  SKERRY_ASSIGN_OR_RETURN(identity_, IdentityWithoutNamespaces(request_, workspace_fd));
  landlock_rules_ = RulesWithoutNamespaces(request_, workspace_fd);
  return GiveAway(request_, workspace_fd, identity_);
}

std::optional<ForkOrder> Preparation::OrderForForks() const {
  // A zygote knows only the usual rules of Landlock.
  if (request_.isolation != Isolation::kNamespaces || !request_.binds.empty() || !request_.root_path.empty())
    return std::nullopt;
  return ForkOrder{.limits = limits_, .filter = filter_options_, .landlock_abi = landlock_abi_};
}

void Preparation::PlanVacancy() {
  root_.fixed = launcher::PlanVacancy();
  root_.own.clear();
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
  plan.effort_as_root = ::geteuid() == 0 ? os::Effort::kMust : os::Effort::kAsFarAsPossible;
  plan.trees = trees_.all();
  plan.root = root_template_ >= 0 ? RootState::kTemplate : RootState::kToBuild;
  plan.shared_mounts = root_.shared;
  plan.fixed_mounts = root_.fixed;
  plan.mounts = root_.own;
  plan.hidden = request_.hidden;
  plan.root_mount_point = RootMountPoint();
  plan.hand_out_diagnosis = sockets_are_watched_;
  plan.fence = {request_.isolation, limits_, landlock_abi_, landlock_rules_, filter_};
  return plan;
}

}  // namespace skerry::launcher

#include "launcher/sandbox_process.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "launcher/child_report.hpp"
#include "launcher/furnishing.hpp"
#include "launcher/host_identity.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/preparation.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/errno_error.hpp"
#include "os/namespace.hpp"
#include "os/owned_name.hpp"
#include "os/privileges.hpp"
#include "os/process_tree.hpp"
#include "os/socket.hpp"
#include "os/socket_memory.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr auto kKillPatience = 10s;
constexpr auto kInitPatience = 1s;  // for an init to end the processes that it started
constexpr std::uint64_t kNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

// An error of the set-up with the name of its step. Whatever the kernel's error was, there is no sandbox for the
// caller.
base::Error AtStep(const std::string& step, base::Error error) {
  constexpr char kPrefix[] = "set-up step failed: ";
  if (error.code == base::Code::kRejected || error.code == base::Code::kInvalidArgument ||
      error.message.starts_with(kPrefix))
    return error;
  return {base::Code::kUnavailable, kPrefix + step + ": " + error.message};
}

base::Error SetupError(const std::string& bytes) {
  SetupFailure failure;
  if (bytes.size() != sizeof failure) return {base::Code::kInternal, "malformed report of the set-up"};
  std::memcpy(&failure, bytes.data(), sizeof failure);
  failure.step.back() = '\0';
  return {base::Code::kUnavailable,
          std::string("set-up step failed: ") + failure.step.data() + ": " + os::ErrnoText(failure.error)};
}

// Kernels and containers refuse user namespaces with different errors; the message says what to change.
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

os::CgroupLimits LimitsOf(const StartRequest& request) {
  return {request.memory_bytes, request.pids, static_cast<std::uint32_t>(request.cpu_percent)};
}

base::Result<os::Cgroup> MakeCgroup(const StartRequest& request, MachineFacts& machine) {
  if (request.pretend_missing.Has(base::Feature::kCgroups)) return os::Cgroup::Create({}, "", {});
  return os::Cgroup::Create(machine.Cgroups(), os::OwnedName(kCgroupPrefix), LimitsOf(request));
}

// The end of a child, which is reaped by this.
ForkEnded EndOf(const os::PidFd& process) {
  int status = 0;
  rusage usage{};
  while (::wait4(process.pid(), &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U + static_cast<std::uint64_t>(time.tv_usec);
  };
  return {.pid = static_cast<std::uint64_t>(process.pid()),
          .wait_status = static_cast<std::uint64_t>(status),
          .cpu_microseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime)};
}

void RunChild(void* plan) {
  RunSandboxChild(*static_cast<const ChildPlan*>(plan));
}

base::Result<os::PidFd> CloneChild(std::uint64_t namespaces, int cgroup, ChildPlan& plan) {
  SKERRY_ASSIGN_OR_RETURN(os::Cloned cloned, os::CloneInto(namespaces, cgroup));
  if (cloned.child) RunSandboxChild(plan);
  return std::move(cloned.process);
}

base::Result<os::PidFd> Clone(const StartRequest& request, const os::Cgroup& cgroup, const Preparation& prepared,
                              ChildPlan& plan) {
  if (request.isolation == Isolation::kNone) return CloneChild(0, cgroup.Version2Fd(), plan);
  if (request.pretend_missing.Has(base::Feature::kUserNamespaces)) return os::ErrnoErr("clone3", EPERM);
  // What the kernel counts per user (inotify, namespaces) is counted for the user who made the user namespace: as root
  // that must be the sandbox's user and not root, whose own programs would run out of it.
  const os::EffectiveUser maker(prepared.identity().user);
  constexpr std::uint64_t kAll = kNamespaces | os::kNewTime;
  return prepared.root_template() < 0
             ? CloneChild(kAll, cgroup.Version2Fd(), plan)
             : os::CloneFrom(prepared.root_template(), kAll, cgroup.Version2Fd(), RunChild, &plan);
}

}  // namespace

base::Result<SandboxProcess> SandboxProcess::Begin(const StartRequest& request, std::span<const base::UniqueFd> fds,
                                                   int init_program, MachineFacts& machine) {
  auto cgroup = MakeCgroup(request, machine);
  if (!cgroup) return std::unexpected(AtStep("make the cgroup", std::move(cgroup).error()));
  SandboxProcess sandbox(std::move(*cgroup), request);
  auto prepared = Preparation::Make(request, fds, sandbox.cgroup_, machine, sandbox.degraded_);
  if (!prepared) return std::unexpected(AtStep("prepare the sandbox", std::move(prepared).error()));
  if (auto made = sandbox.MakeChild(request, *prepared, init_program, nullptr); !made)
    return std::unexpected(AtStep("make the sandbox", std::move(made).error()));
  sandbox.fork_order_ = prepared->OrderForForks();
  return sandbox;
}

base::Result<SandboxProcess> SandboxProcess::BeginVacant(int init_program, MachineFacts& machine,
                                                         os::CgroupLimits likely) {
  if (machine.RootTemplateFor() < 0) return base::Err(base::Code::kUnavailable, "no template of the root");
  const StartRequest nothing;
  SKERRY_ASSIGN_OR_RETURN(os::Cgroup cgroup, MakeCgroup(nothing, machine));
  SKERRY_RETURN_IF_ERROR(cgroup.Limit(likely));
  SandboxProcess sandbox(std::move(cgroup), nothing);
  std::vector<std::string> later;
  SKERRY_ASSIGN_OR_RETURN(Preparation prepared, Preparation::Make(nothing, {}, sandbox.cgroup_, machine, later));
  prepared.PlanVacancy();
  SKERRY_RETURN_IF_ERROR(sandbox.MakeChild(nothing, prepared, init_program, &machine));
  sandbox.identity_ = prepared.identity();
  sandbox.vacant_limits_ = likely;
  (void)sandbox.Counters();
  return sandbox;
}

base::Status SandboxProcess::Furnish(const StartRequest& request, std::span<const base::UniqueFd> fds,
                                     MachineFacts& machine) {
  const os::CgroupLimits limits = LimitsOf(request);
  if (limits != vacant_limits_) SKERRY_RETURN_IF_ERROR(cgroup_.Limit(limits));
  SKERRY_ASSIGN_OR_RETURN(const Preparation prepared,
                          Preparation::Make(request, fds, cgroup_, machine, degraded_, identity_));
  fork_order_ = prepared.OrderForForks();
  memory_bytes_ = request.memory_bytes;
  pids_ = request.pids;
  std::vector<int> trees;
  for (const HostTree& tree : prepared.trees()) trees.push_back(tree.tree);
  return os::SendMessage(report_.get(), Encode(Furnishing{request, *fork_order_}), trees);
}

bool SandboxProcess::Waits() const {
  const auto exited = init_.WaitForExit(base::Deadline::After(0s));
  return exited && !*exited;
}

base::Status SandboxProcess::MakeChild(const StartRequest& request, Preparation& prepared, int init_program,
                                       MachineFacts* vacant) {
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair report, os::SocketPair::Create());
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair control, os::SocketPair::Create());
  ChildPlan plan = prepared.PlanFor(report.second.get(), control.second.get(), init_program);
  plan.launchers_ends = {report.first.get(), control.first.get()};
  plan.vacant = vacant;

  auto child = Clone(request, cgroup_, prepared, plan);
  if (!child) return std::unexpected(ExplainCloneError(std::move(child).error()));
  init_ = std::move(*child);
  if (request.isolation == Isolation::kNamespaces) SKERRY_RETURN_IF_ERROR(WriteMaps(init_.pid(), prepared.identity()));
  SKERRY_RETURN_IF_ERROR(os::SendMessage(report.first.get(), "!"));
  report_ = std::move(report.first);
  control_ = std::move(control.first);
  return {};
}

base::Result<bool> SandboxProcess::ReadReport() {
  auto message = os::ReceiveMessage(report_.get(), base::Deadline::Never());
  if (!message) return std::unexpected(AtStep("make the sandbox", std::move(message).error()));
  if (message->EndOfStream()) return true;
  if (message->fds.empty()) return std::unexpected(SetupError(message->bytes));
  switch (static_cast<Handout>(message->bytes.front())) {
    case Handout::kViews:
      views_ = std::move(message->fds);
      break;
    case Handout::kMountNamespace:
      mount_namespace_ = std::move(message->fds.front());
      break;
    case Handout::kSocketDiagnosis:
      if (message->fds.size() != 2) break;
      diagnosis_ = std::move(message->fds[0]);
      socket_count_ = std::move(message->fds[1]);
      sockets_of_ours_ = os::SocketsInUse(socket_count_.get());
      break;
  }
  return false;
}

// The report socket also closes when the child dies. Only the init itself can report that it runs.
base::Status SandboxProcess::ReadFirstWord() {
  auto word = os::ReceiveMessage(control_.get(), base::Deadline::Never());
  if (!word) return std::unexpected(AtStep("make the sandbox", std::move(word).error()));
  report_.Reset();
  if (word->bytes == kInitReady) {
    init_serves_ = true;
    return {};
  }
  return base::Err(base::Code::kUnavailable,
                   "set-up step failed: make the sandbox: the sandbox was killed while it was being set up");
}

Motion SandboxProcess::Set(MotionKind wanted) const {
  using Group = os::Cgroup::Motion;
  const Group group = wanted == MotionKind::kFrozen ? Group::kFrozen : Group::kMoving;
  if (!cgroup_.Set(group)) return {MotionKind::kUnable};
  return {cgroup_.CurrentMotion() == Group::kFrozen ? MotionKind::kFrozen : MotionKind::kMoving};
}

const os::CgroupCounters& SandboxProcess::Counters() {
  if (counters_.all().empty()) counters_ = cgroup_.OpenCounters();
  return counters_;
}

std::vector<base::UniqueFd> SandboxProcess::TakeClientDescriptors() {
  std::vector<base::UniqueFd> fds;
  fds.push_back(std::move(control_));
  for (base::UniqueFd& view : views_) fds.push_back(std::move(view));
  return fds;
}

std::optional<std::chrono::milliseconds> SandboxProcess::WatchInterval() const {
  if (memory_bytes_ == 0) return std::nullopt;
  if (!cgroup_.LimitsMemory()) return std::chrono::milliseconds(10);
  // Sockets fill more slowly than memory.
  return diagnosis_.valid() ? std::optional(std::chrono::milliseconds(100)) : std::nullopt;
}

os::TreeUse SandboxProcess::UseOfTrees(std::uint64_t threshold) const {
  os::TreeUse use = os::ProcessTreeUse(init_.pid(), threshold);
  for (const os::PidFd& process : adopted_) {
    const os::TreeUse more = os::ProcessTreeUse(process.pid(), threshold);
    use.memory_bytes += more.memory_bytes;
    use.tasks += more.tasks;
  }
  return use;
}

// The memory that no cgroup limits.
std::uint64_t SandboxProcess::WatchedMemory() {
  // The question goes through all socket tables of the machine: it is not asked at every look where looks are frequent,
  // unless there are enough sockets to fill memory between two looks.
  if (diagnosis_.valid()) {
    constexpr std::uint64_t kMany = 256;
    const std::uint64_t all = os::SocketsInUse(socket_count_.get());
    const std::uint64_t theirs = all > sockets_of_ours_ ? all - sockets_of_ours_ : 0;
    const unsigned looks_between = cgroup_.LimitsMemory() || theirs > kMany ? 1 : 5;
    if (look_++ % looks_between == 0) socket_bytes_ = theirs != 0 ? os::SocketMemory(diagnosis_.get()) : 0;
  }
  if (cgroup_.LimitsMemory()) return socket_bytes_;
  os::TreeUse use = UseOfTrees(memory_bytes_);
  // The first answer was cheap, with shared pages counted several times.
  if (use.memory_bytes > memory_bytes_) use = UseOfTrees(0);
  at_process_limit_ = at_process_limit_ || (!cgroup_.LimitsPids() && pids_ != 0 && use.tasks >= pids_);
  return use.memory_bytes + socket_bytes_;
}

bool SandboxProcess::OverMemoryLimit() {
  const std::uint64_t used = WatchedMemory();
  memory_peak_ = std::max(memory_peak_, used);
  // On top of the memory that a cgroup limits, sockets may have half as much.
  const std::uint64_t limit = cgroup_.LimitsMemory() ? memory_bytes_ / 2 : memory_bytes_;
  over_memory_limit_ = over_memory_limit_ || used > limit;
  return over_memory_limit_;
}

base::Status SandboxProcess::Adopt(pid_t pid) {
  SKERRY_ASSIGN_OR_RETURN(os::PidFd process, os::PidFd::Open(pid));
  adopted_.push_back(std::move(process));
  return {};
}

std::vector<ForkEnded> SandboxProcess::ReapAdopted(const os::EventSet& events) {
  std::vector<ForkEnded> ended;
  std::erase_if(adopted_, [&](const os::PidFd& process) {
    const auto exited = process.WaitForExit(base::Deadline::After(0s));
    if (!exited || !*exited) return false;
    ended.push_back(EndOf(process));
    events.Remove(process.get());
    return true;
  });
  return ended;
}

int SandboxProcess::SignalAdopted(pid_t pid, int signal) const {
  const auto known = [&](const os::PidFd& process) { return process.pid() == pid; };
  if (std::ranges::none_of(adopted_, known)) return ESRCH;
  // The process leads a group of its own, and its pid stays reserved until it is reaped.
  return ::kill(-pid, signal) < 0 ? errno : 0;
}

// Without a pid namespace the init is the parent of every detached process, and must be the last to die. Were it killed
// first, only this launcher would know whose processes the others are; were the launcher killed then, nobody would.
bool SandboxProcess::EndsByInit() const {
  return isolation_ == Isolation::kNone && init_serves_;
}

void SandboxProcess::SignalInit(int number) const {
  // The init is not reaped yet, so its pid belongs to no other process.
  if (init_.valid() && !init_.Signal(number)) ::kill(init_.pid(), number);
}

void SandboxProcess::BeginKill() {
  // When the first process of a pid namespace dies, the kernel kills all others.
  if (isolation_ == Isolation::kNone) cgroup_.Kill(EndsByInit() ? init_.pid() : 0);
  if (EndsByInit()) {
    SignalInit(kEndSignal);
    SignalInit(SIGCONT);  // a program inside may have stopped the init
    init_patience_ = base::Deadline::After(kInitPatience);
  } else {
    SignalInit(SIGKILL);
  }
  for (const os::PidFd& process : adopted_) (void)process.Signal(SIGKILL);
}

void SandboxProcess::InsistOnEnd() const {
  if (!EndsByInit()) return;
  if (os::KillDescendantsOf(init_.pid()) == 0 && init_patience_.Expired()) return SignalInit(SIGKILL);
  SignalInit(SIGCONT);
}

// The kernel lets the first process of a pid namespace end only when every other one in it has, so its end is proof.
bool SandboxProcess::Empty() {
  if (!init_.valid()) return true;
  const auto exited = init_.WaitForExit(base::Deadline::After(0s));
  if (!exited || !*exited) {
    InsistOnEnd();
    return false;
  }
  if (!cgroup_.WaitEmpty(base::Deadline::After(0s))) {
    cgroup_.Kill();
    return false;
  }
  // Without a pid namespace the init's descendants are the launcher's now, and the init is reaped with them.
  if (isolation_ == Isolation::kNone && !os::KillAllDescendants(base::Deadline::After(kKillPatience))) return false;
  if (isolation_ == Isolation::kNamespaces) (void)init_.Reap();
  init_ = {};
  return true;
}

Usage SandboxProcess::CurrentUsage() const {
  const os::CgroupUsage usage = counters_.all().empty() ? cgroup_.Usage() : counters_.Read();
  return {.out_of_memory_kills = usage.out_of_memory_kills + (over_memory_limit_ ? 1U : 0U),
          .memory_peak_bytes = std::max(usage.memory_peak_bytes, memory_peak_),
          .forks_refused = usage.forks_refused + (at_process_limit_ ? 1U : 0U),
          .times_throttled = usage.times_throttled};
}

SandboxProcess::~SandboxProcess() {
  if (!init_.valid()) return;
  BeginKill();
  const auto deadline = base::Deadline::After(kKillPatience);
  for (const os::PidFd& process : adopted_) (void)process.Reap();
  constexpr auto kBetweenLooks = 10ms;
  (void)init_.WaitForExit(base::Deadline::After(kBetweenLooks));
  while (!Empty() && !deadline.Expired())
    if (!Waits())
      std::this_thread::sleep_for(1ms);
    else
      (void)init_.WaitForExit(base::Deadline::After(kBetweenLooks));
}

}  // namespace skerry::launcher

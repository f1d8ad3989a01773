#include "launcher/sandbox_process.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "launcher/host_identity.hpp"
#include "launcher/preparation.hpp"
#include "launcher/sandbox_child.hpp"
#include "os/errno_error.hpp"
#include "os/namespace.hpp"
#include "os/process_tree.hpp"
#include "os/socket.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kSetupPatience = 20s;
constexpr auto kKillPatience = 10s;
constexpr std::uint64_t kNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

// Waits for the child to be done with setting up: its end of the socket closes when it became the init.
base::Status AwaitInit(int report, const os::PidFd& child) {
  auto message = os::ReceiveMessage(report, base::Deadline::After(kSetupPatience));
  if (!message) return std::unexpected(std::move(message).error());
  if (message->EndOfStream()) {
    const auto ended = child.WaitForExit(base::Deadline::After(0s));
    if (ended && !*ended) return {};
    return base::Err(base::Code::kUnavailable, "the sandbox was killed while it was being set up");
  }
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

}  // namespace

base::Result<SandboxProcess> SandboxProcess::Start(const StartRequest& request, int workspace_fd, int init_program) {
  const os::CgroupLimits limits{request.memory_bytes, request.pids, static_cast<std::uint32_t>(request.cpu_percent)};
  SKERRY_ASSIGN_OR_RETURN(os::Cgroup cgroup, os::Cgroup::Create(os::CgroupHierarchy::Detect(), request.name, limits));
  SandboxProcess sandbox(std::move(cgroup), request.isolation, request.memory_bytes);
  SKERRY_ASSIGN_OR_RETURN(Preparation prepared,
                          Preparation::Make(request, workspace_fd, sandbox.cgroup_, sandbox.degraded_));
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair report, os::SocketPair::Create());
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair control, os::SocketPair::Create());
  const ChildPlan plan = prepared.PlanFor(report.second.get(), control.second.get(), init_program);

  const bool namespaces = request.isolation == Isolation::kNamespaces;
  auto cloned = os::CloneInto(namespaces ? kNamespaces | os::kNewTime : 0, sandbox.cgroup_.Version2Fd());
  if (!cloned) return std::unexpected(ExplainCloneError(std::move(cloned).error()));
  if (cloned->child) RunSandboxChild(plan);
  sandbox.init_ = std::move(cloned->process);
  report.second.Reset();
  control.second.Reset();
  if (namespaces) SKERRY_RETURN_IF_ERROR(WriteMaps(sandbox.init_.pid(), prepared.identity()));
  SKERRY_RETURN_IF_ERROR(os::SendMessage(report.first.get(), "!"));
  SKERRY_RETURN_IF_ERROR(AwaitInit(report.first.get(), sandbox.init_));
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

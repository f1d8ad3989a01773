#include "launcher/zygote.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "launcher/host_identity.hpp"
#include "os/errno_error.hpp"
#include "os/namespace.hpp"
#include "os/privileges.hpp"
#include "os/socket.hpp"
#include "os/spawn.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

constexpr std::uint64_t kMostForks = 1000;
constexpr auto kLongestLife = 10min;
constexpr int kMostFailures = 3;
constexpr auto kRetirePatience = 2s;

// What the child reads between clone and exec.
struct ZygotePlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  std::array<int, 3> fds = {-1, -1, -1};  // socket, library and text: become 3, 4 and 5
  HostIdentity identity;
};

[[noreturn]] void BecomeZygote(const ZygotePlan& plan) {
  constexpr int kFirst = 3;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  ::umask(022);
  if (::chdir("/") < 0) ::_exit(125);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::array<int, 3> high{};
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = ::fcntl(plan.fds[i], F_DUPFD_CLOEXEC, 10);
  for (int fd = 0; fd < kFirst; ++fd)
    if (::dup2(null, fd) < 0) ::_exit(125);
  for (std::size_t i = 0; i < high.size(); ++i)
    if (::dup2(high[i], kFirst + static_cast<int>(i)) < 0) ::_exit(125);
  // No descriptor of the launcher is inherited.
  if (::syscall(SYS_close_range, 6U, ~0U, 0U) < 0) ::_exit(125);
  if (os::BecomeUserWith(plan.identity.user, plan.identity.group, {CAP_SYS_ADMIN, CAP_SYS_PTRACE}) != 0) ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (os::SetNoNewPrivileges() != 0) ::_exit(126);
  ::execve(plan.program, plan.arguments, plan.environment);
  ::_exit(127);
}

}  // namespace

Zygotes::Zygotes(os::EventSet& events, std::uint64_t first_token, Answered answered)
    : events_(events), next_token_(first_token), answered_(std::move(answered)) {}

Zygotes::~Zygotes() {
  for (auto& [name, kind] : kinds_)
    for (const auto& process : kind.processes) retired_.push_back(std::move(process->pid));
  for (const os::PidFd& process : retired_) {
    (void)process.Signal(SIGKILL);
    (void)process.Reap();
  }
}

void Zygotes::Offer(ZygoteOffer offer, base::UniqueFd library, base::UniqueFd text) {
  Kind& kind = kinds_[offer.name];
  while (!kind.processes.empty()) Lose(kind, *kind.processes.back());
  kind.offer = std::move(offer);
  kind.library = std::move(library);
  kind.text = std::move(text);
  kind.failures = 0;
}

base::Result<std::unique_ptr<Zygotes::Process>> Zygotes::Start(Kind& kind) {
  SKERRY_ASSIGN_OR_RETURN(os::SocketPair pair, os::SocketPair::Create());
  const std::vector<char*> arguments = os::Pointers(kind.offer.arguments);
  const std::vector<char*> environment = os::Pointers(kind.offer.environment);
  ZygotePlan plan{.program = arguments.front(), .arguments = arguments.data(), .environment = environment.data()};
  plan.fds = {pair.second.get(), kind.library.get(), kind.text.get()};
  plan.identity = ChooseIdentity();
  SKERRY_ASSIGN_OR_RETURN(os::Cloned cloned, os::CloneInto(0, -1));
  if (cloned.child) BecomeZygote(plan);
  auto process = std::make_unique<Process>();
  process->pid = std::move(cloned.process);
  process->socket = std::move(pair.first);
  process->token = next_token_++;
  process->worn = base::Deadline::After(kLongestLife);
  SKERRY_RETURN_IF_ERROR(events_.Add(process->socket.get(), process->token));
  return process;
}

// A zygote that is not worn, a ready one if there is one. A worn one serves until its successor is ready.
Zygotes::Process* Zygotes::Choose(Kind& kind) {
  const auto fresh = [](const auto& process) { return process->forks < kMostForks && !process->worn.Expired(); };
  if (std::ranges::none_of(kind.processes, fresh) && kind.failures < kMostFailures) {
    auto started = Start(kind);
    if (started)
      kind.processes.push_back(std::move(*started));
    else
      kind.why = started.error().message;
  }
  for (auto at = kind.processes.rbegin(); at != kind.processes.rend(); ++at)
    if ((*at)->ready) return at->get();
  return kind.processes.empty() ? nullptr : kind.processes.back().get();
}

void Zygotes::Fork(std::uint64_t session, const std::string& name, const ForkOrder& order, std::span<const int> fds) {
  const auto found = kinds_.find(name);
  if (found == kinds_.end()) return answered_(session, {0, "there is no zygote " + name});
  Process* process = Choose(found->second);
  if (process == nullptr) return answered_(session, {0, "no zygote " + name + ": " + found->second.why});
  if (auto sent = os::SendMessage(process->socket.get(), Encode(order), fds); !sent)
    return answered_(session, {0, "zygote " + name + ": " + sent.error().message});
  ++process->forks;
  process->waiting.push_back(session);
}

void Zygotes::OnReady(std::uint64_t token) {
  for (auto& [name, kind] : kinds_) {
    const auto found = std::ranges::find_if(kind.processes, [&](const auto& one) { return one->token == token; });
    if (found != kind.processes.end()) return ReadAnswer(kind, **found);
  }
}

void Zygotes::ReadAnswer(Kind& kind, Process& process) {
  const auto message = os::ReceiveMessage(process.socket.get(), base::Deadline::Never());
  if (!message || message->EndOfStream()) return Lose(kind, process);
  if (message->bytes == kZygoteReady) {
    process.ready = true;
    kind.failures = 0;
    // The earlier zygotes are not needed any more, except for orders that they still hold.
    std::vector<Process*> before;
    for (const auto& one : kind.processes)
      if (one.get() != &process && one->waiting.empty()) before.push_back(one.get());
    for (Process* one : before) Retire(kind, *one);
    return;
  }
  const auto answer = DecodeForkAnswer(message->bytes);
  if (!answer || process.waiting.empty()) return Lose(kind, process);
  const std::uint64_t session = process.waiting.front();
  process.waiting.pop_front();
  const bool last = process.waiting.empty() && kind.processes.back().get() != &process && kind.processes.back()->ready;
  if (last) Retire(kind, process);
  answered_(session, {answer->pid, answer->pid != 0 ? "" : os::ErrnoText(static_cast<int>(answer->error))});
}

void Zygotes::Forget(Kind& kind, const Process& process) {
  std::erase_if(kind.processes, [&](const auto& one) { return one.get() == &process; });
}

// A zygote ends when its socket is closed.
void Zygotes::Retire(Kind& kind, Process& process) {
  events_.Remove(process.socket.get());
  std::erase_if(retired_, [](const os::PidFd& one) {
    const auto ended = one.WaitForExit(base::Deadline::After(0s));
    if (ended && *ended) (void)one.Reap();
    return ended && *ended;
  });
  retired_.push_back(std::move(process.pid));
  Forget(kind, process);
}

void Zygotes::Lose(Kind& kind, Process& process) {
  events_.Remove(process.socket.get());
  (void)process.pid.Signal(SIGKILL);
  (void)process.pid.WaitForExit(base::Deadline::After(kRetirePatience));
  const auto status = process.pid.Reap();
  if (!process.ready) {
    ++kind.failures;
    kind.why = "it ended with status " + std::to_string(status.value_or(-1)) + " before it was ready";
  }
  const std::deque<std::uint64_t> waiting = std::move(process.waiting);
  lost_children_ = lost_children_ || !waiting.empty();
  Forget(kind, process);
  for (const std::uint64_t session : waiting) answered_(session, {0, "the zygote was lost"});
}

bool Zygotes::IsZygote(pid_t pid) const {
  for (const auto& [name, kind] : kinds_)
    if (std::ranges::any_of(kind.processes, [&](const auto& one) { return one->pid.pid() == pid; })) return true;
  return std::ranges::any_of(retired_, [&](const os::PidFd& one) { return one.pid() == pid; });
}

}  // namespace skerry::launcher

#include "launcher/launcher.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include "launcher/protocol.hpp"
#include "launcher/sandbox_process.hpp"
#include "os/socket.hpp"

namespace skerry::launcher {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 125;

base::Status Answer(int client, const FromLauncher& message, std::span<const int> fds = {}) {
  return os::SendMessage(client, Encode(message), fds);
}

int Refuse(int client, base::Error error) {
  // When nobody listens there is nobody to tell.
  (void)Answer(client, Failed{error.code, std::move(error.message)});
  return kExitFailed;
}

int RefuseStep(int client, const std::string& step, const base::Error& error) {
  return Refuse(client, {base::Code::kUnavailable, "set-up step failed: " + step + ": " + error.message});
}

// True while the client is there and wants the sandbox to live on.
bool ServeClient(int client, const SandboxProcess& sandbox) {
  const auto message = os::ReceiveMessage(client, base::Deadline::Never());
  if (!message) return false;
  const auto request = DecodeToLauncher(message->bytes);
  if (!request || !std::holds_alternative<UsageRequest>(*request)) return false;
  return Answer(client, sandbox.CurrentUsage()).has_value();
}

int PollTimeout(const SandboxProcess& sandbox, base::Deadline life) {
  const auto interval = sandbox.WatchInterval();
  return interval ? base::Deadline::After(*interval).EarlierOf(life).PollTimeoutMs() : life.PollTimeoutMs();
}

// Until the client says stop or is gone, the init has ended, too much memory is in use, or somebody asks us to end.
void WatchUntilEnd(int client, int signals, SandboxProcess& sandbox, base::Deadline life) {
  constexpr int kMostFailures = 100;
  for (int failures = 0; !life.Expired() && failures < kMostFailures;) {
    std::array entries = {pollfd{client, POLLIN, 0}, pollfd{sandbox.init_pidfd(), POLLIN, 0},
                          pollfd{signals, POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), PollTimeout(sandbox, life));
    if (ready < 0) {
      ++failures;  // whatever it is, it must not end a program that runs, nor keep us busy for ever
      continue;
    }
    if (entries[1].revents != 0 || entries[2].revents != 0) return;
    if (entries[0].revents != 0 && !ServeClient(client, sandbox)) return;
    if (sandbox.WatchInterval() && sandbox.OverMemoryLimit()) return;
  }
}

// Requests to end are read like messages, so that the sandbox and its cgroup are taken down in order. The child that
// becomes the init starts with them blocked too and needs none of them: it is killed.
base::UniqueFd EndSignals() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  return base::UniqueFd(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

base::Deadline LifeOf(const StartRequest& request) {
  return request.lifetime_ms == 0 ? base::Deadline::Never()
                                  : base::Deadline::After(std::chrono::milliseconds(request.lifetime_ms));
}

base::Status AnswerStarted(int client, SandboxProcess& sandbox) {
  const std::vector<base::UniqueFd> owned = sandbox.TakeClientDescriptors();
  std::vector<int> fds;
  for (const base::UniqueFd& fd : owned) fds.push_back(fd.get());
  return Answer(client, Started{static_cast<std::uint64_t>(sandbox.init_pid()), sandbox.degraded()}, fds);
}

}  // namespace

int Serve(int client, int init_program) {
  const base::UniqueFd signals = EndSignals();
  // Descendants that lose their parents come to us and not to the host's init, so that none can slip away.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1UL);
  auto message = os::ReceiveMessage(client, base::Deadline::Never());
  if (!message) return RefuseStep(client, "read the request", message.error());
  if (message->EndOfStream()) return kExitFailed;
  const auto decoded = DecodeToLauncher(message->bytes);
  const auto* request = decoded ? std::get_if<StartRequest>(&*decoded) : nullptr;
  if (request == nullptr) return Refuse(client, {base::Code::kInvalidArgument, "malformed start request"});
  const base::Deadline life = LifeOf(*request);
  auto sandbox = SandboxProcess::Start(*request, message->fds, init_program);
  message->fds.clear();
  if (!sandbox) return Refuse(client, std::move(sandbox).error());
  if (const auto answered = AnswerStarted(client, *sandbox); !answered) {
    (void)sandbox->Kill();
    return RefuseStep(client, "hand the sandbox over", answered.error());
  }
  WatchUntilEnd(client, signals.get(), *sandbox, life);
  (void)Answer(client, sandbox->Kill());
  return kExitOk;
}

}  // namespace skerry::launcher

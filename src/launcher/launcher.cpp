#include "launcher/launcher.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "launcher/client_session.hpp"
#include "launcher/protocol.hpp"
#include "launcher/zygote.hpp"
#include "os/errno_error.hpp"
#include "os/event_set.hpp"
#include "os/machine.hpp"
#include "os/process_tree.hpp"
#include "os/socket.hpp"

namespace skerry::launcher {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 125;

// Tokens below the first session's.
constexpr std::uint64_t kClientsToken = 0;
constexpr std::uint64_t kSignalsToken = 1;
constexpr std::uint64_t kLifelineToken = 2;
// How long the launcher must have been idle before the remains of sandboxes are removed.
constexpr std::chrono::milliseconds kTidyDelay{1};

// Far above the tokens of all sessions.
constexpr std::uint64_t kFirstZygoteToken = 1ULL << 63U;

// Sends the last message of a launcher that cannot do its work, on its own socket.
int GiveUp(int clients, const base::Error& error) {
  const Failed failed{base::Code::kUnavailable, "set-up step failed: run the launcher: " + error.message};
  (void)os::SendMessage(clients, Encode(FromLauncher{failed}));
  return kExitFailed;
}

class Server {
 public:
  Server(int clients, base::UniqueFd signals, Workplace workplace)
      : clients_(clients),
        signals_(std::move(signals)),
        workplace_(std::move(workplace)),
        zygotes_(workplace_.events, kFirstZygoteToken,
                 [this](std::uint64_t session, const Forked& forked) { OnForked(session, forked); }) {
    workplace_.zygotes = &zygotes_;
  }

  int Run() {
    for (const auto& [fd, token] : {std::pair(clients_, kClientsToken), std::pair(signals_.get(), kSignalsToken)})
      if (const auto added = workplace_.events.Add(fd, token); !added) return GiveUp(clients_, added.error());
    constexpr int kMostFailures = 100;
    for (int failures = 0; !ending_ || !sessions_.empty();) {
      const auto ready = workplace_.events.Wait(NextTime());
      TidyUp(!ready || ready->empty());
      // No error here may end programs that run, nor keep the launcher busy for ever.
      if (!ready && ++failures == kMostFailures) return GiveUp(clients_, ready.error());
      if (ready)
        for (const std::uint64_t token : *ready) Serve(token);
      for (auto& [id, session] : sessions_)
        if (session.NextTime().Expired()) session.OnTime();
      if (strangers_ && std::ranges::any_of(sessions_, [](const auto& entry) { return entry.second.Ending(); }))
        ReapStrangers();
      if (!ending_ && workplace_.vacancies.NextTime().Expired())
        workplace_.vacancies.Refill(workplace_.init_program, workplace_.machine);
      std::erase_if(sessions_, [](const auto& entry) { return entry.second.Over(); });
    }
    return kExitOk;
  }

 private:
  // Removes one emptied sandbox when the launcher is idle, or when too many are left.
  void TidyUp(bool idle) {
    constexpr std::size_t kMost = 64;
    auto& empty = workplace_.empty_ones;
    if (!empty.empty() && (idle || empty.size() > kMost)) empty.pop_front();
  }

  [[nodiscard]] base::Deadline NextTime() const {
    auto next = workplace_.vacancies.NextTime();
    if (!workplace_.empty_ones.empty()) next = next.EarlierOf(base::Deadline::After(kTidyDelay));
    for (const auto& [id, session] : sessions_) next = next.EarlierOf(session.NextTime());
    return next;
  }

  void Serve(std::uint64_t token) {
    if (token == kClientsToken) return Connect();
    if (token == kSignalsToken || token == kLifelineToken) return EndAll();
    if (token >= kFirstZygoteToken) {
      zygotes_.OnReady(token);
      strangers_ = strangers_ || zygotes_.MayHaveLostChildren();
      return;
    }
    const auto found = sessions_.find(token / ClientSession::kSources);
    if (found == sessions_.end() || found->second.Over()) return;  // ended earlier in the same round
    found->second.OnReady(static_cast<ClientSession::Source>(token % ClientSession::kSources));
  }

  void Connect() {
    if (ending_) return;  // asked in the moment in which everything ends
    auto message = os::ReceiveMessage(clients_, base::Deadline::Never());
    if (message && message->fds.size() == 2) {
      if (auto offer = DecodeZygoteOffer(message->bytes))
        return zygotes_.Offer(std::move(*offer), std::move(message->fds[0]), std::move(message->fds[1]));
    }
    if (message && message->bytes == kKeepVacancies) return workplace_.vacancies.Keep();
    if (message && message->bytes == kLifeline && message->fds.size() == 1 && !lifeline_.valid()) {
      lifeline_ = std::move(message->fds.front());
      const auto added = workplace_.events.Add(lifeline_.get(), kLifelineToken);
      if (added) return;
      (void)GiveUp(clients_, added.error());
    }
    if (!message) (void)GiveUp(clients_, message.error());
    if (!message || message->bytes != kConnect || message->fds.size() != 1) return EndAll();
    const std::uint64_t id = next_id_++;
    sessions_.try_emplace(id, id, std::move(message->fds.front()), workplace_);
  }

  void OnForked(std::uint64_t session, const Forked& forked) {
    const auto found = sessions_.find(session);
    if (found != sessions_.end() && !found->second.Over()) return found->second.OnForked(forked);
    // The sandbox has ended meanwhile, and with it the fork that was to enter it; the fork is left to be reaped.
    strangers_ = strangers_ || forked.pid != 0;
  }

  // Reaps children that a zygote forked for a sandbox and that no session knows. They end with their sandbox, whose own
  // end waits until they are reaped.
  void ReapStrangers() {
    const pid_t self = ::getpid();
    for (const pid_t pid : os::ProcessTree(self)) {
      const auto knows = [&](const auto& entry) { return entry.second.Knows(pid); };
      if (pid == self || zygotes_.IsZygote(pid) || std::ranges::any_of(sessions_, knows)) continue;
      (void)::waitpid(pid, nullptr, WNOHANG);  // fails for a process that is no child of the launcher
    }
  }

  void EndAll() {
    ending_ = true;
    workplace_.events.Remove(clients_);
    workplace_.events.Remove(signals_.get());
    workplace_.events.Remove(lifeline_.get());
    for (auto& [id, session] : sessions_) session.End();
  }

  int clients_;
  base::UniqueFd signals_;
  base::UniqueFd lifeline_;
  Workplace workplace_;
  Zygotes zygotes_;
  std::map<std::uint64_t, ClientSession> sessions_;
  std::uint64_t next_id_ = 1;
  bool ending_ = false;
  bool strangers_ = false;  // there may be such children
};

// Signals to end are read like messages, so that the sandboxes and their cgroups are taken down in order. The children
// that become inits start with these signals blocked too and need none of them: they are killed.
base::UniqueFd EndSignals() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  return base::UniqueFd(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

int Serve(int clients, int init_program) {
  base::UniqueFd signals = EndSignals();
  if (!signals.valid()) return GiveUp(clients, {base::Code::kInternal, "signalfd: " + os::ErrnoText(errno)});
  os::AllowManyDescriptors();  // each sandbox takes about ten
  // Orphaned descendants become children of the launcher and not of the host's init, so that none can escape.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1UL);
  auto events = os::EventSet::Create();
  if (!events) return GiveUp(clients, events.error());
  return Server(clients, std::move(signals), {std::move(*events), {}, init_program, nullptr, {}}).Run();
}

}  // namespace skerry::launcher

#include "launcher/client_session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "os/socket.hpp"

namespace skerry::launcher {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr auto kSetupPatience = 20s;
constexpr auto kKillPatience = 10s;
constexpr auto kEmptyRetry = 1ms;
constexpr auto kExitRetry = 50ms;  // the event should come earlier

}  // namespace

ClientSession::ClientSession(std::uint64_t id, base::UniqueFd client, Workplace& workplace)
    : id_(id), client_(std::move(client)), workplace_(workplace) {
  Watch(client_.get(), Source::kClient);
}

ClientSession::~ClientSession() {
  workplace_.events.Remove(client_.get());
  if (!sandbox_) return;
  for (const int fd : {sandbox_->report_fd(), sandbox_->control_fd(), sandbox_->init_pidfd()})
    workplace_.events.Remove(fd);
  for (const os::PidFd& process : sandbox_->adopted()) workplace_.events.Remove(process.get());
}

void ClientSession::Watch(int fd, Source source) const {
  // This fails only without memory for one more entry; then the deadlines end the sandbox.
  (void)workplace_.events.Add(fd, id_ * kSources + static_cast<std::uint64_t>(source));
}

// A client that cannot receive its answers counts as gone.
void ClientSession::Answer(const FromLauncher& message) {
  if (!os::SendMessage(client_.get(), Encode(message)) && phase_ == Phase::kRunning) End();
}

void ClientSession::OnReady(Source source) {
  switch (source) {
    case Source::kClient:
      return ServeClient();
    case Source::kReport:
      return ReadReport();
    case Source::kControl:
      return ReadFirstWord();
    case Source::kInit:
      return phase_ == Phase::kEnding ? FinishIfEmpty() : End();
    case Source::kAdopted:
      return ReapAdopted();
  }
}

void ClientSession::ServeClient() {
  auto message = os::ReceiveMessage(client_.get(), base::Deadline::Never());
  const auto request = message ? DecodeToLauncher(message->bytes) : std::nullopt;
  if (request && phase_ == Phase::kRunning && std::holds_alternative<UsageRequest>(*request))
    return Answer(sandbox_->CurrentUsage());
  if (request && phase_ == Phase::kRunning && std::holds_alternative<FreezeRequest>(*request))
    return Answer(sandbox_->Set(std::get<FreezeRequest>(*request).wanted));
  if (request && phase_ == Phase::kRunning && std::holds_alternative<ActivityRequest>(*request))
    return OnActivity(std::get<ActivityRequest>(*request));
  if (request && phase_ == Phase::kRunning && std::holds_alternative<ForkRequest>(*request))
    return OnFork(std::get<ForkRequest>(*request), message->fds);
  if (request && phase_ == Phase::kRunning && std::holds_alternative<SignalRequest>(*request)) {
    const auto& signal = std::get<SignalRequest>(*request);
    (void)sandbox_->SignalAdopted(static_cast<pid_t>(signal.pid), static_cast<int>(signal.signal));
    return;
  }
  if (request && phase_ == Phase::kIdle && std::holds_alternative<StartRequest>(*request))
    return Start(std::get<StartRequest>(*request), message->fds);
  if (phase_ == Phase::kIdle && !message)
    failure_ = {base::Code::kUnavailable, "set-up step failed: read the request: " + message.error().message};
  else if (phase_ == Phase::kIdle && !message->EndOfStream())
    failure_ = {base::Code::kInvalidArgument, "malformed start request"};
  // A request to stop, the end of the client, or a message that makes no sense. Nothing more is read from the client.
  workplace_.events.Remove(client_.get());
  if (phase_ != Phase::kEnding) End();
}

void ClientSession::Start(const StartRequest& request, std::span<const base::UniqueFd> fds) {
  auto vacant = workplace_.vacancies.Take(request, workplace_.machine);
  const bool furnish = vacant.has_value();
  auto sandbox = furnish ? base::Result<SandboxProcess>(std::move(*vacant))
                         : SandboxProcess::Begin(request, fds, workplace_.init_program, workplace_.machine);
  if (!sandbox) return Refuse(std::move(sandbox).error());
  sandbox_.emplace(std::move(*sandbox));
  phase_ = Phase::kSettingUp;
  patience_ = base::Deadline::After(kSetupPatience);
  Watch(sandbox_->report_fd(), Source::kReport);
  if (!furnish) return;
  if (auto furnished = sandbox_->Furnish(request, fds, workplace_.machine); !furnished)
    Refuse(std::move(furnished).error());
}

void ClientSession::ReadReport() {
  auto over = sandbox_->ReadReport();
  if (over && !*over) return;
  workplace_.events.Remove(sandbox_->report_fd());
  if (!over) return Refuse(std::move(over).error());
  Watch(sandbox_->control_fd(), Source::kControl);
}

void ClientSession::ReadFirstWord() {
  workplace_.events.Remove(sandbox_->control_fd());
  if (auto said = sandbox_->ReadFirstWord(); !said) return Refuse(std::move(said).error());
  phase_ = Phase::kRunning;
  patience_ = base::Deadline::Never();
  Watch(sandbox_->init_pidfd(), Source::kInit);
  HandOver();
}

void ClientSession::HandOver() {
  const std::vector<base::UniqueFd> owned = sandbox_->TakeClientDescriptors();
  std::vector<int> fds;
  for (const base::UniqueFd& fd : owned) fds.push_back(fd.get());
  Started started{.init_pid = static_cast<std::uint64_t>(sandbox_->init_pid()),
                  .groups = sandbox_->groups(),
                  .degraded = sandbox_->degraded()};
  const bool counters = sandbox_->CountersSuffice();
  for (const auto& counter : sandbox_->Counters().all()) {
    if (!counters) break;
    started.counters.push_back(static_cast<std::uint64_t>(counter.kind));
    fds.push_back(counter.fd.get());
  }
  if (auto sent = os::SendMessage(client_.get(), Encode(FromLauncher{started}), fds); !sent)
    Refuse({base::Code::kUnavailable, "set-up step failed: hand the sandbox over: " + sent.error().message});
}

// The client is told only when nothing of the sandbox is left, so that it can try again at once.
void ClientSession::Refuse(base::Error error) {
  failure_ = std::move(error);
  End();
}

void ClientSession::OnActivity(const ActivityRequest& request) {
  life_ = request.lifetime_ms == 0 ? base::Deadline::Never()
                                   : base::Deadline::After(std::chrono::milliseconds(request.lifetime_ms));
  if (const auto interval = sandbox_->WatchInterval()) next_look_ = base::Deadline::After(*interval);
}

void ClientSession::OnFork(const ForkRequest& request, std::span<const base::UniqueFd> fds) {
  if (!sandbox_->fork_order() || fds.size() != kForkStreams)
    return Answer(Forked{0, "a zygote's child cannot enter this sandbox"});
  std::vector<int> all = {sandbox_->init_pidfd()};
  for (const base::UniqueFd& fd : fds) all.push_back(fd.get());
  for (const int fd : sandbox_->join_cgroups()) all.push_back(fd);
  workplace_.zygotes->Fork(id_, request.zygote, *sandbox_->fork_order(), all);
}

void ClientSession::OnForked(const Forked& forked) {
  if (forked.pid == 0) return Answer(forked);
  if (auto adopted = sandbox_->Adopt(static_cast<pid_t>(forked.pid)); !adopted)
    return Answer(Forked{0, adopted.error().message});
  Watch(sandbox_->adopted().back().get(), Source::kAdopted);
  Answer(forked);
  // The fork entered a sandbox that is ending.
  if (phase_ == Phase::kEnding) sandbox_->BeginKill();
}

bool ClientSession::Knows(pid_t pid) const {
  if (!sandbox_) return false;
  return sandbox_->init_pid() == pid ||
         std::ranges::any_of(sandbox_->adopted(), [&](const os::PidFd& one) { return one.pid() == pid; });
}

void ClientSession::ReapAdopted() {
  for (const ForkEnded& ended : sandbox_->ReapAdopted(workplace_.events))
    if (phase_ == Phase::kRunning) Answer(ended);
}

base::Deadline ClientSession::NextTime() const {
  return patience_.EarlierOf(next_look_).EarlierOf(life_);
}

void ClientSession::OnTime() {
  if (phase_ == Phase::kEnding) {
    if (next_look_.Expired() || patience_.Expired()) FinishIfEmpty();
    return;
  }
  if (phase_ == Phase::kSettingUp && patience_.Expired())
    return Refuse({base::Code::kUnavailable, "set-up step failed: make the sandbox: no word from it in 20 seconds"});
  if (phase_ != Phase::kRunning) return;
  if (life_.Expired()) return End();
  if (!next_look_.Expired()) return;
  if (sandbox_->OverMemoryLimit()) return End();
  next_look_ = base::Deadline::After(sandbox_->WatchInterval().value_or(1s));
}

void ClientSession::End() {
  if (phase_ == Phase::kEnding || phase_ == Phase::kOver) return;
  const Phase before = std::exchange(phase_, Phase::kEnding);
  life_ = base::Deadline::Never();
  if (!sandbox_) return FinishIfEmpty();
  if (before == Phase::kSettingUp) {
    workplace_.events.Remove(sandbox_->report_fd());
    workplace_.events.Remove(sandbox_->control_fd());
    Watch(sandbox_->init_pidfd(), Source::kInit);
  }
  patience_ = base::Deadline::After(kKillPatience);
  next_look_ = base::Deadline::After(kExitRetry);
  sandbox_->BeginKill();
}

void ClientSession::FinishIfEmpty() {
  if (sandbox_) {
    const bool exited = !sandbox_->Waits();
    if (exited) workplace_.events.Remove(sandbox_->init_pidfd());
    next_look_ = base::Deadline::After(exited ? kEmptyRetry : kExitRetry);
    if (!sandbox_->Empty() && !patience_.Expired()) return;
  }
  if (failure_)
    Answer(Failed{failure_->code, failure_->message});
  else if (sandbox_)
    Answer(sandbox_->End());
  phase_ = Phase::kOver;
  if (!sandbox_) return;
  workplace_.events.Remove(sandbox_->report_fd());
  workplace_.events.Remove(sandbox_->control_fd());
  workplace_.empty_ones.push_back(std::move(*sandbox_));
  sandbox_.reset();
}

}  // namespace skerry::launcher

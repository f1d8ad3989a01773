#include "cli/context_keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/gate_options.hpp"
#include "cli/run_options.hpp"
#include "engine/context_sandbox.hpp"
#include "os/errno_error.hpp"

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::size_t kMaxGuests = 64;
constexpr auto kLongestPause = 60s;
constexpr auto kLockPatience = 5s;
constexpr int kListenerFd = 3;
constexpr unsigned kDefaultIdleSeconds = 1800;

base::Result<int> Keep(const Context& context, unsigned idle_seconds) {
  ::prctl(PR_SET_NAME, "skerry-keeper");
  // What the first client had open is none of the keeper's business.
  ::close_range(kListenerFd + 1, ~0U, 0);
  if (::fcntl(kListenerFd, F_SETFD, FD_CLOEXEC) < 0)
    return base::Err(base::Code::kInvalidArgument, "this command is for skerry itself; see skerry context --help");
  SKERRY_ASSIGN_OR_RETURN(KeeperPlace place, KeeperPlace::Open());
  if (::chdir("/") < 0) return os::ErrnoErr("chdir /");
  const SignalWatch signals;
  ContextKeeper keeper(context, std::move(place), base::UniqueFd(kListenerFd), std::chrono::seconds(idle_seconds));
  SKERRY_RETURN_IF_ERROR(keeper.Serve(signals));
  return 0;
}

}  // namespace

ContextKeeper::ContextKeeper(const Context& context, KeeperPlace place, base::UniqueFd listener,
                             std::chrono::seconds idle)
    : context_(context),
      place_(std::move(place)),
      listener_(std::move(listener)),
      idle_(idle),
      socket_(place_.Socket()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      contexts_({.make_sandbox = [this](core::Language) { return MakeSandbox(); },
                 .gate = [this] { return MakeGate(); },
                 .idle_timeout = idle}),
      house_(contexts_, approvals_, ProgramIdentity(), wake_.get()) {}

ContextKeeper::~ContextKeeper() {
  listener_.Reset();
  for (const Guest& guest : guests_) guest.session->HangUp();
  for (Guest& guest : guests_) guest.thread.join();
  contexts_.RemoveAll();
  registry_.reset();
  // Who asked for the end sees it now.
  guests_.clear();
}

base::Result<core::BackendRegistry*> ContextKeeper::Backends(const config::Sandbox& settings) {
  const std::scoped_lock lock(mutex_);
  if (registry_ == nullptr) {
    SKERRY_ASSIGN_OR_RETURN(registry_, context_.Backends(settings, Warmth::kWarm));
  }
  return registry_.get();
}

// The configuration as it is now: what was changed since holds for the next context.
base::Result<engine::ContextPlace> ContextKeeper::MakeSandbox() {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context_.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(const core::BackendRegistry* registry, Backends(loaded.config.sandbox));
  SKERRY_ASSIGN_OR_RETURN(const engine::ManagerOptions options, ManagerOptionsOf({}, loaded.config.sandbox));
  return engine::StartContextSandbox(engine::SandboxManager(*registry, options));
}

base::Result<std::shared_ptr<const engine::Gate>> ContextKeeper::MakeGate() {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context_.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(engine::GateOptions options, GateOptionsOf(loaded.config.sandbox));
  options.confirmation = approvals_.Service();
  return std::make_shared<const engine::Gate>(std::move(options));
}

void ContextKeeper::Accept() {
  base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  // Without a descriptor to be had the next try would come at once, and again.
  if (!socket.valid()) std::this_thread::sleep_for(100ms);
  if (!socket.valid() || !PeerIsThisUser(socket.get()) || guests_.size() >= kMaxGuests) return;
  auto session = std::make_unique<ContextSession>(std::move(socket), house_);
  ContextSession& served = *session;
  guests_.push_back({std::move(session), std::jthread([&served] { served.Serve(); })});
}

void ContextKeeper::Reap() {
  std::uint64_t times = 0;
  (void)!::read(wake_.get(), &times, sizeof times);
  if (!guests_.empty()) last_guest_ = std::chrono::steady_clock::now();
  if (!house_.Ending()) guests_.remove_if([](const Guest& guest) { return guest.session->Done(); });
}

bool ContextKeeper::LeaveWhenIdle() {
  const bool unreachable = place_.Socket() != socket_;
  const bool idle = contexts_.List().empty() && std::chrono::steady_clock::now() - last_guest_ >= idle_;
  if (!guests_.empty() || (!unreachable && !idle)) return false;
  const auto lock = place_.Lock(base::Deadline::After(0s));
  if (!lock) return false;
  pollfd door{listener_.get(), POLLIN, 0};
  if (::poll(&door, 1, 0) > 0) return false;
  if (place_.Socket() == socket_) place_.Remove();
  listener_.Reset();
  return true;
}

std::chrono::milliseconds ContextKeeper::Pause() const {
  return std::clamp<std::chrono::milliseconds>(idle_ / 4, 100ms, kLongestPause);
}

base::Status ContextKeeper::Serve(const SignalWatch& signals) {
  for (;;) {
    std::array entries = {pollfd{listener_.get(), POLLIN, 0}, pollfd{signals.interrupt_fd(), POLLIN, 0},
                          pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), static_cast<int>(Pause().count())) < 0 && errno != EINTR)
      return os::ErrnoErr("poll");
    if (entries[0].revents != 0) Accept();
    Reap();
    if (signals.signal() != 0 || house_.Ending()) break;
    contexts_.Sweep();
    if (LeaveWhenIdle()) return {};
  }
  const auto lock = place_.Lock(base::Deadline::After(kLockPatience));
  if (place_.Socket() == socket_) place_.Remove();
  return {};
}

Command ContextKeeperCommand(const Context& context) {
  auto idle = std::make_shared<unsigned>(kDefaultIdleSeconds);
  return {.name = "context-keeper",
          .description = "Keeps contexts; started by skerry run --context",
          .options = {{.names = "--idle",
                       .value = Value::Text(),
                       .description = "Seconds without contexts and clients after which it ends",
                       .to = idle.get()}},
          .action = [=, &context] { return Keep(context, *idle); },
          .visibility = Visibility::kHidden};
}

}  // namespace skerry::cli

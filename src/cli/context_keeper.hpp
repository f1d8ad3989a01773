// The keeper: a process in the background that has this user's contexts until the daemon takes that over.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <thread>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "cli/command.hpp"
#include "cli/context_place.hpp"
#include "cli/context_session.hpp"
#include "cli/keeper_approvals.hpp"
#include "cli/signal_watch.hpp"

namespace skerry::cli {

// Serves clients until it is told to stop, by one of them or by a signal, or until there has been no context and no
// client for `idle`. A context that nobody has used for that long is removed. The destructor ends all sandboxes.
class ContextKeeper {
 public:
  ContextKeeper(const Context& context, KeeperPlace place, base::UniqueFd listener, std::chrono::seconds idle);
  ContextKeeper(const ContextKeeper&) = delete;
  ContextKeeper& operator=(const ContextKeeper&) = delete;
  ~ContextKeeper();

  base::Status Serve(const SignalWatch& signals);

 private:
  struct Guest {
    std::unique_ptr<ContextSession> session;
    std::jthread thread;
  };

  base::Result<engine::ContextPlace> MakeSandbox();
  base::Result<std::shared_ptr<const engine::Gate>> MakeGate();
  base::Result<core::BackendRegistry*> Backends(const config::Sandbox& settings);
  void Accept();
  void Reap();
  // Gives the place up, unless somebody is at the door.
  bool LeaveWhenIdle();
  [[nodiscard]] std::chrono::milliseconds Pause() const;

  const Context& context_;
  KeeperPlace place_;
  base::UniqueFd listener_;
  std::chrono::seconds idle_;
  unsigned long socket_;  // ours, in the place
  base::UniqueFd wake_;
  std::mutex mutex_;
  std::unique_ptr<core::BackendRegistry> registry_;  // made at the first use
  KeeperApprovals approvals_;
  engine::ContextManager contexts_;
  KeeperHouse house_;
  std::list<Guest> guests_;
  std::chrono::steady_clock::time_point last_guest_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::cli

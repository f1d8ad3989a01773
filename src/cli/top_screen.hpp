// TopScreen: skerry top at a terminal.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "cli/daemon_client.hpp"
#include "cli/key_terminal.hpp"
#include "cli/top_state.hpp"

namespace skerry::cli {

struct TopOptions {
  std::optional<std::string> session;
  TopSort sort = TopSort::kCpu;
  std::chrono::milliseconds interval{1000};
};

// The sandboxes of one session, or of all.
base::Result<nlohmann::ordered_json> AskSandboxes(DaemonClient& daemon, const std::optional<std::string>& session);
// How many approvals wait; nothing for a token that may not know.
std::optional<std::uint64_t> CountWaiting(DaemonClient& daemon);

// For one thread.
class TopScreen {
 public:
  TopScreen(DaemonClient daemon, TopOptions options)
      : daemon_(std::move(daemon)), options_(std::move(options)), state_(options_.sort) {}
  // The exit code, when the person has quit.
  base::Result<int> Run();

 private:
  base::Status Refresh();
  void RefreshOrTell();
  void Await();
  void TakeKeys();
  void EndRuns(const SandboxReading& whom);
  void Paint();

  DaemonClient daemon_;
  const TopOptions options_;
  TopState state_;
  std::optional<std::uint64_t> waiting_;
  std::string notice_;
  base::Deadline next_ = base::Deadline::Never();
  bool done_ = false;
  std::optional<KeyTerminal> terminal_;
};

}  // namespace skerry::cli

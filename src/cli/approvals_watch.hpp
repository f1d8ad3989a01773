// skerry approvals watch: questions as they come; the person answers with a key.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/deadline.hpp"
#include "cli/approval_calls.hpp"
#include "cli/daemon_client.hpp"
#include "cli/event_feed.hpp"
#include "cli/key_terminal.hpp"
#include "cli/question_round.hpp"

namespace skerry::cli {

struct WatchOptions {
  std::optional<std::string> session;
  enum class Until { kQuit, kFirstIsOver };
  Until until = Until::kQuit;
};

// Without a terminal: each event in a line on stdout, as the daemon sends it; nobody is asked.
base::Result<int> FollowApprovals(const DaemonClient& daemon, const WatchOptions& options);

// At a terminal. For one thread.
class ApprovalsWatch {
 public:
  ApprovalsWatch(const DaemonClient& daemon, WatchOptions options);
  // The exit code, when the person has quit.
  base::Result<int> Run();

 private:
  base::Status Connect();
  base::Status ConnectAgain();
  base::Status Synchronize();
  void Await();
  base::Status TakeEvents();
  base::Status TakeEvent(const nlohmann::ordered_json& event);
  base::Status TakeQuestion(const std::string& id);

  void TakeKeys();
  void Press(const Key& key);
  void PressWhileTyping(const Key& key);
  void Answer(const PersonsWord& word);
  void ViewWhole();

  void Remove(const std::string& id, const std::string& word);
  void ShowFront();
  void Say(std::string_view words);
  void PaintStatus();
  [[nodiscard]] static std::size_t Width();

  DaemonClient daemon_;
  const WatchOptions options_;
  EventFeed feed_;
  QuestionRound round_;
  RoundStatus status_;
  std::string shown_;    // id of the question on the screen
  std::string painted_;  // the last row
  base::Deadline keys_from_ = base::Deadline::Never();
  base::Deadline next_try_ = base::Deadline::Never();
  std::chrono::milliseconds pause_{0};
  bool keys_there_ = false;
  bool events_there_ = false;
  bool done_ = false;
  std::optional<KeyTerminal> terminal_;
};

}  // namespace skerry::cli

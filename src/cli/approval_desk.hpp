// ApprovalDesk: puts a question of the daemon to the person at the terminal.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include <nlohmann/json_fwd.hpp>

#include "cli/daemon_client.hpp"
#include "cli/progress.hpp"
#include "confirm/confirmation.hpp"

namespace skerry::cli {

// An Approval of the contract as a question.
confirm::Question QuestionFrom(const nlohmann::ordered_json& approval);

// What becomes of a question when there is no terminal: somebody else may answer it, or nobody can.
enum class Unattended { kWaits, kRejected };

// The question is asked beside, so that what the run says meanwhile is not missed: the answer may come from somewhere
// else. Of one thread.
class ApprovalDesk {
 public:
  explicit ApprovalDesk(const DaemonClient& daemon, Unattended unattended = Unattended::kWaits)
      : daemon_(daemon), unattended_(unattended) {}
  ApprovalDesk(const ApprovalDesk&) = delete;
  ApprovalDesk& operator=(const ApprovalDesk&) = delete;
  ~ApprovalDesk() { Withdraw(); }

  // `notice` is an ApprovalEvent. Without a terminal a note says what the run waits for, where it does.
  void Ask(const nlohmann::ordered_json& notice);
  // Nobody waits for the answer any more. Returns when the terminal is free.
  void Withdraw();
  [[nodiscard]] bool IsAsking() const { return asking_; }

 private:
  void Converse(const std::string& id, base::Deadline deadline, const std::stop_token& stop);

  const DaemonClient& daemon_;
  Unattended unattended_;
  std::atomic<bool> asking_ = false;
  std::optional<Spinner> waiting_;  // for an answer from elsewhere
  std::jthread thread_;
};

}  // namespace skerry::cli

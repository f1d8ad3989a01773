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

// What becomes of a question when there is no terminal: another person may answer it, or it is rejected.
enum class Unattended { kWaits, kRejected };

// Asks in a thread of its own, so that the run's messages are not missed meanwhile: the answer may come from another
// client. For one thread.
class ApprovalDesk {
 public:
  explicit ApprovalDesk(const DaemonClient& daemon, Unattended unattended = Unattended::kWaits)
      : daemon_(daemon), unattended_(unattended) {}
  ApprovalDesk(const ApprovalDesk&) = delete;
  ApprovalDesk& operator=(const ApprovalDesk&) = delete;
  ~ApprovalDesk() { Withdraw(); }

  // `notice` is an ApprovalEvent. Without a terminal a note says what the run waits for, unless the question is
  // rejected.
  void Ask(const nlohmann::ordered_json& notice);
  // The answer is not needed any more. Returns when the terminal is free.
  void Withdraw();
  [[nodiscard]] bool IsAsking() const { return asking_; }

 private:
  void Converse(const std::string& id, base::Deadline deadline, const std::stop_token& stop);

  const DaemonClient& daemon_;
  Unattended unattended_;
  std::atomic<bool> asking_ = false;
  std::optional<Spinner> waiting_;  // shown until another client answers
  std::jthread thread_;
};

}  // namespace skerry::cli

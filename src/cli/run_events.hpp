// RunEvents: the daemon's events of a run while it goes on.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/approval_desk.hpp"
#include "cli/daemon_client.hpp"
#include "cli/program_sink.hpp"
#include "cli/signal_watch.hpp"
#include "net/event_parser.hpp"

namespace skerry::cli {

enum class Output { kPassedOn, kCollected };

// From construction on signals cancel the run. For one thread; `daemon` is borrowed.
class RunEvents {
 public:
  RunEvents(const DaemonClient& daemon, Output output, Shown shown, Unattended unattended = Unattended::kWaits)
      : daemon_(daemon), output_(output), sink_(shown, signals_.interrupt_fd()), desk_(daemon, unattended) {}

  // Until the run has ended. Questions go to the person; a signal, or a reader of stdout that has left, cancels the
  // run.
  base::Status Follow(net::Incoming& answer);

  // An ExecutionSummary.
  [[nodiscard]] const nlohmann::ordered_json& result() const { return result_; }
  [[nodiscard]] const std::string& standard_output() const { return standard_output_; }
  [[nodiscard]] const std::string& standard_error() const { return standard_error_; }
  [[nodiscard]] int write_error() const { return sink_.error(); }
  // The signal that cancelled the run, or 0.
  [[nodiscard]] int signal() const { return signals_.signal(); }
  // The error of a run that could not be begun or finished.
  [[nodiscard]] base::Status Failure() const;
  // The program's own exit code, unless a signal or the loss of the reader of stdout cancelled the run.
  [[nodiscard]] int ExitCode() const;

 private:
  void Take(const net::ServerEvent& event);
  void TakeOutput(core::Stream stream, const nlohmann::ordered_json& piece);
  void Cancel();

  const DaemonClient& daemon_;
  Output output_;
  SignalWatch signals_;
  ProgramSink sink_;
  ApprovalDesk desk_;
  std::string execution_;
  nlohmann::ordered_json result_;
  std::string standard_output_;
  std::string standard_error_;
  bool reader_left_ = false;
  bool ended_ = false;
  std::optional<base::Deadline> patience_;  // since the run was cancelled
};

// The error in a result: of a run that the daemon could not begin or finish.
base::Status FailureIn(const nlohmann::ordered_json& result);

}  // namespace skerry::cli

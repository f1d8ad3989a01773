// Attachment: the person's terminal or pipes, connected to a command in a session.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/approval_desk.hpp"
#include "cli/daemon_client.hpp"
#include "cli/program_sink.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/run_events.hpp"
#include "cli/signal_watch.hpp"

namespace skerry::cli {

enum class Input { kNone, kPassedOn };
enum class Window { kNone, kRaw };

struct AttachmentOptions {
  Input input = Input::kNone;
  Window window = Window::kNone;  // kRaw: every key goes to the command, and the size of the window with it
  Output output = Output::kPassedOn;
  Shown shown = Shown::kLines;
};

// From construction on signals go to the command; the second one ends this process. For one thread; what is given is
// borrowed.
class Attachment {
 public:
  Attachment(net::WebSocket& socket, const DaemonClient& daemon, AttachmentOptions options)
      : socket_(socket), options_(options), sink_(options.shown, signals_.interrupt_fd()), desk_(daemon) {}

  // Until the command has ended, the reader of stdout has left, or a signal came while the command waited for a person.
  // Gives the notice of the command's end; nothing in the other cases.
  base::Result<std::optional<nlohmann::ordered_json>> Run();

  [[nodiscard]] const std::string& standard_output() const { return standard_output_; }
  [[nodiscard]] const std::string& standard_error() const { return standard_error_; }
  [[nodiscard]] int write_error() const { return sink_.error(); }
  [[nodiscard]] int signal() const { return signals_.signal(); }

 private:
  enum class Ready { kNothing, kSocket };
  void FollowTerminal();
  Ready Await();
  base::Status HeedSignals();
  base::Status PassOnInput();
  base::Status TakeMessage();
  void TakeOutput(const std::string& message);
  base::Status Say(const nlohmann::ordered_json& words);

  net::WebSocket& socket_;
  AttachmentOptions options_;
  SignalWatch signals_;
  ProgramSink sink_;
  ApprovalDesk desk_;
  std::optional<RawTerminal> raw_;
  bool input_ready_ = false;
  bool room_ = false;   // the daemon takes more input
  bool asked_ = false;  // the command waits for a person, and has written nothing since
  bool left_ = false;   // the reader of stdout has left, or the command was interrupted before it ran
  std::optional<nlohmann::ordered_json> end_;
  std::string standard_output_;
  std::string standard_error_;
};

}  // namespace skerry::cli

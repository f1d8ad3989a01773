// A command for a sandbox, the process that it becomes, and its result.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/execution.hpp"

namespace skerry::core {

// Code in a language, started by the interpreter that the sandbox has; or a command with its arguments.
struct Code {
  Language language = Language::kPython;
  std::string text;
  std::string name;                    // what the code finds as its own name; "" for that of code without a file
  std::vector<std::string> arguments;  // what it finds behind that
};
using Arguments = std::vector<std::string>;

struct TerminalSize {
  std::uint64_t rows = 24;
  std::uint64_t columns = 80;

  bool operator==(const TerminalSize&) const = default;
};

// What is ended by a command's timeout and by a request to stop. Processes that a command leaves behind when it ends by
// itself go on, until their sandbox is stopped.
enum class Reach {
  kSandbox,  // every process in the sandbox
  kCommand,  // the command with the processes that it started; others go on
};

// What the program reads after the bytes of Command::input.
enum class InputEnd {
  kClosed,  // the end of the program's input
  kOpen,    // the bytes of Process::Feed, until Process::CloseInput
};

struct Command {
  std::variant<Code, Arguments> program;
  Reach ends = Reach::kSandbox;
  std::string directory;  // inside the sandbox, absolute or in the workspace; "" is the workspace
  std::map<std::string, std::string> environment;  // on top of the clean environment of every sandbox
  std::chrono::milliseconds timeout{30'000};
  // After this long the whole sandbox is ended, even if the process that uses it is stopped and cannot keep the time: a
  // backend on this machine needs somebody else for that. Zero for never.
  std::chrono::milliseconds lifetime{0};
  std::uint64_t max_output_bytes = 10U << 20U;  // of both streams together; further output is read and dropped
  std::string input;                            // the bytes that the program reads first
  InputEnd input_end = InputEnd::kClosed;
  // The program gets a terminal in place of three streams; what the terminal shows goes to the sink as stdout.
  std::optional<TerminalSize> terminal;
};

// The result of a command without its output, which went to the sink.
struct CommandResult {
  Outcome outcome;
  StartKind start = StartKind::kExec;
  bool output_truncated = false;
  std::uint64_t output_bytes = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::vector<LimitReached> limits_reached;
};

// The outcomes that a backend gives by itself: the timeout came, the caller asked to stop, the sandbox was lost.
Outcome EndedByTimeout(std::chrono::milliseconds timeout);
Outcome EndedByStop();
Outcome EndedByLoss();

// The result of a command that could not be launched within its time, or whose caller asked to stop meanwhile; any
// other error stays an error.
base::Result<CommandResult> ResultOfLaunch(const base::Error& error, std::chrono::milliseconds timeout,
                                           const std::stop_token& stop);

// A command that a sandbox has begun to run. Its sandbox and the sink of its output outlive it.
//
// Await belongs to the thread that launched the process. The other methods may be called by any thread while Await
// waits, and only AwaitRoom waits. Destroyed before its end, the process is ended as by a request to stop.
class Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  virtual ~Process() = default;

  // Gives how many of the bytes were taken: fewer when the program is slow to read. kConflict when the input is closed
  // or the program has closed its end.
  virtual base::Result<std::size_t> Feed(std::string_view bytes) = 0;
  // Waits until Feed may take more. False at the deadline.
  [[nodiscard]] virtual bool AwaitRoom(base::Deadline deadline) = 0;
  // kConflict when the input is closed already; kUnavailable when there is no room for the sign of the end: to be
  // called again after AwaitRoom.
  virtual base::Status CloseInput() = 0;
  // Sends a signal to the program and its process group. kUnavailable where the backend cannot.
  virtual base::Status Signal(int number) = 0;
  // kConflict when the process has no terminal.
  virtual base::Status Resize(const TerminalSize& size) = 0;

  // Blocks until the program has ended, was ended at its timeout, or `stop` was requested. An error means that the
  // sandbox failed; how the program ended is in the result. Called once.
  virtual base::Result<CommandResult> Await(std::stop_token stop) = 0;
};

}  // namespace skerry::core

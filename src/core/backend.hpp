// One interface for every isolation (S5.1). A backend makes sandboxes; a sandbox runs commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "core/execution.hpp"
#include "core/output_sink.hpp"

namespace skerry::core {

// Code in a language, started by the interpreter that the sandbox has; or a command with its arguments.
struct Code {
  Language language = Language::kPython;
  std::string text;
};
using Arguments = std::vector<std::string>;

struct Command {
  std::variant<Code, Arguments> program;
  std::map<std::string, std::string> environment;  // on top of the clean one that every sandbox has
  std::chrono::milliseconds timeout{30'000};
  std::uint64_t max_output_bytes = 10U << 20U;  // of both streams together; what is more is read and dropped
  int input_fd = -1;                            // copied to the program's stdin until its end; -1 for none
};

// What came of a command, apart from its bytes, which went to the sink.
struct CommandResult {
  Outcome outcome;
  bool output_truncated = false;
  std::uint64_t output_bytes = 0;
  std::uint64_t memory_peak_bytes = 0;
};

struct SandboxLimits {
  std::uint64_t memory_mb = 512;
  std::uint64_t pids = 256;
  std::uint64_t cpu_percent = 0;  // 0: no quota
  std::uint64_t open_files = 1024;
  std::uint64_t file_mb = 1024;
  std::uint64_t tmp_mb = 64;
};

enum class WorkspaceOwner {
  kSkerry,  // made for this sandbox
  kPerson,  // somebody's directory
};

struct SandboxSpec {
  std::string workspace;  // absolute path on the host
  // That directory, open; borrowed for the life of the sandbox. Backends that can use it instead of the path do: names
  // can be exchanged. -1 for none.
  int workspace_fd = -1;
  WorkspaceOwner workspace_owner = WorkspaceOwner::kSkerry;
  SandboxLimits limits;
  // After this long the sandbox is ended even if nobody asks for it; zero for never.
  std::chrono::milliseconds lifetime{0};
};

// Used by one thread at a time. Destruction stops it.
class Sandbox {
 public:
  Sandbox() = default;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  virtual ~Sandbox() = default;

  virtual base::Status Start() = 0;

  // Blocks until the command has ended, was ended at its timeout, or `stop` was requested. kNotStarted before Start. An
  // error means that the sandbox failed; how the program fared is in the result. A timeout ends every process inside.
  virtual base::Result<CommandResult> Execute(const Command& command, OutputSink& sink, std::stop_token stop) = 0;

  // Ends every process inside and gives everything back. May be called again.
  virtual base::Status Stop() = 0;

  [[nodiscard]] virtual bool IsRunning() const = 0;
  // On the host. Usually that of the specification; a backend may have put it where its programs can reach it.
  [[nodiscard]] virtual std::string Workspace() const = 0;
  [[nodiscard]] virtual std::vector<std::string> Degraded() const = 0;  // known after Start
};

enum class IsolationLevel { kNone, kProcess, kNamespaces };

struct Availability {
  bool usable = false;
  std::string detail;  // what it is, or why not and what to do about it
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view Name() const = 0;
  [[nodiscard]] virtual IsolationLevel Isolation() const = 0;
  [[nodiscard]] virtual Availability Probe() const = 0;
  virtual base::Result<std::unique_ptr<Sandbox>> Create(const SandboxSpec& spec) = 0;
};

}  // namespace skerry::core

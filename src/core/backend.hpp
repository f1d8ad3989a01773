// One interface for every isolation (S5.1). A backend makes sandboxes; a sandbox runs commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "core/context.hpp"
#include "core/execution.hpp"
#include "core/output_sink.hpp"
#include "core/usage.hpp"

namespace skerry::core {

// Code in a language, started by the interpreter that the sandbox has; or a command with its arguments.
struct Code {
  Language language = Language::kPython;
  std::string text;
};
using Arguments = std::vector<std::string>;

struct TerminalSize {
  std::uint64_t rows = 24;
  std::uint64_t columns = 80;
};

// What a command's timeout and a request to stop end.
enum class Reach {
  kSandbox,  // every process inside
  kCommand,  // the command with what it started; others go on
};

struct Command {
  std::variant<Code, Arguments> program;
  Reach ends = Reach::kSandbox;
  std::string directory;                           // inside, absolute or in the workspace; "" is the workspace
  std::map<std::string, std::string> environment;  // on top of the clean one that every sandbox has
  std::chrono::milliseconds timeout{30'000};
  // After this long the whole sandbox is ended even if its user is stopped and cannot keep the time; zero for never.
  std::chrono::milliseconds lifetime{0};
  std::uint64_t max_output_bytes = 10U << 20U;  // of both streams together; what is more is read and dropped
  int input_fd = -1;                            // copied to the program's stdin until its end; -1 for none
  // A terminal for the program in place of three streams; what it shows goes to the sink as stdout. `resized_fd` is
  // readable when `terminal_size` has a new answer; -1 for a window that keeps its size.
  std::optional<TerminalSize> terminal;
  int resized_fd = -1;
  std::function<TerminalSize()> terminal_size;
  int signal_fd = -1;  // each byte that is read from it is the number of a signal for the command and its group
};

// What came of a command, apart from its bytes, which went to the sink.
struct CommandResult {
  Outcome outcome;
  StartKind start = StartKind::kExec;
  bool output_truncated = false;
  std::uint64_t output_bytes = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::vector<LimitReached> limits_reached;
};

struct SandboxLimits {
  std::uint64_t memory_mb = 512;
  std::uint64_t pids = 256;
  std::uint64_t cpu_percent = 0;  // 0: no quota
  std::uint64_t open_files = 1024;
  std::uint64_t file_mb = 1024;
  std::uint64_t tmp_mb = 64;
  std::uint64_t disk_mb = 1024;  // of what is written to the workspace
  std::uint64_t disk_files = 65'536;

  bool operator==(const SandboxLimits&) const = default;
};

enum class WorkspaceOwner {
  kSkerry,  // made for this sandbox
  kPerson,  // somebody's directory
};

// A file or directory of the host that a sandbox sees besides its workspace.
enum class BindAccess { kReadOnly, kReadWrite };
struct HostBind {
  std::string source;  // absolute and real, on the host
  std::string target;  // absolute, inside
  BindAccess access = BindAccess::kReadOnly;
  int fd = -1;  // the source, open; borrowed for the life of the sandbox
};

// A root file system in place of the host's programs.
struct RootFileSystem {
  std::string path;
  int fd = -1;                           // that directory, open; borrowed
  std::vector<std::string> environment;  // "NAME=value"
};

// What becomes of changes in a workspace directory.
enum class WorkspaceChanges {
  kApart,    // they stay in a layer of the sandbox until somebody commits them
  kInPlace,  // programs write to the directory itself
};

// An interpreter that a sandbox has waiting from its start, for the first program in that language.
enum class Preload { kNone, kShell, kPython, kPythonData, kJavaScript };
std::string_view NameOf(Preload kind);

// When the machine cannot keep a limit that was asked for.
enum class Demand { kWhatIsPossible, kEverything };

struct SandboxSpec {
  // Absolute path on the host. Empty: an empty directory of the sandbox's own that is gone with it.
  std::string workspace;
  // That directory, open; borrowed for the life of the sandbox. Backends that can use it instead of the path do: names
  // can be exchanged. -1 for none.
  int workspace_fd = -1;
  WorkspaceOwner workspace_owner = WorkspaceOwner::kSkerry;
  WorkspaceChanges workspace_changes = WorkspaceChanges::kApart;
  std::vector<HostBind> binds;
  std::vector<std::string> hidden;  // absolute paths inside that may not be read
  std::optional<RootFileSystem> root;
  SandboxLimits limits;
  Demand demand = Demand::kEverything;
  Preload preload = Preload::kNone;  // as far as the backend can
};

// What commands wrote to a workspace and its directory does not have yet.
struct WorkspaceView {
  int changes = -1;  // an open directory: the upper layer of an overlay, or simply all there is
  int merged = -1;   // the workspace as commands see it
  int root = -1;     // all that they see, as a path only; empty when the sandbox has gone. -1 where that cannot be had
  bool layered = false;
};

// Used by one thread at a time; only commands that end nothing but themselves (Reach::kCommand) and the contexts of a
// sandbox run beside each other, each in its own thread, and Freeze, Thaw and OpenContext may be called meanwhile.
// Destruction stops it.
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

  // An interpreter that keeps its state; the sandbox must be started and stay. What does not heed an interrupt costs
  // the context its life, or with Reach::kSandbox everything inside. kUnavailable where the backend has none.
  virtual base::Result<std::unique_ptr<Context>> OpenContext(Language language, Reach ends = Reach::kSandbox);

  // Every process inside stands still until Thaw. kUnavailable where that cannot be had.
  virtual base::Status Freeze();
  virtual base::Status Thaw();

  // Sends every process inside to its end and does not wait for it; Stop does. Nothing else may follow.
  virtual void BeginStop() {}

  // All that runs inside has one of `parts` parts of what a sandbox has of the processors beside others. May be called
  // as Usage. False where that could not be done now; true also where it cannot be done at all.
  virtual bool ShareProcessors(std::uint32_t parts);

  // Ends every process inside and gives everything back. May be called again.
  virtual base::Status Stop() = 0;

  [[nodiscard]] virtual bool IsRunning() const = 0;
  // On the host. Usually that of the specification; a backend may have put it where its programs can reach it. Empty
  // when the workspace is the sandbox's own.
  [[nodiscard]] virtual std::string Workspace() const = 0;
  // Known after Start, valid until the next Start or destruction, also when the sandbox is stopped. Nothing when
  // commands write to the directory itself.
  [[nodiscard]] virtual std::optional<WorkspaceView> View() const { return std::nullopt; }
  [[nodiscard]] virtual std::vector<std::string> Degraded() const = 0;  // known after Start
  // What it uses now (S10.1). May be called by another thread while commands run, and does not wait for them.
  // kUnavailable where nobody can tell, or not at this moment.
  [[nodiscard]] virtual base::Result<SandboxUsage> Usage() const;
};

inline base::Result<std::unique_ptr<Context>> Sandbox::OpenContext(Language, Reach) {
  return base::Err(base::Code::kUnavailable, "this sandbox has no contexts; use the native one");
}

inline base::Status Sandbox::Freeze() {
  return base::Err(base::Code::kUnavailable, "this sandbox cannot be frozen");
}

inline base::Result<SandboxUsage> Sandbox::Usage() const {
  return base::Err(base::Code::kUnavailable, "this sandbox cannot tell what it uses");
}

inline bool Sandbox::ShareProcessors(std::uint32_t) {
  return true;
}

inline base::Status Sandbox::Thaw() {
  return {};
}

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

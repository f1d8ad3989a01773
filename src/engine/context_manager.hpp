// ContextManager: contexts by name, in sandboxes that its owner makes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "core/context.hpp"

namespace skerry::engine {

// Where a context lives.
struct ContextPlace {
  std::shared_ptr<core::Sandbox> sandbox;  // started, and alive as long as it is held
  std::string backend;                     // the backend's name
  std::vector<std::string> notes;          // what was asked for and could not be had
};

struct ContextOptions {
  // Called by several threads at once.
  std::function<base::Result<ContextPlace>(core::Language)> make_sandbox;
  core::Reach ends = core::Reach::kSandbox;
  // Of a context that is opened. May be empty.
  std::function<base::Result<std::map<std::string, std::string>>()> environment;
  std::size_t max_contexts = 16;
  std::chrono::milliseconds idle_timeout{std::chrono::minutes(30)};
  std::chrono::milliseconds fork_timeout{std::chrono::minutes(1)};  // for each step of a fork
  std::uint64_t max_fork_bytes = 1U << 30U;                         // of all files together
};

enum class ContextCondition {
  kIdle,
  kBusy,
  kDead,  // lost with its variables; Restart makes a new context under the name
};
std::string_view NameOf(ContextCondition condition);

struct ContextSummary {
  std::string name;
  core::Language language = core::Language::kPython;
  ContextCondition condition = ContextCondition::kIdle;
  std::uint64_t cells = 0;  // run since the context was made or restarted
  std::chrono::system_clock::time_point created;
  std::chrono::system_clock::time_point last_used;
  core::StartKind start = core::StartKind::kExec;
  std::vector<std::string> degraded;  // what this machine could not enforce
};

// Whether a cell makes the context that it names, where there is none of that name.
enum class Creation { kNever, kIfMissing };

// The result of a cell, and its context afterwards.
struct CellRun {
  core::CellResult result;
  ContextSummary context;
};

// What a fork of a context could not take along.
struct ForkReport {
  std::vector<std::string> variables;
  std::vector<std::string> files;  // in the words of tar
};

// Letters, digits and ._- of ASCII, 1 to 64.
base::Status CheckContextName(std::string_view name);

// Thread-safe. Contexts run beside each other; each does one thing at a time, and any other call is kConflict
// meanwhile. The destructor ends all contexts; no call may be under way then.
class ContextManager {
 public:
  explicit ContextManager(ContextOptions options) : options_(std::move(options)) {}
  ContextManager(const ContextManager&) = delete;
  ContextManager& operator=(const ContextManager&) = delete;
  ~ContextManager();

  // Runs a cell that was admitted already (SandboxManager does that). Makes the context when there is none of that
  // name. kConflict when the context is busy or of another language, kNotStarted when it is dead: the result of the
  // cell in which it died has said so.
  base::Result<CellRun> Run(const std::string& name, core::Language language, const core::Cell& cell,
                            core::OutputSink& sink, std::stop_token stop);

  // Makes the context without running anything. kConflict when there is one of that name.
  base::Result<ContextSummary> Create(const std::string& name, core::Language language);

  [[nodiscard]] std::vector<ContextSummary> List() const;  // by name
  [[nodiscard]] base::Result<ContextSummary> Find(const std::string& name) const;

  // The text of earlier cells that may have changed where the next cell looks for files.
  [[nodiscard]] std::string BeforeOf(const std::string& name) const;

  // Interrupts what happens in the context. False when nothing does.
  base::Result<bool> Interrupt(const std::string& name);

  // A new sandbox and a fresh interpreter under the same name. A cell that runs is interrupted first.
  base::Status Restart(const std::string& name);
  // A cell that runs is interrupted first.
  base::Status Remove(const std::string& name);
  void RemoveAll();

  // Makes a second context with the same variables and a copy of the files, unless both share one sandbox and so the
  // files. kConflict when the first is busy or the second exists, kUnavailable where the language cannot fork.
  base::Result<ForkReport> Fork(const std::string& name, const std::string& new_name);

  // Removes contexts that were not used for the idle timeout. To be called now and then.
  void Sweep();

 private:
  struct Entry;
  using EntryPointer = std::shared_ptr<Entry>;
  class Use;

  base::Result<EntryPointer> Lookup(const std::string& name) const;
  base::Result<Use> Add(const std::string& name, core::Language language);
  base::Result<Use> Claim(const std::string& name, core::Language language);
  base::Result<Use> ClaimAlive(const std::string& name);
  // Interrupts the present use until the caller has the entry.
  base::Result<Use> TakeOver(const std::string& name);
  base::Status Open(Entry& entry) const;
  [[nodiscard]] ContextSummary SummaryOf(const Entry& entry) const;
  void Forget(const Entry& entry);
  void Release(Entry& entry);

  ContextOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::map<std::string, EntryPointer> entries_;
};

}  // namespace skerry::engine

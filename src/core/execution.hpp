// What a caller asks of Skerry, and what Skerry answers (S1.1, S1.2).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/cell.hpp"
#include "core/risk.hpp"

namespace skerry::core {

enum class Language { kPython, kJavaScript, kShell };

std::string_view NameOf(Language language);
// "python", "javascript", "shell" and the names people use for them ("py", "js", "node", "bash", "sh").
base::Result<Language> ParseLanguage(std::string_view name);

inline constexpr std::string_view kAutoSandbox = "auto";

// What becomes of the changes that a run makes in a workspace that outlives it.
enum class Carry {
  kCommit,  // they are carried over
  kShow,    // they are shown, and burned
};

struct ExecutionRequest {
  std::string code;
  Language language = Language::kPython;
  std::chrono::seconds timeout{30};  // 1..300
  std::string sandbox_type{kAutoSandbox};
  std::optional<std::string> session_id;
  std::uint64_t max_memory_mb = 512;
  std::uint64_t max_output_mb = 10;
  // A person's own directory as the workspace; without it a workspace is made for the run and burned.
  std::optional<std::string> workspace;
  // An imported root file system; without it the host's programs.
  std::optional<std::string> image;
  Carry carry = Carry::kCommit;
  // Of a session: the interpreter with variables of its own that runs the code as a cell; "" for a program of its own.
  std::string context;
  // Of a session: the execution that led to this one.
  std::optional<std::string> caused_by;
  // A program with its arguments. `code` is then the same as a shell command, for the policy and for people.
  std::vector<std::string> arguments;
  // Of code that is no cell: what it finds as its name ("" for the usual one) and as its arguments.
  std::string code_name;
  std::vector<std::string> code_arguments;
  // On top of the clean environment. A value "secret:NAME" stands for a secret of the configuration.
  std::map<std::string, std::string> environment;
  std::set<std::string> secrets;      // variables of it whose values nobody may see
  std::string directory;              // inside the sandbox, absolute or in the workspace; "" is the workspace
  std::chrono::seconds longest{300};  // the most that `timeout` may be; more for a session's commands
};

// The arguments as one line of shell.
std::string ShellText(const std::vector<std::string>& arguments);

// Refuses a request that no backend may see: empty code, code that is no UTF-8 or holds a NUL, values out of range.
base::Status Validate(const ExecutionRequest& request);

// How the program ended. Not an error: the sandbox did its work.
enum class OutcomeKind {
  kExited,        // by itself, with exit_code
  kSignalled,     // by a signal that Skerry did not send
  kTimedOut,      // at the wall-clock limit
  kOutOfMemory,   // at the memory limit
  kFileTooLarge,  // at the limit for one file
  kCancelled,     // because the caller went away or asked for it
  kLost,          // with its sandbox, for an unknown reason
  kRejected,      // not run: the risk policy or a person said no
};
std::string_view NameOf(OutcomeKind kind);
std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kExited;
  int exit_code = 0;  // of the program; of the table in base/error.hpp where Skerry ended it; 128 + signal
  int signal = 0;
  std::uint64_t limit = 0;  // the figure of the limit that ended it: seconds or megabytes
  std::string reason;       // why it was rejected; of the other kinds: words in place of the usual ones, or ""

  // One line for people, empty when the program exited by itself.
  [[nodiscard]] std::string Explanation() const;

  bool operator==(const Outcome&) const = default;
};

// How a program's interpreter came to be.
enum class StartKind {
  kWarm,  // it was waiting in the sandbox for a program
  kFork,  // it was forked from an interpreter that had everything loaded
  kExec,  // it was started anew
};
std::string_view NameOf(StartKind kind);
std::optional<StartKind> ParseStartKind(std::string_view name);

// A limit that the program ran into, whether or not that ended it.
struct LimitReached {
  std::string name;  // "memory", "time", "processes", "disk", "files", "file_size", "output", "cpu"
  std::uint64_t limit = 0;
  std::string unit;  // "MB", "s", ""

  auto operator<=>(const LimitReached&) const = default;
};

// A change that was not carried over into a person's directory, or one that was carried over and that a person should
// look at.
struct WithheldFile {
  std::string path;
  std::string reason;

  bool operator==(const WithheldFile&) const = default;
};

// Where the time of a run went.
struct Timings {
  std::chrono::nanoseconds policy{0};    // assessing the risk
  std::chrono::nanoseconds approval{0};  // waiting for a person
  std::chrono::nanoseconds obtain{0};    // getting a sandbox: one that was kept ready, or a new one
  std::chrono::nanoseconds run{0};       // the program
  std::chrono::nanoseconds finish{0};    // what is left ended, changes carried over

  bool operator==(const Timings&) const = default;
};

// What a result of a cell has besides.
struct CellDetails {
  std::string context;
  Language language = Language::kPython;
  std::uint64_t number = 0;  // of the cell in its context, from 1
  std::vector<CellOutput> outputs;
  std::size_t outputs_left_out = 0;  // outputs that a summary does not have
  std::optional<CellError> error;
  bool alive = true;  // false: the context is lost with its variables

  bool operator==(const CellDetails&) const = default;
};

// How many files there are in each list of a result that does not name all of them.
struct FileTotals {
  std::size_t created = 0;
  std::size_t changed = 0;
  std::size_t deleted = 0;
  std::size_t withheld = 0;
  std::size_t to_review = 0;

  bool operator==(const FileTotals&) const = default;
};

// What came of code, of a command or of a cell. One type for all, from the sandbox to the store and to every protocol.
struct ExecutionResult {
  std::string execution_id;  // in the record of a session; empty outside of one
  Outcome outcome;
  RiskSummary risk;
  std::string standard_output;
  std::string standard_error;
  bool output_truncated = false;   // more was written than max_output_mb
  bool output_removed = false;     // some of what was written is not kept any more
  std::uint64_t output_bytes = 0;  // all that was written
  std::string sandbox_type;
  StartKind start = StartKind::kExec;
  std::chrono::milliseconds execution_time{0};
  Timings timings;
  std::uint64_t memory_peak_bytes = 0;     // 0 where the machine does not count
  std::vector<std::string> files_created;  // relative to the workspace, sorted
  std::vector<std::string> files_changed;
  std::vector<std::string> files_deleted;
  std::vector<WithheldFile> files_withheld;
  std::vector<WithheldFile> files_to_review;  // carried over, new, and followed by agents
  std::optional<FileTotals> files_total;      // where the lists above do not have all files
  std::string diff;                           // of Carry::kShow: what would have changed, for people
  std::string approved_by;                    // who or what said yes; empty where nobody was asked
  std::string digest;                         // of everything that the yes was about; empty where nobody was asked
  std::vector<LimitReached> limits_reached;
  std::vector<std::string> degraded;  // what this machine could not enforce
  std::optional<CellDetails> cell;    // none for code and commands

  [[nodiscard]] bool Success() const {
    return outcome.kind == OutcomeKind::kExited && outcome.exit_code == 0 && (!cell || cell->alive);
  }

  bool operator==(const ExecutionResult&) const = default;
};

// How long the lists of files in a result may be: so many names each, and about so many bytes of names each.
struct ListBounds {
  std::size_t names = 0;
  std::size_t bytes = 0;
};
// The bounds of results that a daemon keeps.
inline constexpr ListBounds kKeptLists{.names = 1000, .bytes = std::size_t{128} << 10U};

// Shortens the lists of files; `files_total` says how many there were where that took something away.
void Shorten(ExecutionResult& result, const ListBounds& bounds);

// The short form of a result for lists of runs: without what the program wrote, without the diff and a cell's outputs,
// with the first names of each list of files, long texts cut. Short whatever ran.
ExecutionResult SummaryOf(const ExecutionResult& result);

}  // namespace skerry::core

// The commands as plain values: what each is called, what it takes, where that goes, and what it does. Command lines
// are read with them, and --help, completions and manual pages are made from them, so that no second list can be wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace skerry::cli {

enum class ValueKind {
  kNone,       // a flag
  kText,       // nothing is known of it
  kWords,      // one of a list
  kFile,       // of the person
  kDirectory,  // of the person
  kSession,    // the daemon knows the names
  kApproval,   // the daemon knows the ids
};

// What an option or argument takes, as people are told.
struct Value {
  ValueKind kind = ValueKind::kNone;
  std::string name;                // FILE, SESSION...; "" for a flag, and where --help shall name the type: UINT
  std::vector<std::string> words;  // of kWords

  static Value Text(std::string name = "") { return {.kind = ValueKind::kText, .name = std::move(name)}; }
  static Value File(std::string name = "FILE") { return {.kind = ValueKind::kFile, .name = std::move(name)}; }
  static Value Directory(std::string name = "DIR") { return {.kind = ValueKind::kDirectory, .name = std::move(name)}; }
  static Value Session(std::string name = "SESSION") { return {.kind = ValueKind::kSession, .name = std::move(name)}; }
  static Value Approval(std::string name) { return {.kind = ValueKind::kApproval, .name = std::move(name)}; }
  static Value OneOf(std::string name, std::vector<std::string> words) {
    return {.kind = ValueKind::kWords, .name = std::move(name), .words = std::move(words)};
  }
};

// Where a value goes; what is not given stays as it was. A flag sets a bool, and a list takes all values that are
// given.
using ValueTarget = std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*, unsigned*,
                                 std::uint64_t*, std::optional<std::uint64_t>*, double*>;

// Of numbers. They are compared, and named in errors, as numbers of that type.
struct Positive {};
template <class Number>
struct Range {
  Number least;
  Number most;
};
using Bounds = std::variant<std::monostate, Positive, Range<int>, Range<unsigned>, Range<double>>;

// How many values may stand behind the name of an option that fills a list. Up to two means altogether; the others may
// be given again.
enum class Following { kOne, kUpToTwo, kAny };

enum class Need { kOptional, kRequired };
enum class Visibility { kShown, kHidden };

struct Option {
  std::string names;  // -f,--file
  Value value = {};   // none for a flag
  std::string description;
  ValueTarget to;
  Bounds bounds = {};
  Following following = Following::kOne;
  Visibility visibility = Visibility::kShown;
};

// What stands in its place, without a name.
struct Argument {
  std::string name;  // as errors call it
  Value value;
  std::string description;
  ValueTarget to;
  Need need = Need::kOptional;
};

// The exit code.
using Action = std::function<base::Result<int>()>;

// One with commands below it and no action needs one of them. With both, the action is for a line that names none.
struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<Argument> arguments;
  std::vector<Option> options;
  std::vector<std::string>* rest = nullptr;  // of the line, from its -- on if it has one; null where none may be left
  std::vector<Command> commands;
  Action action;
  const bool* errors_as_json = nullptr;  // where --json is noted, when programs get errors on stdout too
  Visibility visibility = Visibility::kShown;
};

// Every command has this one.
constexpr const char* kHelpNames = "-h,--help";
constexpr const char* kHelpDescription = "Print this help message and exit";

}  // namespace skerry::cli

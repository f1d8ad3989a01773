// The commands as plain values: name, options, targets of the values, action. Command lines are read by them, and
// --help, completions and manual pages are made from them, so that no second list can be wrong.
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
  kText,       // any text
  kWords,      // one of a list
  kFile,       // of the person's
  kDirectory,  // of the person's
  kSession,    // the daemon knows the names
  kApproval,   // the daemon knows the ids
};

// What an option or argument takes, as help texts name it.
struct Value {
  ValueKind kind = ValueKind::kNone;
  std::string name;                // FILE, SESSION...; "" for a flag, and where --help names the type: UINT
  std::vector<std::string> words;  // for kWords

  static Value Text(std::string name = "") { return {.kind = ValueKind::kText, .name = std::move(name)}; }
  static Value File(std::string name = "FILE") { return {.kind = ValueKind::kFile, .name = std::move(name)}; }
  static Value Directory(std::string name = "DIR") { return {.kind = ValueKind::kDirectory, .name = std::move(name)}; }
  static Value Session(std::string name = "SESSION") { return {.kind = ValueKind::kSession, .name = std::move(name)}; }
  static Value Approval(std::string name) { return {.kind = ValueKind::kApproval, .name = std::move(name)}; }
  static Value OneOf(std::string name, std::vector<std::string> words) {
    return {.kind = ValueKind::kWords, .name = std::move(name), .words = std::move(words)};
  }
};

// Where a value goes; a target without a value on the line stays as it was. A flag sets a bool, and a list takes all
// values that are given.
using ValueTarget = std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*, unsigned*,
                                 std::uint64_t*, std::optional<std::uint64_t>*, double*>;

// For numbers. They are compared, and named in errors, as numbers of that type.
struct Positive {};
template <class Number>
struct Range {
  Number least;
  Number most;
};
using Bounds = std::variant<std::monostate, Positive, Range<int>, Range<unsigned>, Range<double>>;

// How many values may follow the name of an option that fills a list. Up to two means altogether; the other options may
// be repeated.
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

// A value that is known by its place, without a name.
struct Argument {
  std::string name;  // for errors
  Value value;
  std::string description;
  ValueTarget to;
  Need need = Need::kOptional;
};

// The exit code.
using Action = std::function<base::Result<int>()>;

// A command with commands below it and no action needs one of them on the line. With both, the action is for a line
// that names none.
struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<Argument> arguments;
  std::vector<Option> options;
  std::vector<std::string>* rest = nullptr;  // the rest of the line, from -- on if it has one; null: none may be left
  std::vector<Command> commands;
  Action action;
  const bool* errors_as_json = nullptr;  // the target of --json, for commands that print errors on stdout too
  Visibility visibility = Visibility::kShown;
};

// Every command has this option.
constexpr const char* kHelpNames = "-h,--help";
constexpr const char* kHelpDescription = "Print this help message and exit";

}  // namespace skerry::cli

// The rules for the shell (S2.4): which commands, used how, are how grave. All of them are data; new rules go into
// shell_rules.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/execution.hpp"
#include "policy/rule.hpp"

namespace skerry::policy {

// What has to be true of a command's arguments for its rule to be broken.
enum class ShellCondition : std::uint8_t {
  kAlways,
  kWord,               // one of the words is an argument
  kPrefix,             // an argument begins with one of the words
  kPart,               // an argument contains one of the words
  kOption,             // one of the options is given: `-f` also inside of `-xf`, `--long` also as `--long=x`
  kEarlyOption,        // the same, before the first argument that is none
  kCode,               // the same, and its value is code for the shell, which is assessed too
  kFirstOperand,       // the first argument that is no option is one of the words
  kLessOrder,          // an argument makes less do more than show: `+!command`
  kGitSetting,         // sets a key of git that is one of the words, begins like one, or ends like one with a dot
  kDevice,             // an argument is a device that can be harmed
  kFile,               // an argument is a file, and no harmless device
  kSystemTree,         // an argument but the last is the root, the home, or a whole tree of the root
  kRecursiveOnSystem,  // any argument is such a tree, with -r, -R or --recursive
};

// A row a rule. Names and words are written with blanks between them. Of a command's rows the first that fits counts.
struct ShellRow {
  std::string_view names;
  ShellCondition condition;
  std::string_view words;
  const Rule* rule;
};
std::span<const ShellRow* const> ShellRowsOf(std::string_view name);

// Every rule of the shell.
std::vector<const Rule*> AllShellRules();

// How the arguments are read of a command that runs another one.
struct ShellWrapper {
  std::string_view names;
  std::string_view value_letters;  // short options that take a value: "un" for -u USER -n 5
  std::string_view value_options;  // long ones
  int operands = 0;                // how many arguments stand before the command
  enum class Tail : std::uint8_t {
    kCommand,  // the rest is a command and its arguments
    kCode,     // the rest, joined, is code for the shell
    kNothing,  // there is no rest
  } tail = Tail::kCommand;
  std::string_view code_letters;  // short options whose value is code for the shell
  std::string_view only_after;    // when given, the first operand has to be this word, or the command runs nothing else
  bool may_be_shell = false;      // without a command the wrapper starts a shell
  const Rule* rule = nullptr;     // the rule that using the wrapper breaks; nullptr: that of any command
};
const ShellWrapper* ShellWrapperOf(std::string_view name);

// A program that runs code.
struct ShellInterpreter {
  std::string_view names;                  // without a version at the end
  std::optional<core::Language> language;  // nothing for a language that is not analysed
  std::string_view code_letters;           // short options whose value is code
  std::string_view code_options;           // long ones
  std::string_view value_letters;
  std::string_view value_options;
};
const ShellInterpreter* ShellInterpreterOf(std::string_view name);

// What a command's name alone says of it.
enum class ShellTrait : std::uint8_t {
  kSafe,              // only shows things, unless a row says otherwise
  kDownload,          // its output comes from elsewhere
  kDecoder,           // its output is not what its input looks like, when kDecoderOptions has no row or one that fits
  kConnection,        // carries its input to another machine
  kPassesOn,          // its output is its input, or its arguments' files
  kKeyword,           // no command at all: the parser lost its way
  kTakesOrders,       // runs commands that it reads from its input, in a language of its own
  kTakesTypedOrders,  // runs commands that are typed at its terminal, whatever else it reads
};
bool HasShellTrait(std::string_view name, ShellTrait trait);
// Whether the decoder decodes: some encode without these options.
bool IsDecoding(std::string_view name, std::span<const std::string_view> arguments);

// Options of a command with a value, as far as they matter for finding its first operand.
struct ShellValueOptions {
  std::string_view name;
  std::string_view letters;
  std::string_view options;
};
ShellValueOptions ValueOptionsOf(std::string_view name);

bool IsStandardDirectory(std::string_view directory);  // where commands are what their name says
bool IsHarmlessDevice(std::string_view path);          // "/dev/null"

extern const Rule kShellCommand;
extern const Rule kShellUnknownCommand;
extern const Rule kShellUnknownCode;
extern const Rule kShellHiddenCode;
extern const Rule kShellNestedCode;
extern const Rule kShellDownloadRun;
extern const Rule kShellRemoveSystem;
extern const Rule kShellRemove;
extern const Rule kShellForkBomb;
extern const Rule kShellReverseShell;
extern const Rule kShellDevice;
extern const Rule kShellSocket;
extern const Rule kShellGitConfig;
extern const Rule kShellGitDiscard;
extern const Rule kShellRedirect;
extern const Rule kShellOrganisation[];  // by RiskLevel

}  // namespace skerry::policy

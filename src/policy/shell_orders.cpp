// Programs that read commands in a language of their own, some of which run programs: `sqlite3`, `ed`, `make -f -`.
#include <algorithm>
#include <array>
#include <iterator>

#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

constexpr std::string_view kDatabases = "sqlite3 psql mysql mariadb";
// Commands of sqlite3 that start nothing and write nowhere.
constexpr std::string_view kSqliteOrders =
    ".tables .table .schema .mode .headers .header .quit .exit .timeout .width .nullvalue .separator .dump .indexes "
    ".indices .databases .show .help .bail .echo .print .stats .timer .changes .fullschema .dbinfo .version .explain "
    ".eqp";
constexpr std::string_view kClientOrders = "system source pager tee edit";  // of mysql
constexpr std::string_view kHarmlessEscapes = "dqxltGnr0Z'\"\\%_";          // letters behind a backslash

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

bool HasGraveEscape(std::string_view line) {
  for (std::size_t at = line.find('\\'); at < line.size(); at = line.find('\\', at + 2))
    if (at + 1 < line.size() && !kHarmlessEscapes.contains(line[at + 1])) return true;
  return false;
}

bool IsHarmlessLine(std::string_view name, std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r;"));
  if (name == "sqlite3") return !line.starts_with('.') || ListsWord(kSqliteOrders, word);
  return !HasGraveEscape(line) && !ListsWord(kClientOrders, InLowerCase(word));
}

// Whether the name stands in the text, and not as a part of a longer word.
bool HasName(std::string_view text, std::string_view name) {
  constexpr std::string_view kBetween = " \t\r\n(,;='";
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || kBetween.contains(text[at - 1]);
    if (begins && (name.ends_with('(') || end == text.size() || kBetween.contains(text[end]))) return true;
  }
  return false;
}

bool HasGraveFunction(std::string_view text) {
  constexpr auto kFunctions =
      std::to_array<std::string_view>({"load_extension(", "writefile(", "edit(", "from program", "to program"});
  const std::string lower = InLowerCase(text);
  return std::ranges::any_of(kFunctions, [&](std::string_view each) { return HasName(lower, each); });
}

// SQL, and commands that only show something.
bool IsHarmlessForDatabase(std::string_view name, std::string_view text) {
  const bool only_holes = text.find_first_not_of(std::string_view("\x01 \t\n", 4)) == std::string_view::npos;
  if (only_holes && text.contains(kShellHole)) return false;
  if (HasGraveFunction(text)) return false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!IsHarmlessLine(name, text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// The options of the clients, some of which have commands as values.
OptionSyntax SyntaxOf(std::string_view name) {
  if (name == "sqlite3")
    return {.value_options = "-init -separator -newline -nullvalue -vfs -mmap -maxsize", .code_options = "-cmd --cmd"};
  if (name == "psql")
    return {.value_letters = "dfhLopPRTUvF",
            .value_options = "--dbname --file --host --log-file --output --port --pset --username --set --variable",
            .code_letters = "c",
            .code_options = "--command"};
  return {.value_letters = "uhPSD",
          .value_options = "--user --host --port --socket --database --defaults-file",
          .code_letters = "e",
          .code_options = "--execute --init-command"};
}

// Finds the commands also in options behind operands.
std::vector<std::string> OrdersIn(ShellArgv argv, const OptionSyntax& syntax) {
  std::vector<std::string> orders;
  while (!argv.empty()) {
    Arguments read = ReadArguments(argv, syntax);
    std::ranges::move(read.code, std::back_inserter(orders));
    argv = argv.subspan(read.first_operand);
  }
  return orders;
}

}  // namespace

const ShellInterpreter* CommandJudge::Foreign() {
  static constexpr ShellInterpreter kForeign{};
  return &kForeign;
}

// A database client gets its commands in arguments, or else reads them.
bool CommandJudge::JudgeDatabase(std::string_view name) {
  const OptionSyntax syntax = SyntaxOf(name);
  // The password behind -p of mysql is no list of option letters.
  Argv words;
  std::ranges::copy_if(argv_, std::back_inserter(words), [&](const std::string& word) {
    return name == "sqlite3" || name == "psql" || !word.starts_with("-p");
  });
  std::vector<std::string> orders = name == "sqlite3" ? ReadArguments(argv_, syntax).code : OrdersIn(words, syntax);
  const std::size_t before = name == "sqlite3" ? orders.size() : 0;
  if (name == "sqlite3") {
    const ShellArgv rest = argv_.subspan(std::min(ReadArguments(argv_, syntax).first_operand + 1, argv_.size()));
    orders.insert(orders.end(), rest.begin(), rest.end());
  }
  const auto file = name == "sqlite3" ? ValueOfOption(argv_, "-init --init")
                    : name == "psql"  ? ValueOfOption(argv_, "-f --file")
                                      : std::nullopt;
  if (file) RunFile(Foreign(), *file);
  report_.budget().Spend(4 * WorkOf(orders));
  const auto harmless = [&](const std::string& order) { return IsHarmlessForDatabase(name, order); };
  if (!std::ranges::all_of(orders, harmless)) Add(kUnknownLanguage);
  return orders.size() == before;
}

// `sqlite3 x`, `sed -f -`
bool CommandJudge::TakesOrders(std::string_view name) {
  if (ListsWord(kDatabases, name)) return JudgeDatabase(name);
  if (ListsWord("m4 gnuplot dc", name)) {
    const std::size_t at = ReadArguments(argv_, {.value_letters = "ef"}).first_operand;
    return at >= argv_.size() || argv_[at] == "-";
  }
  if (HasShellTrait(name, ShellTrait::kTakesOrders)) return true;
  if (!ListsWord("make gmake", name)) return false;
  const auto file = ValueOfOption(argv_, "-f --file --makefile");
  return file && IsStandardInput(*file);
}

void CommandJudge::JudgeOrders(std::string_view name) {
  if (HasShellTrait(name, ShellTrait::kTakesTypedOrders))
    report_.Refer({.kind = CodeReference::Kind::kInput, .is_foreign = true, .is_typed = true}, place_);
  if (!TakesOrders(name)) return;
  if (!ListsWord(kDatabases, name) || input_.kind == Kind::kNone || input_.kind == Kind::kFile)
    return RunFlow(Foreign(), input_);
  report_.budget().Spend(4 * WorkOfReading(input_.text.size()));
  // The content of a database often comes from elsewhere.
  if (input_.kind != Kind::kText) return Add(kShellUnknownCode);
  if (!IsHarmlessForDatabase(name, input_.text)) Add(kUnknownLanguage);
}

}  // namespace skerry::policy

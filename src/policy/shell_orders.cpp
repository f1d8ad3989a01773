// Programs that take orders in a language of their own, some of which run commands: `sqlite3`, `ed`, `make -f -`.
#include <algorithm>
#include <array>

#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_rules.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

constexpr std::string_view kDatabases = "sqlite3 psql mysql mariadb";
// Orders of sqlite3 that start nothing and write nowhere.
constexpr std::string_view kSqliteOrders =
    ".tables .table .schema .mode .headers .header .quit .exit .timeout .width .nullvalue .separator .dump .indexes "
    ".indices .databases .show .help .bail .echo .print .stats .timer .changes .fullschema .dbinfo .version .explain "
    ".eqp";
constexpr std::string_view kClientOrders = "system source pager tee edit";  // of mysql
constexpr std::string_view kHarmlessEscapes = "dqxltGnr0Z'\"\\%_";          // behind a backslash
constexpr std::string_view kGraveFunctions = "load_extension writefile( edit( program";

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

// SQL, and orders that only show something.
bool IsHarmlessForDatabase(std::string_view name, std::string_view text) {
  if (text.contains(kShellHole) && text.find_first_not_of(std::string_view("\x01 \t\n", 4)) == std::string_view::npos)
    return false;
  if (ListsPart(kGraveFunctions, InLowerCase(text))) return false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!IsHarmlessLine(name, text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

const ShellInterpreter* CommandJudge::Foreign() {
  static constexpr ShellInterpreter kForeign{};
  return &kForeign;
}

// Databases have their orders in arguments, or else read them.
bool CommandJudge::JudgeDatabase(std::string_view name) {
  const bool is_sqlite = name == "sqlite3";
  const Arguments read = ReadArguments(
      argv_, {.value_options = is_sqlite ? "-init -separator -newline -nullvalue -vfs -mmap -maxsize" : "",
              .code_options = is_sqlite ? "-cmd --cmd" : ""});
  std::vector<std::string> orders = read.code;
  if (is_sqlite) {
    const auto begin = std::min(read.first_operand + 1, argv_.size());
    orders.insert(orders.end(), argv_.begin() + static_cast<std::ptrdiff_t>(begin), argv_.end());
    if (const auto file = ValueOfOption(argv_, "-init --init")) RunFile(Foreign(), *file);
  } else {
    const std::string_view options = name == "psql" ? "-c --command" : "-e --execute --init-command";
    for (std::string& order : ValuesOfOption(argv_, options)) orders.push_back(std::move(order));
    if (const auto file = name == "psql" ? ValueOfOption(argv_, "-f --file") : std::nullopt) RunFile(Foreign(), *file);
  }
  report_.budget().Spend(4 * WorkOf(orders));
  const auto harmless = [&](const std::string& order) { return IsHarmlessForDatabase(name, order); };
  if (!std::ranges::all_of(orders, harmless)) Add(kUnknownLanguage);
  return orders.size() == read.code.size();
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
  // What a database is filled with often comes from elsewhere.
  if (input_.kind != Kind::kText) return Add(kShellUnknownCode);
  if (!IsHarmlessForDatabase(name, input_.text)) Add(kUnknownLanguage);
}

}  // namespace skerry::policy

// The only file that knows CLI11: it takes seconds to compile.
#include "cli/command_parser.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "base/spelling.hpp"
#include "cli/command_output.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

CLI::Option* AddFor(CLI::App& app, const std::string& names, const ValueTarget& to) {
  const auto add = [&](auto* place) {
    if constexpr (std::is_same_v<decltype(place), bool*>) {
      return app.add_flag(names, *place);
    } else {
      return app.add_option(names, *place);
    }
  };
  return std::visit(add, to);
}

void Describe(CLI::Option& added, const std::string& description, const Value& value) {
  added.description(description);
  if (!value.name.empty()) added.option_text(value.name);
}

struct BoundsCheck {
  CLI::Option& option;

  void operator()(std::monostate) const {}
  void operator()(Positive) const { option.check(CLI::PositiveNumber); }
  void operator()(const auto& range) const { option.check(CLI::Range(range.least, range.most)); }
};

void AddOption(CLI::App& app, const Option& option) {
  CLI::Option* added = AddFor(app, option.names, option.to);
  Describe(*added, option.description, option.value);
  std::visit(BoundsCheck{*added}, option.bounds);
  if (std::holds_alternative<std::vector<std::string>*>(option.to)) {
    if (option.following == Following::kOne) added->allow_extra_args(false);
    if (option.following == Following::kUpToTwo) added->expected(1, 2);
  }
  if (option.visibility == Visibility::kHidden) added->group("");
}

void AddArgument(CLI::App& app, const Argument& argument) {
  CLI::Option* added = AddFor(app, argument.name, argument.to);
  Describe(*added, argument.description, argument.value);
  if (argument.need == Need::kRequired) added->required();
}

void Fill(CLI::App& app, const Command& command) {
  app.footer(command.footer);
  for (const Argument& argument : command.arguments) AddArgument(app, argument);
  for (const Option& option : command.options) AddOption(app, option);
  // CLI11 would split an element of a list that looks like [a,b].
  if (command.rest != nullptr) app.allow_extras();
  if (!command.commands.empty()) app.require_subcommand(command.action ? 0 : 1, 1);
  if (command.visibility == Visibility::kHidden) app.group("");
  for (const Command& below : command.commands) Fill(*app.add_subcommand(below.name, below.description), below);
}

// The command that the line named, as far as it named one.
const CLI::App& NamedBelow(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return used.empty() ? app : NamedBelow(*used.front());
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> CommandsBelow(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty()) names.push_back(below->get_name());
  return names;
}

// What the line has in front of -- that is no option of the command, although it looks like one.
std::optional<std::string> StrayOption(const CLI::App& app) {
  for (const std::string& word : app.remaining(true)) {
    if (word == "--") break;
    if (word.starts_with('-')) return word;
  }
  return std::nullopt;
}

// What is wrong with the line, where a word of it has a slip; "" for other problems.
std::string ProblemOfAWord(const CLI::App& app) {
  const CLI::App& named = NamedBelow(app);
  if (const auto option = StrayOption(app)) {
    const std::string own = named.get_allow_extras() ? "; what is not for skerry comes behind --" : "";
    const std::string name = option->substr(0, option->find('='));
    return "there is no option " + base::Printable(base::Excerpt(*option)) +
           base::DidYouMean(name, name.starts_with("--") ? OptionsOf(named) : std::vector<std::string>()) + own;
  }
  const std::vector<std::string> rest = app.remaining(true);
  const std::vector<std::string> commands = CommandsBelow(named);
  if (rest.empty() || commands.empty()) return "";
  return "there is no command " + base::Printable(base::Excerpt(rest.front())) +
         base::DidYouMean(rest.front(), commands);
}

int ReportUsageError(const CLI::App& app, const std::string& message) {
  const auto used = app.get_subcommands();
  const std::string command = used.empty() ? "" : " " + used.front()->get_name();
  return ReportError({base::Code::kInvalidArgument, message + "; see " + app.get_name() + command + " --help"});
}

// CLI11 gives several lines; people get one, and where to read more.
int ReportUsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::string message = error.what();
  const std::string of_word = ProblemOfAWord(app);
  return ReportUsageError(app, of_word.empty() ? message.substr(0, message.find('\n')) : of_word);
}

int Act(const Command& command) {
  if (!command.action) return 0;
  const bool json = command.errors_as_json != nullptr;
  const base::Result<int> result = command.action();
  return Conclude(result, json && *command.errors_as_json ? Form::kJson : Form::kText);
}

// Runs the action of the command that the line named, or of one above it that needs none below.
int ActAt(const Command& command, const CLI::App& app) {
  if (command.rest != nullptr) *command.rest = app.remaining();
  const auto named = app.get_subcommands();
  if (named.empty()) return Act(command);
  const CLI::App& below = *named.front();
  return ActAt(*std::ranges::find(command.commands, below.get_name(), &Command::name), below);
}

}  // namespace

int RunCommandLine(const Command& root, int argc, const char* const* argv) {
  CLI::App app(root.description, root.name);
  app.set_help_flag(kHelpNames, kHelpDescription);
  Fill(app, root);
  try {
    app.parse(argc, argv);
    if (StrayOption(app)) return ReportUsageError(app, ProblemOfAWord(app));
    return ActAt(root, app);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return ReportUsageError(app, error);
  } catch (const std::exception& error) {
    // Thrown by a library, or by the standard one when not even a thread can be had.
    return ReportError({base::Code::kInternal, error.what()});
  }
}

}  // namespace skerry::cli

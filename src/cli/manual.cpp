#include "cli/manual.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <ranges>
#include <utility>
#include <vector>

namespace skerry::cli {
namespace {

// Letters that roff interprets, or shows as another glyph.
constexpr std::array<std::pair<char, std::string_view>, 8> kEscapes = {{{'\\', "\\e"},
                                                                        {'-', "\\-"},
                                                                        {'\'', "\\(aq"},
                                                                        {'"', "\\(dq"},
                                                                        {'`', "\\(ga"},
                                                                        {'^', "\\(ha"},
                                                                        {'~', "\\(ti"},
                                                                        {'\t', "    "}}};

// Takes the first character off well-formed UTF-8.
char32_t TakeCharacter(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < std::min(size, text.size()); ++i)
    value = (value << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(std::min(size, text.size()));
  return value;
}

std::string ByNumber(char32_t character) {
  std::array<char, 16> text{};
  const int size = std::snprintf(text.data(), text.size(), "\\[u%04X]", static_cast<unsigned>(character));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string Bold(std::string_view text) {
  return "\\fB" + RoffEscaped(text) + "\\fR";
}
std::string Italic(std::string_view text) {
  return "\\fI" + RoffEscaped(text) + "\\fR";
}

std::string Section(std::string_view title) {
  return ".SH " + std::string(title) + "\n";
}

// One entry of a list: its head, and the text below it.
std::string Entry(const std::string& head, std::string_view text) {
  return ".TP\n" + head + "\n" + (text.empty() ? "\\&" : RoffEscaped(text)) + "\n";
}

std::string OptionHead(const OptionDefinition& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + Bold(name);
  return option.value.name.empty() ? head : head + " " + Italic(option.value.name);
}

std::string Synopsis(const CommandDefinition& command) {
  std::string text = Section("SYNOPSIS") + Bold(command.Joined());
  if (!command.options.empty()) text += " [" + Italic("OPTIONS") + "]";
  for (const ArgumentDefinition& argument : command.arguments) {
    const std::string name = Italic(argument.value.name);
    text += argument.need == Need::kRequired ? " " + name : " [" + name + "]";
  }
  if (!command.commands.empty())
    text += command.arguments.empty() ? " " + Italic("COMMAND") : " [" + Italic("COMMAND") + "]";
  return text + "\n";
}

std::string CommandList(const CommandDefinition& command) {
  if (command.commands.empty()) return "";
  std::string text = Section("COMMANDS");
  for (const CommandDefinition& below : command.commands) text += Entry(Bold(below.name()), below.description);
  return text;
}

std::string ValueText(const std::string& description, const Value& value) {
  return description.empty() ? value.name : description;
}

std::string ArgumentList(const CommandDefinition& command) {
  if (command.arguments.empty()) return "";
  std::string text = Section("ARGUMENTS");
  for (const ArgumentDefinition& argument : command.arguments)
    text += Entry(Italic(argument.value.name), ValueText(argument.description, argument.value));
  return text;
}

std::string OptionList(const CommandDefinition& command) {
  if (command.options.empty()) return "";
  std::string text = Section("OPTIONS");
  for (const OptionDefinition& option : command.options) text += Entry(OptionHead(option), option.description);
  return text;
}

std::vector<std::string_view> SplitAt(std::string_view text, std::string_view sign) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, sign))
    if (!part.empty()) parts.emplace_back(part);
  return parts;
}

// The footer of --help, sorted into the sections of a manual page.
struct Footer {
  std::string text;
  std::string exit_codes;
  std::string examples;
};

// Lines that are shown as they are.
std::string Verbatim(std::string_view lines) {
  std::string text = ".nf\n";
  for (const std::string_view line : SplitAt(lines, "\n"))
    text += RoffEscaped(line.substr(std::min(line.find_first_not_of(' '), line.size()))) + "\n";
  return text + ".fi\n";
}

Footer FooterOf(const CommandDefinition& command) {
  constexpr std::string_view kExitCodes = "Exit codes: ";
  Footer footer;
  for (const std::string_view paragraph : SplitAt(command.footer, "\n\n")) {
    if (paragraph.starts_with("Example")) {
      footer.examples += Verbatim(paragraph.substr(std::min(paragraph.find('\n'), paragraph.size())));
    } else if (paragraph.starts_with(kExitCodes)) {
      footer.exit_codes += RoffEscaped(paragraph.substr(kExitCodes.size())) + "\n";
    } else {
      footer.text += ".PP\n";
      for (const std::string_view line : SplitAt(paragraph, "\n")) footer.text += RoffEscaped(line) + "\n";
    }
  }
  return footer;
}

std::string Sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

// The command above, and the commands below.
std::string SeeAlso(const CommandDefinition& command, const CommandDefinition& root) {
  std::vector<std::string> names;
  if (command.path.size() > 1) {
    const std::span<const std::string> above(command.path.begin() + 1, command.path.end() - 1);
    if (const CommandDefinition* found = FindCommand(root, above)) names.push_back(found->Joined("-"));
  }
  for (const CommandDefinition& below : command.commands) names.push_back(below.Joined("-"));
  if (names.empty()) return "";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",\n") + Bold(name) + "(1)";
  return Section("SEE ALSO") + text + "\n";
}

std::string Title(const CommandDefinition& command) {
  std::string title = command.Joined("-");
  std::ranges::transform(title, title.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return RoffEscaped(title);
}

std::string IfAny(std::string_view title, const std::string& text) {
  return text.empty() ? "" : Section(title) + text;
}

}  // namespace

std::string RoffEscaped(std::string_view text) {
  std::string escaped;
  // A line that begins with a dot would be a request.
  if (text.starts_with('.')) escaped = "\\&";
  while (!text.empty()) {
    const char letter = text.front();
    if (static_cast<unsigned char>(letter) >= 0x80) {
      escaped += ByNumber(TakeCharacter(text));
      continue;
    }
    const auto* row = std::ranges::find(kEscapes, letter, &std::pair<char, std::string_view>::first);
    escaped += row == kEscapes.end() ? std::string(1, letter) : std::string(row->second);
    text.remove_prefix(1);
    if (letter == '\n' && text.starts_with('.')) escaped += "\\&";
  }
  return escaped;
}

std::string ManualFileName(const CommandDefinition& command) {
  return command.Joined("-") + ".1";
}

std::string ManualPage(const CommandDefinition& command, const CommandDefinition& root, std::string_view version) {
  const Footer footer = FooterOf(command);
  std::string page =
      ".TH \"" + Title(command) + "\" 1 \"\" \"Skerry " + RoffEscaped(version) + "\" \"Skerry Manual\"\n";
  page += Section("NAME") + RoffEscaped(command.Joined("-")) + " \\- " + RoffEscaped(command.description) + "\n";
  page += Synopsis(command);
  page += Section("DESCRIPTION") + RoffEscaped(Sentence(command.description)) + "\n" + footer.text;
  page += CommandList(command) + ArgumentList(command) + OptionList(command);
  page += IfAny("EXIT STATUS", footer.exit_codes) + IfAny("EXAMPLES", footer.examples);
  return page + SeeAlso(command, root);
}

}  // namespace skerry::cli

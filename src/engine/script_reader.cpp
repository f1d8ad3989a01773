#include "engine/script_reader.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace skerry::engine {
namespace {

using core::Language;

constexpr std::size_t kLongestLine = 256;  // as Linux has it
constexpr std::string_view kBlanks = " \t\r";

struct Interpreter {
  std::string_view name;  // a version may follow
  Language language;
  std::string_view code_options;  // letters of options that give code, or another file to read it from
};

constexpr auto kInterpreters = std::to_array<Interpreter>({
    {"python", Language::kPython, "cm"},
    {"pypy", Language::kPython, "cm"},
    {"node", Language::kJavaScript, "epr"},
    {"nodejs", Language::kJavaScript, "epr"},
    {"deno", Language::kJavaScript, ""},
    {"bun", Language::kJavaScript, "epr"},
    {"tsx", Language::kJavaScript, "epr"},
    {"ts-node", Language::kJavaScript, "epr"},
    {"sh", Language::kShell, "cs"},
    {"bash", Language::kShell, "cs"},
    {"dash", Language::kShell, "cs"},
    {"ash", Language::kShell, "cs"},
    {"ksh", Language::kShell, "cs"},
    {"zsh", Language::kShell, "cs"},
});

const Interpreter* InterpreterAt(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto fits = [&](const Interpreter& each) {
    return name.starts_with(each.name) && name.find_first_not_of("0123456789.", each.name.size()) == name.npos;
  };
  const auto* const found = std::ranges::find_if(kInterpreters, fits);
  return found == kInterpreters.end() ? nullptr : found;
}

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Whether an option or word may give the interpreter code from elsewhere.
bool BringsCode(const Interpreter& interpreter, std::string_view option) {
  if (!option.starts_with('-')) return interpreter.name != "deno" || option != "run";
  if (option.starts_with("--")) return option.contains('=') || option.contains("file") || option.contains("import");
  return option.find_first_of(interpreter.code_options) != option.npos;
}

// Skips options and assignments of env, which are not the command.
std::size_t SkipEnv(const std::vector<std::string_view>& words, std::size_t at) {
  while (at < words.size() && (words[at] == "-S" || words[at] == "-i" || words[at] == "-" || words[at] == "-v" ||
                               words[at] == "--split-string" || words[at] == "--ignore-environment"))
    ++at;
  while (at < words.size() && words[at].contains('=')) ++at;
  return at;
}

}  // namespace

std::optional<Language> ReaderOf(std::string_view script) {
  std::string_view line = script.substr(0, std::min(script.find('\n'), kLongestLine));
  if (!line.starts_with("#!")) return Language::kShell;
  line.remove_prefix(2);
  // env(1) has quotes and variables of its own.
  if (line.find_first_of("\"'\\$") != line.npos) return std::nullopt;
  const std::vector<std::string_view> words = WordsOf(line);
  if (words.empty()) return Language::kShell;
  const bool is_env = words[0] == "env" || words[0].ends_with("/env");
  std::size_t at = is_env ? SkipEnv(words, 1) : 0;
  if (at >= words.size()) return std::nullopt;
  std::string_view command = words[at];
  if (is_env && command.starts_with("-S")) command.remove_prefix(2);
  const Interpreter* interpreter = InterpreterAt(command);
  if (interpreter == nullptr) return std::nullopt;
  for (++at; at < words.size(); ++at)
    if (BringsCode(*interpreter, words[at])) return std::nullopt;
  return interpreter->language;
}

}  // namespace skerry::engine

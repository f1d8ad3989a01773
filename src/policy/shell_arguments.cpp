#include "policy/shell_arguments.hpp"

#include <algorithm>

#include "policy/shell_paths.hpp"

namespace skerry::policy {
namespace {

template <typename Predicate>
bool AnyWord(std::string_view list, Predicate&& predicate) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0 && predicate(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool IsOption(std::string_view word) {
  return word.size() > 1 && word.starts_with('-');
}

bool IsCluster(std::string_view word) {
  return IsOption(word) && word[1] != '-';
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Reader {
 public:
  Reader(ShellArgv argv, const OptionSyntax& syntax) : argv_(argv), syntax_(syntax) {}

  Arguments Run() {
    for (at_ = 1; at_ < argv_.size(); ++at_) {
      const std::string_view word = argv_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      // A shell's options can be switched off: +x.
      const bool is_shell = syntax_.code == OptionSyntax::Code::kFirstOperand;
      if (is_shell && word.starts_with('+')) {
        if (word.size() > 1 && syntax_.value_letters.contains(word.back())) ++at_;
        continue;
      }
      // "-" ends a shell's options as "--" does.
      if (is_shell && word == "-") {
        ++at_;
        break;
      }
      if (!IsOption(word)) break;
      if (!TakeLong(word) && IsCluster(word)) TakeCluster(word.substr(1));
    }
    read_.first_operand = std::min(at_, argv_.size());
    const bool code_is_operand = read_.has_code && syntax_.code == OptionSyntax::Code::kFirstOperand;
    if (code_is_operand && read_.first_operand < argv_.size()) read_.code.push_back(argv_[read_.first_operand++]);
    return std::move(read_);
  }

 private:
  void TakeCode(std::optional<std::string_view> attached) {
    read_.has_code = true;
    if (attached) {
      read_.code.emplace_back(*attached);
    } else if (at_ + 1 < argv_.size()) {
      read_.code.push_back(argv_[++at_]);
    }
  }

  bool TakeLong(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool attached = equals != std::string_view::npos;
    if (ListsWord(syntax_.code_options, name)) {
      TakeCode(attached ? std::optional(word.substr(equals + 1)) : std::nullopt);
    } else if (ListsWord(syntax_.value_options, name)) {
      if (!attached) ++at_;
    } else {
      return false;
    }
    return true;
  }

  void TakeCluster(std::string_view letters) {
    for (; !letters.empty(); letters.remove_prefix(1)) {
      const std::string_view rest = letters.substr(1);
      if (syntax_.code_letters.contains(letters[0])) {
        if (syntax_.code == OptionSyntax::Code::kFirstOperand) {
          read_.has_code = true;
          continue;
        }
        if (!rest.empty()) TakeCode(rest);
        // `node -pe CODE`: the letters behind may be further such options.
        if (rest.find_first_not_of(syntax_.code_letters) == std::string_view::npos) TakeCode(std::nullopt);
        return;
      }
      if (syntax_.value_letters.contains(letters[0])) {
        if (rest.empty()) ++at_;
        return;
      }
    }
  }

  ShellArgv argv_;
  const OptionSyntax& syntax_;
  std::size_t at_ = 1;
  Arguments read_;
};

std::string Join(ShellArgv words) {
  std::string joined;
  for (const std::string& word : words) {
    if (word == ":::" || word == "::::") continue;  // of GNU parallel, in front of the arguments
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

}  // namespace

bool ListsWord(std::string_view list, std::string_view word) {
  return AnyWord(list, [&](std::string_view each) { return each == word; });
}

bool ListsPrefix(std::string_view list, std::string_view word) {
  return AnyWord(list, [&](std::string_view each) { return word.starts_with(each); });
}

bool ListsPart(std::string_view list, std::string_view word) {
  return AnyWord(list, [&](std::string_view each) { return word.contains(each); });
}

bool SetsVariables(std::string_view command) {
  return ListsWord("read mapfile readarray getopts printf wait let", command);
}

std::vector<std::string> VariablesSetBy(ShellArgv argv) {
  const std::string_view command = argv.empty() ? std::string_view() : BaseName(argv[0]);
  if (!SetsVariables(command)) return {};
  if (command == "printf") return ValuesOfOption(argv, "-v");
  if (command == "wait") return ValuesOfOption(argv, "-p");
  const bool reads = command == "read";
  const std::string_view letters = reads ? "adinNptu" : command == "getopts" || command == "let" ? "" : "dnOsuCc";
  std::vector<std::string> variables = reads ? ValuesOfOption(argv, "-a") : std::vector<std::string>();
  // The first operand of getopts is the letters of the options.
  const std::size_t first = ReadArguments(argv, {.value_letters = letters}).first_operand + (command == "getopts");
  for (std::size_t at = first; at < argv.size(); ++at)
    variables.push_back(command == "let" ? argv[at].substr(0, argv[at].find_first_of("=+-*/%&|^<> ")) : argv[at]);
  if (command == "getopts" && variables.size() > 1) variables.resize(1);
  return variables;
}

bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos || (word[0] >= '0' && word[0] <= '9')) return false;
  return std::ranges::all_of(word.substr(0, equals), IsNameCharacter);
}

Arguments ReadArguments(ShellArgv argv, const OptionSyntax& syntax) {
  return Reader(argv, syntax).Run();
}

bool HasOption(ShellArgv argv, std::string_view options) {
  for (const std::string_view word : argv.subspan(std::min<std::size_t>(1, argv.size()))) {
    if (word == "--") return false;
    if (!IsOption(word)) continue;
    const bool found = AnyWord(options, [&](std::string_view option) {
      if (word.starts_with(option) && (word.size() == option.size() || word[option.size()] == '=')) return true;
      return option.size() == 2 && IsCluster(word) && word.contains(option[1]);
    });
    if (found) return true;
  }
  return false;
}

std::optional<std::string> ValueOfOption(ShellArgv argv, std::string_view options) {
  for (std::size_t at = 1; at < argv.size(); ++at) {
    const std::string_view word = argv[at];
    if (!IsOption(word)) continue;
    std::optional<std::string> value;
    AnyWord(options, [&](std::string_view option) {
      const std::size_t letter = option.size() == 2 && IsCluster(word) ? word.find(option[1]) : std::string_view::npos;
      const bool is_long = word.starts_with(option) && option.size() > 2;
      if (is_long && word.size() > option.size() && word[option.size()] == '=') {
        value = word.substr(option.size() + 1);
      } else if (letter != std::string_view::npos && letter + 1 < word.size()) {
        value = word.substr(letter + 1);
      } else if ((letter != std::string_view::npos || word == option) && at + 1 < argv.size()) {
        value = argv[at + 1];
      }
      return value.has_value();
    });
    if (value) return value;
  }
  return std::nullopt;
}

std::vector<std::string> ValuesOfOption(ShellArgv argv, std::string_view options) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> values;
  for (std::size_t at = 1; at < argv.size() && values.size() < kMost; ++at) {
    auto value =
        HasOption(argv.subspan(at - 1, 2), options) ? ValueOfOption(argv.subspan(at - 1), options) : std::nullopt;
    if (value) values.push_back(*std::move(value));
  }
  if (values.size() == kMost) values.emplace_back(1, kShellHole);
  return values;
}

std::optional<Unwrapped> Unwrap(ShellArgv argv, const ShellWrapper& wrapper) {
  const std::string_view name = BaseName(argv[0]);
  if (name == "command" && HasOption(argv, "-v -V")) return std::nullopt;
  const bool to_the_end = wrapper.tail == ShellWrapper::Tail::kNothing;
  Unwrapped unwrapped;
  const OptionSyntax syntax{.value_letters = wrapper.value_letters,
                            .value_options = wrapper.value_options,
                            .code_letters = wrapper.code_letters,
                            .code_options = wrapper.code_letters.empty() ? "" : "--command --split-string"};
  Arguments read = ReadArguments(argv, syntax);
  unwrapped.code = std::move(read.code);
  std::size_t at = read.first_operand;
  if (to_the_end) {
    // The command's options may stand behind its operands.
    const auto code = ValueOfOption(argv, "-c --command");
    if (code && unwrapped.code.empty()) unwrapped.code.push_back(*code);
    return unwrapped;
  }
  if (!wrapper.only_after.empty() && (at >= argv.size() || argv[at] != wrapper.only_after)) return std::nullopt;
  at += static_cast<std::size_t>(wrapper.operands);
  while (at < argv.size() && (IsAssignment(argv[at]) || (argv[at] == "--" && wrapper.operands > 0))) ++at;
  // Options behind the operands, such as `flock FILE -c CODE`.
  if (wrapper.operands > 0 && !wrapper.code_letters.empty() && at < argv.size() && IsOption(argv[at])) {
    if (const auto code = ValueOfOption(argv, "-c --command")) unwrapped.code.push_back(*code);
    return unwrapped;
  }
  if (at >= argv.size()) return unwrapped;
  if (wrapper.tail == ShellWrapper::Tail::kCode) {
    // More options can stand behind the operands.
    at += ReadArguments(argv.subspan(at - 1), syntax).first_operand - 1;
    unwrapped.code.push_back(Join(argv.subspan(at)));
  } else {
    unwrapped.command = argv.subspan(at);
  }
  return unwrapped;
}

}  // namespace skerry::policy

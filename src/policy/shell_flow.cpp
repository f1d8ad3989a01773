#include "policy/shell_flow.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/shell_paths.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostWrappers = 16;
constexpr std::size_t kMostPrinted = 64U << 10U;
constexpr std::size_t kMostFormats = std::size_t{1} << 20U;  // bytes of formats that are read for one printf
constexpr std::size_t kLongestFlow = std::size_t{4} << 20U;  // longer flows count as unknown

using enum ShellFlow::Kind;

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Takes up to `most` digits of the base off the front.
unsigned TakeNumber(std::string_view& text, int base, int most) {
  unsigned number = 0;
  for (; most > 0 && !text.empty() && DigitOf(text[0]) < base; --most, text.remove_prefix(1))
    number = number * static_cast<unsigned>(base) + static_cast<unsigned>(DigitOf(text[0]));
  return number;
}

void AppendCodePoint(unsigned code, std::string& out) {
  if (code < 0x80) {
    if (code != 0) out += static_cast<char>(code);
    return;
  }
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += tail(6);
  } else {
    out += static_cast<char>(0xF0U | ((code >> 18U) & 7U));
    out += tail(12);
    out += tail(6);
  }
  out += tail(0);
}

// Control characters have a special meaning in the analysis's own texts; in a script only blanks matter.
char WithoutMeaning(char c) {
  const bool is_sign = (c >= '\x01' && c <= '\x08') || c == kShellInline;
  return is_sign ? '\x7f' : c;
}

void AppendByte(unsigned byte, std::string& out) {
  if ((byte & 0xFFU) != 0) out += WithoutMeaning(static_cast<char>(byte & 0xFFU));
}

// `text` begins behind the backslash.
void TakeEscape(std::string_view& text, std::string& out) {
  constexpr std::string_view kWritten = "abeEfnrtv\\'\"?";
  constexpr std::string_view kMeant = "\a\b\x1b\x1b\f\n\r\t\v\\'\"?";
  const char c = text[0];
  if (c >= '0' && c <= '7') return AppendByte(TakeNumber(text, 8, c == '0' ? 4 : 3), out);
  text.remove_prefix(1);
  if (const std::size_t which = kWritten.find(c); which != std::string_view::npos) {
    out += WithoutMeaning(kMeant[which]);
  } else if (c == 'x') {
    AppendByte(TakeNumber(text, 16, 2), out);
  } else if (c == 'u' || c == 'U') {
    AppendCodePoint(TakeNumber(text, 16, c == 'u' ? 4 : 8), out);
  } else if (c == 'c' && !text.empty()) {
    AppendByte(static_cast<unsigned char>(text[0]) & 0x1FU, out);
    text.remove_prefix(1);
  } else {
    out += '\\';
    out += c;
  }
}

std::string Echoed(ShellArgv argv) {
  std::size_t at = 1;
  bool decodes = false;
  for (; at < argv.size() && argv[at].size() > 1 && argv[at][0] == '-' &&
         argv[at].find_first_not_of("neE", 1) == std::string::npos;
       ++at) {
    const std::size_t last = argv[at].find_last_of("eE");
    if (last != std::string::npos) decodes = argv[at][last] == 'e';
  }
  std::string text;
  for (; at < argv.size(); ++at) {
    text += argv[at];
    if (at + 1 < argv.size()) text += ' ';
  }
  return (decodes ? DecodeEscapes(text) : text) + '\n';
}

// Applies printf's format once. True when that used an argument.
bool PrintOnce(std::string_view format, ShellArgv argv, std::size_t& at, std::string& out) {
  bool used = false;
  while (!format.empty()) {
    const char c = format[0];
    format.remove_prefix(1);
    if (c != '%') {
      out += c;
      continue;
    }
    format.remove_prefix(std::min(format.find_first_not_of("-+ #0123456789.*"), format.size()));
    if (format.empty()) break;
    const char conversion = format[0];
    format.remove_prefix(1);
    if (conversion == '%') {
      out += '%';
      continue;
    }
    used = true;
    if (at < argv.size()) out += conversion == 'b' ? DecodeEscapes(argv[at]) : argv[at];
    ++at;
  }
  return used;
}

ShellFlow Printed(ShellArgv argv) {
  std::size_t at = 1;
  if (at < argv.size() && argv[at] == "--") ++at;
  if (at >= argv.size() || argv[at] == "-v") return {};
  const std::string format = DecodeEscapes(argv[at++]);
  std::string text;
  std::size_t read = 0;
  do {
    if (!PrintOnce(format, argv, at, text)) break;
    read += format.size();
    if (text.size() > kMostPrinted + format.size() || read > kMostFormats + format.size()) return {kUnknown, ""};
  } while (at < argv.size());
  return {kText, text};
}

ShellFlow FileFlow(const std::string& path) {
  if (path.contains(kShellNetwork)) return {kNetwork, ""};
  if (path.contains(kShellDecoded)) return {kDecoded, ""};
  return {kFile, path};
}

ShellFlow PassedOn(std::string_view name, ShellArgv argv, const ShellFlow& input) {
  if (name == "tee") return input;
  bool any = false;
  bool has_read = false;
  ShellFlow all;
  for (const std::string& word : argv.subspan(1)) {
    if (word.starts_with('-') && word != "-") continue;
    // `head -n 5`: the number is no file.
    if (name != "cat" && word != "-" && word.find_first_not_of("0123456789+-kKmM") == std::string::npos) continue;
    any = true;
    if (word != "-" && word != "/dev/stdin") {
      all = Concatenated(std::move(all), FileFlow(word));
    } else if (!std::exchange(has_read, true)) {
      all = Concatenated(std::move(all), input);
    }
  }
  return any ? all : input;
}

// The directory of a file, as far as it is known: `dirname "$0"`.
ShellFlow ParentOf(ShellArgv argv) {
  const std::string& path = argv.back();
  if (argv.size() != 2 || path.find_first_of(std::string_view("\x01\x02\x03", 3)) != std::string::npos)
    return {kUnknown, ""};
  const std::size_t slash = path.rfind('/');
  return {kText, slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash)};
}

ShellArgv WithoutWrappers(ShellArgv argv) {
  for (int count = 0; count < kMostWrappers && !argv.empty(); ++count) {
    const ShellWrapper* wrapper = ShellWrapperOf(BaseName(argv[0]));
    if (wrapper == nullptr) break;
    const auto unwrapped = Unwrap(argv, *wrapper);
    if (!unwrapped || unwrapped->command.empty()) break;
    argv = unwrapped->command;
  }
  return argv;
}

// The directories in which find looks, when it looks for everything.
std::string FoundPaths(ShellArgv argv) {
  constexpr std::string_view kAll = "-type f d -print -print0 -H -L -P -xdev -mount -depth";
  std::string paths;
  for (const std::string& word : argv.subspan(1)) {
    if (ListsWord(kAll, word)) continue;
    if (word.starts_with('-') || word.starts_with('(') || word.starts_with('!')) return {};
    paths += word + '\n';
  }
  return paths;
}

bool Decodes(std::string_view name, ShellArgv argv) {
  const std::vector<std::string_view> arguments(argv.begin(), argv.end());
  return IsDecoding(name, arguments);
}

}  // namespace

std::string DecodeEscapes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '\\' && !text.empty()) {
      TakeEscape(text, out);
    } else {
      out += c;
    }
  }
  return out;
}

ShellFlow Concatenated(ShellFlow first, ShellFlow second) {
  if (first.kind == kNone) return second;
  if (second.kind == kNone) return first;
  if (first.kind == kText && second.kind == kText && first.text.size() + second.text.size() <= kLongestFlow) {
    first.text += second.text;
    return first;
  }
  return {std::max({first.kind, second.kind, kUnknown}), ""};
}

ShellFlow OutputOf(ShellArgv argv, const ShellFlow& input) {
  argv = WithoutWrappers(argv);
  if (argv.empty()) return {kUnknown, ""};
  const std::string_view name = BaseName(argv[0]);
  if (name == "echo") return {kText, Echoed(argv)};
  if (name == "printf") return Printed(argv);
  if (name == "pwd") return {kText, "."};
  if (name == "dirname") return ParentOf(argv);
  if (name == "cd" && argv.back() == ".") return {};
  if (name == "mktemp") return {kText, "/tmp/mktemp"};
  if (name == "find") return {kUnknown, FoundPaths(argv)};
  if (name == "which" || name == "command" || name == "type") return {kText, argv.size() > 1 ? argv.back() : ""};
  if (HasShellTrait(name, ShellTrait::kPassesOn)) return PassedOn(name, argv, input);
  if (HasShellTrait(name, ShellTrait::kDownload) || name.contains(kShellNetwork)) return {kNetwork, ""};
  if (input.kind == kNetwork) return {kNetwork, ""};
  if (input.kind == kDecoded || Decodes(name, argv)) return {kDecoded, ""};
  if (HasShellTrait(name, ShellTrait::kSafe) && input.kind == kNone &&
      (name == "true" || name == ":" || name == "exit"))
    return {};
  return {kUnknown, ""};
}

}  // namespace skerry::policy

#include "policy/shell_word_reader.hpp"

#include <algorithm>

#include "policy/shell_raw.hpp"

namespace skerry::policy {
namespace {

// Marks for unquoted braces and commas.
constexpr char kOpen = '\x06';
constexpr char kComma = '\x07';
constexpr char kClose = '\x08';

constexpr std::size_t kMostExpanded = 4096;
constexpr unsigned kMostChoices = 8;

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsPositional(std::string_view name) {
  return name == "@" || name == "*" || (!name.empty() && IsDigit(name[0]));
}

std::string ElementOf(std::string_view array, std::size_t index) {
  for (; index > 0; --index) {
    const std::size_t end = array.find(kShellBreak);
    if (end == std::string_view::npos) return {};
    array.remove_prefix(end + 1);
  }
  return std::string(array.substr(0, array.find(kShellBreak)));
}

std::optional<std::size_t> NumberIn(std::string_view text) {
  if (text.empty() || text.size() > 4 || !std::ranges::all_of(text, IsDigit)) return std::nullopt;
  std::size_t number = 0;
  for (const char c : text) number = number * 10 + static_cast<std::size_t>(c - '0');
  return number;
}

// ${x:1:2}
std::string Part(std::string_view value, std::string_view range) {
  const std::size_t colon = range.find(':');
  const auto begin = NumberIn(range.substr(0, colon));
  const auto length = colon == std::string_view::npos ? value.size() : NumberIn(range.substr(colon + 1));
  if (!begin || !length) return std::string(1, kShellHole);
  return std::string(value.substr(std::min(*begin, value.size()), *length));
}

char WithCase(char c, char sign) {
  if (sign == ',' && c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  if (sign == '^' && c >= 'a' && c <= 'z') return static_cast<char>(c - 'a' + 'A');
  return c;
}

// ${x^} ${x,,}
std::string Cased(std::string value, std::string_view sign) {
  const std::size_t count = sign.size() == 2 ? value.size() : std::min<std::size_t>(1, value.size());
  for (std::size_t at = 0; at < count; ++at) value[at] = WithCase(value[at], sign[0]);
  return value;
}

// ${x/a/b} ${x//a/b} ${x#a} ${x%a}, where `a` is no pattern.
std::string Replaced(const std::string& value, char sign, std::string_view rest) {
  const bool all = rest.starts_with('/');
  if (all && sign == '/') rest.remove_prefix(1);
  const std::size_t slash = sign == '/' ? rest.find('/') : std::string_view::npos;
  const std::string_view pattern = rest.substr(0, slash);
  const std::string_view with = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  if (pattern.empty() || rest.find_first_of("*?[]$`\\\"'") != std::string_view::npos) return std::string(1, kShellHole);
  if (sign == '#') return value.starts_with(pattern) ? value.substr(pattern.size()) : value;
  if (sign == '%') return value.ends_with(pattern) ? value.substr(0, value.size() - pattern.size()) : value;
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = value.find(pattern); at != std::string::npos;
       at = all ? value.find(pattern, from) : std::string::npos) {
    out.append(value, from, at - from).append(with);
    from = at + pattern.size();
    if (out.size() > kMostExpanded) return std::string(1, kShellHole);
  }
  return out.append(value, from);
}

}  // namespace

std::size_t NameLength(std::string_view text) {
  if (text.empty()) return 0;
  if (IsDigit(text[0]) || std::string_view("@*#?$!-").contains(text[0])) return 1;
  std::size_t length = 0;
  while (length < text.size() && (IsNameStart(text[length]) || (length > 0 && IsDigit(text[length])))) ++length;
  return length;
}

void WordReader::ReadWord(std::string_view word) {
  Read(word);
}

void WordReader::ReadValue(std::string_view word) {
  word_splitting_ = Splitting::kNo;
  Read(word);
}

void WordReader::ReadText(std::string_view text) {
  word_splitting_ = Splitting::kNo;
  ReadQuoted(text);
}

void WordReader::Read(std::string_view word) {
  for (std::size_t at = ReadTilde(word, 0); at < word.size();) at = ReadPiece(word, at);
}

std::size_t WordReader::ReadTilde(std::string_view word, std::size_t at) {
  if (at >= word.size() || word[at] != '~') return at;
  const std::size_t end = std::min(word.find_first_of("/:'\"$\\`{", at), word.size());
  const std::string_view user = word.substr(at + 1, end - at - 1);
  text_ += user == "+" ? '.' : user == "-" ? kShellHole : kShellHome;
  return end;
}

std::size_t WordReader::ReadPiece(std::string_view word, std::size_t at) {
  const char c = word[at];
  const char next = at + 1 < word.size() ? word[at + 1] : '\0';
  if (c == '\\') {
    if (next != '\n' && next != '\0') AppendLiteral(next);
    return at + 2;
  }
  if (c == '\'') return ReadSingleQuotes(word, at);
  if (c == '"') return ReadDoubleQuotes(word, at);
  if (c == '$') return ReadDollar(word, at, word_splitting_);
  if (c == '`') return ReadBackticks(word, at, word_splitting_);
  if ((c == '<' || c == '>') && next == '(') return ReadProcess(word, at);
  const std::size_t brace = std::string_view("{,}").find(c);
  if (brace != std::string_view::npos) {
    text_ += std::string_view("\x06\x07\x08")[brace];
  } else {
    AppendLiteral(c);
  }
  return at + 1;
}

std::size_t WordReader::ReadSingleQuotes(std::string_view word, std::size_t at) {
  has_quotes_ = true;
  const std::size_t end = std::min(word.find('\'', at + 1), word.size());
  for (const char c : word.substr(at + 1, end - at - 1)) AppendLiteral(c);
  return end + 1;
}

std::size_t WordReader::ReadDoubleQuotes(std::string_view word, std::size_t at) {
  has_quotes_ = true;
  std::size_t end = at + 1;
  while (end < word.size() && word[end] != '"') {
    const char next = end + 1 < word.size() ? word[end + 1] : '\0';
    if (word[end] == '\\') {
      end += 2;
    } else if (word[end] == '`') {
      end = SkipBackticks(word, end + 1);
    } else if (word[end] == '$' && next == '(') {
      end = SkipParentheses(word, end + 2);
    } else if (word[end] == '$' && next == '{') {
      end = SkipBraces(word, end + 2);
    } else {
      ++end;
    }
  }
  end = std::min(end, word.size());
  ReadQuoted(word.substr(at + 1, end - at - 1));
  return end + 1;
}

std::size_t WordReader::ReadBackticks(std::string_view word, std::size_t at, Splitting splitting) {
  const std::size_t end = SkipBackticks(word, at + 1);
  Substitute(WithoutBacktickEscapes(word.substr(at + 1, end - at - 2)), splitting);
  return end;
}

// <(…) is the name of a file whose content is the output of the commands in it.
std::size_t WordReader::ReadProcess(std::string_view word, std::size_t at) {
  const std::size_t end = SkipParentheses(word, at + 2);
  const ShellFlow flow = words_.FlowOf(word.substr(at + 2, end - at - 3));
  const bool network = flow.kind == ShellFlow::Kind::kNetwork;
  text_ += "/dev/fd/";
  if (flow.kind == ShellFlow::Kind::kText && flow.text.size() <= kMostExpanded) {
    (text_ += kShellInline) += flow.text;
    return end;
  }
  text_ += network ? kShellNetwork : flow.kind == ShellFlow::Kind::kDecoded ? kShellDecoded : kShellHole;
  return end;
}

void WordReader::ReadQuoted(std::string_view inside) {
  for (std::size_t at = 0; at < inside.size();) {
    const char c = inside[at];
    const char next = at + 1 < inside.size() ? inside[at + 1] : '\0';
    if (c == '\\' && next != '\0' && std::string_view("$`\"\\\n").contains(next)) {
      if (next != '\n') AppendLiteral(next);
      at += 2;
    } else if (c == '$' && next != '\'' && next != '"') {
      at = ReadDollar(inside, at, Splitting::kNo);
    } else if (c == '`') {
      at = ReadBackticks(inside, at, Splitting::kNo);
    } else {
      AppendLiteral(c);
      ++at;
    }
  }
}

std::size_t WordReader::ReadDollar(std::string_view word, std::size_t at, Splitting splitting) {
  const std::string_view rest = word.substr(at + 1);
  if (rest.starts_with("((")) {
    text_ += kShellHole;
    return SkipParentheses(word, at + 2);
  }
  if (rest.starts_with('(')) {
    const std::size_t end = SkipParentheses(word, at + 2);
    Substitute(word.substr(at + 2, end - at - 3), splitting);
    return end;
  }
  if (rest.starts_with('{')) {
    const std::size_t end = SkipBraces(word, at + 2);
    ReadParameter(word.substr(at + 2, end - at - 3), splitting);
    return end;
  }
  if (rest.starts_with('[')) {
    text_ += kShellHole;
    return std::min(word.find(']', at), word.size() - 1) + 1;
  }
  if (rest.starts_with('\'')) {
    std::size_t end = at + 2;
    while (end < word.size() && word[end] != '\'') end += word[end] == '\\' ? 2 : 1;
    end = std::min(end, word.size());
    has_quotes_ = true;
    for (const char c : DecodeEscapes(word.substr(at + 2, end - at - 2))) AppendLiteral(c);
    return end + 1;
  }
  const std::size_t length = NameLength(rest);
  if (length == 0) {
    if (!rest.starts_with('"')) text_ += '$';
  } else {
    AppendOneOf(ValuesOf(rest.substr(0, length)), splitting);
  }
  return at + 1 + length;
}

std::vector<std::string> WordReader::ValuesOf(std::string_view name) const {
  const std::string hole(1, kShellHole);
  words_.budget_.Spend(3 * kWorkOfALookup);
  if (IsPositional(name)) {
    std::vector<std::string> values = {hole};
    const auto* arguments = variables_.Find(ShellWords::ArgumentsOf(words_.function_));
    if (arguments == nullptr || name == "0") return values;
    for (const std::string& all : *arguments) words_.budget_.Spend(WorkOfCopying(2 * all.size()));
    for (const std::string& all : *arguments)
      values.push_back(IsDigit(name[0]) ? ElementOf(all, static_cast<std::size_t>(name[0] - '1')) : all);
    return values;
  }
  const auto* assigned = variables_.Find(name);
  std::vector<std::string> values = assigned == nullptr ? std::vector<std::string>() : *assigned;
  for (const std::string& value : values) words_.budget_.Spend(WorkOfCopying(value.size()));
  if (name == "HOME") values.emplace_back(1, kShellHome);
  if (name == "BASH_SOURCE") values.emplace_back("./this-script");  // the script that is being read
  if (name == "PWD") values.emplace_back(".");
  if (name == "FUNCNAME" && !words_.function_.empty()) values.push_back(words_.function_);
  if (name == "SHELL" || name == "BASH") values.emplace_back("/bin/bash");
  if (name == "IFS" && assigned == nullptr) values.emplace_back(" ");
  if (values.empty()) values.push_back(hole);
  return values;
}

void WordReader::ReadParameter(std::string_view inside, Splitting splitting) {
  const bool indirect = inside.starts_with('!');
  const bool length_of = inside.size() > 1 && inside.starts_with('#');
  if (indirect || length_of) inside.remove_prefix(1);
  const std::size_t length = NameLength(inside);
  if (length == 0 || length_of) return void(text_ += kShellHole);
  if (!indirect) return ReadOperator(inside.substr(0, length), inside.substr(length), splitting);
  std::vector<std::string> values;
  for (const std::string& name : ValuesOf(inside.substr(0, length)))
    for (const std::string& value : ValuesOf(name)) values.push_back(value);
  AppendOneOf(values, splitting);
}

void WordReader::ReadOperator(std::string_view name, std::string_view rest, Splitting splitting) {
  std::vector<std::string> values = ValuesOf(name);
  const auto change = [&](auto&& make) {
    for (std::string& value : values) {
      words_.budget_.Spend(WorkOfReading(value.size()));
      const bool known = value.find_first_of(std::string_view("\x01\x02\x03", 3)) == std::string::npos;
      if (known) value = make(value);
    }
  };
  if (rest.starts_with('[')) {
    const std::size_t end = std::min(rest.find(']'), rest.size() - 1);
    const std::string_view index = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (const auto number = NumberIn(index)) {
      change([&](const std::string& value) { return ElementOf(value, *number); });
    } else if (index != "@" && index != "*") {
      values.emplace_back(1, kShellHole);
    }
  } else if (!IsPositional(name)) {
    change([](const std::string& value) { return ElementOf(value, 0); });
  }
  const bool colon = rest.size() > 1 && rest[0] == ':' && std::string_view("-=+?").contains(rest[1]);
  if (colon) rest.remove_prefix(1);
  const char sign = rest.empty() ? '\0' : rest[0];
  if (sign == '-' || sign == '=' || sign == '+') {
    if (sign == '+') values.assign(1, "");
    if (values.size() == 1 && values[0] == std::string_view(&kShellHole, 1) && !IsPositional(name)) values.clear();
    values.push_back(ValueOfWord(rest.substr(1)));
    if (values.size() == 1) values.emplace_back(1, kShellHole);
  } else if (sign == '@') {
    values.emplace_back(1, kShellHole);
  } else if (sign == ':') {
    change([&](const std::string& value) { return Part(value, rest.substr(1)); });
  } else if (rest == "^" || rest == "^^" || rest == "," || rest == ",,") {
    change([&](const std::string& value) { return Cased(value, rest); });
  } else if (sign == '/' || sign == '#' || sign == '%') {
    change([&](const std::string& value) {
      words_.budget_.Spend(WorkOfCopying(value.size() * std::min(rest.size(), kMostExpanded) / 4));
      return Replaced(value, sign, rest.substr(1));
    });
  } else if (sign != '\0' && sign != '?') {
    values.assign(1, std::string(1, kShellHole));
  }
  // The first letter of an absolute path: ${PWD:0:1} is a slash.
  const bool is_path = name == "PWD" || name == "OLDPWD" || name == "PATH" || name == "SHELL";
  if (is_path && (rest.starts_with(":0:1") || rest.starts_with("%%"))) values.emplace_back("/");
  AppendOneOf(values, splitting);
}

std::string WordReader::ValueOfWord(std::string_view word) {
  ShellChoice choice{.which = left_};
  std::string value = words_.ExpandValue(word, choice);
  choice_.count = std::min(std::max(choice_.count, choice.count), kMostChoices);
  return value;
}

void WordReader::Substitute(std::string_view code, Splitting splitting) {
  ShellFlow flow = words_.FlowOf(code);
  switch (flow.kind) {
    case ShellFlow::Kind::kText:
      while (flow.text.ends_with('\n')) flow.text.pop_back();
      return AppendValue(flow.text, splitting);
    case ShellFlow::Kind::kNetwork:
      return void(text_ += kShellNetwork);
    case ShellFlow::Kind::kDecoded:
      return void(text_ += kShellDecoded);
    default:
      text_ += kShellHole;
  }
}

void WordReader::AppendOneOf(const std::vector<std::string>& values, Splitting splitting) {
  const auto count = static_cast<unsigned>(values.size());
  possibilities_ = std::min(possibilities_ * count, kMostChoices + 1);
  choice_.count = std::max(choice_.count, possibilities_);
  // When there are more combinations than can be tried one by one, the rest counts as unknown.
  if (choice_.which >= kMostChoices && count > 1) return void(text_ += kShellHole);
  AppendValue(values[left_ % count], splitting);
  left_ /= count;
}

void WordReader::AppendValue(std::string_view value, Splitting splitting) {
  expanded_ += value.size();
  choice_.expanded += value.size();
  words_.budget_.Spend(WorkOfReading(value.size()));
  if (expanded_ > kMostExpanded || choice_.expanded > kMostExpandedOfAll) return void(text_ += kShellHole);
  if (splitting == Splitting::kNo) return void(text_ += value);
  for (const char c : value) text_ += c == ' ' || c == '\t' || c == '\n' || variables_.IsSplitter(c) ? kShellBreak : c;
}

void WordReader::AppendLiteral(char c) {
  // Bytes that are marks here become holes; NUL, which no word can hold, is dropped.
  if (c == '\0') return;
  text_ += c >= '\x05' && c <= '\x08' ? kShellHole : c;
}

std::string WithPlainBraces(std::string_view text) {
  std::string plain(text);
  if (plain.find_first_of("\x06\x07\x08") == std::string::npos) return plain;
  std::ranges::replace(plain, kOpen, '{');
  std::ranges::replace(plain, kComma, ',');
  std::ranges::replace(plain, kClose, '}');
  return plain;
}

namespace {

// The commas of the group that begins at `open`, and the group's end. Empty when the group never ends.
std::vector<std::size_t> GroupAt(std::string_view text, std::size_t open) {
  std::vector<std::size_t> places;
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == kOpen) ++depth;
    if (text[at] == kComma && depth == 1) places.push_back(at);
    if (text[at] == kClose && --depth == 0) {
      places.push_back(at);
      return places;
    }
  }
  return {};
}

// {a..a} is a; other ranges are not expanded.
std::string RangeOf(std::string_view inside) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return '{' + std::string(inside) + '}';
  const std::string_view from = inside.substr(0, dots);
  return from == inside.substr(dots + 2) ? std::string(from) : std::string(1, kShellHole);
}

}  // namespace

std::vector<std::string> ExpandBraces(std::string_view text, std::size_t most, Budget& budget) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // in total
  std::size_t bytes = text.size();
  if (!text.contains(kOpen)) return {WithPlainBraces(text)};
  std::vector<std::string> open = {std::string(text)};
  std::vector<std::string> done;
  // Takes the first group of the last text apart, until none is left.
  for (std::size_t rounds = 0; !open.empty(); ++rounds) {
    const bool too_many = rounds > 4 * most || open.size() + done.size() > most || bytes > kMostBytes;
    if (too_many || !budget.Spend(2 * WorkOfReading(open.back().size()))) return {std::string(1, kShellHole)};
    std::string current = std::move(open.back());
    open.pop_back();
    const std::size_t begin = current.find(kOpen);
    const std::vector<std::size_t> places =
        begin == std::string::npos ? std::vector<std::size_t>() : GroupAt(current, begin);
    if (places.empty()) {
      if (begin == std::string::npos) {
        done.push_back(WithPlainBraces(current));
      } else {
        current[begin] = '{';
        open.push_back(std::move(current));
      }
      continue;
    }
    const std::string before = current.substr(0, begin);
    const std::string after = current.substr(places.back() + 1);
    if (places.size() == 1) {
      std::string filled = before;
      filled += RangeOf(std::string_view(current).substr(begin + 1, places[0] - begin - 1));
      open.push_back(std::move(filled.append(after)));
      continue;
    }
    bytes += places.size() * (before.size() + after.size());
    if (places.size() > most || bytes > kMostBytes) return {std::string(1, kShellHole)};
    for (std::size_t which = places.size(); which > 0; --which) {
      const std::size_t from = (which == 1 ? begin : places[which - 2]) + 1;
      std::string filled = before;
      filled.append(current, from, places[which - 1] - from).append(after);
      open.push_back(std::move(filled));
    }
  }
  return done;
}

}  // namespace skerry::policy

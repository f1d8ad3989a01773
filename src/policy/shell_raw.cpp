#include "policy/shell_raw.hpp"

#include <algorithm>

namespace skerry::policy {
namespace {

// The place behind the quote that closes the one at `at`; behind the opening quote when none closes it.
std::size_t SkipSingleQuotes(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\'', at + 1);
  return end == std::string_view::npos ? at + 1 : end + 1;
}

std::size_t SkipEscapedQuotes(std::string_view text, std::size_t at, char quote) {
  for (std::size_t place = at + 1; place < text.size(); ++place) {
    if (text[place] == '\\') {
      ++place;
    } else if (text[place] == quote) {
      return place + 1;
    }
  }
  return at + 1;
}

// Skips one character, or a piece of a word that has to be taken as a whole.
std::size_t SkipPiece(std::string_view text, std::size_t at) {
  const char c = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (c == '\\') return std::min(at + 2, text.size());
  if (c == '\'') return SkipSingleQuotes(text, at);
  if (c == '"') return SkipEscapedQuotes(text, at, '"');
  if (c == '$' && next == '\'') return SkipEscapedQuotes(text, at + 1, '\'');
  if (c == '`') return SkipBackticks(text, at + 1);
  if ((c == '$' || c == '<' || c == '>') && next == '(') return SkipParentheses(text, at + 2);
  if (c == '$' && next == '{') return SkipBraces(text, at + 2);
  return at + 1;
}

std::size_t SkipNested(std::string_view text, std::size_t at, char open, char close) {
  int depth = 1;
  while (at < text.size()) {
    const char c = text[at];
    if (c == open) ++depth;
    if (c == close && --depth == 0) return at + 1;
    if (c == '\\') {
      at += 2;
    } else if (c == '\'') {
      at = SkipSingleQuotes(text, at);
    } else if (c == '"') {
      at = SkipEscapedQuotes(text, at, '"');
    } else {
      ++at;
    }
  }
  return text.size();
}

std::string WithoutQuotes(std::string_view word) {
  std::string plain;
  for (const char c : word)
    if (c != '\'' && c != '"' && c != '\\') plain += c;
  return plain;
}

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

class Splitter {
 public:
  Splitter(std::string_view text, const RawVisitor& visit) : text_(text), visit_(visit) {}

  void Run() {
    while (at_ < text_.size() && goes_on_) {
      Step();
      if (waiting_.empty() || commands_.size() > kMostWaiting) HandOut();
    }
    EndCommand();
    HandOut();
  }

 private:
  // The most commands that wait for their here-documents.
  static constexpr std::size_t kMostWaiting = 1000;

  void HandOut() {
    for (const RawCommand& command : commands_) goes_on_ = goes_on_ && visit_(command);
    commands_.clear();
    waiting_.clear();
  }

  [[nodiscard]] char At(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  void Step() {
    const char c = text_[at_];
    if (IsBlank(c) || (c == '\\' && At(at_ + 1) == '\n')) {
      at_ += c == '\\' ? 2 : 1;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      ++at_;
      EndCommand();
      TakeHereDocuments();
    } else if (c == '|' || c == ';' || c == '&' || c == '(' || c == ')') {
      TakeSeparator(c);
    } else if ((c == '<' || c == '>') && At(at_ + 1) != '(') {
      TakeRedirect();
    } else {
      TakeWord();
    }
  }

  void TakeSeparator(char c) {
    if (c == '&' && At(at_ + 1) == '>') return TakeRedirect();
    EndCommand();
    ++at_;
    const bool twice = At(at_) == c;
    if (twice || (c == '|' && At(at_) == '&')) ++at_;
    if (c == '|' && !twice) current_.piped = true;
  }

  void TakeRedirect() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("<>&|").contains(text_[at_])) ++at_;
    const std::string_view sign = text_.substr(begin, at_ - begin);
    if (sign == "<<" && At(at_) == '-') ++at_;
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
    const std::string_view word = ReadWord();
    if (sign == "<<<") {
      current_.here_string = word;
    } else if (sign == "<<") {
      if (waiting_.size() < kMostWaiting) waiting_.emplace_back(commands_.size(), WithoutQuotes(word));
    } else if (!word.empty()) {
      current_.targets.push_back(word);
    }
  }

  std::string_view ReadWord() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsBlank(c) || std::string_view("\n|;&()").contains(c)) break;
      if ((c == '<' || c == '>') && At(at_ + 1) != '(') break;
      at_ = SkipPiece(text_, at_);
    }
    return text_.substr(begin, at_ - begin);
  }

  void TakeWord() {
    const auto begin = static_cast<std::uint32_t>(at_);
    const std::string_view word = ReadWord();
    if (word == "{" || word == "}") return EndCommand();
    // A number in front of a redirect is no word.
    const bool is_number = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && (At(at_) == '<' || At(at_) == '>')) return;
    if (current_.words.empty()) current_.begin = begin;
    current_.words.push_back(word);
  }

  void EndCommand() {
    const bool has_something = !current_.words.empty() || !current_.targets.empty() || !current_.here_string.empty();
    if (has_something) commands_.push_back(std::move(current_));
    while (!has_something && !waiting_.empty() && waiting_.back().first == commands_.size()) waiting_.pop_back();
    current_ = RawCommand();
  }

  void TakeHereDocuments() {
    for (const auto& [which, delimiter] : waiting_) {
      const std::size_t begin = at_;
      std::size_t end = at_;
      while (at_ < text_.size()) {
        const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, line_end - at_);
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
        end = at_;
        at_ = std::min(line_end + 1, text_.size());
        if (line == delimiter) break;
        end = at_;
      }
      commands_[which].here_document = text_.substr(begin, end - begin);
    }
    waiting_.clear();
  }

  std::string_view text_;
  const RawVisitor& visit_;
  bool goes_on_ = true;
  std::size_t at_ = 0;
  RawCommand current_;
  std::vector<RawCommand> commands_;
  std::vector<std::pair<std::size_t, std::string>> waiting_;  // commands whose here-documents have not been read yet
};

}  // namespace

void ForEachRaw(std::string_view text, const RawVisitor& visit) {
  Splitter(text, visit).Run();
}

std::size_t SkipParentheses(std::string_view text, std::size_t at) {
  return SkipNested(text, at, '(', ')');
}

std::size_t SkipBraces(std::string_view text, std::size_t at) {
  return SkipNested(text, at, '{', '}');
}

std::size_t SkipBackticks(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '`') {
      return at + 1;
    }
  }
  return text.size();
}

std::string WithoutBacktickEscapes(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '\\' && at + 1 < text.size() && std::string_view("\\`$").contains(text[at + 1]);
    plain += text[escape ? ++at : at];
  }
  return plain;
}

std::vector<std::string_view> SubstitutionsIn(std::string_view word, SingleQuotes quotes) {
  std::vector<std::string_view> inside;
  for (std::size_t at = 0; at < word.size();) {
    const char c = word[at];
    const bool opens = (c == '$' || c == '<' || c == '>') && at + 1 < word.size() && word[at + 1] == '(';
    if (c == '\'' && quotes == SingleQuotes::kHide) {
      at = SkipSingleQuotes(word, at);
    } else if (c == '\\') {
      at += 2;
    } else if (c == '`' || opens) {
      const std::size_t begin = at + (opens ? 2 : 1);
      at = opens ? SkipParentheses(word, begin) : SkipBackticks(word, begin);
      inside.push_back(word.substr(begin, at > begin && at <= word.size() ? at - begin - 1 : 0));
    } else {
      ++at;
    }
  }
  return inside;
}

}  // namespace skerry::policy

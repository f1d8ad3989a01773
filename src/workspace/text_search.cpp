#include "workspace/text_search.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

namespace skerry::workspace {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::int64_t kPatternMemory = std::int64_t{8} << 20U;
// When the fast way takes too much memory RE2 goes through all of it for each byte.
constexpr int kMaxProgram = 5'000;
constexpr std::size_t kMaxContext = 20;
constexpr std::size_t kMaxMatches = 10'000;
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20U;
constexpr std::size_t kLineBytes = 400;
constexpr std::size_t kBeforeMatch = 100;
constexpr std::size_t kBinaryBytes = 8192;

}  // namespace

TextPattern::TextPattern(std::unique_ptr<re2::RE2> expression, Place place)
    : expression_(std::move(expression)), place_(place) {}
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

base::Result<TextPattern> TextPattern::Make(const SearchOptions& options) {
  const auto invalid = [](const std::string& why) {
    return base::Err(base::Code::kInvalidArgument, "the pattern cannot be used: " + why);
  };
  const std::string text = options.pattern.value_or("");
  if (text.empty()) return invalid("it is empty");
  if (text.size() > kMaxPatternBytes) return invalid("it is longer than 4096 bytes");
  re2::RE2::Options settings;
  settings.set_literal(options.kind == PatternKind::kLiteral);
  settings.set_case_sensitive(options.letter_case == LetterCase::kDiffers);
  settings.set_log_errors(false);
  settings.set_max_mem(kPatternMemory);
  auto expression = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), settings);
  if (!expression->ok()) return invalid(expression->error());
  if (expression->ProgramSize() > kMaxProgram) return invalid("it is too large");
  // Whatever speaks of the beginning or the end of a text, or may change what that is.
  const bool anchored = text.find_first_of("^$") != std::string::npos || text.find("\\A") != std::string::npos ||
                        text.find("\\z") != std::string::npos || text.find("\\B") != std::string::npos ||
                        text.find("(?") != std::string::npos;
  const bool literal = options.kind == PatternKind::kLiteral;
  return TextPattern(std::move(expression), literal || !anchored ? Place::kAnywhere : Place::kMatters);
}

std::size_t TextPattern::Find(std::string_view text) const {
  re2::StringPiece match;
  const bool found =
      expression_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED, &match, 1);
  return found ? static_cast<std::size_t>(match.data() - text.data()) : std::string_view::npos;
}

bool TextPattern::MayMatchIn(std::string_view lines) const {
  return place_ == Place::kMatters || Find(lines) != std::string_view::npos;
}

TextSearch::TextSearch(const SearchOptions& options, const TextPattern& pattern, SearchResult& result)
    : options_(options),
      pattern_(pattern),
      result_(result),
      context_(std::min(options.context, kMaxContext)),
      max_matches_(std::clamp<std::size_t>(options.max_matches, 1, kMaxMatches)) {}

bool TextSearch::IsFull() const {
  return result_.matches.size() >= max_matches_ || text_bytes_ > kMaxTextBytes;
}

// There is a match too many, and the last one that is given has all of its lines.
bool TextSearch::IsOver(std::uint64_t line) const {
  return more_ && (first_match_ == result_.matches.size() || line >= result_.matches.back().line + context_);
}

base::Status TextSearch::SearchFile(int fd, const std::string& path, std::uint64_t after_line) {
  first_match_ = result_.matches.size();
  after_line_ = after_line;
  before_.clear();
  line_start_.clear();
  line_matched_ = false;
  LinePieces lines(fd, options_.max_file_bytes);
  SKERRY_ASSIGN_OR_RETURN(const std::string_view start, lines.Peek(kBinaryBytes));
  if (start.find('\0') != std::string_view::npos) {
    ++result_.binary_files;
    return {};
  }
  ++result_.files_searched;
  LinePiece piece;
  for (;;) {
    if (context_ == 0) {
      const std::string_view block = lines.NewLines();
      if (!block.empty() && !pattern_.MayMatchIn(block)) lines.Skip(block);
    }
    SKERRY_ASSIGN_OR_RETURN(const bool there, lines.Next(piece));
    if (!there) break;
    if (options_.deadline.Expired()) {
      result_.end = SearchEnd::kDeadline;
      result_.next = SearchPosition{path, piece.line - 1};
      return {};
    }
    TakePiece(piece, path);
    if (IsOver(piece.line)) break;
  }
  if (more_) {
    result_.end = SearchEnd::kMaxMatches;
    result_.next = SearchPosition{result_.matches.back().path, result_.matches.back().line};
  }
  return {};
}

void TextSearch::TakePiece(const LinePiece& piece, const std::string& path) {
  if (piece.offset == 0) {
    line_start_ = piece.text.substr(0, kLineBytes);
    AddBehind(piece.line);
  }
  if (!line_matched_ && piece.line > after_line_ && !more_) {
    const std::size_t at = pattern_.Find(piece.text);
    if (at != std::string_view::npos) AddMatch(piece, at, path);
  }
  if (piece.ends_line) EndLine();
}

void TextSearch::AddMatch(const LinePiece& piece, std::size_t at, const std::string& path) {
  line_matched_ = true;
  if (IsFull()) {
    more_ = true;
    return;
  }
  const std::size_t start = at + 1 < kLineBytes ? 0 : at - kBeforeMatch;
  SearchMatch match{.path = path,
                    .line = piece.line,
                    .column = piece.offset + at + 1,
                    .text = std::string(piece.text.substr(start, kLineBytes)),
                    .text_column = piece.offset + start + 1,
                    .before = {before_.begin(), before_.end()}};
  text_bytes_ += match.path.size() + match.text.size();
  for (const std::string& line : match.before) text_bytes_ += line.size();
  result_.matches.push_back(std::move(match));
}

// The line is one of those behind the last matches.
void TextSearch::AddBehind(std::uint64_t line) {
  for (std::size_t i = result_.matches.size(); i > first_match_; --i) {
    SearchMatch& match = result_.matches[i - 1];
    if (match.line + context_ < line) return;
    match.behind.push_back(line_start_);
    text_bytes_ += line_start_.size();
  }
}

void TextSearch::EndLine() {
  line_matched_ = false;
  if (context_ == 0) return;
  before_.push_back(std::move(line_start_));
  if (before_.size() > context_) before_.pop_front();
}

}  // namespace skerry::workspace

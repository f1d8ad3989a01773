#include "workspace/text_search.hpp"

#include <algorithm>
#include <utility>

namespace skerry::workspace {
namespace {

constexpr std::size_t kMaxContext = 20;
constexpr std::size_t kMaxMatches = 10'000;
constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20U;
constexpr std::size_t kLineBytes = 400;
constexpr std::size_t kBeforeMatch = 100;
constexpr std::size_t kBinaryBytes = 8192;

}  // namespace

TextSearch::TextSearch(const SearchOptions& options, const text::TextPattern& pattern, SearchResult& result)
    : options_(options),
      pattern_(pattern),
      result_(result),
      context_(std::min(options.context, kMaxContext)),
      max_matches_(std::clamp<std::size_t>(options.max_matches, 1, kMaxMatches)) {}

bool TextSearch::IsFull() const {
  return result_.matches.size() >= max_matches_ || text_bytes_ > kMaxTextBytes;
}

// Whether the search can end: there is one match too many, and the last match that is given has all of its context.
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

// Adds the line to the context of those last matches that it follows.
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

#include "text/line_ends.hpp"

#include <algorithm>

namespace skerry::text {
namespace {

bool EndsWithCarriageReturn(std::string_view text, std::size_t feed) {
  return feed > 0 && text[feed - 1] == '\r';
}

LineEnds EndAt(std::string_view text, std::size_t feed) {
  if (feed >= text.size()) return LineEnds::kNone;
  return EndsWithCarriageReturn(text, feed) ? LineEnds::kCrLf : LineEnds::kLf;
}

}  // namespace

LineEnds LineEndsOf(std::string_view text) {
  bool lf = false;
  bool crlf = false;
  for (auto at = text.find('\n'); at != std::string_view::npos && !(lf && crlf); at = text.find('\n', at + 1)) {
    (EndsWithCarriageReturn(text, at) ? crlf : lf) = true;
  }
  if (lf && crlf) return LineEnds::kMixed;
  if (crlf) return LineEnds::kCrLf;
  return lf ? LineEnds::kLf : LineEnds::kNone;
}

std::string WithLineFeeds(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  std::size_t from = 0;
  for (auto at = text.find("\r\n"); at != std::string_view::npos; at = text.find("\r\n", from)) {
    plain.append(text.substr(from, at - from));
    plain += '\n';
    from = at + 2;
  }
  return plain.append(text.substr(from));
}

std::string WithLineEnds(std::string_view text, LineEnds ends) {
  if (ends == LineEnds::kNone || ends == LineEnds::kMixed) return std::string(text);
  std::string plain = WithLineFeeds(text);
  if (ends == LineEnds::kLf) return plain;
  std::string wide;
  wide.reserve(plain.size());
  for (const char byte : plain) {
    if (byte == '\n') wide += '\r';
    wide += byte;
  }
  return wide;
}

std::size_t CountLines(std::string_view text) {
  const auto feeds = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return text.empty() || text.ends_with('\n') ? feeds : feeds + 1;
}

LineEndWalk::LineEndWalk(std::string_view text) : text_(text), last_end_(EndAt(text, text.rfind('\n'))) {}

std::size_t LineEndWalk::Seek(std::size_t place) {
  for (; place_ < place && at_ < text_.size(); ++place_) {
    at_ += text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n' ? 2 : 1;
  }
  return at_;
}

LineEnds LineEndWalk::EndHere() {
  // The end of the line is kept until the walk is past it: many places in one long line must not search for it again.
  if (!looked_ || next_feed_ < at_) next_feed_ = std::min(text_.find('\n', at_), text_.size());
  looked_ = true;
  const LineEnds here = EndAt(text_, next_feed_);
  return here == LineEnds::kNone ? last_end_ : here;
}

}  // namespace skerry::text

// "\n" and "\r\n". A "\r" on its own ends no line here. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skerry::text {

enum class LineEnds { kNone, kLf, kCrLf, kMixed };

LineEnds LineEndsOf(std::string_view text);

// Every "\r\n" as "\n".
std::string WithLineFeeds(std::string_view text);

// The text with every line end as `ends` says: "\n" for kLf, "\r\n" for kCrLf; with kNone and kMixed the text as it is.
std::string WithLineEnds(std::string_view text, LineEnds ends);

// Lines, the last of which may have no end: "a\nb" are two, "" is none.
std::size_t CountLines(std::string_view text);

// Walks through a text by the places that WithLineFeeds(text) has, from the front to the back only; the whole walk
// costs one pass. Borrows the text.
class LineEndWalk {
 public:
  explicit LineEndWalk(std::string_view text);

  // Where `place` of the text with line feeds is in the text. A "\r\n" is never split.
  std::size_t Seek(std::size_t place);
  // How the line ends in which the walk stands; where it has no end, the last line that has one. kNone: no line does.
  LineEnds EndHere();

 private:
  std::string_view text_;
  LineEnds last_end_;
  std::size_t at_ = 0;
  std::size_t place_ = 0;
  std::size_t next_feed_ = 0;  // the first "\n" from at_ on, once EndHere looked for it
  bool looked_ = false;
};

}  // namespace skerry::text

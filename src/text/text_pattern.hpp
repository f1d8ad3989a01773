// A pattern to look for in lines of text. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace re2 {
class RE2;
}

namespace skerry::text {

enum class PatternKind { kRegularExpression, kLiteral };  // regular expressions in the syntax of RE2
enum class LetterCase { kDiffers, kIgnored };

// A pattern that is compiled once for all texts. Time grows with the size of the text only, whatever the pattern is.
class TextPattern {
 public:
  // kInvalidArgument, with the reason, for what is no pattern or too large a one.
  static base::Result<TextPattern> Make(std::string_view pattern, PatternKind kind, LetterCase letter_case);
  TextPattern(TextPattern&&) noexcept;
  TextPattern& operator=(TextPattern&&) noexcept;
  ~TextPattern();

  // Where the first match begins, or npos.
  [[nodiscard]] std::size_t Find(std::string_view text) const;
  // False only when no line of these has a match: a whole block is searched faster than its lines one by one.
  [[nodiscard]] bool MayMatchIn(std::string_view lines) const;

 private:
  // Whether a match in a line is one in any text that holds the line.
  enum class Place { kAnywhere, kMatters };
  TextPattern(std::unique_ptr<re2::RE2> expression, Place place);
  std::unique_ptr<re2::RE2> expression_;
  Place place_;
};

}  // namespace skerry::text

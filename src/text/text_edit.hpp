// Edits of a text, all of them or none. Pure: no file is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace skerry::text {

// Every occurrence of `old_text` becomes `new_text`. `count` is how many there have to be; 0 for one or more.
// Occurrences do not overlap; they are counted from the front.
struct ReplaceText {
  std::string old_text;
  std::string new_text;
  std::size_t count = 1;
};

// Whole lines in front of line `line`, which counts from 1; one behind the last line appends. What is put in always
// ends with a line end, and a last line without one gets one before something is appended. Otherwise a file without a
// final line end stays so.
struct InsertLines {
  std::uint64_t line = 1;
  std::string text;
};

using TextEdit = std::variant<ReplaceText, InsertLines>;

struct EditReport {
  std::size_t replacements = 0;
  std::size_t insertions = 0;
};

struct EditedText {
  std::string bytes;  // the whole file as it should be now
  EditReport report;
};

// The most that a file may have before and after the edits: one short edit can make a small file huge.
inline constexpr std::size_t kMaxEditedBytes = std::size_t{64} << 20U;

// One edit after the other, each on what the one before it made. The file keeps its encoding: UTF-8 with or without a
// mark, UTF-16 with one, otherwise bytes, into which only ASCII can be put. Lines count by "\n".
//
// The text that comes in takes the line ends of the file: "\n" and "\r\n" in an edit are the same. Where the file has
// both, the old text is found with either, its exact form first if that gives the wanted count, and the new text takes
// the ends of the place: what it has in common with the old text stays as it was, the rest ends like the line it is in.
// A file without a "\n" takes what comes in as it is.
//
// Messages begin with "edit 2 of 3: ". kInvalidArgument: an edit that makes no sense (nothing to replace, nothing that
// would change, a line that is not there). kNotFound: the text is not there; the message shows what comes nearest, with
// its line and what differs, in up to ten more lines; every character of these is printable or a tab. kConflict: it is
// there more often or less often than it should be; the message names the lines. kTooLarge: see above.
base::Result<EditedText> ApplyEdits(std::string_view file, const std::vector<TextEdit>& edits);

}  // namespace skerry::text

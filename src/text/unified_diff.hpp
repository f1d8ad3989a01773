// What differs between two states of files, for people. Pure: no file is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skerry::text {

// Whether the bytes are text that a person can read, and that a terminal shows as it is: UTF-8 without control
// characters other than tab, line feed, form feed, and a carriage return in front of a line feed (on its own it lets a
// line overwrite itself); nor with line separators and direction overrides (U+2028 to U+202E, U+2066 to U+2069). So the
// diff of a readable text can go to a terminal as it is.
bool IsReadableText(std::string_view bytes);

struct DiffOptions {
  std::size_t context = 3;
  std::size_t max_work = 20'000'000;  // steps of the search; beyond it what differs is shown as one block
};

// The hunks of a unified diff as `patch` takes them, with "\ No newline at end of file" where that is so; "" when both
// are the same. Headers are the caller's. Any bytes: whether they should be shown is the caller's too.
std::string UnifiedHunks(std::string_view before, std::string_view after, const DiffOptions& options = {});

// One side of a file's change: a regular file or a link. A side that has a hash but no bytes has a content that is too
// large to be compared; then the hashes are compared, and the entry is shown as if it were no text.
struct DiffSide {
  std::string_view bytes;             // content, or a link's target
  std::string_view sha256;            // shown for what is no text
  unsigned mode = 0;                  // with the kind, as stat(2) gives it
  std::optional<std::uint64_t> size;  // of content that is too large to be here
};

// A whole entry in git's form, so that `git apply` takes it for text: header, modes, hunks. Nothing on a side: the file
// was not there. "" when both sides are the same. Names that are not plain are quoted as git does. A file that became a
// link, or the other way round, is an entry that deletes and one that makes.
//
// Modes are told in full (100600, 104755), while git itself knows 100644, 100755 and 120000 only: a person should see
// every change of them. `git apply` takes that, at most with a warning.
//
// What is no readable text on either side is one line, on which `git apply` stops rather than make an empty file of it:
//   Binary files a/P (12 bytes, sha256 0ab1…) and b/P (20 bytes, sha256 3f4e…) differ
// with /dev/null for the side that is not there, and without the hash or the size where there is none.
std::string FileDiff(std::string_view path, const std::optional<DiffSide>& before, const std::optional<DiffSide>& after,
                     const DiffOptions& options = {});

}  // namespace skerry::text

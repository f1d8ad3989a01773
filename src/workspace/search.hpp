// Looking for files and for text in them, without any program.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "text/text_pattern.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::workspace {

// Where a search goes on: behind this match, or with kWholeFile behind the whole file.
struct SearchPosition {
  static constexpr std::uint64_t kWholeFile = (std::uint64_t{1} << 53U) - 1;  // every JSON parser keeps it
  std::string path;
  std::uint64_t line = 0;

  bool operator==(const SearchPosition&) const = default;
};

struct SearchOptions {
  std::string path;                    // a directory or one file
  std::string glob;                    // text::SearchGlob; relative to `path`; empty: every file
  std::optional<std::string> pattern;  // none: the files themselves are what is looked for
  text::PatternKind kind = text::PatternKind::kRegularExpression;
  text::LetterCase letter_case = text::LetterCase::kDiffers;
  std::size_t context = 0;         // lines before and behind, 20 at most
  std::size_t max_matches = 1000;  // 10,000 at most
  std::uint64_t max_file_bytes = std::uint64_t{16} << 20U;
  std::size_t max_files = 100'000;
  base::Deadline deadline = base::Deadline::After(std::chrono::seconds(10));
  std::optional<SearchPosition> after;
};

// The first match of a line; without a pattern a file, whose line is 0.
struct SearchMatch {
  std::string path;  // relative to the workspace
  std::uint64_t line = 0;
  std::uint64_t column = 0;         // of the match, in bytes, from 1
  std::string text;                 // at most 400 bytes of the line, the beginning of the match among them
  std::uint64_t text_column = 1;    // of the first byte of `text`
  std::vector<std::string> before;  // the lines around it, 400 bytes of each at most
  std::vector<std::string> behind;
};

enum class SearchEnd { kComplete, kMaxMatches, kMaxFiles, kDeadline, kMoved };
// One line for people: why the search is not complete.
std::string_view TextOf(SearchEnd end);

struct SearchResult {
  std::vector<SearchMatch> matches;
  std::uint64_t files_searched = 0;
  std::uint64_t binary_files = 0;  // passed over: a NUL among the first 8 KB
  std::uint64_t large_files = 0;   // passed over: more than max_file_bytes
  std::uint64_t closed = 0;        // passed over: files and directories that this process may not read, mounts
  SearchEnd end = SearchEnd::kComplete;
  std::optional<SearchPosition>
      next;  // for `after`, when the search is not complete; nothing when it has not come to the first file

  [[nodiscard]] bool complete() const { return end == SearchEnd::kComplete; }
};

// In the order of the paths. Links are not followed, other file systems not entered. The time of a match grows with the
// size of the text only; a line longer than 64 KB is searched in pieces of that size as if each were a line. Memory is
// bounded: the text of all matches together is at most 16 MB, then it ends like at max_matches.
//
// kInvalidArgument for a pattern or a glob that is none, with the reason; kPathTraversal for what leads out, a glob
// included; kNotFound.
base::Result<SearchResult> Search(const AgentWorkspace& workspace, const SearchOptions& options);

}  // namespace skerry::workspace

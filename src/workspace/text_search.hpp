// Looking for a pattern in the lines of one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "workspace/line_pieces.hpp"
#include "workspace/search.hpp"

namespace re2 {
class RE2;
}

namespace skerry::workspace {

// A pattern that is compiled once for all files. Time grows with the size of the text only, whatever the pattern is.
class TextPattern {
 public:
  // kInvalidArgument, with the reason, for what is no pattern or too large a one.
  static base::Result<TextPattern> Make(const SearchOptions& options);
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

// Adds the matches of file after file to a result until there are enough.
class TextSearch {
 public:
  // All are borrowed.
  TextSearch(const SearchOptions& options, const TextPattern& pattern, SearchResult& result);

  // `fd` is a file; matches up to `after_line` are passed over. Sets the end of the result when the search is over.
  base::Status SearchFile(int fd, const std::string& path, std::uint64_t after_line);

 private:
  void TakePiece(const LinePiece& piece, const std::string& path);
  void EndLine();
  void AddMatch(const LinePiece& piece, std::size_t at, const std::string& path);
  [[nodiscard]] bool IsFull() const;
  [[nodiscard]] bool IsOver(std::uint64_t line) const;
  void AddBehind(std::uint64_t line);

  const SearchOptions& options_;
  const TextPattern& pattern_;
  SearchResult& result_;
  std::size_t context_;
  std::size_t max_matches_;
  std::size_t text_bytes_ = 0;
  bool more_ = false;  // there was a match for which there is no room

  // Of the present file.
  std::size_t first_match_ = 0;
  std::uint64_t after_line_ = 0;
  std::deque<std::string> before_;
  std::string line_start_;
  bool line_matched_ = false;
};

}  // namespace skerry::workspace

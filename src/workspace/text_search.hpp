// Looking for a pattern in the lines of one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "text/text_pattern.hpp"
#include "workspace/line_pieces.hpp"
#include "workspace/search.hpp"

namespace skerry::workspace {

// Adds the matches of file after file to a result until there are enough.
class TextSearch {
 public:
  // All are borrowed.
  TextSearch(const SearchOptions& options, const text::TextPattern& pattern, SearchResult& result);

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
  const text::TextPattern& pattern_;
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

// A file line by line in bounded memory, however long its lines are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::workspace {

// A line, or a part of one that is longer than kMaxPiece.
struct LinePiece {
  std::string_view text;     // without the end of the line; lives until the next call
  std::uint64_t line = 1;    // number of the line
  std::uint64_t offset = 0;  // of the text in the line
  bool ends_line = false;
};

class LinePieces {
 public:
  static constexpr std::size_t kMaxPiece = std::size_t{64} << 10U;

  // `fd` is a file, borrowed; not more than `limit` bytes of it are read.
  LinePieces(int fd, std::uint64_t limit) : fd_(fd), limit_(limit) {}

  // The next piece. False at the end of the file.
  base::Result<bool> Next(LinePiece& piece);
  // Whole lines that were read since the last call and are not taken yet, or nothing. Skip passes over them.
  std::string_view NewLines();
  void Skip(std::string_view lines);
  // The first bytes that are not taken yet, up to `size` of them.
  base::Result<std::string_view> Peek(std::size_t size);

 private:
  enum class End { kNewline, kOfFile, kNone };
  base::Status Fill();
  LinePiece Take(std::size_t size, End end);

  int fd_;
  std::uint64_t limit_;
  std::uint64_t read_ = 0;
  bool at_end_ = false;
  bool is_new_ = false;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t offset_ = 0;
};

}  // namespace skerry::workspace

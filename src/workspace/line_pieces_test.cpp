#include "workspace/line_pieces.hpp"

#include <sys/mman.h>

#include <vector>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "os/files.hpp"

namespace skerry::workspace {
namespace {

struct Line {
  std::uint64_t number = 0;
  std::string text;
};

// The lines, put together from their pieces.
std::vector<Line> LinesOf(const std::string& bytes, std::uint64_t limit = UINT64_MAX) {
  const base::UniqueFd fd(::memfd_create("lines", MFD_CLOEXEC));
  EXPECT_TRUE(os::WriteAll(fd.get(), bytes));
  LinePieces pieces(fd.get(), limit);
  std::vector<Line> lines;
  LinePiece piece;
  while (pieces.Next(piece).value_or(false)) {
    EXPECT_LE(piece.text.size(), LinePieces::kMaxPiece);
    if (piece.offset == 0) lines.push_back({piece.line, ""});
    EXPECT_EQ(lines.back().number, piece.line);
    EXPECT_EQ(lines.back().text.size(), piece.offset);
    lines.back().text += piece.text;
  }
  return lines;
}

TEST(LinePiecesTest, LinesAreCountedFromOne) {
  const auto lines = LinesOf("a\n\nccc\r\nlast");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].text, "a");
  EXPECT_EQ(lines[1].text, "");
  EXPECT_EQ(lines[2].text, "ccc");
  EXPECT_EQ(lines[3].text, "last");
  EXPECT_EQ(lines[3].number, 4U);
  EXPECT_TRUE(LinesOf("").empty());
  EXPECT_EQ(LinesOf("\n").size(), 1U);
}

TEST(LinePiecesTest, LinesOfAnyLengthComeWholeOrInPieces) {
  for (const std::size_t size : {65'535U, 65'536U, 65'537U, 131'072U, 1'000'003U}) {
    const std::string text(size, 'x');
    for (const std::string& end : {std::string(), std::string("\n"), std::string("\nnext\n")}) {
      const auto lines = LinesOf("first\n" + text + end);
      ASSERT_EQ(lines.size(), end.size() > 1 ? 3U : 2U) << size;
      EXPECT_EQ(lines[1].text, text) << size;
      EXPECT_EQ(lines[1].number, 2U);
    }
  }
}

TEST(LinePiecesTest, NotMoreThanTheLimitIsRead) {
  const auto lines = LinesOf("one\ntwo\nthree\n", 6);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].text, "tw");
}

}  // namespace
}  // namespace skerry::workspace

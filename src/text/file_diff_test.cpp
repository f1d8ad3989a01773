#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/unified_diff.hpp"

namespace skerry::text {
namespace {

using namespace std::string_literals;

DiffSide Side(std::string_view bytes, unsigned mode = 0100644, std::string_view sha256 = "") {
  return {bytes, sha256, mode};
}

TEST(ReadableTextTest, TextIsReadable) {
  for (const std::string& text :
       {""s, "a\tb\r\n\n"s, "\f\n"s, "grün 😀 日本\n"s, "\xEF\xBB\xBFmark"s, "שלום\xE2\x80\x8F"s}) {
    EXPECT_TRUE(IsReadableText(text)) << testing::PrintToString(text);
  }
}

TEST(ReadableTextTest, WhatWouldMoveTheCursorOrTheReaderIsNot) {
  for (const std::string& text : {"\0"s, "\x1b[31m"s, "a\bb"s, "\x7F"s, "\x07"s, "\v"s, "evil\rgood\n"s, "end\r"s,
                                  "\xC2\x9B"s, "\xC2\x80"s, "\xC2\x9F"s, "\xE2\x80\xA8"s, "\xE2\x80\xAE"s,
                                  "\xE2\x81\xA6"s, "\xE2\x81\xA9"s, "\xFF"s, "\xC0\xAF"s, "gr\xFCn"s, "x\0"s}) {
    EXPECT_FALSE(IsReadableText(text)) << testing::PrintToString(text);
    EXPECT_FALSE(IsReadableText("in a longer text " + text + "x")) << testing::PrintToString(text);
  }
}

TEST(FileDiffTest, AChangeHasBothNames) {
  EXPECT_EQ(FileDiff("dir/file", Side("a\n"), Side("b\n")),
            "diff --git a/dir/file b/dir/file\n--- a/dir/file\n+++ b/dir/file\n@@ -1 +1 @@\n-a\n+b\n");
}

TEST(FileDiffTest, NothingChangedIsNothing) {
  EXPECT_EQ(FileDiff("f", Side("a"), Side("a")), "");
  EXPECT_EQ(FileDiff("f", std::nullopt, std::nullopt), "");
  EXPECT_EQ(FileDiff("l", Side("a", 0120777), Side("a", 0120755)), "");
}

TEST(FileDiffTest, NewAndDeletedFilesHaveNothingOnTheOtherSide) {
  EXPECT_EQ(FileDiff("f", std::nullopt, Side("a\n")),
            "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(FileDiff("f", Side("a\n", 0100600), std::nullopt),
            "diff --git a/f b/f\ndeleted file mode 100600\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(FileDiff("f", std::nullopt, Side("")), "diff --git a/f b/f\nnew file mode 100644\n");
}

TEST(FileDiffTest, EveryChangeOfTheModeIsTold) {
  EXPECT_EQ(FileDiff("f", Side("a"), Side("a", 0104755)), "diff --git a/f b/f\nold mode 100644\nnew mode 104755\n");
}

TEST(FileDiffTest, ALinkIsItsTargetWithoutALineEnd) {
  EXPECT_EQ(FileDiff("l", std::nullopt, Side("to", 0120777)),
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+to\n"
            "\\ No newline at end of file\n");
}

TEST(FileDiffTest, AFileThatBecomesALinkIsDeletedFirst) {
  const std::string diff = FileDiff("f", Side("a\n"), Side("to", 0120777));
  EXPECT_THAT(diff, testing::HasSubstr("deleted file mode 100644\n"));
  EXPECT_THAT(diff, testing::HasSubstr("new file mode 120000\n"));
}

TEST(FileDiffTest, WhatIsNoTextIsALineWithSizesAndHashes) {
  EXPECT_EQ(FileDiff("f", Side("\x1b[2J", 0100644, "abc"), Side("text\n", 0100644, "def")),
            "diff --git a/f b/f\nBinary files a/f (4 bytes, sha256 abc) and b/f (5 bytes, sha256 def) differ\n");
  EXPECT_EQ(FileDiff("f", std::nullopt, Side("\0"s)),
            "diff --git a/f b/f\nnew file mode 100644\nBinary files /dev/null and b/f (1 bytes) differ\n");
  EXPECT_EQ(FileDiff("f", Side("\0"s), Side("\0"s, 0100755)), "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n");
}

TEST(FileDiffTest, ContentThatIsNotGivenIsComparedByItsHash) {
  const std::string nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  EXPECT_EQ(FileDiff("f", Side("", 0100644, "abc"), Side("", 0100644, "def")),
            "diff --git a/f b/f\nBinary files a/f (sha256 abc) and b/f (sha256 def) differ\n");
  EXPECT_EQ(FileDiff("f", Side("text\n", 0100644, "abc"), Side("", 0100644, "def")),
            "diff --git a/f b/f\nBinary files a/f (5 bytes, sha256 abc) and b/f (sha256 def) differ\n");
  EXPECT_EQ(FileDiff("f", std::nullopt, Side("", 0100644, "def")),
            "diff --git a/f b/f\nnew file mode 100644\nBinary files /dev/null and b/f (sha256 def) differ\n");
  EXPECT_EQ(FileDiff("f", Side("", 0100644, "abc"), Side("", 0100644, "abc")), "");
  EXPECT_EQ(FileDiff("f", std::nullopt, Side("", 0100644, nothing)), "diff --git a/f b/f\nnew file mode 100644\n");
}

TEST(FileDiffTest, NamesThatAreNotPlainAreQuoted) {
  struct Row {
    std::string name;
    std::string_view quoted;
  };
  const std::vector<Row> rows = {
      {"plain name", "a/plain name b/plain name\n"},
      {"a\"b", "\"a/a\\\"b\" \"b/a\\\"b\"\n"},
      {"a\\b", "\"a/a\\\\b\" \"b/a\\\\b\"\n"},
      {"\x1b\n\t\x7F", "\"a/\\033\\n\\t\\177\" \"b/\\033\\n\\t\\177\"\n"},
      {"ü", "\"a/\\303\\274\" \"b/\\303\\274\"\n"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(FileDiff(row.name, Side("a"), Side("b")), testing::StartsWith("diff --git " + std::string(row.quoted)));
  }
  EXPECT_THAT(FileDiff("a b", Side("a"), Side("b")), testing::HasSubstr("\n--- a/a b\t\n+++ b/a b\t\n"));
}

}  // namespace
}  // namespace skerry::text

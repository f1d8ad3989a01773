#include "text/text_edit.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/line_ends.hpp"

namespace skerry::text {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

ReplaceText Replace(std::string old_text, std::string new_text, std::size_t count = 1) {
  return {std::move(old_text), std::move(new_text), count};
}

std::string Edited(std::string_view file, const std::vector<TextEdit>& edits) {
  const auto edited = ApplyEdits(file, edits);
  return edited ? edited->bytes : "error: " + edited.error().message;
}

base::Error Failure(std::string_view file, const std::vector<TextEdit>& edits) {
  const auto edited = ApplyEdits(file, edits);
  if (edited) return {base::Code::kInternal, "no failure, but: " + edited->bytes};
  return edited.error();
}

std::string Utf16(std::string_view ascii) {
  std::string bytes = "\xFF\xFE";
  for (const char byte : ascii) bytes.append({byte, '\0'});
  return bytes;
}

TEST(TextEditTest, OneOccurrenceIsReplaced) {
  EXPECT_EQ(Edited("one two three", {Replace("two", "2")}), "one 2 three");
  EXPECT_EQ(Edited("one two three", {Replace(" two", "")}), "one three");
}

TEST(TextEditTest, EveryEditSeesWhatTheOneBeforeMade) {
  const auto edited = ApplyEdits("a\n", {Replace("a", "b b"), Replace("b", "c", 2), InsertLines{2, "end"}});
  ASSERT_TRUE(edited.has_value());
  EXPECT_EQ(edited->bytes, "c c\nend\n");
  EXPECT_EQ(edited->report.replacements, 3U);
  EXPECT_EQ(edited->report.insertions, 1U);
}

TEST(TextEditTest, NoEditsChangeNothing) {
  EXPECT_EQ(Edited("\xFF\xFEx", {}), "\xFF\xFEx");
  EXPECT_EQ(Edited("", {}), "");
}

TEST(TextEditTest, CountZeroTakesAllThatAreThere) {
  EXPECT_EQ(Edited("aaaaa", {Replace("aa", "b", 0)}), "bba");
  EXPECT_EQ(Failure("x", {Replace("aa", "b", 0)}).code, base::Code::kNotFound);
}

TEST(TextEditTest, AWrongCountNamesTheLines) {
  const base::Error error = Failure("x\ny\nx x\n", {Replace("y", "z"), Replace("x", "z")});
  EXPECT_EQ(error.code, base::Code::kConflict);
  EXPECT_THAT(error.message, HasSubstr("edit 2 of 2: the text is there 3 times and not once, in line 1, 3, 3;"));
  EXPECT_EQ(Failure("x", {Replace("x", "y", 2)}).code, base::Code::kConflict);
}

TEST(TextEditTest, OnlyTheFirstTenLinesAreNamed) {
  std::string file;
  for (int i = 0; i < 30; ++i) file += "x\n";
  EXPECT_THAT(Failure(file, {Replace("x", "y")}).message, HasSubstr("9, 10 and others;"));
}

TEST(TextEditTest, EditsWithoutSenseAreRefused) {
  struct Row {
    TextEdit edit;
    std::string_view message;
  };
  const std::vector<Row> rows = {
      {Replace("", "x"), "is empty"},
      {Replace("a", "a"), "changes nothing"},
      {Replace("a\n", "a\r\n"), "changes nothing but line ends"},
      {Replace("\xFC", "u"), "not UTF-8"},
      {Replace("a", "\xFC"), "not UTF-8"},
      {InsertLines{1, ""}, "nothing to insert"},
      {InsertLines{0, "x"}, "at line 0: it may be 1 to 3"},
      {InsertLines{4, "x"}, "at line 4: it may be 1 to 3"},
      {InsertLines{UINT64_MAX, "x"}, "it may be 1 to 3"},
      {InsertLines{1, "\xFC"}, "not UTF-8"},
  };
  for (const Row& row : rows) {
    const base::Error error = Failure("a\nb\n", {row.edit});
    EXPECT_EQ(error.code, base::Code::kInvalidArgument) << row.message;
    EXPECT_THAT(error.message, AllOf(HasSubstr("edit 1 of 1: "), HasSubstr(std::string(row.message))));
  }
}

TEST(TextEditTest, LinesAreInsertedWhole) {
  EXPECT_EQ(Edited("a\nb\n", {InsertLines{1, "x"}}), "x\na\nb\n");
  EXPECT_EQ(Edited("a\nb\n", {InsertLines{2, "x\ny\n"}}), "a\nx\ny\nb\n");
  EXPECT_EQ(Edited("a\nb\n", {InsertLines{3, "x"}}), "a\nb\nx\n");
  EXPECT_EQ(Edited("a\nb\n", {InsertLines{2, "\n"}}), "a\n\nb\n");
  EXPECT_EQ(Edited("", {InsertLines{1, "x"}}), "x\n");
}

TEST(TextEditTest, AMissingFinalLineEndStaysMissingUnlessSomethingIsAppended) {
  EXPECT_EQ(Edited("a\nb", {InsertLines{2, "x"}}), "a\nx\nb");
  EXPECT_EQ(Edited("a\nb", {Replace("b", "c")}), "a\nc");
  EXPECT_EQ(Edited("a\nb", {InsertLines{3, "x"}}), "a\nb\nx\n");
  EXPECT_EQ(Edited("a\r\nb", {InsertLines{3, "x"}}), "a\r\nb\r\nx\r\n");
}

TEST(TextEditTest, LineFeedsOfAnEditAreWhatTheFileHas) {
  EXPECT_EQ(Edited("a\r\nb\r\nc\r\n", {Replace("a\nb", "x\ny\nz")}), "x\r\ny\r\nz\r\nc\r\n");
  EXPECT_EQ(Edited("a\r\nb\r\n", {Replace("a\r\nb", "x\r\ny\nz")}), "x\r\ny\r\nz\r\n");
  EXPECT_EQ(Edited("a\r\nb\r\n", {Replace("b\n", "b\nc\n")}), "a\r\nb\r\nc\r\n");
  EXPECT_EQ(Edited("a\r\nb\r\n", {Replace("\n", ";", 2)}), "a;b;");
  EXPECT_EQ(Edited("a\r\nb\r\n", {InsertLines{2, "x\ny"}}), "a\r\nx\r\ny\r\nb\r\n");
  EXPECT_EQ(Edited("a\nb\n", {Replace("a\r\nb", "x\r\ny")}), "x\ny\n");
}

TEST(TextEditTest, AFileWithoutLineFeedsTakesTheTextAsItIs) {
  EXPECT_EQ(Edited("a", {Replace("a", "x\r\ny\nz")}), "x\r\ny\nz");
  EXPECT_EQ(Edited("a\rb\r", {Replace("a\rb", "x\ry")}), "x\ry\r");
  EXPECT_EQ(Edited("a", {InsertLines{2, "x\r\ny"}}), "a\r\nx\r\ny\r\n");
}

TEST(TextEditTest, MixedLineEndsAreFoundInEitherForm) {
  EXPECT_EQ(Edited("a\r\nb\nc\r\n", {Replace("a\nb\nc", "x\ny\nz")}), "x\r\ny\r\nz\r\n");
  EXPECT_EQ(Edited("1\na\r\nb\n2\n", {Replace("a\nb\n", "a\nnew\nb\n")}), "1\na\r\nnew\nb\n2\n");
  EXPECT_EQ(Edited("1\na\r\nb\r\n", {Replace("a", "a\nnew")}), "1\na\r\nnew\r\nb\r\n");
  EXPECT_EQ(Edited("1\r\na\nb\r\nend", {Replace("end", "end\nmore")}), "1\r\na\nb\r\nend\r\nmore");
}

TEST(TextEditTest, MixedLineEndsAreFoundInTheirExactFormFirst) {
  EXPECT_EQ(Edited("a\nb\na\r\nb\r\n", {Replace("a\nb", "x")}), "x\na\r\nb\r\n");
  EXPECT_EQ(Edited("a\nb\na\r\nb\r\n", {Replace("a\r\nb", "x")}), "a\nb\nx\r\n");
  EXPECT_EQ(Edited("a\nb\na\r\nb\r\n", {Replace("a\nb", "x", 2)}), "x\nx\r\n");
  EXPECT_EQ(Edited("a\nb\na\r\nb\r\n", {Replace("a\nb", "x", 0)}), "x\nx\r\n");
  EXPECT_EQ(Failure("a\nb\na\r\nb\r\na\r\nb", {Replace("a\r\nb", "x")}).code, base::Code::kConflict);
}

TEST(TextEditTest, WhatAnEditDoesNotTouchKeepsItsLineEnds) {
  const std::string file = "1\r\n2\n3\r\n4\n5\r\n6\n";
  EXPECT_EQ(Edited(file, {Replace("1\n2\n3\n4\n5\n6\n", "1\n2\n3\nfour\n5\n6\n")}), "1\r\n2\n3\r\nfour\n5\r\n6\n");
}

TEST(TextEditTest, ALineEndIsNeverSplit) {
  EXPECT_EQ(Failure("a\r\nb\r\n", {Replace("a\r", "x")}).code, base::Code::kNotFound);
  EXPECT_EQ(Edited("a\r\nb\n", {Replace("\nb", "b")}), "ab\n");
}

TEST(TextEditTest, TheEncodingStays) {
  EXPECT_EQ(Edited("\xEF\xBB\xBFone\n", {Replace("one", "zwölf"), InsertLines{1, "0"}}),
            "\xEF\xBB\xBF"s + "0\nzwölf\n");
  EXPECT_EQ(Edited(Utf16("one\r\n"), {Replace("one\n", "two\nthree\n")}), Utf16("two\r\nthree\r\n"));
  EXPECT_EQ(Edited("\xFE\xFF\0a"s, {Replace("a", "😀")}), "\xFE\xFF\xD8\x3D\xDE\x00"s);
}

TEST(TextEditTest, BytesThatAreNoTextStayAsTheyAre) {
  EXPECT_EQ(Edited("\xFC\0\r\na \xFF\r\n"s, {Replace("a", "b\nc")}), "\xFC\0\r\nb\r\nc \xFF\r\n"s);
  const base::Error error = Failure("a \xFC", {Replace("a", "ü")});
  EXPECT_EQ(error.code, base::Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("only ASCII"));
  EXPECT_THAT(Failure("a \xFC", {Replace("a ü", "u")}).message, HasSubstr("neither UTF-8 nor UTF-16"));
}

TEST(TextEditTest, WhatIsNotThereIsShownWithWhatComesNearest) {
  const base::Error error = Failure("one\n\tint x = 1;\nthree\n", {Replace("    int x = 1;", "y")});
  EXPECT_EQ(error.code, base::Code::kNotFound);
  EXPECT_EQ(
      error.message,
      "edit 1 of 1: the text is not in the file; line 2 comes nearest, only the indentation differs (the file has "
      "tabs):\n2| \tint x = 1;");
  EXPECT_THAT(Failure("one\n", {Replace("elephant", "y")}).message, HasSubstr("nothing in it comes near"));
  EXPECT_THAT(Failure("", {Replace("elephant", "y")}).message, HasSubstr("which is empty"));
}

TEST(TextEditTest, AnEditCannotMakeAFileHuge) {
  const std::string file(1 << 20, 'a');
  EXPECT_EQ(Failure(file, {Replace("a", std::string(1000, 'b'), 0)}).code, base::Code::kTooLarge);
  EXPECT_EQ(Failure("a", {InsertLines{1, std::string(kMaxEditedBytes, 'b')}}).code, base::Code::kTooLarge);
  EXPECT_EQ(Edited(file, {Replace("a", "bb", 0)}).size(), file.size() * 2);
}

// Compares with the plainest possible way to do the same, on texts with one kind of line end.
TEST(TextEditTest, ReplacingIsTheSameAsReplacingBytes) {
  std::mt19937 random(11);
  const auto make = [&](std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += "ab\n"[random() % 3];
    return text;
  };
  for (int round = 0; round < 5000; ++round) {
    const std::string text = make(random() % 30);
    const std::string old_text = make(1 + random() % 3);
    const std::string new_text = make(random() % 4);
    if (old_text == new_text || !text.contains(old_text)) continue;
    std::string expected;
    std::size_t from = 0;
    for (auto at = text.find(old_text); at != std::string::npos; at = text.find(old_text, from)) {
      expected += text.substr(from, at - from) + new_text;
      from = at + old_text.size();
    }
    expected += text.substr(from);
    ASSERT_EQ(Edited(text, {Replace(old_text, new_text, 0)}), expected);
    const LineEnds wide = text.contains('\n') ? LineEnds::kCrLf : LineEnds::kNone;
    ASSERT_EQ(Edited(WithLineEnds(text, wide), {Replace(old_text, new_text, 0)}), WithLineEnds(expected, wide));
  }
}

// For any line ends: read with line feeds only, the result is the same.
TEST(TextEditTest, MixedLineEndsDoNotChangeWhatTheTextSays) {
  std::mt19937 random(13);
  for (int round = 0; round < 5000; ++round) {
    std::string text = "\n\r\n";
    for (std::size_t i = random() % 20; i > 0; --i) text += std::vector{"a", "b", "\n", "\r\n"}[random() % 4];
    const std::vector<TextEdit> edits = {Replace("a\nb", "b\nc\na", 0), InsertLines{2, "x\ny"}};
    const auto edited = ApplyEdits(text, edits);
    const auto plain = ApplyEdits(WithLineFeeds(text), edits);
    ASSERT_EQ(edited.has_value(), plain.has_value());
    if (edited) ASSERT_EQ(WithLineFeeds(edited->bytes), plain->bytes);
  }
}

}  // namespace
}  // namespace skerry::text

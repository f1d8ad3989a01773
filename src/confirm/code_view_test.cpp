#include "confirm/code_view.hpp"

#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "base/thread_time.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::confirm {
namespace {

core::Finding FindingAt(std::uint32_t line, std::uint32_t column, std::string text,
                        core::RiskLevel level = core::RiskLevel::kHigh) {
  return {
      .rule = "rule", .level = level, .line = line, .column = column, .text = std::move(text), .explanation = "Why."};
}

std::string View(std::string_view code, const std::vector<core::Finding>& findings = {}, CodeViewOptions options = {}) {
  return CodeView(code, findings, options);
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string Repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

std::vector<std::string> RowsIn(std::string_view view) {
  std::vector<std::string> rows;
  for (std::size_t end = 0; (end = view.find('\n')) != std::string_view::npos; view.remove_prefix(end + 1))
    rows.emplace_back(view.substr(0, end));
  return rows;
}

TEST(CodeViewTest, NumbersTheLines) {
  EXPECT_EQ(View(""), "1 |\n");
  EXPECT_EQ(View("a\n\nb"), "1 | a\n2 |\n3 | b\n");
  EXPECT_EQ(View("a\r\nb\r\n"), "1 | a\n2 | b\n");
  EXPECT_TRUE(View(Repeated("x\n", 10)).starts_with(" 1 | x\n 2 | x\n"));
}

TEST(CodeViewTest, PutsAFindingUnderWhatWasMatched) {
  EXPECT_EQ(View("import os\nx = eval(y)\n", {FindingAt(2, 5, "eval(y)", core::RiskLevel::kCritical)}),
            "1 | import os\n"
            "2 | x = eval(y)\n"
            "  |     ^~~~~~~ critical rule: Why.\n");
}

TEST(CodeViewTest, MarksOneCharacterWhereTheMatchIsNotTheTextOfTheLine) {
  EXPECT_EQ(View("g('ev'+'al')", {FindingAt(1, 3, "eval")}), "1 | g('ev'+'al')\n  |   ^ high rule: Why.\n");
}

TEST(CodeViewTest, MarksTheFirstLineOfAMatchOfSeveral) {
  EXPECT_EQ(View("f(\n1)", {FindingAt(1, 1, "f(\n1)")}), "1 | f(\n  | ^~ high rule: Why.\n2 | 1)\n");
}

TEST(CodeViewTest, ShowsAllFindingsOfALineByTheirPlace) {
  EXPECT_EQ(View("ab\ncd", {FindingAt(2, 1, "c"), FindingAt(1, 2, "b"), FindingAt(1, 1, "a"), FindingAt(1, 1, "ab")}),
            "1 | ab\n"
            "  | ^ high rule: Why.\n"
            "  | ^~ high rule: Why.\n"
            "  |  ^ high rule: Why.\n"
            "2 | cd\n"
            "  | ^ high rule: Why.\n");
}

TEST(CodeViewTest, AFindingOutsideOfTheCodeIsShownAtItsEdge) {
  EXPECT_EQ(View("a\n", {FindingAt(9, 9, "x")}), "1 | a\n  |  ^ high rule: Why.\n");
  EXPECT_EQ(View("", {FindingAt(0, 0, "")}), "1 |\n  | ^ high rule: Why.\n");
}

TEST(CodeViewTest, MarkersStayAlignedBehindWideAndEscapedCharactersAndTabs) {
  EXPECT_EQ(View("岛岛 x", {FindingAt(1, 4, "x")}), "1 | 岛岛 x\n  |      ^ high rule: Why.\n");
  EXPECT_EQ(View("e\u0301 x", {FindingAt(1, 4, "x")}), "1 | e\u0301 x\n  |   ^ high rule: Why.\n");
  EXPECT_EQ(View("\tx", {FindingAt(1, 2, "x")}), "1 |     x\n  |     ^ high rule: Why.\n");
  EXPECT_EQ(View("\x1bx", {FindingAt(1, 2, "x")}), "1 | \\u001bx\n  |       ^ high rule: Why.\n");
  EXPECT_EQ(View("\xffx", {FindingAt(1, 2, "x")}), "1 | \uFFFDx\n  |  ^ high rule: Why.\n");
}

TEST(CodeViewTest, NothingForeignReachesTheTerminalAsItIs) {
  const std::string hostile = "\x1b[2J\r\u202e\u200b\x07";
  core::Finding finding = FindingAt(1, 1, hostile);
  finding.rule = hostile;
  finding.explanation = hostile + "\nnew line";
  const std::string view = View("a" + hostile + "b", {finding});
  for (const char* part : {"\x1b", "\r", "\u202e", "\u200b", "\x07"}) EXPECT_FALSE(Has(view, part));
  EXPECT_TRUE(view.starts_with("1 | a\\u001b[2J\\u000d\\u202e\\u200b\\u0007b\n"));
  EXPECT_EQ(RowsIn(view).size(), 2U);
}

TEST(CodeViewTest, CodeCannotLookLikeAFinding) {
  const CodeViewOptions narrow{.long_lines = LongLines::kWrap, .width = 24};
  const auto rows = RowsIn(View(Repeated(" ", 20) + "  | ^ safe rule: Fine.", {}, narrow));
  ASSERT_GT(rows.size(), 1U);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_TRUE(rows[i].starts_with("  >")) << rows[i];
}

TEST(CodeViewTest, ColoursOnlyWhenAsked) {
  const std::vector<core::Finding> findings = {FindingAt(1, 1, "x", core::RiskLevel::kCritical)};
  EXPECT_FALSE(Has(View("x\x1b", findings), "\x1b"));
  const std::string coloured = View("x\x1b", findings, {.colour = Colour::kAnsi});
  EXPECT_TRUE(Has(coloured, "\x1b[1;31m^\x1b[0m \x1b[1;31mcritical\x1b[0m rule: Why."));
  EXPECT_TRUE(Has(coloured, "x\x1b[7m\\u001b\x1b[27m\n"));
}

TEST(CodeViewTest, EveryLevelHasItsColour) {
  EXPECT_EQ(Coloured("x", core::RiskLevel::kHigh, Colour::kAnsi), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Coloured("x", core::RiskLevel::kMedium, Colour::kAnsi), "\x1b[33mx\x1b[0m");
  EXPECT_EQ(Coloured("x", core::RiskLevel::kLow, Colour::kAnsi), "\x1b[36mx\x1b[0m");
  EXPECT_EQ(Coloured("x", core::RiskLevel::kSafe, Colour::kAnsi), "x");
  EXPECT_EQ(Coloured("x", core::RiskLevel::kHigh, Colour::kNone), "x");
}

TEST(CodeViewTest, OfLongCodeTheFindingsAreShownAndTheRestIsCounted) {
  const std::string code = Repeated("x\n", 10'000);
  const CodeViewOptions options{.max_lines = 100, .context = 1};
  EXPECT_EQ(View(code, {FindingAt(5'000, 1, "x"), FindingAt(10, 1, "x"), FindingAt(14, 1, "x")}, options),
            "      … 8 lines …\n"
            "    9 | x\n"
            "   10 | x\n"
            "      | ^ high rule: Why.\n"
            "   11 | x\n"
            "   12 | x\n"
            "   13 | x\n"
            "   14 | x\n"
            "      | ^ high rule: Why.\n"
            "   15 | x\n"
            "      … 4983 lines …\n"
            " 4999 | x\n"
            " 5000 | x\n"
            "      | ^ high rule: Why.\n"
            " 5001 | x\n"
            "      … 4999 lines …\n"
            "9990 of 10000 lines are not shown\n");
}

TEST(CodeViewTest, OfLongCodeWithoutFindingsTheBeginningIsShown) {
  EXPECT_EQ(View("a\nb\nc", {}, {.max_lines = 2}), "1 | a\n2 | b\n  … 1 line …\n1 of 3 lines is not shown\n");
}

TEST(CodeViewTest, CodeOfExactlyTheMostLinesIsShownWhole) {
  EXPECT_EQ(RowsIn(View(Repeated("x\n", 100), {}, {.max_lines = 100})).size(), 100U);
}

TEST(CodeViewTest, ALongLineIsCutAtTheWidthAndTheRestIsCounted) {
  const std::string view = View(Repeated("x", 100), {}, {.width = 50});
  EXPECT_EQ(view, "1 | " + Repeated("x", 45) + "…\n1 line is cut: 55 characters are not shown\n");
  EXPECT_EQ(View(Repeated("x", 46), {}, {.width = 50}), "1 | " + Repeated("x", 46) + "\n");
}

TEST(CodeViewTest, ACutLineShowsEachOfItsFindings) {
  const std::string code = Repeated("a", 500) + "eval(1)" + Repeated("b", 500) + "exec(2)" + Repeated("c", 500);
  const std::string view = View(code, {FindingAt(1, 501, "eval(1)"), FindingAt(1, 1'008, "exec(2)")}, {.width = 60});
  const auto rows = RowsIn(view);
  ASSERT_EQ(rows.size(), 5U);
  for (const std::size_t row : {0U, 2U}) {
    EXPECT_EQ(WidthOf(rows[row]), 60U);
    const std::string_view match = row == 0 ? "eval(1)" : "exec(2)";
    const std::size_t place = rows[row].find(match);
    ASSERT_NE(place, std::string::npos);
    const std::size_t marker = rows[row + 1].find("^~~~~~~ high");
    EXPECT_EQ(marker, WidthOf(rows[row].substr(0, place)));
  }
  EXPECT_TRUE(rows[0].starts_with("1 | …a"));
  EXPECT_TRUE(rows[2].starts_with("  > …b"));
  EXPECT_TRUE(Has(view, "1 line is cut"));
}

TEST(CodeViewTest, AFindingStaysVisibleBehindEscapesInTheNarrowestView) {
  const std::string code = Repeated("\x1b", 50) + "\U000E0041" + Repeated("\x1b", 50);
  const std::string view = View(code, {FindingAt(1, 51, "\U000E0041")}, {.width = 1});
  EXPECT_TRUE(Has(view, "\\U000e0041"));
  EXPECT_TRUE(Has(view, "^~~~~~~~~~\n"));
}

TEST(CodeViewTest, WrappingShowsEveryCharacter) {
  const CodeViewOptions options{.long_lines = LongLines::kWrap, .width = 24};
  const std::string code = Repeated("a", 20) + Repeated("b", 20) + "eval(1)";
  EXPECT_EQ(View(code, {FindingAt(1, 41, "eval(1)")}, options),
            "1 | " + Repeated("a", 20) + "\n  > " + Repeated("b", 20) +
                "\n  > eval(1)\n  | ^~~~~~~\n  |   high rule: Why.\n");
}

TEST(CodeViewTest, WhatWouldWrapIntoTooManyRowsIsCutAndCounted) {
  const CodeViewOptions options{.long_lines = LongLines::kWrap, .max_lines = 10, .width = 24};
  EXPECT_EQ(RowsIn(View(Repeated("x", 200), {}, options)).size(), 10U);
  EXPECT_EQ(View(Repeated("x", 201), {}, options),
            "1 | " + Repeated("x", 19) + "…\n1 line is cut: 182 characters are not shown\n");
}

TEST(CodeViewTest, TheGravestTwoHundredFindingsAreShownAndTheRestIsCounted) {
  std::vector<core::Finding> findings;
  for (std::uint32_t line = 1; line <= 300; ++line) findings.push_back(FindingAt(line, 1, "x", core::RiskLevel::kLow));
  findings.push_back(FindingAt(300, 1, "x", core::RiskLevel::kCritical));
  const std::string view = View(Repeated("x\n", 300), findings, {.max_lines = 1'000});
  EXPECT_EQ(std::ranges::count(view, '^'), 200);
  EXPECT_TRUE(Has(view, "critical rule"));
  EXPECT_TRUE(view.ends_with("and 101 more findings\n"));
}

TEST(CodeViewTest, WorkIsInProportionToTheCode) {
  const auto start = base::ThreadTime();
  constexpr std::size_t kBytes = 300'000;
  std::vector<core::Finding> findings;
  findings.reserve(20'000);
  for (std::uint32_t i = 0; i < 20'000; ++i) findings.push_back(FindingAt(1, 1 + i * 15, "\u0301"));
  for (const char* part : {"x", "\n", "\u0301", "\x1b", "\xff", "岛"}) {
    const std::string code = Repeated(part, kBytes / std::string_view(part).size());
    for (const LongLines long_lines : {LongLines::kCut, LongLines::kWrap})
      EXPECT_LT(View(code, findings, {.long_lines = long_lines}).size(), 1'000'000U);
  }
  EXPECT_LT(base::ThreadTime() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace skerry::confirm

#include "workspace/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_time.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SearchTest : public WorkspaceTest {
 protected:
  base::Result<SearchResult> Find(const SearchOptions& options) { return Search(Files(), options); }

  // "path:line:column:text"
  static std::vector<std::string> Shown(const base::Result<SearchResult>& result) {
    if (!result) return {result.error().message};
    std::vector<std::string> lines;
    for (const SearchMatch& match : result->matches)
      lines.push_back(match.path + ":" + std::to_string(match.line) + ":" + std::to_string(match.column) + ":" +
                      match.text);
    return lines;
  }
};
SKERRY_BOTH_WAYS(SearchTest);

TEST_P(SearchTest, FindsLinesInTheOrderOfPaths) {
  Put("b/x.txt", "one\ntwo needle\nneedle needle\n");
  Put("a.txt", "a needle");
  Put("b.txt", "nothing\r\nneedle\r\n");
  const auto result = Find({.path = "/workspace", .pattern = "need.e"});
  EXPECT_THAT(Shown(result), ElementsAre("a.txt:1:3:a needle", "b/x.txt:2:5:two needle", "b/x.txt:3:1:needle needle",
                                         "b.txt:2:1:needle"));
  EXPECT_EQ(result->files_searched, 3U);
  EXPECT_TRUE(result->complete());
  EXPECT_FALSE(result->next);
  EXPECT_THAT(Shown(Find({.path = "b", .pattern = "one"})), ElementsAre("b/x.txt:1:1:one"));
  EXPECT_THAT(Shown(Find({.path = "b/x.txt", .pattern = "one"})), ElementsAre("b/x.txt:1:1:one"));
  EXPECT_EQ(CodeOf(Find({.path = "none", .pattern = "x"})), "not_found");
}

TEST_P(SearchTest, ThePatternIsOnlyAPattern) {
  Put("evil", "#!/bin/sh\ntouch " + (outside_ / "ran").string() + "\n");
  fs::permissions(root_ / "evil", fs::perms::all);
  Put(".ripgreprc", "--pre=./evil\n--invert-match\n");
  Put("f", "run with -e x --pre ./evil now\nx\n");
  EXPECT_THAT(Shown(Find({.pattern = "-e x --pre ./evil"})), ElementsAre("f:1:10:run with -e x --pre ./evil now"));
  EXPECT_THAT(Shown(Find({.glob = "f", .pattern = "^x$"})), ElementsAre("f:2:1:x"));
  EXPECT_FALSE(fs::exists(outside_ / "ran"));
}

TEST_P(SearchTest, LiteralTextAndLetterCase) {
  Put("f", "a.b\naxb\nA.B\n");
  EXPECT_THAT(Shown(Find({.pattern = "a.b"})), ElementsAre("f:1:1:a.b", "f:2:1:axb"));
  EXPECT_THAT(Shown(Find({.pattern = "a.b", .kind = text::PatternKind::kLiteral})), ElementsAre("f:1:1:a.b"));
  EXPECT_THAT(
      Shown(Find({.pattern = "a.b", .kind = text::PatternKind::kLiteral, .letter_case = text::LetterCase::kIgnored})),
      ElementsAre("f:1:1:a.b", "f:3:1:A.B"));
}

TEST_P(SearchTest, APatternThatExplodesElsewhereIsLinearHere) {
  Put("f", std::string(60'000, 'a') + "!\n");
  const auto start = base::ThreadTime();
  EXPECT_THAT(Shown(Find({.pattern = "(a+)+$"})), IsEmpty());
  EXPECT_LT(base::ThreadTime() - start, std::chrono::seconds(2));
}

TEST_P(SearchTest, WhatIsNoPatternIsRefusedWithTheReason) {
  for (const std::string pattern : {"(", "a{2001}", "\\", "(?<x", "[z-a]", "", "((((a{100}){100}){100}){100})"}) {
    const auto result = Find({.pattern = pattern});
    EXPECT_EQ(CodeOf(result), "invalid_argument") << pattern;
    EXPECT_THAT(MessageOf(result), HasSubstr("the pattern cannot be used: "));
  }
  EXPECT_THAT(MessageOf(Find({.pattern = "(a"})), HasSubstr("missing )"));
}

TEST_P(SearchTest, GlobsChooseFilesAndCannotClimb) {
  Put("src/a.c", "x");
  Put("src/deep/b.h", "x");
  Put("src/c.py", "x");
  Put("d.c", "x");
  EXPECT_THAT(Shown(Find({.glob = "src/**/*.{c,h}", .pattern = "x"})),
              ElementsAre("src/a.c:1:1:x", "src/deep/b.h:1:1:x"));
  EXPECT_THAT(Shown(Find({.path = "src", .glob = "*.h", .pattern = "x"})), ElementsAre("src/deep/b.h:1:1:x"));
  EXPECT_EQ(CodeOf(Find({.path = "src", .glob = "../**", .pattern = "x"})), "path_escapes_workspace");
  EXPECT_EQ(CodeOf(Find({.glob = "/etc/*", .pattern = "x"})), "path_escapes_workspace");
  EXPECT_EQ(CodeOf(Find({.path = "..", .pattern = "x"})), "path_escapes_workspace");
}

TEST_P(SearchTest, WithoutAPatternItListsFiles) {
  Put("a/1.md", "");
  Put("b.md", std::string("\0", 1));
  Put("c.txt", "");
  EXPECT_THAT(Shown(Find({.glob = "*.md"})), ElementsAre("a/1.md:0:0:", "b.md:0:0:"));
  const auto first = Find({.max_matches = 2});
  EXPECT_THAT(Shown(first), ElementsAre("a/1.md:0:0:", "b.md:0:0:"));
  EXPECT_EQ(first->end, SearchEnd::kMaxMatches);
  EXPECT_THAT(Shown(Find({.after = first->next})), ElementsAre("c.txt:0:0:"));
}

TEST_P(SearchTest, LinksAndSpecialFilesAreNotFollowed) {
  Put("f", "none");
  Link(outside_ / "secret", "file");
  Link(outside_, "directory");
  Link(".", "loop");
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0644), 0);
  EXPECT_THAT(Shown(Find({.pattern = "secret"})), IsEmpty());
  EXPECT_EQ(Find({.pattern = "none"})->matches.size(), 1U);
  EXPECT_EQ(CodeOf(Find({.path = "directory", .pattern = "secret"})), "path_escapes_workspace");
  EXPECT_EQ(CodeOf(Find({.path = "file", .pattern = "secret"})), "path_escapes_workspace");
}

TEST_P(SearchTest, BinaryAndLargeFilesAreCountedAndPassedOver) {
  Put("binary", std::string("needle\0", 7));
  Put("late", "needle" + std::string(10'000, ' ') + std::string("\0", 1));
  Put("large", std::string(2000, 'x') + "needle");
  const auto result = Find({.pattern = "needle", .max_file_bytes = 15'000});
  ASSERT_EQ(result->matches.size(), 2U);
  EXPECT_EQ(result->binary_files, 1U);
  EXPECT_EQ(Find({.pattern = "needle", .max_file_bytes = 1000})->large_files, 2U);
}

TEST_P(SearchTest, LongLinesAreCutAndFoundAnywhere) {
  Put("f", "first\n" + std::string(1'000'000, 'x') + "needle" + std::string(100'000, 'y') + "\nneedle\n");
  const auto result = Find({.pattern = "needle"});
  ASSERT_EQ(result->matches.size(), 2U);
  const SearchMatch& match = result->matches[0];
  EXPECT_EQ(match.line, 2U);
  EXPECT_EQ(match.column, 1'000'001U);
  EXPECT_LE(match.text.size(), 400U);
  EXPECT_EQ(match.text.substr(match.column - match.text_column, 6), "needle");
  EXPECT_EQ(result->matches[1].line, 3U);
}

TEST_P(SearchTest, BlocksWithoutAMatchArePassedOverWithTheirLines) {
  std::string text;
  std::vector<std::string> expected;
  for (int line = 1; line <= 60'000; ++line) {
    const bool match = line % 17'001 == 0 || line == 60'000;
    text += match ? "the needle\r\n" : "some other line " + std::to_string(line) + "\n";
    if (match) expected.push_back("f:" + std::to_string(line) + ":5:the needle");
  }
  Put("f", text);
  for (const std::string pattern : {"needle", "needle$", "^the needle", "\\bneedle\\b", "(?i)NEEDLE", "needle\\z"}) {
    auto shown = Shown(Find({.pattern = pattern}));
    if (pattern.starts_with('^'))
      std::ranges::for_each(shown, [](std::string& line) { line.replace(line.find(":1:"), 3, ":5:"); });
    EXPECT_EQ(shown, expected) << pattern;
  }
  // A pattern that could only match across a line end does not match.
  EXPECT_THAT(Shown(Find({.pattern = "line 1\\s+some"})), IsEmpty());
}

TEST_P(SearchTest, ContextIsTheLinesAround) {
  Put("f", "1\n2\n3 x\n4\n5 x\n6\n7\n8\n9 x");
  const auto result = Find({.pattern = "x", .context = 2});
  ASSERT_EQ(result->matches.size(), 3U);
  EXPECT_THAT(result->matches[0].before, ElementsAre("1", "2"));
  EXPECT_THAT(result->matches[0].behind, ElementsAre("4", "5 x"));
  EXPECT_THAT(result->matches[1].before, ElementsAre("3 x", "4"));
  EXPECT_THAT(result->matches[1].behind, ElementsAre("6", "7"));
  EXPECT_THAT(result->matches[2].before, ElementsAre("7", "8"));
  EXPECT_THAT(result->matches[2].behind, IsEmpty());
  const auto cut = Find({.pattern = "x", .context = 2, .max_matches = 1});
  ASSERT_EQ(cut->matches.size(), 1U);
  EXPECT_THAT(cut->matches[0].behind, ElementsAre("4", "5 x"));
}

TEST_P(SearchTest, PagesShowEveryMatchOnce) {
  for (const char* path : {"a/f", "a.txt", "b/c/d", "e"}) Put(path, "x\nno\nx\nx\n");
  const auto whole = Shown(Find({.pattern = "x"}));
  ASSERT_EQ(whole.size(), 12U);
  for (std::size_t page = 1; page < 13; ++page) {
    std::vector<std::string> seen;
    std::optional<SearchPosition> after;
    for (int rounds = 0; rounds < 20; ++rounds) {
      const auto result = Find({.pattern = "x", .max_matches = page, .after = after});
      ASSERT_TRUE(result) << MessageOf(result);
      for (const std::string& line : Shown(result)) seen.push_back(line);
      if (result->complete()) break;
      EXPECT_EQ(result->end, SearchEnd::kMaxMatches);
      after = result->next;
    }
    EXPECT_EQ(seen, whole) << page;
  }
}

TEST_P(SearchTest, TheNumberOfFilesAndTheTimeAreBounded) {
  for (int i = 0; i < 10; ++i) Put(std::to_string(i), "x\n");
  const auto some = Find({.pattern = "x", .max_files = 4});
  EXPECT_EQ(some->end, SearchEnd::kMaxFiles);
  EXPECT_EQ(some->matches.size(), 4U);
  EXPECT_EQ(Find({.pattern = "x", .after = some->next})->matches.size(), 6U);
  const auto none = Find({.pattern = "x", .deadline = base::Deadline::After(std::chrono::seconds(0))});
  EXPECT_EQ(none->end, SearchEnd::kDeadline);
  EXPECT_FALSE(none->complete());
}

TEST_P(SearchTest, APositionThatIsElsewhereIsRefused) {
  Put("a/f", "x");
  EXPECT_EQ(CodeOf(Find({.path = "a", .pattern = "x", .after = SearchPosition{"b/f", 1}})), "invalid_argument");
  EXPECT_EQ(CodeOf(Find({.path = "a", .pattern = "x", .after = SearchPosition{"../../etc", 1}})), "invalid_argument");
}

}  // namespace
}  // namespace skerry::workspace

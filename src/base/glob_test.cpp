#include "base/glob.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view path;
};

void ExpectMatches(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_TRUE(GlobMatch(c.pattern, c.path)) << c.pattern << " on " << c.path;
}

void ExpectMisses(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_FALSE(GlobMatch(c.pattern, c.path)) << c.pattern << " on " << c.path;
}

std::string Repeated(std::string_view text, int times) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

PathPatterns Made(std::vector<std::string> patterns) {
  auto made = PathPatterns::Make(patterns);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made.value_or(PathPatterns());
}

TEST(GlobTest, PlainTextMatchesItselfOnly) {
  ExpectMatches({{"", ""}, {"a", "a"}, {"a/b.txt", "a/b.txt"}});
  ExpectMisses(
      {{"a", "A"}, {"a", "ab"}, {"ab", "a"}, {"a", ""}, {"", "a"}, {"a/b", "a"}, {"a", "a/b"}, {"a.b", "axb"}});
}

TEST(GlobTest, StarStaysInOneName) {
  ExpectMatches(
      {{"*", "a"}, {"*", ".a"}, {"*.c", ".c"}, {"a*", "a"}, {"a*c", "abbc"}, {"*a*b", "xaxbxb"}, {"*/c", "a/c"}});
  ExpectMisses({{"*", "a/b"}, {"a*c", "a/c"}, {"*.c", "x.cc"}, {"a*", "ba"}, {"*/c", "c"}, {"a**b", "a/b"}});
}

TEST(GlobTest, QuestionMarkIsOneCharacter) {
  ExpectMatches({{"?", "a"}, {"a?c", "abc"}, {"?", "ü"}, {"??", "岛🪨"}, {"?", "\xFF"}});
  ExpectMisses({{"?", ""}, {"?", "ab"}, {"a?b", "a/b"}, {"?", "üü"}});
}

TEST(GlobTest, SetIsOneOfItsCharacters) {
  ExpectMatches({{"[abc]", "b"},
                 {"[a-c]x", "bx"},
                 {"[!a-c]", "d"},
                 {"[^a]", "b"},
                 {"[]]", "]"},
                 {"[!]]", "a"},
                 {"[a-]", "-"},
                 {"[-a]", "-"},
                 {"[\\]]", "]"},
                 {"[\\!a]", "!"},
                 {"[ä-ü]", "ö"},
                 {"[!a]", "ü"},
                 {"*[0-9]", "a7"}});
  ExpectMisses(
      {{"[abc]", "d"}, {"[!a-c]", "b"}, {"[a-c]", "B"}, {"[]]", "a"}, {"[!a]", "/"}, {"a[!b]c", "a/c"}, {"[a]", ""}});
}

TEST(GlobTest, BackslashTakesTheMeaningAway) {
  ExpectMatches({{"\\*", "*"}, {"\\?", "?"}, {"\\[a]", "[a]"}, {"\\\\", "\\"}, {"\\a", "a"}});
  ExpectMisses({{"\\*", "a"}, {"\\?", "a"}, {"\\[a]", "a"}});
}

TEST(GlobTest, TwoStarsAreAnyNumberOfDirectories) {
  ExpectMatches({{"**", "a"},
                 {"**", "a/b/c"},
                 {"**/x", "x"},
                 {"**/x", "a/b/x"},
                 {"x/**", "x/a"},
                 {"x/**", "x/a/b"},
                 {"a/**/b", "a/b"},
                 {"a/**/b", "a/x/y/b"},
                 {"a/**/b/**", "a/b/c"},
                 {"**/a/**/b", "x/a/y/a/z/b"},
                 {"**/a/b", "a/a/b"},
                 {"**/**/x", "x"}});
  ExpectMisses({{"**/x", "ax"},
                {"**/x", "x/a"},
                {"x/**", "x"},
                {"x/**", "xa/b"},
                {"a/**/b", "a/xb"},
                {"a/**/b", "x/a/b"},
                {"**/a/b", "a/x/b"}});
}

TEST(GlobTest, MalformedPatternMatchesNothing) {
  ExpectMisses(
      {{"[", "["}, {"[a", "a"}, {"[a", "[a"}, {"a\\", "a\\"}, {"a\\", "a"}, {"*[", "["}, {"[z-a]", "b"}, {"[", "x"}});
}

// With plain backtracking each of these takes longer than the universe has existed.
TEST(GlobTest, ManyStarsCostNoTime) {
  EXPECT_FALSE(GlobMatch(Repeated("a*", 60) + "b", std::string(4000, 'a')));
  EXPECT_TRUE(GlobMatch(Repeated("a*", 60) + "b", std::string(4000, 'a') + "b"));
  EXPECT_FALSE(GlobMatch(Repeated("**/a/", 60) + "b", Repeated("a/", 2000) + "c"));
  EXPECT_TRUE(GlobMatch(Repeated("**/a/", 60) + "b", Repeated("a/", 2000) + "b"));
  EXPECT_FALSE(GlobMatch(Repeated("**/*a*a*/", 30) + "b", Repeated("aaaa/", 800) + "c"));
}

TEST(PathPatternsTest, WithoutPatternsNothingMatches) {
  EXPECT_FALSE(PathPatterns().Matches("a"));
  EXPECT_FALSE(PathPatterns().MayMatchBelow(""));
}

TEST(PathPatternsTest, PatternWithoutSlashIsANameAtAnyDepth) {
  for (const char* pattern : {"*.key", "*.key/"}) {
    const PathPatterns patterns = Made({pattern});
    for (const char* path : {"a.key", "x/a.key", "x/y/a.key"}) EXPECT_TRUE(patterns.Matches(path)) << path;
    for (const char* path : {"a.keys", "key", "a/b"}) EXPECT_FALSE(patterns.Matches(path)) << path;
  }
}

TEST(PathPatternsTest, PatternWithSlashStartsAtTheRoot) {
  for (const char* pattern : {"docs/a", "./docs/a", "docs//./a/"}) {
    const PathPatterns patterns = Made({pattern});
    EXPECT_TRUE(patterns.Matches("docs/a")) << pattern;
    EXPECT_FALSE(patterns.Matches("x/docs/a")) << pattern;
  }
  EXPECT_TRUE(Made({"./a"}).Matches("a"));
  EXPECT_FALSE(Made({"./a"}).Matches("x/a"));
}

TEST(PathPatternsTest, MatchOfADirectoryCoversWhatIsBelow) {
  const PathPatterns patterns = Made({"build", "./out/*", "a/**/z"});
  for (const char* path : {"build/a", "x/build/y/z", "out/a/b", "a/z/q", "a/b/z/q/r"}) {
    EXPECT_TRUE(patterns.Matches(path)) << path;
  }
  for (const char* path : {"builds/a", "out", "x/out/a", "a/b"}) EXPECT_FALSE(patterns.Matches(path)) << path;
}

TEST(PathPatternsTest, DotIsTheWholeWorkspace) {
  for (const char* pattern : {".", "./", "**"}) {
    EXPECT_TRUE(Made({pattern}).Matches("a")) << pattern;
    EXPECT_TRUE(Made({pattern}).Matches("a/b/c")) << pattern;
  }
}

TEST(PathPatternsTest, SaysWhereNothingCanMatch) {
  const PathPatterns patterns = Made({"a/b/*.c", "d/**/e", "./f"});
  for (const char* path : {"", "a", "a/b", "a/b/x.c", "a/b/x.c/y", "d", "d/x", "d/x/y", "f", "f/x"}) {
    EXPECT_TRUE(patterns.MayMatchBelow(path)) << path;
  }
  for (const char* path : {"b", "a/c", "a/b/x", "x/a", "x/f"}) EXPECT_FALSE(patterns.MayMatchBelow(path)) << path;
  EXPECT_TRUE(Made({"name"}).MayMatchBelow("any/where"));
}

TEST(PathPatternsTest, RefusesWhatItCannotRead) {
  for (const char* pattern : {"", "/a", "/", "..", "../a", "a/../b", "[", "a/[b/c]", "[!", "[]", "x[a-", "[z-a]", "a\\",
                              "a\\/b", "[[:alpha:]]", "[a\\"}) {
    const auto made = PathPatterns::Make(std::vector<std::string>{"fine", pattern});
    ASSERT_FALSE(made) << pattern;
    EXPECT_EQ(made.error().code, Code::kInvalidArgument);
    EXPECT_NE(made.error().message.find(std::string("\"") + pattern + "\""), std::string::npos);
  }
}

}  // namespace
}  // namespace skerry::base

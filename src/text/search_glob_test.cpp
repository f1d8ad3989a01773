#include "text/search_glob.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace skerry::text {
namespace {

std::optional<base::Code> CodeOf(const base::Result<SearchGlob>& glob) {
  return glob ? std::nullopt : std::optional(glob.error().code);
}

TEST(SearchGlobTest, MatchesAsPeopleExpect) {
  struct Case {
    std::string glob;
    std::string path;
    bool matches;
  };
  const std::vector<Case> cases = {
      {"", "a/b", true},
      {"*.py", "a.py", true},
      {"*.py", "deep/down/a.py", true},
      {"*.py", "a.pyc", false},
      {"./*.py", "a.py", true},
      {"./*.py", "deep/a.py", false},
      {"src/*", "src/a", true},
      {"src/*", "src/deep/a", false},
      {"src/**", "src/deep/a", true},
      {"**/test/*.c", "x/y/test/a.c", true},
      {"*.{c,h}", "a.h", true},
      {"*.{c,h}", "a.o", false},
      {"{src,test}/**/*.{c,cpp}", "test/x/a.cpp", true},
      {"{src,test}/**/*.{c,cpp}", "doc/x/a.cpp", false},
      {"a{b,c{d,e}}f", "acef", true},
      {"a{,b}", "a", true},
      {"[{]x", "{x", true},
      {"\\{x", "{x", true},
      {"[!a]?", "bb", true},
      {"[!a]?", "ab", false},
  };
  for (const Case& row : cases) {
    const auto glob = SearchGlob::Make(row.glob);
    ASSERT_TRUE(glob) << row.glob << glob.error().message;
    EXPECT_EQ(glob->Matches(row.path), row.matches) << row.glob << " " << row.path;
    if (row.matches && row.path.find('/') != std::string::npos)
      EXPECT_TRUE(glob->MayMatchBelow(row.path.substr(0, row.path.find('/')))) << row.glob;
  }
}

TEST(SearchGlobTest, RefusesWhatClimbsAndWhatIsMalformed) {
  for (const std::string glob : {"../**", "/etc/*", "a/../b", "{a,..}/x", "{/etc,a}", "x/{..,y}/z"})
    EXPECT_EQ(CodeOf(SearchGlob::Make(glob)), base::Code::kPathTraversal) << glob;
  for (const std::string glob : {"{a", "a}", "[a", "a\\", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"})
    EXPECT_EQ(CodeOf(SearchGlob::Make(glob)), base::Code::kInvalidArgument) << glob;
}

TEST(SearchGlobTest, DirectoriesThatCannotMatchAreNotEntered) {
  const auto glob = SearchGlob::Make("src/*.{c,h}");
  EXPECT_TRUE(glob->MayMatchBelow("src"));
  EXPECT_FALSE(glob->MayMatchBelow("node_modules"));
}

}  // namespace
}  // namespace skerry::text

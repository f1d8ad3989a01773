#include "cli/environment.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using Variables = std::map<std::string, std::string>;

TEST(EnvironmentTest, AFileHasAVariableInEachLine) {
  ::setenv("SKERRY_TEST_OWN", "own", 1);
  const auto read = ParseEnvironmentFile(
      "# a comment\n\nA=1\n  B = two words \nexport C=x=y\r\nD=\nE='it is #1'\nF=\"a \\\"b\\\" \\n\" # why\n"
      "SKERRY_TEST_OWN\nA=2",
      "f");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (Variables{{"A", "2"},
                              {"B", "two words"},
                              {"C", "x=y"},
                              {"D", ""},
                              {"E", "it is #1"},
                              {"F", "a \"b\" \\n"},
                              {"SKERRY_TEST_OWN", "own"}}));
}

TEST(EnvironmentTest, AWrongLineIsToldByItsNumberAndNotShown) {
  for (const char* line : {"=hunter22", "A='hunter22", "A=\"hunter22\" hunter22", "NOT_SET_ANYWHERE_hunter22"}) {
    const auto read = ParseEnvironmentFile(std::string("B=1\n") + line + "\n", "secrets.env");
    ASSERT_FALSE(read) << line;
    EXPECT_TRUE(read.error().message.starts_with("secrets.env, line 2: ")) << read.error().message;
    EXPECT_FALSE(read.error().message.contains("hunter22")) << read.error().message;
  }
}

TEST(EnvironmentTest, AnAssignmentIsNoSecretAndCountsMore) {
  const auto given = ReadEnvironment({.assignments = {"A=1", "A=2"}, .files = {"/dev/null"}});
  ASSERT_TRUE(given);
  EXPECT_EQ(given->values, (Variables{{"A", "2"}}));
  EXPECT_TRUE(given->secrets.empty());
  EXPECT_FALSE(ReadEnvironment({.files = {"/nowhere"}}));
  EXPECT_FALSE(ReadEnvironment({.assignments = {"A"}}));
}

}  // namespace
}  // namespace skerry::cli

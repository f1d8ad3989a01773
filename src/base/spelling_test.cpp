#include "base/spelling.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

TEST(SpellingTest, EditDistanceCountsLetters) {
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("limits", "limits"), 0U);
  EXPECT_EQ(EditDistance("limitz", "limits"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(SpellingTest, SuggestsTheNearestWithinTwoLetters) {
  const std::vector<std::string> names = {"backends", "backend", "limits"};
  EXPECT_EQ(DidYouMean("bakend", names), " (did you mean backend?)");
  EXPECT_EQ(DidYouMean("backendz", names), " (did you mean backends?)");
  EXPECT_EQ(DidYouMean("lmts", names), " (did you mean limits?)");
  EXPECT_EQ(DidYouMean("lts", names), "");
  EXPECT_EQ(DidYouMean("o", std::vector<std::string>{"f"}), "");
  EXPECT_EQ(DidYouMean(std::string(1'000'000, 'x'), names), "");
}

}  // namespace
}  // namespace skerry::base

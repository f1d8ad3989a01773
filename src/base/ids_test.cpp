#include "base/ids.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

TEST(IdsTest, KeepThePrefixAndUseOnlyPlainCharacters) {
  const std::string id = RandomId("run-");
  EXPECT_EQ(id.size(), 4U + 16U);
  EXPECT_TRUE(id.starts_with("run-"));
  EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", 4), std::string::npos);
}

TEST(IdsTest, DoNotRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(RandomId("")).second);
}

}  // namespace
}  // namespace skerry::base

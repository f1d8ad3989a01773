#include "config/spelling.hpp"

#include <gtest/gtest.h>

namespace skerry::config {
namespace {

TEST(SpellingTest, SnakeCaseSplitsAtCapitals) {
  EXPECT_EQ(SnakeCase("maxMemoryMb"), "max_memory_mb");
  EXPECT_EQ(SnakeCase("timeout"), "timeout");
  EXPECT_EQ(SnakeCase("$schema"), "$schema");
}

}  // namespace
}  // namespace skerry::config

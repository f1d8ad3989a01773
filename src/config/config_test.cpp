#include "config/config.hpp"

#include <gtest/gtest.h>

namespace skerry::config {
namespace {

TEST(ExpandHomeTest, ReplacesOnlyTheOwnHome) {
  struct Row {
    const char* path;
    const char* expanded;
  };
  for (const Row& row : {Row{"~", "/home/a"}, Row{"~/x/y", "/home/a/x/y"}, Row{"/x/~", "/x/~"}, Row{"~b/x", "~b/x"},
                         Row{"x~/y", "x~/y"}, Row{"", ""}})
    EXPECT_EQ(ExpandHome(row.path, "/home/a"), row.expanded) << row.path;
}

TEST(ExpandHomeTest, WithoutAHomeNothingBecomesTheRoot) {
  EXPECT_EQ(ExpandHome("~/x", ""), "~/x");
}

}  // namespace
}  // namespace skerry::config

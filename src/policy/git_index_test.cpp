#include "policy/git_index.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

std::string Index(char version, const std::string& path) {
  return std::string("DIRC\0\0\0", 7) + version + "…" + path;
}

TEST(GitIndexTest, TrackedDirectoriesAreFound) {
  for (const char version : {'\2', '\3'}) {
    EXPECT_TRUE(MayTrackBelow(Index(version, "a/b/c"), "a/b"));
    EXPECT_TRUE(MayTrackBelow(Index(version, "a/b/c"), "a"));
    EXPECT_FALSE(MayTrackBelow(Index(version, "a/bc"), "a/b"));
    EXPECT_FALSE(MayTrackBelow(Index(version, ""), "a"));
  }
}

TEST(GitIndexTest, WhatIsHardToSayMayBe) {
  EXPECT_TRUE(MayTrackBelow(Index('\4', "x"), "a"));
  EXPECT_TRUE(MayTrackBelow(Index('\2', "link"), "a"));
  EXPECT_TRUE(MayTrackBelow("", "a"));
}

}  // namespace
}  // namespace skerry::policy

#include "archive/entry_path.hpp"

#include <string>

#include <gtest/gtest.h>

#include "archive/error_of.hpp"

namespace skerry::archive {
namespace {

struct GoodRow {
  std::string text;
  std::string parent;
  std::string name;
};

TEST(EntryPathTest, LeadingAndDoubledSlashesAndDotsAreDropped) {
  const GoodRow rows[] = {
      {"a", "", "a"},
      {"a/b/c", "a/b", "c"},
      {"./a", "", "a"},
      {"/a/b", "a", "b"},
      {"//a", "", "a"},
      {"./././a", "", "a"},
      {"a//b/./c/", "a/b", "c"},
      {".", "", ""},
      {"/", "", ""},
      {"./", "", ""},
      {"...", "", "..."},
      {"a/..b", "a", "..b"},
      {"..a/b..", "..a", "b.."},
      {"a b\n\x1b", "", "a b\n\x1b"},
      {"\xff", "", "\xff"},
      {"a\\..\\b", "", "a\\..\\b"},
  };
  for (const GoodRow& row : rows) {
    const auto path = ParseEntryPath(row.text);
    ASSERT_TRUE(path.has_value()) << row.text;
    EXPECT_EQ(path->parent, row.parent) << row.text;
    EXPECT_EQ(path->name, row.name) << row.text;
  }
}

struct BadRow {
  std::string text;
  base::Code code;
};

TEST(EntryPathTest, WhatLeadsOutOrIsNoNameIsRefused) {
  std::string deep;
  for (std::size_t i = 0; i <= kMaxDepth; ++i) deep += "d/";
  const BadRow rows[] = {
      {"..", base::Code::kPathTraversal},
      {"../a", base::Code::kPathTraversal},
      {"a/../b", base::Code::kPathTraversal},
      {"a/..", base::Code::kPathTraversal},
      {"/../a", base::Code::kPathTraversal},
      {"./../a", base::Code::kPathTraversal},
      {"a/./../../b", base::Code::kPathTraversal},
      {"", base::Code::kInvalidArgument},
      {std::string("a\0b", 3), base::Code::kInvalidArgument},
      {std::string(256, 'n'), base::Code::kTooLarge},
      {deep, base::Code::kTooLarge},
      {std::string(4096, '/'), base::Code::kTooLarge},
  };
  for (const BadRow& row : rows) {
    const auto path = ParseEntryPath(row.text);
    ASSERT_FALSE(path.has_value()) << row.text;
    EXPECT_EQ(CodeOf(path), row.code) << row.text;
  }
}

TEST(EntryPathTest, TheLargestNamesAreTaken) {
  EXPECT_TRUE(ParseEntryPath(std::string(255, 'n')).has_value());
  std::string deep = "d";
  for (std::size_t i = 1; i < kMaxDepth; ++i) deep += "/d";
  EXPECT_TRUE(ParseEntryPath(deep).has_value());
  EXPECT_TRUE(ParseEntryPath(std::string(4094, '/') + "a").has_value());
}

TEST(EntryPathTest, MessagesShowNothingThatMovesTheCursor) {
  EXPECT_EQ(QuotedPath("a\x1b[2J"), "'a\\u001b[2J'");
  EXPECT_LT(QuotedPath(std::string(5000, 'x')).size(), 100U);
}

}  // namespace
}  // namespace skerry::archive

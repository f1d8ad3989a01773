#include "archive/pax_records.hpp"

#include <string>

#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"

namespace skerry::archive {
namespace {

TEST(PaxRecordsTest, TakesNamesSizeAndTimeAndDropsTheRest) {
  const auto records =
      ParsePaxRecords(PaxRecord("path", "a/b") + PaxRecord("linkpath", "c=d\ne") + PaxRecord("size", "9999999999") +
                      PaxRecord("mtime", "1700000000.25") + PaxRecord("uid", "0") +
                      PaxRecord("SCHILY.xattr.security.capability", "\1\2") + PaxRecord("comment", ""));
  ASSERT_TRUE(records.has_value()) << records.error().message;
  EXPECT_EQ(records->path, "a/b");
  EXPECT_EQ(records->link_path, "c=d\ne");
  EXPECT_EQ(records->size, 9999999999U);
  EXPECT_EQ(records->mtime->tv_sec, 1700000000);
  EXPECT_EQ(records->mtime->tv_nsec, 250'000'000);
}

TEST(PaxRecordsTest, AnEmptyValueIsAsIfItWereNotThere) {
  EXPECT_FALSE(ParsePaxRecords(PaxRecord("path", ""))->path.has_value());
}

struct TimeRow {
  std::string text;
  std::int64_t seconds;
  long nanoseconds;
};

TEST(PaxRecordsTest, TimesMayBeNegativeAndFinerThanWeKeep) {
  const TimeRow rows[] = {{"0", 0, 0},  {"-1", -1, 0},         {"-1.5", -2, 500'000'000},
                          {"1.", 1, 0}, {"1.000000001", 1, 1}, {"1.1234567899999", 1, 123'456'789}};
  for (const TimeRow& row : rows) {
    const auto records = ParsePaxRecords(PaxRecord("mtime", row.text));
    ASSERT_TRUE(records.has_value()) << row.text;
    EXPECT_EQ(records->mtime->tv_sec, row.seconds) << row.text;
    EXPECT_EQ(records->mtime->tv_nsec, row.nanoseconds) << row.text;
  }
}

TEST(PaxRecordsTest, WhatIsNoRecordIsRefused) {
  const std::string bad[] = {
      "x",
      "5",
      "5 ",
      "0 a=b\n",
      "3 a=b\n",
      "7 a=b\n",
      "99 a=b\n",
      "-6 a=b\n",
      "+6 a=b\n",
      " 6 a=b\n",
      "18446744073709551622 a=b\n",
      "6 a=bx",
      "5 a=\n6 a=b",
      "5 abc",
      "6 abc\n",
      "6 =ab\n",
      "1 ",
      "2 ",
      PaxRecord("size", "-1"),
      PaxRecord("size", "1x"),
      PaxRecord("size", "99999999999999999999999"),
      PaxRecord("mtime", "now"),
      PaxRecord("mtime", "1.x"),
      PaxRecord("mtime", "99999999999999999999999"),
      PaxRecord("path", std::string("a\0b", 3)),
      PaxRecord("linkpath", std::string("\0", 1)),
      PaxRecord("path", "a") + PaxRecord("path", "b"),
      PaxRecord("size", "1") + PaxRecord("size", "2"),
      PaxRecord("GNU.sparse.major", "1"),
      std::string(100, '\0'),
  };
  for (const std::string& text : bad) EXPECT_FALSE(ParsePaxRecords(text).has_value()) << testing::PrintToString(text);
}

}  // namespace
}  // namespace skerry::archive

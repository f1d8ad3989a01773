#include "transport/kit/byte_range.hpp"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::transport::kit {
namespace {

using Kind = WantedBytes::Kind;

WantedBytes Part(std::uint64_t offset, std::uint64_t length) {
  return {.kind = Kind::kPart, .offset = offset, .length = length};
}

TEST(ByteRangeTest, OneRangeGivesItsBytesAsFarAsTheyAreThere) {
  struct Row {
    std::string_view header;
    WantedBytes wanted;
  };
  const std::vector<Row> rows = {
      {"bytes=0-0", Part(0, 1)},
      {"bytes=0-99", Part(0, 100)},
      {"bytes=10-19", Part(10, 10)},
      {"bytes=10-", Part(10, 90)},
      {"bytes=99-", Part(99, 1)},
      {"bytes=90-1000", Part(90, 10)},
      {"bytes=90-99999999999999999999999", Part(90, 10)},
      {"bytes=-1", Part(99, 1)},
      {"bytes=-100", Part(0, 100)},
      {"bytes=-1000", Part(0, 100)},
      {"bytes=-99999999999999999999999", Part(0, 100)},
      {" Bytes= 1-2 ", Part(1, 2)},
  };
  for (const Row& row : rows) EXPECT_EQ(ParseRange(row.header, 100), row.wanted) << row.header;
}

TEST(ByteRangeTest, BytesThatTheFileDoesNotHaveAreNowhere) {
  for (const char* header : {"bytes=100-", "bytes=100-200", "bytes=99999999999999999999999-", "bytes=-0"})
    EXPECT_EQ(ParseRange(header, 100).kind, Kind::kNowhere) << header;
  for (const char* header : {"bytes=0-", "bytes=0-0", "bytes=-0"})
    EXPECT_EQ(ParseRange(header, 0).kind, Kind::kNowhere) << header;
}

TEST(ByteRangeTest, WhatIsNoSingleRangeIsAsIfItWereNotThere) {
  for (const char* header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=1", "bytes=a-b", "bytes=1-b", "bytes=2-1", "bytes=+1-2", "bytes=1--2",
        "bytes=--1", "bytes=0-1,5-6", "bytes=0-1,", "lines=1-2", "bytes =0-1", "bytes=0x1-2", "bytes=1 - 2"})
    EXPECT_EQ(ParseRange(header, 100), (WantedBytes{.length = 100})) << header;
}

TEST(ByteRangeTest, TheLastBytesOfAnEmptyFileAreAllOfIt) {
  EXPECT_EQ(ParseRange("bytes=-5", 0), WantedBytes{});
}

}  // namespace
}  // namespace skerry::transport::kit

#include "launcher/wire.hpp"

#include <gtest/gtest.h>

namespace skerry::launcher {
namespace {

TEST(WireTest, WhatWasWrittenIsRead) {
  const std::string bytes =
      WireWriter().Number(7).Text(std::string_view("a\0b", 3)).Texts({"x", "", "zz"}).Number(~0ULL).Take();
  WireReader reader(bytes);
  EXPECT_EQ(reader.Number(), 7U);
  EXPECT_EQ(reader.Text(), std::string_view("a\0b", 3));
  EXPECT_EQ(reader.Texts(), (std::vector<std::string>{"x", "", "zz"}));
  EXPECT_EQ(reader.Number(), ~0ULL);
  EXPECT_TRUE(reader.Complete());
}

TEST(WireTest, EveryCutIsNoticed) {
  const std::string bytes = WireWriter().Number(7).Text("hello").Texts({"a", "b"}).Take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    WireReader reader(std::string_view(bytes).substr(0, size));
    reader.Number();
    reader.Text();
    reader.Texts();
    EXPECT_FALSE(reader.Complete()) << size;
  }
}

TEST(WireTest, LeftOverBytesAreNoticed) {
  WireReader reader("12345678x");
  reader.Number();
  EXPECT_FALSE(reader.Complete());
}

TEST(WireTest, AHugeCountAllocatesNothing) {
  WireReader reader(std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f", 8));
  EXPECT_TRUE(reader.Texts().empty());
  EXPECT_FALSE(reader.Complete());
}

TEST(WireTest, ANumberAboveItsLimitIsRefused) {
  const std::string bytes = WireWriter().Number(3).Take();
  WireReader reader(bytes);
  EXPECT_EQ(reader.NumberUpTo(2), 0U);
  EXPECT_FALSE(reader.Complete());
}

}  // namespace
}  // namespace skerry::launcher

#include "archive/tar_header.hpp"

#include <string>

#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"

namespace skerry::archive {
namespace {

base::Result<TarHeader> Parse(const std::string& block) {
  return ParseTarHeader(TarBlock(block.data(), kTarBlockBytes));
}

TEST(TarHeaderTest, ReadsEveryFieldOfUstar) {
  const auto header = Parse(RawBlock(
      {.name = "name", .type = '2', .size = 01234567, .mode = 04755, .mtime = 77, .link = "target", .prefix = "a/b"}));
  ASSERT_TRUE(header.has_value()) << header.error().message;
  EXPECT_EQ(header->type, '2');
  EXPECT_EQ(header->name, "a/b/name");
  EXPECT_EQ(header->link_name, "target");
  EXPECT_EQ(header->size, 01234567U);
  EXPECT_EQ(header->mode, 04755U);
  EXPECT_EQ(header->mtime, 77);
}

TEST(TarHeaderTest, NamesMayFillTheirFieldWithoutANul) {
  const auto header = Parse(RawBlock({.name = std::string(100, 'n'), .link = std::string(100, 'l')}));
  EXPECT_EQ(header->name, std::string(100, 'n'));
  EXPECT_EQ(header->link_name, std::string(100, 'l'));
}

TEST(TarHeaderTest, OnlyUstarHasAPrefix) {
  EXPECT_EQ(Parse(RawBlock({.name = "n", .prefix = "p", .magic = std::string("ustar  \0", 8)}))->name, "n");
  EXPECT_EQ(Parse(RawBlock({.name = "n", .prefix = "p", .magic = std::string(8, '\0')}))->name, "n");
}

struct SizeRow {
  std::string field;
  std::int64_t size;  // -1: refused
};

TEST(TarHeaderTest, SizesAreOctalOrBinary) {
  const std::string zeros(11, '\0');
  const SizeRow rows[] = {
      {"00000000012\0", 10},
      {"         12 ", 10},
      {"12 \0        ", 10},
      {std::string(12, '\0'), 0},
      {std::string(12, ' '), 0},
      {"777777777777", (std::int64_t{1} << 36U) - 1},
      {"\x80" + std::string(7, '\0') + std::string("\x01\x00\x00\x00", 4), 1 << 24U},
      {"\x80" + std::string(3, '\0') + "\x7f" + std::string(7, '\xff'), std::numeric_limits<std::int64_t>::max()},
      {"\x80" + std::string(3, '\0') + "\x80" + std::string(7, '\0'), -1},  // 2^63
      {"\x80\x01" + std::string(10, '\0'), -1},
      {std::string(12, '\xff'), -1},  // -1
      {"\xff" + std::string(11, '\0'), -1},
      {"0000000008\0\0", -1},
      {"-0000000012\0", -1},
      {"0x000000012\0", -1},
      {"12 34       ", -1},
      {std::string("12\0"
                   "34567890\0",
                   12),
       -1},
  };
  for (const SizeRow& row : rows) {
    std::string field = row.field;
    field.resize(12);
    const auto header = Parse(RawBlock({.name = "n", .size_field = field}));
    EXPECT_EQ(header.has_value(), row.size >= 0) << testing::PrintToString(field);
    if (header && row.size >= 0) EXPECT_EQ(header->size, static_cast<std::uint64_t>(row.size)) << field;
  }
}

TEST(TarHeaderTest, AChangedByteIsAWrongChecksum) {
  const std::string good = RawBlock({.name = "name"});
  ASSERT_TRUE(Parse(good).has_value());
  for (const std::size_t at : {0U, 100U, 124U, 148U, 156U, 157U, 300U, 511U}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    EXPECT_FALSE(Parse(bad).has_value()) << at;
  }
}

TEST(TarHeaderTest, OnlyZerosAreTheEnd) {
  std::string block(kTarBlockBytes, '\0');
  EXPECT_TRUE(IsZeroBlock(TarBlock(block.data(), kTarBlockBytes)));
  block.back() = 1;
  EXPECT_FALSE(IsZeroBlock(TarBlock(block.data(), kTarBlockBytes)));
}

}  // namespace
}  // namespace skerry::archive

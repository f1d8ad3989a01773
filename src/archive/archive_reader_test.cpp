#include "archive/archive_reader.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"
#include "archive/error_of.hpp"
#include "archive/zip_builder.hpp"

namespace skerry::archive {
namespace {

using testing::HasSubstr;

// "path=content" of all entries, one after the other.
base::Result<std::string> Unpack(const std::string& bytes, const ArchiveLimits& limits = {}) {
  const base::UniqueFd fd = InMemory(bytes);
  SKERRY_ASSIGN_OR_RETURN(const ArchiveFormat format, DetectFormat(fd.get()));
  SKERRY_ASSIGN_OR_RETURN(const auto reader, ArchiveReader::Open(fd.get(), format, limits));
  std::string found;
  std::string buffer(50'000, '\0');
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto entry, reader->Next());
    if (!entry) return found;
    found += entry->path + "=" + entry->link_target;
    if (entry->kind != EntryKind::kFile) continue;
    for (std::size_t count = 1; count > 0;) {
      SKERRY_ASSIGN_OR_RETURN(count, reader->ReadContent(buffer));
      found.append(buffer, 0, std::min<std::size_t>(count, 10));
    }
  }
}

TEST(ArchiveReaderTest, TellsTheFormatByItsFirstBytes) {
  const std::string tar = ArchiveBuilder().Directory("d").File("d/f", "text").Link("l", "d/f").Build();
  const std::string expected = "d=d/f=textl=d/f";
  EXPECT_EQ(Unpack(tar).value_or(""), expected);
  EXPECT_EQ(Unpack(Gzip(tar)).value_or(""), expected);
  EXPECT_EQ(Unpack(Zstd(tar)).value_or(""), expected);
  EXPECT_EQ(Unpack(ZipBuilder().Directory("d/").File("d/f", "text").Link("l", "d/f").Build()).value_or(""), expected);
  EXPECT_EQ(Unpack(ZipBuilder().Build()).value_or("error"), "");
  EXPECT_THAT(MessageOf(Unpack("no archive")), HasSubstr("cut off"));
}

TEST(ArchiveReaderTest, AbsolutePathsAndTwoDotsLeadOut) {
  for (const std::string name : {"/etc/x", "../x", "a/../../x"}) {
    EXPECT_EQ(CodeOf(Unpack(ArchiveBuilder().File(name).Build())), base::Code::kPathTraversal) << name;
    EXPECT_EQ(CodeOf(Unpack(ArchiveBuilder().File("a").HardLink("h", name).Build())), base::Code::kPathTraversal);
    EXPECT_EQ(CodeOf(Unpack(ZipBuilder().File(name).Build())), base::Code::kPathTraversal) << name;
  }
}

TEST(ArchiveReaderTest, LimitsHoldInEveryFormat) {
  std::string text;
  while (text.size() < 100'000) text += std::to_string(text.size() * 7919 % 10'007);
  const std::string tar = ArchiveBuilder().File("a", text).File("b", text).Build();
  for (const std::string& bytes : {tar, Gzip(tar), Zstd(tar), ZipBuilder().File("a", text).File("b", text).Build()}) {
    EXPECT_TRUE(Unpack(bytes)) << MessageOf(Unpack(bytes));
    EXPECT_EQ(CodeOf(Unpack(bytes, {.max_entries = 1})), base::Code::kTooLarge);
    EXPECT_EQ(CodeOf(Unpack(bytes, {.max_total_bytes = 150'000})), base::Code::kTooLarge);
    EXPECT_EQ(CodeOf(Unpack(bytes, {.max_file_bytes = 99'999})), base::Code::kTooLarge);
  }
}

TEST(ArchiveReaderTest, TenThousandTimesItsSizeIsABomb) {
  const std::string zeros(100U << 20U, '\0');
  const std::string tar = ArchiveBuilder().File("z", zeros).Build();
  ASSERT_GT(tar.size() / Zstd(tar).size(), 10'000U);
  for (const std::string& bytes : {Gzip(tar), Zstd(tar), ZipBuilder().File("z", zeros).Build()})
    EXPECT_THAT(MessageOf(Unpack(bytes)), HasSubstr("bomb"));
  EXPECT_TRUE(Unpack(tar));
  // Also behind the end of the archive.
  EXPECT_THAT(MessageOf(Unpack(Gzip(ArchiveBuilder().File("a").Build() + zeros))), HasSubstr("bomb"));
}

TEST(ArchiveReaderTest, SurvivesAnyDamageToATar) {
  const std::string good = ArchiveBuilder()
                               .Directory("d")
                               .Pax(PaxRecord("path", "d/" + std::string(150, 'x')) + PaxRecord("mtime", "1.5"))
                               .File("x", "text")
                               .Gnu('L', std::string(120, 'y'))
                               .File("y", "text")
                               .Link("l", "d")
                               .HardLink("h", "d/f")
                               .Build();
  std::mt19937 random(1);  // NOLINT: the same each time
  int unpacked = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    const std::size_t block = random() % (bad.size() / 512) * 512;
    for (unsigned i = random() % 4 + 1; i > 0; --i) bad[block + random() % 512] = static_cast<char>(random());
    if (random() % 8 == 0) bad.resize(random() % bad.size());
    // A new checksum, so that the damage gets past the check.
    if (random() % 4 != 0 && block + 512 <= bad.size()) {
      std::uint64_t sum = 0;
      bad.replace(block + 148, 8, "        ");
      for (const char byte : bad.substr(block, 512)) sum += static_cast<unsigned char>(byte);
      bad.replace(block + 148, 8, Octal(sum, 7) + " ");
    }
    const auto found = Unpack(bad);
    if (!found) continue;
    ++unpacked;
    EXPECT_THAT(*found, testing::Not(testing::StartsWith("/")));
  }
  EXPECT_GT(unpacked, 100);
}

}  // namespace
}  // namespace skerry::archive

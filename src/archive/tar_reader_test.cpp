#include "archive/tar_reader.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"

namespace skerry::archive {
namespace {

using testing::HasSubstr;

// A few bytes at a time, as a pipe or a decompressor gives them.
class Dripping : public ByteSource {
 public:
  explicit Dripping(std::string_view bytes) : inner_(bytes) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override {
    return inner_.Read(buffer.first(std::min<std::size_t>(buffer.size(), 7)));
  }

 private:
  MemorySource inner_;
};

struct Read {
  std::vector<TarEntry> entries;
  std::vector<std::string> contents;
  std::string error;
};

Read ReadAllOf(ByteSource& source) {
  TarReader reader(source);
  Read read;
  for (;;) {
    const auto entry = reader.Next();
    if (!entry) {
      read.error = entry.error().message;
      return read;
    }
    if (!*entry) return read;
    read.entries.push_back(**entry);
    std::string content;
    std::array<char, 1000> buffer{};
    for (;;) {
      const auto count = reader.ReadContent(buffer);
      if (!count) read.error = count.error().message;
      if (!count || *count == 0) break;
      content.append(buffer.data(), *count);
    }
    read.contents.push_back(content);
  }
}

Read ReadAllOf(const std::string& bytes) {
  MemorySource source(bytes);
  return ReadAllOf(source);
}

std::string ErrorOf(const std::string& bytes) {
  return ReadAllOf(bytes).error;
}

TEST(TarReaderTest, ReadsEveryKindOfEntry) {
  const std::string archive = ArchiveBuilder()
                                  .Directory("d/")
                                  .File("d/f", std::string(1500, 'x'), 0600)
                                  .Link("l", "d/f")
                                  .HardLink("h", "d/f")
                                  .Entry({.name = "null", .type = '3'})
                                  .Entry({.name = "disk", .type = '4'})
                                  .Entry({.name = "fifo", .type = '6'})
                                  .Entry({.name = "old", .type = '\0'}, "content")
                                  .Entry({.name = "contiguous", .type = '7'})
                                  .Entry({.name = "old-directory/", .type = '\0'})
                                  .Build();
  for (const bool drip : {false, true}) {
    MemorySource whole(archive);
    Dripping pieces(archive);
    const Read read = ReadAllOf(drip ? static_cast<ByteSource&>(pieces) : whole);
    ASSERT_EQ(read.error, "");
    std::vector<EntryKind> kinds;
    kinds.reserve(read.entries.size());
    for (const TarEntry& entry : read.entries) kinds.push_back(entry.kind);
    EXPECT_THAT(
        kinds, testing::ElementsAre(EntryKind::kDirectory, EntryKind::kFile, EntryKind::kSymbolicLink,
                                    EntryKind::kHardLink, EntryKind::kSpecial, EntryKind::kSpecial, EntryKind::kSpecial,
                                    EntryKind::kFile, EntryKind::kFile, EntryKind::kDirectory));
    EXPECT_EQ(read.contents[1], std::string(1500, 'x'));
    EXPECT_EQ(read.contents[7], "content");
    EXPECT_EQ(read.entries[1].mode, 0600U);
    EXPECT_EQ(read.entries[2].link_target, "d/f");
    EXPECT_EQ(read.entries[1].mtime.tv_sec, 1'600'000'000);
  }
}

TEST(TarReaderTest, ContentThatIsNotReadIsPassedOver) {
  const std::string archive = ArchiveBuilder().File("a", std::string(100'000, 'x')).File("b", "b").Build();
  MemorySource source(archive);
  TarReader reader(source);
  EXPECT_EQ((*reader.Next())->path, "a");
  EXPECT_EQ((*reader.Next())->path, "b");
  EXPECT_FALSE((*reader.Next()).has_value());
}

TEST(TarReaderTest, PaxNamesAndSizesWin) {
  const std::string name(300, 'n');
  const Read read = ReadAllOf(ArchiveBuilder()
                                  .Pax(PaxRecord("comment", "of all"), 'g')
                                  .Pax(PaxRecord("path", name) + PaxRecord("size", "3") + PaxRecord("mtime", "5.5"))
                                  .Entry({.name = "short", .size_field = Octal(0, 12)}, "abc")
                                  .Pax(PaxRecord("linkpath", name))
                                  .Link("l", "short")
                                  .File("next", "x")
                                  .Build());
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.entries[0].path, name);
  EXPECT_EQ(read.contents[0], "abc");
  EXPECT_EQ(read.entries[0].mtime.tv_nsec, 500'000'000);
  EXPECT_EQ(read.entries[1].link_target, name);
  EXPECT_EQ(read.entries[2].path, "next");
}

TEST(TarReaderTest, GnuLongNamesWin) {
  const std::string name = std::string(200, 'n') + "/x";
  const Read read = ReadAllOf(
      ArchiveBuilder().Gnu('L', name).File("short", "abc").Gnu('K', name).Gnu('L', "l").Link("x", "y").Build());
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.entries[0].path, name);
  EXPECT_EQ(read.contents[0], "abc");
  EXPECT_EQ(read.entries[1].path, "l");
  EXPECT_EQ(read.entries[1].link_target, name);
}

TEST(TarReaderTest, TheEndMayBePaddedWithZerosAndNothingElse) {
  const ArchiveBuilder archive = ArchiveBuilder().File("a", "b");
  EXPECT_EQ(ErrorOf(archive.Build() + std::string(10'240, '\0')), "");
  EXPECT_EQ(ErrorOf(archive.Build() + std::string(100, '\0')), "");
  EXPECT_EQ(ErrorOf(archive.WithoutEnd() + std::string(512, '\0')), "");
  EXPECT_THAT(ErrorOf(archive.Build() + "x"), HasSubstr("after the end"));
  EXPECT_THAT(ErrorOf(archive.Build() + archive.Build()), HasSubstr("after the end"));
  EXPECT_THAT(ErrorOf(archive.WithoutEnd() + std::string(512, '\0') + archive.Build()), HasSubstr("after the end"));
}

TEST(TarReaderTest, WhereverItIsCutOffIsSaid) {
  const std::string archive =
      ArchiveBuilder().Pax(PaxRecord("path", "long")).File("a", std::string(1000, 'x')).File("b").WithoutEnd();
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{600}, std::size_t{1024}, std::size_t{1500},
        std::size_t{2048}, archive.size() - 513, archive.size() - 512, archive.size()})
    EXPECT_THAT(ErrorOf(archive.substr(0, length)), HasSubstr("cut off")) << length;
  EXPECT_THAT(ErrorOf(""), HasSubstr("empty"));
}

TEST(TarReaderTest, WhatIsNoArchiveIsCalledSo) {
  EXPECT_THAT(ErrorOf(std::string(5000, 'x')), HasSubstr("not a tar archive"));
  EXPECT_THAT(ErrorOf(ArchiveBuilder().File("a").Raw(std::string(512, 'x')).Build()), HasSubstr("checksum"));
}

struct BadRow {
  std::string archive;
  std::string_view says;
};

TEST(TarReaderTest, WhatCouldBeUnderstoodInTwoWaysIsRefused) {
  const std::string name = PaxRecord("path", "name");
  const BadRow rows[] = {
      {ArchiveBuilder().File("").Build(), "without a name"},
      {ArchiveBuilder().Gnu('L', "").File("x").Build(), "without a name"},
      {ArchiveBuilder().Gnu('L', std::string("a\0b", 3)).File("x").Build(), "zero byte"},
      {ArchiveBuilder().Gnu('K', std::string("a\0b", 3)).Link("x", "y").Build(), "zero byte"},
      {ArchiveBuilder().Pax(PaxRecord("path", std::string("a\0b", 3))).File("x").Build(), "zero byte"},
      {ArchiveBuilder().Pax(name).Pax(name).File("x").Build(), "two extended headers"},
      {ArchiveBuilder().Gnu('L', "a").Gnu('L', "b").File("x").Build(), "two names"},
      {ArchiveBuilder().Gnu('L', "a").Pax(name).File("x").Build(), "two names"},
      {ArchiveBuilder().Gnu('K', "a").Pax(PaxRecord("linkpath", "b")).Link("x", "y").Build(), "two names"},
      {ArchiveBuilder().Pax(name, 'g').File("x").Build(), "every entry"},
      {ArchiveBuilder().Pax(PaxRecord("size", "1"), 'g').File("x").Build(), "every entry"},
      {ArchiveBuilder().Pax(name).Build(), "cut off"},
      {ArchiveBuilder().Gnu('L', "a").Build(), "cut off"},
      {ArchiveBuilder().Entry({.name = "s", .type = 'S'}).Build(), "sparse"},
      {ArchiveBuilder().Pax(PaxRecord("GNU.sparse.map", "0,1")).File("x").Build(), "sparse"},
      {ArchiveBuilder().Entry({.name = "m", .type = 'M'}).Build(), "kind"},
      {ArchiveBuilder().Entry({.name = "d", .type = 'D'}).Build(), "kind"},
      {ArchiveBuilder().Entry({.name = "z", .type = 'Z'}).Build(), "kind"},
      {ArchiveBuilder().Entry({.name = "d", .type = '5'}, "content").Build(), "has content"},
      {ArchiveBuilder().Entry({.name = "l", .type = '2', .link = "x"}, "content").Build(), "has content"},
      {ArchiveBuilder().Entry({.name = "h", .type = '1', .link = "x"}, "content").Build(), "has content"},
      {ArchiveBuilder().Entry({.name = "c", .type = '3'}, "content").Build(), "has content"},
      {ArchiveBuilder().Entry({.name = "f/", .type = '0'}, "content").Build(), "has content"},
      {ArchiveBuilder().Link("l", "").Build(), "link to nothing"},
      {ArchiveBuilder().HardLink("l", "").Build(), "link to nothing"},
      {ArchiveBuilder().Pax(PaxRecord("size", "18446744073709551615")).File("x").Build(), "size that no file has"},
      {ArchiveBuilder().Pax(PaxRecord("size", "9223372036854775807")).File("x").Build(), "size that no file has"},
      {ArchiveBuilder().Pax(PaxRecord("size", "9223372036854775000")).File("x").Build(), "cut off"},
  };
  for (const BadRow& row : rows) EXPECT_THAT(ErrorOf(row.archive), HasSubstr(row.says));
}

// Gives endless zeros after its bytes: an archive that promises more than memory has.
class Endless : public ByteSource {
 public:
  explicit Endless(std::string_view head) : head_(head) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, head_.Read(buffer));
    if (count > 0) return count;
    std::ranges::fill(buffer, '\0');
    given_ += buffer.size();
    return given_ < (std::size_t{1} << 30U) ? buffer.size() : 0;
  }
  [[nodiscard]] std::size_t given() const { return given_; }

 private:
  MemorySource head_;
  std::size_t given_ = 0;
};

TEST(TarReaderTest, AnExtendedHeaderIsRefusedByItsSizeNotByItsBytes) {
  for (const char type : {'x', 'g', 'L', 'K', 'V'}) {
    const std::string head = RawBlock({.name = "x", .type = type, .size = (1U << 20U) + 1});
    Endless source(head);
    EXPECT_THAT(ReadAllOf(source).error, HasSubstr("more than 1 MB")) << type;
    EXPECT_EQ(source.given(), 0U) << type;
  }
}

}  // namespace
}  // namespace skerry::archive

#include "archive/zip_reader.hpp"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/error_of.hpp"
#include "archive/zip_builder.hpp"

namespace skerry::archive {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::size_t kMaxEntries = 50'000;

base::Result<std::string> ContentOf(const ZipReader& reader, const ZipEntry& entry) {
  SKERRY_ASSIGN_OR_RETURN(const auto content, reader.Content(entry));
  std::string text;
  std::string buffer(1000, '\0');
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, content->Read(buffer));
    if (count == 0) return text;
    text.append(buffer, 0, count);
  }
}

// Files by path, directories with a slash, links with an arrow; or the first error.
base::Result<std::map<std::string, std::string>> Unpack(const std::string& bytes) {
  const base::UniqueFd fd = InMemory(bytes);
  SKERRY_ASSIGN_OR_RETURN(const ZipReader reader, ZipReader::Open(fd.get(), kMaxEntries));
  std::map<std::string, std::string> found;
  for (const ZipEntry& entry : reader.entries()) {
    if (entry.kind == EntryKind::kDirectory) found[entry.path + "/"] = "";
    if (entry.kind == EntryKind::kSpecial) found[entry.path] = "special";
    if (entry.kind == EntryKind::kSymbolicLink) {
      SKERRY_ASSIGN_OR_RETURN(const std::string target, reader.Target(entry));
      found[entry.path] = "-> " + target;
    }
    if (entry.kind == EntryKind::kFile) {
      SKERRY_ASSIGN_OR_RETURN(found[entry.path], ContentOf(reader, entry));
    }
  }
  return found;
}

std::string Text(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size() * 7919 % 10'007);
  text.resize(size);
  return text;
}

TEST(ZipReaderTest, ReadsFilesDirectoriesAndLinks) {
  const std::string text = Text(300'000);
  const auto found = Unpack(ZipBuilder()
                                .File("a/deflated", text)
                                .Entry({.name = "a/stored", .content = text})
                                .Entry({.name = "behind", .content = text, .method = 8, .flags = 8})
                                .File("empty")
                                .Directory("d/")
                                .Link("l", "a/stored")
                                .Build("a comment"));
  ASSERT_TRUE(found) << MessageOf(found);
  EXPECT_THAT(*found, UnorderedElementsAre(Pair("a/deflated", text), Pair("a/stored", text), Pair("behind", text),
                                           Pair("empty", ""), Pair("d/", ""), Pair("l", "-> a/stored")));
}

TEST(ZipReaderTest, ReadsThe64BitEndAndSizes) {
  using zip::Eight;
  using zip::Two;
  const std::string content = "sixty-four";
  const std::string extra = Two(1) + Two(16) + Eight(content.size()) + Eight(content.size());
  const std::string zip =
      ZipBuilder()
          .Entry({.name = "a", .content = content, .extra = extra, .size = zip::kIn64, .compressed = zip::kIn64})
          .Build64();
  const auto found = Unpack(zip);
  ASSERT_TRUE(found) << MessageOf(found);
  EXPECT_THAT(*found, UnorderedElementsAre(Pair("a", content)));
}

TEST(ZipReaderTest, KeepsTheModeOfUnixProgramsOnly) {
  const base::UniqueFd fd = InMemory(ZipBuilder()
                                         .File("tool", "x", 0104755)
                                         .Entry({.name = "dos", .content = "x", .mode = 0120777, .host = 0})
                                         .Build());
  const auto reader = ZipReader::Open(fd.get(), kMaxEntries);
  ASSERT_TRUE(reader) << MessageOf(reader);
  EXPECT_EQ(reader->entries()[0].mode, 04755U);
  EXPECT_EQ(reader->entries()[1].mode, 0644U);
  EXPECT_EQ(reader->entries()[1].kind, EntryKind::kFile);
}

TEST(ZipReaderTest, RefusesNamesThatLeadOut) {
  for (const std::string name : {"../x", "a/../../x", "/etc/x", "..", "..\\..\\x", "a\\b", "a/.."}) {
    EXPECT_EQ(CodeOf(Unpack(ZipBuilder().File(name, "x").Build())), base::Code::kPathTraversal) << name;
  }
}

TEST(ZipReaderTest, RefusesWhatCanBeReadInTwoWays) {
  struct Case {
    std::string why;
    std::string zip;
  };
  using zip::Four;
  using zip::Two;
  const auto one = [](const RawZipEntry& entry) { return ZipBuilder().Entry(entry).Build(); };
  const std::string two_ends = ZipBuilder().File("a").Build(ZipBuilder().File("b").Build());
  const std::string unicode = Two(0x7075) + Two(7) + '\1' + Four(0) + "zz";
  const std::string twice64 = Two(1) + Two(0) + Two(1) + Two(0);
  const std::vector<Case> cases = {
      {"twice", ZipBuilder().File("a", "1").File("a", "2").Build()},
      {"twice", ZipBuilder().File("a", "1").Directory("a/").Build()},
      {"twice", ZipBuilder().File("a/b", "1").File("a/./b", "2").Build()},
      {"two different things", one({.name = "a", .content = "x", .local_name = "b"})},
      {"two different things", one({.name = "a", .content = "x", .local_method = 8})},
      {"two different things", one({.name = "a", .content = "x", .local_flags = 8})},
      {"two different things", one({.name = "a", .content = "x", .local_checksum = 7})},
      {"two different things", one({.name = "a", .content = "x", .local_size = 7})},
      {"two different things", one({.name = "a", .content = "x", .method = 8, .flags = 8, .descriptor = Four(1)})},
      {"two tables", two_ends},
      {"two names", one({.name = "aa", .content = "x", .extra = unicode})},
      {"sizes twice", one({.name = "aa", .content = "x", .extra = twice64})},
      {"zero byte", one({.name = std::string("a\0b", 3), .content = "x"})},
      {"not by both", one({.name = "a", .mode = 040755})},
      {"not by both", one({.name = "a/", .mode = 0100644})},
      {"has content", one({.name = "a/", .content = "x", .mode = 040755})},
  };
  for (const Case& row : cases) {
    const auto found = Unpack(row.zip);
    EXPECT_EQ(CodeOf(found), base::Code::kInvalidArgument) << row.why;
    EXPECT_THAT(MessageOf(found), HasSubstr(row.why));
  }
}

TEST(ZipReaderTest, RefusesWhatItDoesNotRead) {
  const auto one = [](const RawZipEntry& entry) { return ZipBuilder().Entry(entry).Build(); };
  EXPECT_THAT(MessageOf(Unpack(one({.name = "a", .content = "x", .flags = 1}))), HasSubstr("encrypted"));
  EXPECT_THAT(MessageOf(Unpack(one({.name = "a", .content = "x", .flags = 1U << 6U}))), HasSubstr("encrypted"));
  EXPECT_THAT(MessageOf(Unpack(one({.name = "a", .content = "x", .method = 12}))), HasSubstr("method 12"));
  EXPECT_THAT(MessageOf(Unpack(one({.name = "a", .content = "x", .disk = 1}))), HasSubstr("one part of several"));
  EXPECT_THAT(MessageOf(Unpack(ZipBuilder().Link("l", std::string(5000, 'x')).Build())), HasSubstr("link"));
  EXPECT_THAT(MessageOf(Unpack("not a zip at all, but long enough to be one")), HasSubstr("no zip archive"));
  EXPECT_THAT(MessageOf(Unpack("")), HasSubstr("no zip archive"));
}

TEST(ZipReaderTest, TellsSpecialFiles) {
  const auto found = Unpack(ZipBuilder().Entry({.name = "fifo", .mode = 010644}).Build());
  ASSERT_TRUE(found) << MessageOf(found);
  EXPECT_THAT(*found, UnorderedElementsAre(Pair("fifo", "special")));
}

TEST(ZipReaderTest, RefusesEntriesThatShareBytes) {
  const std::string content(100, 'x');
  // The second entry has the content of the first one under another name, as in a bomb that refers to itself.
  ZipBuilder same;
  same.Entry({.name = "a", .content = content});
  same.Entry({.name = "a2", .content = content, .offset = 0});
  EXPECT_EQ(CodeOf(Unpack(same.Build())), base::Code::kInvalidArgument);
  // The header of the second one lies in the content of the first.
  const std::string inner_zip = ZipBuilder().Entry({.name = "b", .content = content}).Build();
  const std::string inner = inner_zip.substr(0, 30 + 1 + content.size());
  ZipBuilder nested;
  nested.Entry({.name = "a", .content = inner});
  nested.Entry({.name = "b", .content = content, .offset = 31});
  EXPECT_THAT(MessageOf(Unpack(nested.Build())), HasSubstr("overlap"));
}

TEST(ZipReaderTest, RefusesEntriesOutsideOfTheFile) {
  EXPECT_THAT(MessageOf(Unpack(ZipBuilder().Entry({.name = "a", .content = "x", .offset = 1'000'000}).Build())),
              HasSubstr("outside"));
  const auto large =
      Unpack(ZipBuilder().Entry({.name = "a", .content = "x", .size = 5'000, .compressed = 5'000}).Build());
  EXPECT_THAT(MessageOf(large), HasSubstr("outside"));
}

TEST(ZipReaderTest, ContentIsExactlyWhatTheTableSays) {
  const std::string text = Text(5'000);
  const auto one = [&](RawZipEntry entry) {
    entry.name = "a";
    entry.content = text;
    entry.method = zip::kDeflated;
    return MessageOf(Unpack(ZipBuilder().Entry(entry).Build()));
  };
  EXPECT_EQ(one({}), "");
  EXPECT_THAT(one({.checksum = 7}), HasSubstr("wrong checksum"));
  EXPECT_THAT(one({.size = 4'999}), HasSubstr("more content"));
  EXPECT_THAT(one({.size = 5'001}), HasSubstr("less content"));
  EXPECT_THAT(one({.raw = RawDeflate(text) + "y"}), HasSubstr("something follows"));
  EXPECT_THAT(one({.raw = RawDeflate(text).substr(0, 100)}), HasSubstr("cut off"));
  EXPECT_THAT(one({.raw = std::string(100, '\xFF')}), HasSubstr("cannot be unpacked"));
}

TEST(ZipReaderTest, RefusesMoreEntriesThanItMayRead) {
  ZipBuilder builder;
  for (int i = 0; i < 70'000; ++i) builder.Entry({.name = std::to_string(i)});
  EXPECT_EQ(CodeOf(Unpack(builder.Build64())), base::Code::kTooLarge);
  // A count that overflowed its field is no way around the limit.
  EXPECT_EQ(CodeOf(Unpack(builder.Build())), base::Code::kInvalidArgument);
}

TEST(ZipReaderTest, RefusesATableThatIsNotWhereItSays) {
  const std::string zip = ZipBuilder().File("a", "x").Build();
  EXPECT_EQ(CodeOf(Unpack("prefix" + zip)), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Unpack(zip + "suffix")), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Unpack(zip.substr(0, zip.size() - 1))), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Unpack(ZipBuilder().File("a", "x").Count(2).Build())), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Unpack(ZipBuilder().File("a", "x").File("b").Count(1).Build())), base::Code::kInvalidArgument);
}

TEST(ZipReaderTest, SurvivesAnyDamage) {
  const std::string good = ZipBuilder()
                               .File("a/deflated", Text(3'000))
                               .Entry({.name = "behind", .content = Text(200), .method = 8, .flags = 8})
                               .Directory("d/")
                               .Link("l", "a/deflated")
                               .Build64();
  std::mt19937 random(1);  // NOLINT: the same each time
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    for (unsigned i = random() % 4 + 1; i > 0; --i) bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 8 == 0) bad.resize(random() % bad.size());
    const auto found = Unpack(bad);
    if (!found) continue;
    for (const auto& [path, content] : *found) {
      EXPECT_THAT(path, testing::Not(testing::StartsWith("/")));
      EXPECT_THAT(path, testing::Not(HasSubstr("..")));
    }
  }
}

}  // namespace
}  // namespace skerry::archive

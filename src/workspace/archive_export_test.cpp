#include "workspace/archive_export.hpp"

#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/zip_builder.hpp"
#include "workspace/archive_import.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;
using archive::ArchiveFormat;
using testing::Contains;
using testing::ElementsAre;

class ArchiveExportTest : public WorkspaceTest {
 protected:
  struct Exported {
    std::string bytes;
    ExportReport report;
  };
  base::Result<Exported> Export(const ExportOptions& options) {
    archive::MemorySink sink;
    SKERRY_ASSIGN_OR_RETURN(ExportReport report, ExportArchive(Files(), options, sink));
    return Exported{sink.bytes(), std::move(report)};
  }

  // The entries in their order: "path kind target".
  static std::vector<std::string> Entries(const std::string& bytes) {
    const base::UniqueFd fd = archive::InMemory(bytes);
    const auto reader = archive::ArchiveReader::Open(fd.get(), *archive::DetectFormat(fd.get()), {});
    std::vector<std::string> entries;
    for (;;) {
      const auto entry = reader ? (*reader)->Next() : std::unexpected(reader.error());
      if (!entry) entries.push_back(entry.error().message);
      if (!entry || !*entry) return entries;
      const std::string slash = (*entry)->kind == archive::EntryKind::kDirectory ? "/" : "";
      const std::string arrow = (*entry)->kind == archive::EntryKind::kSymbolicLink ? " -> " : "";
      entries.push_back((*entry)->path + slash + arrow + (*entry)->link_target);
    }
  }
};
SKERRY_BOTH_WAYS(ArchiveExportTest);

TEST_P(ArchiveExportTest, LinksAreStoredAsLinksInEveryFormat) {
  Put("d/f", "file");
  Put("d.txt", "beside");
  Link("/etc", "l");
  Link("d", "m");
  for (const auto format : {ArchiveFormat::kTar, ArchiveFormat::kTarGzip, ArchiveFormat::kZip}) {
    const auto exported = Export({.path = "/workspace", .format = format});
    ASSERT_TRUE(exported) << MessageOf(exported);
    EXPECT_THAT(Entries(exported->bytes), ElementsAre("d/", "d/f", "d.txt", "l -> /etc", "m -> d"));
    EXPECT_EQ(exported->report.entries, 5U);
    EXPECT_EQ(exported->report.bytes, 10U);
  }
}

TEST_P(ArchiveExportTest, WhatIsExportedCanBeImported) {
  Put("d/f", std::string(300'000, 'x') + "end");
  Put("gr\xC3\xBC\xC3\x9F"
      "e",
      "umlaut");
  Put("bytes\xFF", "binary");
  fs::permissions(root_ / "d/f", fs::perms(0750));
  Link("f", "d/l");
  for (const auto format : {ArchiveFormat::kTar, ArchiveFormat::kZip}) {
    const auto exported = Export({.path = "", .format = format});
    ASSERT_TRUE(exported) << MessageOf(exported);
    // A file of one repeated byte is no bomb when the caller allows the ratio.
    const base::UniqueFd fd = archive::InMemory(exported->bytes);
    const auto report = ImportArchive(Files(), fd.get(), {.directory = "copy", .limits = {.max_ratio = 2000}});
    ASSERT_TRUE(report) << MessageOf(report);
    EXPECT_EQ(GetFile("copy/d/f"), GetFile("d/f"));
    EXPECT_EQ(GetFile("copy/gr\xC3\xBC\xC3\x9F"
                      "e"),
              "umlaut");
    EXPECT_EQ(GetFile("copy/bytes\xFF"), "binary");
    EXPECT_EQ(Mode(root_ / "copy/d/f"), 0750U);
    EXPECT_EQ(fs::read_symlink(root_ / "copy/d/l"), "f");
    fs::remove_all(root_ / "copy");
  }
}

TEST_P(ArchiveExportTest, OneFileOrOneLinkIsAnArchiveToo) {
  Put("d/f", "file");
  Link(outside_ / "secret", "d/l");
  EXPECT_THAT(Entries(Export({.path = "d/f"})->bytes), ElementsAre("f"));
  EXPECT_THAT(Entries(Export({.path = "d/l"})->bytes), ElementsAre("l -> " + (outside_ / "secret").string()));
  EXPECT_EQ(CodeOf(Export({.path = "none"})), "not_found");
  EXPECT_EQ(CodeOf(Export({.path = "../outside"})), "path_escapes_workspace");
  Link(outside_, "out");
  EXPECT_EQ(CodeOf(Export({.path = "out/secret"})), "path_escapes_workspace");
}

TEST_P(ArchiveExportTest, SpecialFilesAreLeftOutAndNamed) {
  Put("f", "file");
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0644), 0);
  const auto exported = Export({.path = ""});
  ASSERT_TRUE(exported) << MessageOf(exported);
  EXPECT_THAT(exported->report.skipped, ElementsAre("fifo"));
  EXPECT_THAT(Entries(exported->bytes), ElementsAre("f"));
}

TEST_P(ArchiveExportTest, LimitsHold) {
  for (int i = 0; i < 10; ++i) Put("d/" + std::to_string(i), "0123456789");
  EXPECT_EQ(CodeOf(Export({.path = "", .max_entries = 10})), "too_large");
  EXPECT_EQ(CodeOf(Export({.path = "", .max_bytes = 99})), "too_large");
  EXPECT_EQ(CodeOf(Export({.path = "", .max_entries = 11, .max_bytes = 100})), "ok");
  EXPECT_EQ(CodeOf(Export({.path = "", .deadline = base::Deadline::After(std::chrono::seconds(0))})), "timeout");
}

TEST_P(ArchiveExportTest, AFileThatShrinksMeanwhileIsAnError) {
  // Cuts the file when the first of its bytes arrive.
  class CuttingSink : public archive::ByteSink {
   public:
    explicit CuttingSink(fs::path file) : file_(std::move(file)) {}
    base::Status Write(std::string_view) override {
      fs::resize_file(file_, 10);
      return {};
    }

   private:
    fs::path file_;
  } sink(root_ / "f");
  Put("f", std::string(1'000'000, 'x'));
  EXPECT_EQ(CodeOf(ExportArchive(Files(), {.path = "", .format = ArchiveFormat::kTar}, sink)), "conflict");
}

TEST_P(ArchiveExportTest, AFullSinkEndsIt) {
  class FullSink : public archive::ByteSink {
   public:
    base::Status Write(std::string_view) override { return base::Err(base::Code::kUnavailable, "gone"); }
  } sink;
  Put("f", "x");
  EXPECT_EQ(CodeOf(ExportArchive(Files(), {.path = ""}, sink)), "unavailable");
}

}  // namespace
}  // namespace skerry::workspace

#include "image/layer.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"
#include "archive/error_of.hpp"
#include "base/sha256.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::image {
namespace {

using archive::ArchiveBuilder;
using archive::CodeOf;
using archive::Gzip;
using archive::WriteFile;
using archive::Zstd;

namespace fs = std::filesystem;

class LayerTest : public testing::Test {
 protected:
  LayerTest() {
    fs::create_directory(tree_);
    fs::create_directory(directory_.path() / "outside");
    WriteFile(directory_.path() / "outside/precious", "precious");
  }

  base::Result<LayerReport> Unpack(const std::string& bytes, LayerPlace place, const ImportLimits& limits = {},
                                   ProgressSink* sink = nullptr) {
    WriteFile(directory_.path() / "layer", bytes);
    const base::UniqueFd file(::open((directory_.path() / "layer").c_str(), O_RDONLY | O_CLOEXEC));
    const base::UniqueFd root(::open(tree_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ImportBudget budget(limits, sink);
    return UnpackLayer(file.get(), place, root.get(), budget);
  }
  void Bottom(const ArchiveBuilder& archive) {
    const auto report = Unpack(archive.Build(), LayerPlace::kBottom);
    ASSERT_TRUE(report.has_value()) << report.error().message;
  }
  void OnTop(const ArchiveBuilder& archive) {
    const auto report = Unpack(archive.Build(), LayerPlace::kOnOthers);
    ASSERT_TRUE(report.has_value()) << report.error().message;
  }
  [[nodiscard]] bool Has(const std::string& path) const { return fs::exists(fs::symlink_status(tree_ / path)); }

  support::TemporaryDirectory directory_;
  fs::path tree_ = directory_.path() / "tree";
};

TEST_F(LayerTest, ReportsBothDigests) {
  const std::string tar = ArchiveBuilder().File("f", "content").Build();
  for (const std::string& file : {tar, Gzip(tar), Zstd(tar)}) {
    const auto report = Unpack(file, LayerPlace::kAlone);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->content_digest, base::Sha256Hex(tar));
    EXPECT_EQ(report->file_digest, base::Sha256Hex(file));
    EXPECT_EQ(report->counts.entries, 1U);
  }
}

TEST_F(LayerTest, ALayerHidesWhatLiesBelow) {
  Bottom(
      ArchiveBuilder().File("gone").File("kept").File("d/gone").File("d/kept").File("tree/deep/x").File("opaque/old"));
  OnTop(ArchiveBuilder()
            .File(".wh.gone")
            .File("d/.wh.gone")
            .File(".wh.tree")
            .File("opaque/.wh..wh..opq")
            .File("opaque/new")
            .File(".wh.never-there")
            .File("no/such/.wh.directory"));
  EXPECT_FALSE(Has("gone"));
  EXPECT_TRUE(Has("kept"));
  EXPECT_FALSE(Has("d/gone"));
  EXPECT_TRUE(Has("d/kept"));
  EXPECT_FALSE(Has("tree"));
  EXPECT_FALSE(Has("opaque/old"));
  EXPECT_TRUE(Has("opaque/new"));
  EXPECT_FALSE(Has("no"));
  for (const auto& entry : fs::recursive_directory_iterator(tree_))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".wh.")) << entry.path();
}

TEST_F(LayerTest, ALayerDoesNotHideWhatItBringsWhateverTheOrder) {
  Bottom(ArchiveBuilder().File("d/old").File("f", "old"));
  OnTop(ArchiveBuilder().File("d/new").File("d/.wh..wh..opq").File("f", "new").File(".wh.f"));
  EXPECT_FALSE(Has("d/old"));
  EXPECT_TRUE(Has("d/new"));
  EXPECT_EQ(fs::file_size(tree_ / "f"), 3U);
}

TEST_F(LayerTest, HidingDoesNotGoThroughLinks) {
  Bottom(ArchiveBuilder()
             .File("usr/lib/kept")
             .Link("lib", "usr/lib")
             .Link("outside", directory_.path() / "outside")
             .Link("up", "../outside"));
  OnTop(ArchiveBuilder()
            .File("lib/.wh..wh..opq")
            .File("outside/.wh.precious")
            .File("up/.wh.precious")
            .Directory("lib")
            .Directory("outside")
            .Directory("up"));
  EXPECT_TRUE(Has("usr/lib/kept"));
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(tree_ / "lib")));
  EXPECT_TRUE(fs::exists(directory_.path() / "outside/precious"));
}

TEST_F(LayerTest, TheWholeTreeMayBeHidden) {
  Bottom(ArchiveBuilder().File("a/b/c").File("d"));
  OnTop(ArchiveBuilder().File(".wh..wh..opq").File("new"));
  EXPECT_TRUE(Has("new"));
  EXPECT_EQ(std::distance(fs::directory_iterator(tree_), fs::directory_iterator()), 1);
}

TEST_F(LayerTest, OnItsOwnAnArchiveHidesNothing) {
  ASSERT_TRUE(Unpack(ArchiveBuilder().File("f").File(".wh.f").Build(), LayerPlace::kAlone).has_value());
  EXPECT_TRUE(Has("f"));
  EXPECT_TRUE(Has(".wh.f"));
}

TEST_F(LayerTest, AtTheBottomNothingIsHidden) {
  Bottom(ArchiveBuilder().File("f").File(".wh.f").File(".wh..wh.aufs"));
  EXPECT_TRUE(Has("f"));
  EXPECT_FALSE(Has(".wh.f"));
  EXPECT_FALSE(Has(".wh..wh.aufs"));
}

TEST_F(LayerTest, HidingKeepsTheTimeOfTheDirectory) {
  Bottom(ArchiveBuilder().Entry({.name = "d", .type = '5', .mode = 0755, .mtime = 100}).File("d/f"));
  OnTop(ArchiveBuilder().File("d/.wh.f"));
  struct stat facts{};
  ASSERT_EQ(::stat((tree_ / "d").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mtim.tv_sec, 100);
}

class ForwardOnly : public ProgressSink {
 public:
  ProgressAnswer Report(const Progress& progress) override {
    went_back = went_back || progress.bytes < bytes;
    bytes = progress.bytes;
    return ProgressAnswer::kGoOn;
  }
  std::uint64_t bytes = 0;
  bool went_back = false;
};

TEST_F(LayerTest, ProgressDoesNotGoBackWhenTheLayerIsReadAgain) {
  const std::string tar = ArchiveBuilder().File("f", std::string(100'000, 'x')).Build();
  ForwardOnly sink;
  ASSERT_TRUE(Unpack(tar, LayerPlace::kOnOthers, {}, &sink).has_value());
  EXPECT_FALSE(sink.went_back);
  EXPECT_EQ(sink.bytes, tar.size());
}

TEST_F(LayerTest, TheLimitIsOnWhatComesOutNotOnTheFile) {
  const std::string tar = ArchiveBuilder().File("zeros", std::string(5U << 20U, '\0')).Build();
  const auto report = Unpack(Zstd(tar), LayerPlace::kAlone, {.max_bytes = 1U << 20U});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(CodeOf(report), base::Code::kTooLarge);
  EXPECT_TRUE(Unpack(Zstd(tar), LayerPlace::kOnOthers, {.max_bytes = 6U << 20U}).has_value());
}

}  // namespace
}  // namespace skerry::image

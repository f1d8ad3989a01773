#include "image/image_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/error_of.hpp"
#include "image/image_builder.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::image {
namespace {

using archive::ArchiveBuilder;
using archive::CodeOf;
using archive::Gzip;
using archive::MessageOf;
using archive::PaxRecord;
using archive::WriteFile;
using archive::Zstd;

namespace fs = std::filesystem;
using testing::HasSubstr;

class ImageSourceTest : public testing::Test {
 protected:
  // Unpacks into a new work directory, which becomes work_.
  base::Result<Image> Unpack(const fs::path& path, const ImportLimits& limits = {}) {
    work_ = directory_.path() / ("work" + std::to_string(++works_));
    fs::create_directory(work_);
    const base::UniqueFd fd(::open(work_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ImportBudget budget(limits, nullptr);
    return UnpackSource(path.string(), fd.get(), budget);
  }
  base::Result<Image> UnpackBytes(const std::string& bytes, const ImportLimits& limits = {}) {
    WriteFile(directory_.path() / "archive", bytes);
    return Unpack(directory_.path() / "archive", limits);
  }
  [[nodiscard]] std::string Content(const std::string& path) const {
    std::ifstream file(work_ / "root" / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool Has(const std::string& path) const { return fs::exists(work_ / "root" / path); }

  support::TemporaryDirectory directory_;
  fs::path work_;
  int works_ = 0;
};

// Two layers: the second hides, replaces and adds.
std::vector<std::string> Layers() {
  return {ArchiveBuilder().File("etc/old", "old").File("etc/both", "lower").Directory("bin").Build(),
          ArchiveBuilder().File("etc/.wh.old").File("etc/both", "upper").File("bin/sh", "sh", 0755).Build()};
}

TEST_F(ImageSourceTest, UnpacksARootFileSystem) {
  const std::string tar = ArchiveBuilder().File("etc/os-release", "x").Entry({.name = "dev/null", .type = '3'}).Build();
  for (const std::string& bytes : {tar, Gzip(tar), Zstd(tar)}) {
    const auto image = UnpackBytes(bytes);
    ASSERT_TRUE(image.has_value()) << image.error().message;
    EXPECT_EQ(image->source, SourceKind::kRootfs);
    EXPECT_EQ(image->digest, "sha256:" + base::Sha256Hex(tar));
    EXPECT_EQ(image->skipped, 1U);
    EXPECT_EQ(Content("etc/os-release"), "x");
  }
}

TEST_F(ImageSourceTest, UnpacksEveryFormOfAnImageToTheSameTree) {
  LayoutBuilder oci;
  oci.Index({oci.Manifest(Layers(), Zstd)});
  oci.WriteTo(directory_.path() / "layout");
  LayoutBuilder docker;
  docker.Docker(Layers());
  WriteFile(directory_.path() / "oci.tar", oci.Archive());
  WriteFile(directory_.path() / "oci.tar.gz", Gzip(oci.Archive()));
  WriteFile(directory_.path() / "docker.tar", docker.Archive());
  WriteFile(directory_.path() / "docker.tar.zst", Zstd(docker.Archive()));
  std::set<std::string> ids;
  for (const char* name : {"layout", "oci.tar", "oci.tar.gz", "docker.tar", "docker.tar.zst"}) {
    const auto image = Unpack(directory_.path() / name);
    ASSERT_TRUE(image.has_value()) << name << ": " << image.error().message;
    EXPECT_EQ(NameOf(image->source), std::string_view(name).starts_with("docker") ? "docker" : "oci");
    EXPECT_EQ(Content("etc/both"), "upper") << name;
    EXPECT_EQ(Content("bin/sh"), "sh") << name;
    EXPECT_FALSE(Has("etc/old")) << name;
    EXPECT_EQ(image->environment.size(), 2U) << name;
    EXPECT_EQ(image->working_directory, "/srv") << name;
    // Nothing of the archive is left beside the tree.
    EXPECT_EQ(std::distance(fs::directory_iterator(work_), fs::directory_iterator()), 1) << name;
    ids.insert(image->id);
  }
  EXPECT_EQ(ids.size(), 1U);
}

TEST_F(ImageSourceTest, LayersMayBeLinksInsideTheArchive) {
  LayoutBuilder docker;
  docker.Docker(Layers());
  ArchiveBuilder archive;
  for (const auto& [path, bytes] : docker.files) {
    if (!path.ends_with("/layer.tar")) {
      archive.Pax(PaxRecord("path", path)).File("x", bytes);
      continue;
    }
    const std::string real = "shared/" + base::Sha256Hex(bytes);
    archive.File(real, bytes);
    archive.Pax(PaxRecord("path", path)).Link("x", "../" + real);
  }
  const auto image = UnpackBytes(archive.Build());
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(Content("etc/both"), "upper");
}

TEST_F(ImageSourceTest, ALayerThatWasChangedIsFound) {
  for (const bool docker : {false, true}) {
    LayoutBuilder layout;
    if (docker)
      layout.Docker(Layers());
    else
      layout.Index({layout.Manifest(Layers(), [](const std::string& tar) { return tar; })});
    for (auto& [path, bytes] : layout.files)
      if (bytes.starts_with("etc/")) bytes = ArchiveBuilder().File("etc/evil", "x").Build();
    const auto image = UnpackBytes(layout.Archive());
    ASSERT_FALSE(image.has_value());
    EXPECT_THAT(MessageOf(image), HasSubstr("does not have its digest"));
  }
}

TEST_F(ImageSourceTest, ALayerThatWasPackedOtherwiseIsFoundToo) {
  LayoutBuilder layout;
  layout.Index({layout.Manifest(Layers())});
  for (auto& [path, bytes] : layout.files)
    if (bytes == Gzip(Layers().back())) bytes = Zstd(Layers().back());
  const auto image = UnpackBytes(layout.Archive());
  ASSERT_FALSE(image.has_value());
  EXPECT_THAT(MessageOf(image), HasSubstr("does not have its digest"));
}

TEST_F(ImageSourceTest, TheSameContentHasTheSameIdAndOtherContentAnother) {
  const std::string tar = ArchiveBuilder().File("f", "x").Build();
  const std::string id = UnpackBytes(tar)->id;
  EXPECT_EQ(UnpackBytes(Gzip(tar))->id, id);
  EXPECT_NE(UnpackBytes(ArchiveBuilder().File("f", "y").Build())->id, id);
  LayoutBuilder layout;  // in a layer `.wh.` would hide a file
  layout.Index({layout.Manifest({tar})});
  EXPECT_NE(UnpackBytes(layout.Archive())->id, id);
}

TEST_F(ImageSourceTest, ARootFileSystemMayHaveAManifestOfItsOwn) {
  const auto image = UnpackBytes(ArchiveBuilder().File("manifest.json", R"({"name": "app"})").File("bin/sh").Build());
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(image->source, SourceKind::kRootfs);
  EXPECT_TRUE(Has("manifest.json"));
}

TEST_F(ImageSourceTest, AHostileLayerIsRefused) {
  LayoutBuilder layout;
  layout.Index({layout.Manifest({ArchiveBuilder().File("../../../escaped").Build()})});
  const auto image = UnpackBytes(layout.Archive());
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(CodeOf(image), base::Code::kPathTraversal);
}

TEST_F(ImageSourceTest, LimitsHoldForAllLayersTogether) {
  LayoutBuilder layout;
  const std::string tar = ArchiveBuilder().File("f", std::string(1U << 20U, 'x')).Build();
  layout.Index({layout.Manifest({tar, tar, tar})});
  EXPECT_EQ(CodeOf(UnpackBytes(layout.Archive(), {.max_bytes = 3U << 20U})), base::Code::kTooLarge);
  EXPECT_TRUE(UnpackBytes(layout.Archive(), {.max_bytes = 4U << 20U}).has_value());
}

TEST_F(ImageSourceTest, WhatCannotBeAnArchiveIsSaid) {
  fs::create_directory(directory_.path() / "plain");
  EXPECT_THAT(MessageOf(Unpack(directory_.path() / "plain")), HasSubstr("tar -C"));
  ::mkfifo((directory_.path() / "fifo").c_str(), 0600);
  EXPECT_THAT(MessageOf(Unpack(directory_.path() / "fifo")), HasSubstr("neither a file nor a directory"));
  EXPECT_EQ(CodeOf(Unpack(directory_.path() / "none")), base::Code::kNotFound);
  EXPECT_THAT(MessageOf(UnpackBytes("")), HasSubstr("empty"));
}

}  // namespace
}  // namespace skerry::image

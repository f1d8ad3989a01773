#include "image/image_plan.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "archive/error_of.hpp"
#include "image/image_builder.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::image {
namespace {

using archive::ArchiveBuilder;
using archive::CodeOf;
using archive::Gzip;
using archive::WriteFile;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kIndexType[] = "application/vnd.oci.image.index.v1+json";

base::Result<std::optional<ImagePlan>> PlanOf(const LayoutBuilder& layout) {
  const support::TemporaryDirectory directory;
  layout.WriteTo(directory.path());
  const base::UniqueFd fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return ReadImagePlan(fd.get());
}

std::string ErrorOf(const LayoutBuilder& layout) {
  const auto plan = PlanOf(layout);
  return plan ? "" : plan.error().message;
}

std::string Tar(const std::string& name) {
  return ArchiveBuilder().File(name, name).Build();
}

Json For(Json descriptor, const std::string& architecture, const std::string& system = "linux") {
  descriptor["platform"] = {{"architecture", architecture}, {"os", system}};
  return descriptor;
}

TEST(ImagePlanTest, ReadsAnOciLayout) {
  LayoutBuilder layout;
  const Json manifest = layout.Manifest({Tar("a"), Tar("b")});
  layout.Index({manifest});
  const auto plan = PlanOf(layout);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  ASSERT_TRUE(plan->has_value());
  EXPECT_EQ((*plan)->source, SourceKind::kOci);
  EXPECT_EQ((*plan)->digest, manifest["digest"].get<std::string>());
  EXPECT_THAT((*plan)->environment, ElementsAre("PATH=/bin", "LANG=C"));
  EXPECT_EQ((*plan)->working_directory, "/srv");
  ASSERT_EQ((*plan)->layers.size(), 2U);
  EXPECT_EQ((*plan)->layers[0].content_digest, base::Sha256Hex(Tar("a")));
  EXPECT_EQ((*plan)->layers[1].file_digest, base::Sha256Hex(Gzip(Tar("b"))));
}

TEST(ImagePlanTest, ReadsWhatDockerSaved) {
  LayoutBuilder layout;
  layout.Docker({Tar("a"), Tar("b")});
  const auto plan = PlanOf(layout);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ((*plan)->source, SourceKind::kDocker);
  EXPECT_EQ((*plan)->layers.size(), 2U);
  EXPECT_EQ((*plan)->layers[1].content_digest, base::Sha256Hex(Tar("b")));
  EXPECT_EQ((*plan)->working_directory, "/srv");
}

TEST(ImagePlanTest, ADirectoryWithOtherFilesIsNoImage) {
  LayoutBuilder layout;
  layout.files = {{"etc/passwd", "root"}};
  EXPECT_FALSE(PlanOf(layout)->has_value());
  for (const char* text : {"", "{}", "[]", "[1]", R"([{"Layers": []}])", R"({"name": "my app", "Layers": 3})"}) {
    layout.files["manifest.json"] = text;
    EXPECT_FALSE(PlanOf(layout)->has_value()) << text;
  }
  layout.files["oci-layout"] = "{}";
  EXPECT_FALSE(PlanOf(layout)->has_value());
}

TEST(ImagePlanTest, OfSeveralTheOneForThisMachineIsTaken) {
  LayoutBuilder layout;
  const Json other = layout.Manifest({Tar("other")});
  const Json ours = layout.Manifest({Tar("ours")});
  layout.Index({For(other, "s390x"), For(other, ThisArchitecture(), "windows"), For(ours, ThisArchitecture()),
                For(other, "unknown", "unknown")});
  const auto plan = PlanOf(layout);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ((*plan)->digest, ours["digest"].get<std::string>());
}

TEST(ImagePlanTest, AnIndexMayLeadToOneMoreAndNoFurther) {
  LayoutBuilder layout;
  const Json ours = For(layout.Manifest({Tar("ours")}), ThisArchitecture());
  const Json inner = layout.Blob(Json{{"manifests", Json::array({ours})}}.dump(), kIndexType);
  layout.Index({inner});
  ASSERT_EQ(ErrorOf(layout), "");
  const Json middle = layout.Blob(Json{{"manifests", Json::array({inner})}}.dump(), kIndexType);
  layout.Index({middle});
  EXPECT_THAT(ErrorOf(layout), HasSubstr("leads to an index"));
}

TEST(ImagePlanTest, WhatIsForNobodyOrForAnotherMachineIsSaid) {
  LayoutBuilder layout;
  layout.Index({For(layout.Manifest({Tar("a")}), "s390x")});
  EXPECT_THAT(ErrorOf(layout), HasSubstr("s390x"));
  layout.Index(std::vector<Json>());
  EXPECT_THAT(ErrorOf(layout), HasSubstr("no image"));
  layout.architecture = "riscv64";
  layout.Index({layout.Manifest({Tar("a")})});
  EXPECT_THAT(ErrorOf(layout), HasSubstr("riscv64"));
}

TEST(ImagePlanTest, SeveralImagesAreRefused) {
  LayoutBuilder layout;
  layout.Index({layout.Manifest({Tar("a")}), layout.Manifest({Tar("b")})});
  EXPECT_THAT(ErrorOf(layout), HasSubstr("2 images"));
  LayoutBuilder docker;
  docker.Docker({Tar("a")});
  Json manifest = Json::parse(docker.files["manifest.json"]);
  manifest.push_back(manifest.front());
  docker.files["manifest.json"] = manifest.dump();
  EXPECT_THAT(ErrorOf(docker), HasSubstr("2 images"));
}

TEST(ImagePlanTest, ADescriptionThatWasChangedIsFound) {
  LayoutBuilder layout;
  const Json manifest = layout.Manifest({Tar("a")});
  layout.Index({manifest});
  for (auto& [path, bytes] : layout.files) {
    if (!bytes.starts_with('{') || !path.starts_with("blobs/")) continue;
    LayoutBuilder changed = layout;
    changed.files[path] += " ";
    EXPECT_THAT(ErrorOf(changed), HasSubstr("does not have its digest"));
  }
  LayoutBuilder docker;
  docker.Docker({Tar("a")});
  for (auto& [path, bytes] : docker.files)
    if (path.ends_with(".json") && path != "manifest.json") bytes += " ";
  EXPECT_THAT(ErrorOf(docker), HasSubstr("does not have its digest"));
}

struct ManifestRow {
  std::string_view manifest;
  std::string_view says;
};

TEST(ImagePlanTest, ManifestsThatMakeNoSenseAreRefused) {
  const std::string hex(64, 'a');
  const std::string missing =
      R"({"layers": [{"digest": "sha256:)" + hex + R"("}], "config": {"digest": "sha256:)" + hex + R"("}})";
  const ManifestRow rows[] = {
      {"not json", "not JSON"},
      {"[]", "no layers"},
      {"{}", "no layers"},
      {R"({"layers": {}})", "no layers"},
      {R"({"layers": [1]})", "not sha256"},
      {R"({"layers": [{"digest": "sha512:abc"}]})", "not sha256"},
      {R"({"layers": [{"digest": "sha256:../../../etc/passwd"}]})", "digest that is none"},
      {missing, "is missing"},
  };
  for (const ManifestRow& row : rows) {
    LayoutBuilder layout;
    layout.Index({layout.Blob(std::string(row.manifest))});
    EXPECT_THAT(ErrorOf(layout), HasSubstr(row.says)) << row.manifest;
  }
}

TEST(ImagePlanTest, ConfigurationsThatMakeNoSenseAreRefused) {
  const ManifestRow rows[] = {
      {R"({"rootfs": {"diff_ids": []}})", "does not fit"},
      {R"({"rootfs": {"diff_ids": [1]}})", "no digest"},
      {R"({"rootfs": []})", "does not fit"},
      {R"([])", "not an object"},
      {R"({"os": "windows"})", "windows"},
  };
  for (const ManifestRow& row : rows) {
    LayoutBuilder layout;
    const Json layers = Json::array({layout.Blob(Tar("a"))});
    layout.Index({layout.Blob(Json{{"config", layout.Blob(std::string(row.manifest))}, {"layers", layers}}.dump())});
    EXPECT_THAT(ErrorOf(layout), HasSubstr(row.says)) << row.manifest;
  }
}

TEST(ImagePlanTest, SettingsThatNoProgramCouldGetAreRefused) {
  const Json bad[] = {{{"Env", {"noequals"}}},
                      {{"Env", {"=x"}}},
                      {{"Env", {std::string("A=\0b", 4)}}},
                      {{"Env", {1}}},
                      {{"Env", std::vector<std::string>(1001, "A=b")}},
                      {{"Env", {"A=" + std::string(200'000, 'x')}}},
                      {{"WorkingDir", "relative"}},
                      {{"WorkingDir", std::string("/a\0b", 4)}}};
  for (const Json& settings : bad) {
    LayoutBuilder layout;
    layout.settings = settings;
    layout.Index({layout.Manifest({Tar("a")})});
    EXPECT_THAT(ErrorOf(layout), HasSubstr("refused")) << settings.dump().substr(0, 100);
  }
  for (const Json& settings : {Json(nullptr), Json::object(), Json{{"Env", nullptr}, {"WorkingDir", ""}}}) {
    LayoutBuilder layout;
    layout.settings = settings;
    layout.Index({layout.Manifest({Tar("a")})});
    EXPECT_EQ(ErrorOf(layout), "");
  }
}

TEST(ImagePlanTest, NoFileOutsideTheLayoutIsRead) {
  const support::TemporaryDirectory directory;
  const std::filesystem::path layout_path = directory.path() / "layout";
  LayoutBuilder layout;
  layout.Docker({Tar("a")});
  layout.WriteTo(layout_path);
  WriteFile(directory.path() / "outside.json", layout.files.begin()->second);
  const base::UniqueFd fd(::open(layout_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(OpenLayoutFile(fd.get(), "../outside.json").has_value());
  EXPECT_FALSE(OpenLayoutFile(fd.get(), (directory.path() / "outside.json").string()).has_value());
  std::filesystem::create_symlink("../outside.json", layout_path / "link");
  EXPECT_FALSE(OpenLayoutFile(fd.get(), "link").has_value());
  std::filesystem::create_symlink("manifest.json", layout_path / "inner");
  EXPECT_TRUE(OpenLayoutFile(fd.get(), "inner").has_value());
}

TEST(ImagePlanTest, OnlyRegularFilesAreReadAndNothingIsWaitedFor) {
  const support::TemporaryDirectory directory;
  ::mkfifo((directory.path() / "fifo").c_str(), 0600);
  const base::UniqueFd fd(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(OpenLayoutFile(fd.get(), "fifo").has_value());
  EXPECT_FALSE(OpenLayoutFile(fd.get(), "/").has_value());
}

TEST(ImagePlanTest, ADescriptionThatIsNestedTooDeeplyIsNotRead) {
  const std::string deep = std::string(900'000, '[') + std::string(900'000, ']');
  LayoutBuilder layout;
  const Json manifest = layout.Manifest({Tar("a")});
  layout.Index({manifest});
  layout.files["index.json"] =
      R"({"manifests": [{"digest": ")" + manifest["digest"].get<std::string>() + R"(", "x": )" + deep + "}]}";
  EXPECT_THAT(ErrorOf(layout), HasSubstr("nested"));
}

TEST(ImagePlanTest, ADescriptionOfManyMegabytesIsNotRead) {
  LayoutBuilder layout;
  layout.Index({layout.Manifest({Tar("a")})});
  layout.files["index.json"] += std::string(3U << 20U, ' ');
  EXPECT_EQ(CodeOf(PlanOf(layout)), base::Code::kTooLarge);
}

}  // namespace
}  // namespace skerry::image

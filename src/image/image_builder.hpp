// For tests: images as docker and the OCI tools write them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "archive/archive_builder.hpp"
#include "base/sha256.hpp"
#include "image/image_plan.hpp"

namespace skerry::image {

// Files by path; as a directory or as an archive.
class LayoutBuilder {
 public:
  using Json = nlohmann::json;

  // Adds the blob and gives its description.
  Json Blob(const std::string& bytes, const std::string& media_type = "") {
    const std::string hex = base::Sha256Hex(bytes);
    files["blobs/sha256/" + hex] = bytes;
    return {{"mediaType", media_type}, {"digest", "sha256:" + hex}, {"size", bytes.size()}};
  }

  Json Config(const std::vector<std::string>& tars) const {
    Json digests = Json::array();
    for (const std::string& tar : tars) digests.push_back("sha256:" + base::Sha256Hex(tar));
    return {{"architecture", architecture},
            {"os", "linux"},
            {"config", settings},
            {"rootfs", {{"type", "layers"}, {"diff_ids", digests}}}};
  }

  // A manifest of these layers (tar archives; kept as `pack` makes them), and its description.
  Json Manifest(const std::vector<std::string>& tars, std::string (*pack)(const std::string&) = archive::Gzip) {
    Json layers = Json::array();
    for (const std::string& tar : tars) layers.push_back(Blob(pack(tar)));
    const Json manifest = {{"schemaVersion", 2}, {"config", Blob(Config(tars).dump())}, {"layers", std::move(layers)}};
    return Blob(manifest.dump(), "application/vnd.oci.image.manifest.v1+json");
  }

  void Index(const std::vector<Json>& manifests) {
    files["oci-layout"] = R"({"imageLayoutVersion": "1.0.0"})";
    files["index.json"] = Json{{"schemaVersion", 2}, {"manifests", manifests}}.dump();
  }

  // As docker before version 25 saves it.
  void Docker(const std::vector<std::string>& tars) {
    const std::string config = Config(tars).dump();
    const std::string config_name = base::Sha256Hex(config) + ".json";
    files[config_name] = config;
    Json layers = Json::array();
    for (const std::string& tar : tars) {
      const std::string name = base::Sha256Hex(tar + "layer") + "/layer.tar";
      files[name] = tar;
      layers.push_back(name);
    }
    files["manifest.json"] =
        Json::array({{{"Config", config_name}, {"RepoTags", {"test:latest"}}, {"Layers", layers}}}).dump();
  }

  [[nodiscard]] std::string Archive() const {
    archive::ArchiveBuilder archive;
    for (const auto& [path, bytes] : files) archive.Pax(archive::PaxRecord("path", path)).File("x", bytes);
    return archive.Build();
  }

  void WriteTo(const std::filesystem::path& directory) const {
    for (const auto& [path, bytes] : files) {
      std::filesystem::create_directories((directory / path).parent_path());
      archive::WriteFile(directory / path, bytes);
    }
  }

  std::map<std::string, std::string> files;
  std::string architecture = ThisArchitecture();
  Json settings = {{"Env", {"PATH=/bin", "LANG=C"}}, {"WorkingDir", "/srv"}, {"User", "nobody"}};
};

}  // namespace skerry::image

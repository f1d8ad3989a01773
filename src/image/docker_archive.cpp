#include "image/docker_archive.hpp"

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"

namespace skerry::image {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxLayers = 1000;
constexpr std::string_view kBlobs = "blobs/sha256/";
constexpr std::string_view kEnding = ".json";

std::unexpected<base::Error> Bad(const std::string& message) {
  return base::Err(base::Code::kInvalidArgument, message);
}

bool NamesLayers(const Json& manifest) {
  if (!manifest.is_array() || manifest.empty()) return false;
  const Json& first = manifest.front();
  return first.is_object() && first.contains("Layers") && first["Layers"].is_array() &&
         !TextAt(first, "Config").empty();
}

// The digest that a file's name claims, or "": `blobs/sha256/HEX`, or `HEX.json` as older versions wrote it.
std::string DigestInName(std::string_view path) {
  if (path.starts_with(kBlobs)) path.remove_prefix(kBlobs.size());
  if (path.ends_with(kEnding)) path.remove_suffix(kEnding.size());
  return base::IsSha256Hex(path) ? std::string(path) : "";
}

base::Status ApplyLayers(const Json& layers, ImagePlan& plan) {
  if (layers.empty()) return Bad("the image has no layers");
  if (layers.size() > kMaxLayers) return base::Err(base::Code::kTooLarge, "the image has more than 1000 layers");
  for (const Json& layer : layers) {
    if (!layer.is_string()) return Bad("the image is damaged: a layer has no name");
    const auto path = layer.get<std::string>();
    plan.layers.push_back({.path = path, .file_digest = DigestInName(path)});
  }
  return {};
}

}  // namespace

base::Result<std::optional<ImagePlan>> ReadDockerArchive(int layout_fd) {
  const auto manifest = ReadLayoutJson(layout_fd, "manifest.json", "");
  if (!manifest || !NamesLayers(*manifest)) return std::nullopt;
  if (manifest->size() > 1)
    return Bad("the archive has " + std::to_string(manifest->size()) + " images; save one alone");
  const Json& image = manifest->front();
  ImagePlan plan{.source = SourceKind::kDocker};
  SKERRY_RETURN_IF_ERROR(ApplyLayers(image["Layers"], plan));
  const std::string config_path = TextAt(image, "Config");
  const std::string digest = DigestInName(config_path);
  SKERRY_ASSIGN_OR_RETURN(const Json config, ReadLayoutJson(layout_fd, config_path, digest));
  if (!digest.empty()) plan.digest = "sha256:" + digest;
  SKERRY_RETURN_IF_ERROR(ApplyImageConfig(config, plan));
  return plan;
}

}  // namespace skerry::image

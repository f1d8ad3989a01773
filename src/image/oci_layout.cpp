#include "image/oci_layout.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "archive/entry_path.hpp"

namespace skerry::image {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxLayers = 1000;
constexpr int kMaxIndexes = 2;

std::unexpected<base::Error> Bad(const std::string& message) {
  return base::Err(base::Code::kInvalidArgument, message);
}

std::string BlobPath(const std::string& hex) {
  return "blobs/sha256/" + hex;
}

// The array `key`, or an empty one.
const Json& ListAt(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  if (!object.is_object()) return kEmpty;
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kEmpty;
}

bool IsIndex(const Json& descriptor) {
  const std::string type = TextAt(descriptor, "mediaType");
  return type == "application/vnd.oci.image.index.v1+json" ||
         type == "application/vnd.docker.distribution.manifest.list.v2+json";
}

// An image without a platform may be for any machine: its configuration decides later.
bool IsForThisMachine(const Json& descriptor) {
  const auto platform = descriptor.is_object() ? descriptor.find("platform") : descriptor.end();
  if (platform == descriptor.end()) return descriptor.is_object();
  return TextAt(*platform, "os") == "linux" && TextAt(*platform, "architecture") == ThisArchitecture();
}

std::string ArchitecturesOf(const Json& manifests) {
  std::set<std::string> names;
  for (const Json& each : manifests)
    if (each.is_object() && each.contains("platform")) names.insert(TextAt(each["platform"], "architecture"));
  names.erase("");
  names.erase("unknown");  // such an entry describes how the image was built
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + archive::QuotedPath(name);
  return text.empty() ? "none" : text;
}

base::Result<Json> ChooseManifest(const Json& index) {
  const Json& manifests = ListAt(index, "manifests");
  std::set<std::string> digests;
  Json chosen;
  for (const Json& each : manifests) {
    if (!IsForThisMachine(each) || !digests.insert(TextAt(each, "digest")).second) continue;
    chosen = each;
  }
  if (digests.empty())
    return Bad("the archive has no image for this machine (" + ThisArchitecture() +
               "), only for: " + ArchitecturesOf(manifests));
  if (digests.size() > 1)
    return Bad("the archive has " + std::to_string(digests.size()) + " images for this machine; save one alone");
  return chosen;
}

base::Result<Json> ReadBlob(int layout_fd, const Json& descriptor, std::string& hex) {
  SKERRY_ASSIGN_OR_RETURN(hex, ParseDigest(TextAt(descriptor, "digest")));
  return ReadLayoutJson(layout_fd, BlobPath(hex), hex);
}

base::Status ApplyLayers(const Json& manifest, ImagePlan& plan) {
  const Json& layers = ListAt(manifest, "layers");
  if (layers.empty()) return Bad("the archive holds something that has no layers and so is no image");
  if (layers.size() > kMaxLayers) return base::Err(base::Code::kTooLarge, "the image has more than 1000 layers");
  for (const Json& layer : layers) {
    SKERRY_ASSIGN_OR_RETURN(const std::string hex, ParseDigest(TextAt(layer, "digest")));
    plan.layers.push_back({.path = BlobPath(hex), .file_digest = hex});
  }
  return {};
}

base::Result<ImagePlan> ReadManifest(int layout_fd, const Json& descriptor) {
  ImagePlan plan{.source = SourceKind::kOci};
  std::string hex;
  SKERRY_ASSIGN_OR_RETURN(const Json manifest, ReadBlob(layout_fd, descriptor, hex));
  plan.digest = "sha256:" + hex;
  SKERRY_RETURN_IF_ERROR(ApplyLayers(manifest, plan));
  const auto description = manifest.find("config");
  if (description == manifest.end()) return Bad("the image is damaged: it has no configuration");
  SKERRY_ASSIGN_OR_RETURN(const Json config, ReadBlob(layout_fd, *description, hex));
  SKERRY_RETURN_IF_ERROR(ApplyImageConfig(config, plan));
  return plan;
}

}  // namespace

base::Result<std::optional<ImagePlan>> ReadOciLayout(int layout_fd) {
  if (!OpenLayoutFile(layout_fd, "oci-layout") || !OpenLayoutFile(layout_fd, "index.json")) return std::nullopt;
  SKERRY_ASSIGN_OR_RETURN(Json index, ReadLayoutJson(layout_fd, "index.json", ""));
  for (int level = 1; level <= kMaxIndexes; ++level) {
    SKERRY_ASSIGN_OR_RETURN(const Json chosen, ChooseManifest(index));
    if (!IsIndex(chosen)) {
      SKERRY_ASSIGN_OR_RETURN(ImagePlan plan, ReadManifest(layout_fd, chosen));
      return plan;
    }
    std::string hex;
    SKERRY_ASSIGN_OR_RETURN(index, ReadBlob(layout_fd, chosen, hex));
  }
  return Bad("the image is refused: its index leads to an index that leads to another");
}

}  // namespace skerry::image

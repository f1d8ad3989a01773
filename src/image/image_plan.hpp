// What an image is made of, before it is unpacked: which layers in which order, and what they must be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "image/image.hpp"

namespace skerry::image {

struct LayerFile {
  std::string path;            // below the layout
  std::string file_digest;     // SHA-256 in hexadecimal of the file as it is; "" when the image's description has none
  std::string content_digest;  // the same of the uncompressed content
};

struct ImagePlan {
  SourceKind source = SourceKind::kOci;
  std::string digest;  // sha256:…, of the image's description; "" when the description has none
  std::vector<LayerFile> layers;
  std::vector<std::string> environment;
  std::string working_directory;
};

// The plan of the image whose files lie in `layout_fd`: an OCI image layout or an unpacked `docker save`. Nothing when
// the directory is neither. Every description that has a digest was checked against it. An image for another kind of
// processor is refused, and so are several images at once.
base::Result<std::optional<ImagePlan>> ReadImagePlan(int layout_fd);

// --- for the readers of the two formats ---

// A regular file below the layout; links stay inside it.
base::Result<base::UniqueFd> OpenLayoutFile(int layout_fd, const std::string& path);

// A JSON file of at most 2 MB. `digest` is the digest that the file must have, in hexadecimal; "" when none is known.
base::Result<nlohmann::json> ReadLayoutJson(int layout_fd, const std::string& path, const std::string& digest);

// Adds to the plan what the image's configuration says: the content digests of the layers, variables, the working
// directory.
base::Status ApplyImageConfig(const nlohmann::json& config, ImagePlan& plan);

// The hexadecimal part of `sha256:…`.
base::Result<std::string> ParseDigest(std::string_view text);

// The string that `object` has under `key`; "" when it has none.
std::string TextAt(const nlohmann::json& object, const char* key);

// This machine's processor in the words of images: amd64, arm64.
std::string ThisArchitecture();

}  // namespace skerry::image

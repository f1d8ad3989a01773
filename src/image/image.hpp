// An image: a root file system that has a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skerry::image {

enum class SourceKind {
  kRootfs,  // a tar archive of the files themselves
  kDocker,  // docker save
  kOci,     // an OCI image layout, as a directory or an archive
};

std::string_view NameOf(SourceKind kind);

struct Image {
  std::string name;
  std::string id;  // of the tree; the same content has the same id
  SourceKind source = SourceKind::kRootfs;
  std::string digest;         // sha256:…, of the archive's content or of the image's own description; "" when unknown
  std::uint64_t size = 0;     // bytes of all unpacked files
  std::uint64_t entries = 0;  // files, directories, links
  std::uint64_t skipped = 0;  // devices, fifos, sockets
  std::int64_t created = 0;   // seconds since 1970, when it was imported
  std::vector<std::string> environment;  // NAME=value, what the image wants to be set
  std::string working_directory;         // absolute, or ""
};

// The text that the store keeps for a name.
std::string ToRecord(const Image& image);
// The image of such a text. Fails for any text that ToRecord did not write.
base::Result<Image> ParseRecord(std::string_view text);

}  // namespace skerry::image

#include "image/whiteout.hpp"

#include <fcntl.h>

#include <cerrno>

#include "image/tree_directory.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"
#include "os/remove_tree.hpp"

namespace skerry::image {
namespace {

constexpr std::string_view kPrefix = ".wh.";
constexpr std::string_view kMetaPrefix = ".wh..wh.";
constexpr std::string_view kOpaqueName = ".wh..wh..opq";

bool HasMetaPart(std::string_view path) {
  return path.starts_with(kMetaPrefix) || path.find("/" + std::string(kMetaPrefix)) != std::string_view::npos;
}

// Entries come and go during a listing, so it is repeated until nothing is found.
base::Status Empty(int directory_fd) {
  const os::Directory listing = os::ListingOf(OpenInTree(directory_fd, "", O_RDONLY | O_DIRECTORY, Links::kRefused));
  if (listing == nullptr) return os::ErrnoErr("list a directory of the tree");
  for (bool found = true; found;) {
    found = false;
    ::rewinddir(listing.get());
    for (const dirent* entry = ::readdir(listing.get()); entry != nullptr; entry = ::readdir(listing.get())) {
      if (os::IsDots(entry->d_name)) continue;
      found = true;
      SKERRY_RETURN_IF_ERROR(os::RemoveTree(directory_fd, entry->d_name));
    }
  }
  return {};
}

}  // namespace

base::Result<Whiteout> ParseWhiteout(std::string_view entry_path) {
  SKERRY_ASSIGN_OR_RETURN(archive::EntryPath path, archive::ParseEntryPath(entry_path));
  if (HasMetaPart(path.parent)) return Whiteout{.kind = WhiteoutKind::kIgnored};
  if (path.name == kOpaqueName) return Whiteout{.kind = WhiteoutKind::kOpaque, .target = std::move(path)};
  if (path.name.starts_with(kMetaPrefix)) return Whiteout{.kind = WhiteoutKind::kIgnored};
  if (!path.name.starts_with(kPrefix)) return Whiteout{};
  path.name.erase(0, kPrefix.size());
  if (path.name.empty() || os::IsDots(path.name))
    return base::Err(base::Code::kPathTraversal, "the archive is refused: " + archive::QuotedPath(entry_path) +
                                                     " hides something that has no name");
  return Whiteout{.kind = WhiteoutKind::kName, .target = std::move(path)};
}

base::Status ApplyWhiteout(int root_fd, const Whiteout& whiteout) {
  if (whiteout.kind != WhiteoutKind::kName && whiteout.kind != WhiteoutKind::kOpaque) return {};
  base::UniqueFd fd = OpenInTree(root_fd, whiteout.target.parent, O_RDONLY | O_DIRECTORY, Links::kRefused);
  if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return {};
  if (!fd.valid()) return os::ErrnoErr("open " + archive::QuotedPath(whiteout.target.parent) + " in the tree");
  const TimedDirectory directory(std::move(fd));
  if (whiteout.kind == WhiteoutKind::kOpaque) return Empty(directory.fd());
  return os::RemoveTree(directory.fd(), whiteout.target.name);
}

}  // namespace skerry::image

#include "image/layer.hpp"

#include <unistd.h>

#include <memory>

#include "archive/byte_source.hpp"
#include "archive/decompressor.hpp"
#include "archive/tar_reader.hpp"
#include "image/metered_source.hpp"
#include "image/whiteout.hpp"
#include "os/errno_error.hpp"

namespace skerry::image {
namespace {

// Calls `visit` with each entry and the reader at its content.
template <class Visit>
base::Result<LayerReport> ForEachEntry(int file_fd, ImportBudget& budget, const Visit& visit) {
  if (::lseek(file_fd, 0, SEEK_SET) < 0) return os::ErrnoErr("go to the start of the archive");
  archive::FileSource file(file_fd);
  archive::HashingSource hashed_file(file);
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<archive::ByteSource> decompressed,
                          archive::OpenDecompressed(hashed_file));
  MeteredSource metered(*decompressed, budget);
  archive::HashingSource content(metered);
  archive::TarReader reader(content);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::optional<archive::TarEntry> entry, reader.Next());
    if (!entry) break;
    SKERRY_RETURN_IF_ERROR(visit(*entry, reader));
  }
  return LayerReport{.file_digest = hashed_file.FinishHex(), .content_digest = content.FinishHex()};
}

base::Status ApplyWhiteouts(int file_fd, int root_fd, ImportBudget budget) {
  SKERRY_RETURN_IF_ERROR(
      ForEachEntry(file_fd, budget, [&](const archive::TarEntry& entry, archive::TarReader&) -> base::Status {
        SKERRY_ASSIGN_OR_RETURN(const Whiteout whiteout, ParseWhiteout(entry.path));
        return ApplyWhiteout(root_fd, whiteout);
      }));
  return {};
}

}  // namespace

base::Result<LayerReport> UnpackLayer(int file_fd, LayerPlace place, int root_fd, ImportBudget& budget) {
  if (place == LayerPlace::kOnOthers) SKERRY_RETURN_IF_ERROR(ApplyWhiteouts(file_fd, root_fd, budget.ForLooking()));
  TreeWriter tree(root_fd, budget);
  const auto put = [&](const archive::TarEntry& entry, archive::TarReader& reader) -> base::Status {
    if (place == LayerPlace::kAlone) return tree.Put(entry, reader);
    SKERRY_ASSIGN_OR_RETURN(const Whiteout whiteout, ParseWhiteout(entry.path));
    return whiteout.kind == WhiteoutKind::kNone ? tree.Put(entry, reader) : base::Status{};
  };
  SKERRY_ASSIGN_OR_RETURN(LayerReport report, ForEachEntry(file_fd, budget, put));
  report.counts = tree.counts();
  return report;
}

}  // namespace skerry::image

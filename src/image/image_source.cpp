#include "image/image_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/sha256.hpp"
#include "base/unique_fd.hpp"
#include "image/image_plan.hpp"
#include "image/layer.hpp"
#include "image/work_directory.hpp"
#include "os/errno_error.hpp"
#include "os/remove_tree.hpp"

namespace skerry::image {
namespace {

constexpr mode_t kTopMode = 0755;

std::unexpected<base::Error> Bad(const std::string& message) {
  return base::Err(base::Code::kInvalidArgument, message);
}

// The same layers in the same order have the same id. A single archive gets another one: there `.wh.` hides nothing.
std::string TreeId(SourceKind source, const std::vector<std::string>& content_digests) {
  std::string text = source == SourceKind::kRootfs ? "skerry tree 1 rootfs\n" : "skerry tree 1 layers\n";
  for (const std::string& digest : content_digests) text += "sha256:" + digest + "\n";
  return base::Sha256Hex(text);
}

base::Result<base::UniqueFd> MakeTop(int work_fd) {
  if (::mkdirat(work_fd, kTreeName, S_IRWXU) < 0) return os::ErrnoErr("make the tree");
  base::UniqueFd fd(::openat(work_fd, kTreeName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() || ::fchmod(fd.get(), kTopMode) < 0) return os::ErrnoErr("open the tree");
  return fd;
}

base::Status CheckDigest(const std::string& wanted, const std::string& found, const LayerFile& layer) {
  if (wanted.empty() || wanted == found) return {};
  return Bad("the image is damaged: layer " + layer.path + " does not have its digest; fetch or save it again");
}

base::Result<Image> UnpackLayers(int layout_fd, ImagePlan plan, int work_fd, ImportBudget& budget) {
  Image image{.source = plan.source,
              .digest = std::move(plan.digest),
              .environment = std::move(plan.environment),
              .working_directory = std::move(plan.working_directory)};
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd top, MakeTop(work_fd));
  std::vector<std::string> digests;
  for (const LayerFile& layer : plan.layers) {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd file, OpenLayoutFile(layout_fd, layer.path));
    const LayerPlace place = digests.empty() ? LayerPlace::kBottom : LayerPlace::kOnOthers;
    SKERRY_ASSIGN_OR_RETURN(const LayerReport report, UnpackLayer(file.get(), place, top.get(), budget));
    SKERRY_RETURN_IF_ERROR(CheckDigest(layer.file_digest, report.file_digest, layer));
    SKERRY_RETURN_IF_ERROR(CheckDigest(layer.content_digest, report.content_digest, layer));
    digests.push_back(report.content_digest);
    image.size += report.counts.bytes;
    image.entries += report.counts.entries;
    image.skipped += report.counts.skipped;
  }
  image.id = TreeId(image.source, digests);
  return image;
}

// The archive is unpacked as if it were the root file system. When it turns out to hold an image, the unpacked files
// are set aside and the image's layers are unpacked from them: so the archive is read once, and the order of its
// entries does not matter.
base::Result<Image> UnpackArchive(int file_fd, int work_fd, ImportBudget& budget) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd top, MakeTop(work_fd));
  SKERRY_ASSIGN_OR_RETURN(const LayerReport report, UnpackLayer(file_fd, LayerPlace::kAlone, top.get(), budget));
  SKERRY_ASSIGN_OR_RETURN(std::optional<ImagePlan> plan, ReadImagePlan(top.get()));
  if (!plan)
    return Image{.id = TreeId(SourceKind::kRootfs, {report.content_digest}),
                 .source = SourceKind::kRootfs,
                 .digest = "sha256:" + report.content_digest,
                 .size = report.counts.bytes,
                 .entries = report.counts.entries,
                 .skipped = report.counts.skipped};
  if (::renameat(work_fd, kTreeName, work_fd, kLayoutName) < 0) return os::ErrnoErr("set the archive aside");
  SKERRY_ASSIGN_OR_RETURN(Image image, UnpackLayers(top.get(), std::move(*plan), work_fd, budget));
  SKERRY_RETURN_IF_ERROR(os::RemoveTree(work_fd, kLayoutName));
  return image;
}

base::Result<Image> UnpackDirectory(int layout_fd, const std::string& path, int work_fd, ImportBudget& budget) {
  SKERRY_ASSIGN_OR_RETURN(std::optional<ImagePlan> plan, ReadImagePlan(layout_fd));
  if (!plan)
    return Bad(path + " is a directory, but no OCI image layout; of a root file system make an archive: tar -C " +
               path + " -cf rootfs.tar .");
  return UnpackLayers(layout_fd, std::move(*plan), work_fd, budget);
}

}  // namespace

base::Result<Image> UnpackSource(const std::string& path, int work_fd, ImportBudget& budget) {
  // Without waiting: a pipe would block until it has a writer.
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return os::ErrnoErr(path);
  struct stat facts{};
  if (::fstat(fd.get(), &facts) < 0) return os::ErrnoErr(path);
  if (S_ISDIR(facts.st_mode)) return UnpackDirectory(fd.get(), path, work_fd, budget);
  if (!S_ISREG(facts.st_mode))
    return Bad(path +
               " is neither a file nor a directory; an archive is read more than once, so save it to a file first");
  return UnpackArchive(fd.get(), work_fd, budget);
}

}  // namespace skerry::image

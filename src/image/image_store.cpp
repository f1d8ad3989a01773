#include "image/image_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "base/ids.hpp"
#include "base/sha256.hpp"
#include "image/image_name.hpp"
#include "image/image_source.hpp"
#include "os/errno_error.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"
#include "os/own_directory.hpp"

namespace skerry::image {
namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20U;
constexpr std::string_view kNewPrefix = ".new-";  // for a name that is being written
constexpr std::chrono::seconds kLockWait{30};     // other processes hold the lock for moments

}  // namespace

base::Result<ImageStore> ImageStore::Open(const std::string& directory) {
  ImageStore store(directory);
  SKERRY_ASSIGN_OR_RETURN(store.directory_, os::OpenOwnDirectory(directory));
  SKERRY_ASSIGN_OR_RETURN(store.names_, os::OpenOwnPart(store.directory_.get(), "names"));
  SKERRY_ASSIGN_OR_RETURN(store.trees_, os::OpenOwnPart(store.directory_.get(), "trees"));
  return store;
}

base::Result<base::UniqueFd> ImageStore::Lock(os::LockMode mode) const {
  auto lock = os::LockFile(directory_.get(), kLockName, mode, base::Deadline::After(kLockWait));
  if (!lock) lock.error().message = "the images in " + path_ + ": " + lock.error().message;
  return lock;
}

base::Result<Image> ImageStore::ReadName(const std::string& name) const {
  const base::UniqueFd fd(::openat(names_.get(), FileOfName(name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT)
    return base::Err(base::Code::kNotFound, "there is no image " + name + "; skerry image list shows those there are");
  if (!fd.valid()) return os::ErrnoErr("image " + name);
  SKERRY_ASSIGN_OR_RETURN(const std::string text, os::ReadAll(fd.get(), kMaxRecordBytes));
  auto image = ParseRecord(text);
  if (!image)
    return base::Err(image.error().code, "image " + name + ": " + image.error().message +
                                             "; remove it with skerry image remove " + name + " and import it again");
  return image;
}

// Written beside, then moved: a reader sees the old record or the new one, also after a power cut.
base::Status ImageStore::WriteName(const Image& image) const {
  const std::string beside = base::RandomId(kNewPrefix);
  const base::UniqueFd fd(::openat(names_.get(), beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return os::ErrnoErr("write the name of the image");
  auto status = os::WriteAll(fd.get(), ToRecord(image));
  if (status && ::fsync(fd.get()) < 0) status = os::ErrnoErr("write the name of the image");
  if (status && ::renameat(names_.get(), beside.c_str(), names_.get(), FileOfName(image.name).c_str()) < 0)
    status = os::ErrnoErr("write the name of the image");
  if (!status) ::unlinkat(names_.get(), beside.c_str(), 0);
  ::fsync(names_.get());
  return status;
}

base::Result<std::vector<Image>> ImageStore::ReadNames() const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> files, os::NamesOf(names_.get()));
  std::vector<Image> images;
  for (const std::string& file : files) {
    const std::optional<std::string> name = NameOfFile(file);
    if (!name) continue;
    SKERRY_ASSIGN_OR_RETURN(Image image, ReadName(*name));
    image.name = *name;
    images.push_back(std::move(image));
  }
  std::ranges::sort(images, {}, &Image::name);
  return images;
}

base::Result<ImageStore::Unused> ImageStore::TakeUnused() const {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Image> images, ReadNames());
  Unused unused;
  SKERRY_ASSIGN_OR_RETURN(unused.imports, WorkDirectory::TakeAbandoned(directory_.get()));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> files, os::NamesOf(names_.get()));
  for (const std::string& file : files)
    if (file.starts_with(kNewPrefix)) ::unlinkat(names_.get(), file.c_str(), 0);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::string> ids, os::NamesOf(trees_.get()));
  for (const std::string& id : ids) {
    if (!base::IsSha256Hex(id) || std::ranges::find(images, id, &Image::id) != images.end()) continue;
    SKERRY_ASSIGN_OR_RETURN(auto tree, WorkDirectory::TakeTree(directory_.get(), trees_.get(), id));
    if (tree)
      unused.trees.push_back(std::move(*tree));
    else
      unused.ids_in_use.push_back(id);
  }
  return unused;
}

bool ImageStore::HasTree(const std::string& id) const {
  return ::faccessat(trees_.get(), id.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

base::Status ImageStore::Commit(WorkDirectory& work, const Image& image) const {
  if (!HasTree(image.id)) SKERRY_RETURN_IF_ERROR(work.BecomeTree(trees_.get(), image.id));
  return WriteName(image);
}

base::Result<Image> ImageStore::Import(const std::string& name, const std::string& path, const ImportLimits& limits,
                                       ProgressSink* sink) const {
  SKERRY_RETURN_IF_ERROR(CheckImageName(name));
  SKERRY_ASSIGN_OR_RETURN(WorkDirectory work, StartWork());
  ImportBudget budget(limits, sink);
  SKERRY_ASSIGN_OR_RETURN(Image image, UnpackSource(path, work.fd(), budget));
  image.name = name;
  image.created = static_cast<std::int64_t>(std::time(nullptr));
  // A name must not survive a power cut that its files did not survive.
  if (!HasTree(image.id) && ::syncfs(work.fd()) < 0) return os::ErrnoErr("write the files to disk");
  Unused unused;  // removed when the lock is free again
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, Lock(os::LockMode::kExclusive));
  SKERRY_RETURN_IF_ERROR(Commit(work, image));
  SKERRY_ASSIGN_OR_RETURN(unused, TakeUnused());
  return image;
}

base::Result<WorkDirectory> ImageStore::StartWork() const {
  Unused unused;
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, Lock(os::LockMode::kExclusive));
  SKERRY_ASSIGN_OR_RETURN(unused, TakeUnused());
  return WorkDirectory::Create(directory_.get());
}

base::Result<std::vector<Image>> ImageStore::List() const {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, Lock(os::LockMode::kShared));
  return ReadNames();
}

base::Result<TreeFate> ImageStore::Remove(const std::string& name) const {
  SKERRY_RETURN_IF_ERROR(CheckImageName(name));
  Unused unused;
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, Lock(os::LockMode::kExclusive));
  const auto image = ReadName(name);
  if (!image && image.error().code == base::Code::kNotFound) return std::unexpected(image.error());
  if (::unlinkat(names_.get(), FileOfName(name).c_str(), 0) < 0) return os::ErrnoErr("remove image " + name);
  SKERRY_ASSIGN_OR_RETURN(unused, TakeUnused());
  if (!image) return TreeFate::kRemoved;
  if (std::ranges::find(unused.ids_in_use, image->id) != unused.ids_in_use.end()) return TreeFate::kInUse;
  return HasTree(image->id) ? TreeFate::kKeptForOtherName : TreeFate::kRemoved;
}

base::Result<PruneReport> ImageStore::Prune() const {
  Unused unused;
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, Lock(os::LockMode::kExclusive));
  SKERRY_ASSIGN_OR_RETURN(unused, TakeUnused());
  return PruneReport{.removed_trees = unused.trees.size(),
                     .removed_imports = unused.imports.size(),
                     .kept_in_use = unused.ids_in_use.size()};
}

// The tree cannot be removed meanwhile: a removal needs the exclusive lock.
base::Result<ImageLease> ImageStore::Acquire(const std::string& name) const {
  SKERRY_RETURN_IF_ERROR(CheckImageName(name));
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lock, Lock(os::LockMode::kShared));
  SKERRY_ASSIGN_OR_RETURN(Image image, ReadName(name));
  const base::UniqueFd tree(::openat(trees_.get(), image.id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  ImageLease lease{.root_path = path_ + "/trees/" + image.id + "/" + kTreeName, .id = image.id};
  if (tree.valid())
    lease.root_fd.Reset(::openat(tree.get(), kTreeName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!lease.root_fd.valid())
    return base::Err(base::Code::kNotFound, "the files of image " + name + " are gone; import it again");
  SKERRY_ASSIGN_OR_RETURN(lease.lock,
                          os::LockFile(tree.get(), kLockName, os::LockMode::kShared, base::Deadline::After({})));
  lease.environment = std::move(image.environment);
  lease.working_directory = std::move(image.working_directory);
  return lease;
}

}  // namespace skerry::image

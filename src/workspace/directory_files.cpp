#include "workspace/directory_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "archive/byte_sink.hpp"
#include "archive/byte_source.hpp"
#include "archive/tar_writer.hpp"
#include "base/printable.hpp"
#include "os/errno_error.hpp"
#include "os/file_identity.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"
#include "workspace/beneath.hpp"
#include "workspace/tar_unpack.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

using core::FileState;

base::Status GoOn(base::Deadline deadline, const std::stop_token& stop) {
  if (!deadline.Expired() && !stop.stop_requested()) return {};
  return base::Err(base::Code::kTimeout, "the files of the workspace took too long");
}

FileState::Kind KindOf(const Facts& facts) {
  if (IsFile(facts)) return FileState::Kind::kFile;
  if (IsDirectory(facts)) return FileState::Kind::kDirectory;
  return IsLink(facts) ? FileState::Kind::kLink : FileState::Kind::kOther;
}

// The time of a directory is left out: it changes with every name in it, and those names have states of their own.
FileState StateOf(const Facts& facts) {
  FileState state{.kind = KindOf(facts), .mode = PermissionsOf(facts)};
  if (state.kind == FileState::Kind::kFile) state.size = facts.stx_size;
  if (state.kind != FileState::Kind::kDirectory)
    state.version = std::to_string(facts.stx_ino) + ":" + std::to_string(facts.stx_ctime.tv_sec) + "." +
                    std::to_string(facts.stx_ctime.tv_nsec);
  return state;
}

class Marker : public TreeVisitor {
 public:
  Marker(base::Deadline deadline, const std::stop_token& stop) : deadline_(deadline), stop_(stop) {}

  base::Status Visit(const TreeEntry& entry) override { return Add(entry); }
  base::Status Enter(const TreeEntry& entry) override { return Add(entry); }

  core::FileMark mark;

 private:
  base::Status Add(const TreeEntry& entry) {
    SKERRY_RETURN_IF_ERROR(GoOn(deadline_, stop_));
    path_bytes_ += entry.path.size();
    if (mark.size() >= kMostMarked || path_bytes_ > kMostMarkedBytes)
      return base::Err(base::Code::kTooLarge, "the workspace holds more than " + std::to_string(kMostMarked) +
                                                  " files and directories, or too long names");
    mark.emplace(entry.path, StateOf(entry.facts));
    return {};
  }

  base::Deadline deadline_;
  const std::stop_token& stop_;
  std::size_t path_bytes_ = 0;
};

class Packer {
 public:
  Packer(int root, archive::ByteSink& sink) : root_(root), writer_(sink) {}

  base::Status Add(const std::string& path) {
    const auto place = FindPlace(root_, path);
    if (!place || !place->entry) return {};  // gone meanwhile
    const struct stat& facts = *place->entry;
    const archive::Member member{.path = path, .mode = facts.st_mode & ACCESSPERMS, .mtime = facts.st_mtim};
    if (place->HoldsDirectory()) return writer_.AddDirectory(member);
    if (place->HoldsLink()) {
      const auto target = os::ReadLink(place->parent.get(), place->name);
      return target ? writer_.AddLink(member, *target) : base::Status{};
    }
    return place->HoldsFile() ? AddFile(member) : base::Status{};
  }
  base::Status Finish() { return writer_.Finish(); }

 private:
  base::Status AddFile(archive::Member member) {
    const auto file = OpenFileBeneath(root_, member.path, Locked::kUnlock);
    if (!file && file.error().code == base::Code::kNotFound) return {};
    if (!file) return std::unexpected(file.error());
    struct stat facts{};
    if (::fstat(file->get(), &facts) < 0) return os::ErrnoErr("look at " + base::Printable(member.path));
    member.mtime = facts.st_mtim;
    archive::FileSource content(file->get());
    return writer_.AddFile(member, static_cast<std::uint64_t>(facts.st_size), content);
  }

  int root_;
  archive::TarWriter writer_;
};

// A source that owns the file it reads.
class SpooledSource : public base::ByteSource {
 public:
  explicit SpooledSource(base::UniqueFd file) : file_(std::move(file)), source_(file_.get()) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override { return source_.Read(buffer); }

 private:
  base::UniqueFd file_;
  archive::FileSource source_;
};

}  // namespace

base::Result<core::FileMark> MarkDirectory(int root, base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd top, OpenDirectoryBeneath(root, "", Locked::kLeave));
  Marker marker(deadline, stop);
  SKERRY_RETURN_IF_ERROR(WalkTree(top.get(), marker, {}));
  return std::move(marker.mark);
}

base::Result<std::unique_ptr<base::ByteSource>> PackEntries(int root, std::span<const std::string> paths,
                                                            base::Deadline deadline, const std::stop_token& stop) {
  constexpr const char* kSpool = "/tmp";
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd file, os::NamelessFile(kSpool));
  archive::FileSink sink(file.get());
  Packer packer(root, sink);
  for (const std::string& path : paths) {
    SKERRY_RETURN_IF_ERROR(GoOn(deadline, stop));
    SKERRY_RETURN_IF_ERROR(packer.Add(path));
  }
  SKERRY_RETURN_IF_ERROR(packer.Finish());
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return os::ErrnoErr("read the archive");
  return std::make_unique<SpooledSource>(std::move(file));
}

base::Result<base::UniqueFd> DirectoryFiles::Open() const {
  base::UniqueFd root = root_();
  if (!root.valid()) return base::Err(base::Code::kUnavailable, "the sandbox has no files now; start it first");
  return root;
}

base::Result<core::FileMark> DirectoryFiles::Mark(base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd root, Open());
  return MarkDirectory(root.get(), deadline, stop);
}

base::Status DirectoryFiles::Import(base::ByteSource& tar, base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd root, Open());
  SKERRY_ASSIGN_OR_RETURN(const os::FileIdentity owner, os::IdentityOf(root.get()));
  const os::AsFileIdentity as(owner);
  return UnpackTar(root.get(), tar, {.deadline = deadline, .stop = stop});
}

base::Result<std::unique_ptr<base::ByteSource>> DirectoryFiles::Export(std::span<const std::string> paths,
                                                                       base::Deadline deadline,
                                                                       const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd root, Open());
  return PackEntries(root.get(), paths, deadline, stop);
}

base::Status DirectoryFiles::Remove(std::span<const std::string> paths, base::Deadline deadline,
                                    const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd root, Open());
  for (const std::string& path : paths) {
    SKERRY_RETURN_IF_ERROR(GoOn(deadline, stop));
    const auto place = FindPlace(root.get(), path);
    if (place && place->entry) SKERRY_RETURN_IF_ERROR(os::RemoveTree(place->parent.get(), place->name));
  }
  return {};
}

base::Result<std::string> DirectoryFiles::Read(const std::string& path, std::uint64_t offset, std::size_t length,
                                               base::Deadline deadline, const std::stop_token& stop) {
  SKERRY_RETURN_IF_ERROR(GoOn(deadline, stop));
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd root, Open());
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd file, OpenFileBeneath(root.get(), path, Locked::kLeave));
  archive::RangeSource source(file.get(), offset, length);
  std::string bytes(length, '\0');
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, archive::ReadFull(source, bytes));
  bytes.resize(count);
  return bytes;
}

}  // namespace skerry::workspace

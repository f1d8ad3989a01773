#include "workspace/tar_unpack.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "archive/entry_path.hpp"
#include "archive/tar_reader.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"
#include "workspace/beneath.hpp"
#include "workspace/staged_entry.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

class Unpacker {
 public:
  Unpacker(int root, base::ByteSource& tar, const UnpackLimits& limits) : root_(root), reader_(tar), limits_(limits) {}

  base::Status Run() {
    for (std::size_t entries = 0;; ++entries) {
      SKERRY_RETURN_IF_ERROR(GoOn());
      SKERRY_ASSIGN_OR_RETURN(const auto entry, reader_.Next());
      if (!entry) return {};
      if (entries >= limits_.max_entries)
        return base::Err(base::Code::kTooLarge,
                         "the archive has more than " + std::to_string(limits_.max_entries) + " entries");
      SKERRY_RETURN_IF_ERROR(Take(*entry));
    }
  }

 private:
  [[nodiscard]] base::Status GoOn() const {
    if (!limits_.deadline.Expired() && !limits_.stop.stop_requested()) return {};
    return base::Err(base::Code::kTimeout, "the archive took too long to unpack");
  }

  base::Status Take(const archive::TarEntry& entry) {
    SKERRY_ASSIGN_OR_RETURN(const archive::EntryPath path, archive::ParseEntryPath(entry.path));
    if (path.name.empty() || entry.kind == archive::EntryKind::kSpecial) return {};
    if (entry.kind == archive::EntryKind::kHardLink)
      return base::Err(base::Code::kInvalidArgument, archive::QuotedPath(entry.path) + " is a hard link");
    SKERRY_RETURN_IF_ERROR(MakeParents(path.parent));
    SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(root_, path.Joined()));
    if (entry.kind == archive::EntryKind::kDirectory) return MakeDirectory(entry, place);
    // A directory that is replaced is removed with its content.
    if (place.HoldsDirectory()) SKERRY_RETURN_IF_ERROR(os::RemoveTree(place.parent.get(), place.name));
    return entry.kind == archive::EntryKind::kSymbolicLink ? MakeLink(entry, place) : MakeFile(entry, place);
  }

  base::Status MakeParents(const std::string& path) {
    if (path.empty() || path == last_parent_) return {};
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
      SKERRY_ASSIGN_OR_RETURN(const Place place, FindPlace(root_, path.substr(0, end)));
      SKERRY_RETURN_IF_ERROR(MakeDirectory({.kind = archive::EntryKind::kDirectory, .mode = 0755}, place));
      if (end == std::string::npos) break;
    }
    last_parent_ = path;
    return {};
  }

  base::Status MakeDirectory(const archive::TarEntry& entry, const Place& place) {
    if (place.HoldsDirectory()) return {};
    last_parent_.clear();
    if (place.entry && ::unlinkat(place.parent.get(), place.name.c_str(), 0) < 0 && errno != ENOENT)
      return os::ErrnoErr("replace " + place.name);
    SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::Directory(place.parent.get()));
    if (::fchmod(staged.fd(), (entry.mode & ACCESSPERMS) | S_IRWXU) < 0) return os::ErrnoErr("set a mode");
    SKERRY_RETURN_IF_ERROR(staged.GiveToOwnerOf(place));
    return staged.MoveTo(place, Existing::kKeep);
  }

  static base::Status MakeLink(const archive::TarEntry& entry, const Place& place) {
    SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::Link(place.parent.get(), entry.link_target));
    SKERRY_RETURN_IF_ERROR(staged.GiveToOwnerOf(place));
    return staged.MoveTo(place, Existing::kReplace);
  }

  base::Status MakeFile(const archive::TarEntry& entry, const Place& place) {
    if (entry.size > limits_.max_bytes - bytes_)
      return base::Err(base::Code::kTooLarge, archive::QuotedPath(entry.path) + " makes the archive larger than " +
                                                  std::to_string(limits_.max_bytes) + " bytes");
    bytes_ += entry.size;
    SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::File(place.parent.get()));
    std::vector<char> piece(kPieceBytes);
    for (;;) {
      SKERRY_RETURN_IF_ERROR(GoOn());
      SKERRY_ASSIGN_OR_RETURN(const std::size_t count, reader_.ReadContent(piece));
      if (count == 0) break;
      SKERRY_RETURN_IF_ERROR(os::WriteAll(staged.fd(), {piece.data(), count}));
    }
    if (::fchmod(staged.fd(), entry.mode & ACCESSPERMS) < 0) return os::ErrnoErr("set a mode");
    const std::array times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, entry.mtime};
    if (::futimens(staged.fd(), times.data()) < 0) return os::ErrnoErr("set a time");
    SKERRY_RETURN_IF_ERROR(staged.GiveToOwnerOf(place));
    return staged.MoveTo(place, Existing::kReplace);
  }

  int root_;
  archive::TarReader reader_;
  const UnpackLimits& limits_;
  std::uint64_t bytes_ = 0;
  std::string last_parent_;  // a directory that is known to exist
};

}  // namespace

base::Status UnpackTar(int root, base::ByteSource& tar, const UnpackLimits& limits) {
  return Unpacker(root, tar, limits).Run();
}

}  // namespace skerry::workspace

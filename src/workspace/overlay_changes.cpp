#include "workspace/overlay_changes.hpp"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kOpaque = "user.overlay.opaque";
constexpr const char* kWhiteout = "user.overlay.whiteout";
constexpr const char* kRedirect = "user.overlay.redirect";
constexpr const char* kMetacopy = "user.overlay.metacopy";

// Whether the list of attributes has the name. The kernel ends each name with a NUL.
bool Names(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find('\0'));
    if (first == name) return true;
    list.remove_prefix(std::min(first.size() + 1, list.size()));
  }
  return false;
}

bool IsWhiteout(const struct stat& facts) {
  return S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(0, 0);
}

std::string WhatIsNeverWritten(mode_t mode) {
  if (S_ISFIFO(mode)) return "is a fifo";
  if (S_ISSOCK(mode)) return "is a socket";
  return "is a device";
}

ChangeKind KindOf(const struct stat& facts) {
  if (IsWhiteout(facts)) return ChangeKind::kDeletion;
  if (S_ISREG(facts.st_mode)) return ChangeKind::kFile;
  if (S_ISDIR(facts.st_mode)) return ChangeKind::kDirectory;
  return S_ISLNK(facts.st_mode) ? ChangeKind::kLink : ChangeKind::kOther;
}

void Refuse(Change& change, std::string obstacle) {
  change.kind = ChangeKind::kOther;
  change.obstacle = std::move(obstacle);
}

enum class Marks { kOverlay, kNone };

class Scanner {
 public:
  Scanner(int root, const WalkLimits& limits, Marks marks) : root_(root), limits_(limits), marks_(marks) {}

  // Only one directory is open at a time, however deep the tree is.
  base::Result<OverlayChanges> Run() {
    SKERRY_RETURN_IF_ERROR(List("", Hides::kNothing));
    while (!pending_.empty() && found_.complete) {
      const auto [index, hides] = pending_.back();
      pending_.pop_back();
      const std::string path = found_.changes[index].path;
      const auto listed = List(path, hides);
      if (!listed) Refuse(found_.changes[index], listed.error().message);
      if (listed && *listed == Hides::kAll) found_.changes[index].opaque = true;
    }
    std::ranges::sort(found_.changes, PathBefore, &Change::path);
    return std::move(found_);
  }

 private:
  // What a directory of the upper layer hides of the lower one. Below a directory that hides all, every directory does,
  // marked or not.
  enum class Hides { kNothing, kByMarkedFiles, kAll };
  struct Pending {
    std::size_t index;
    Hides parent;
  };

  base::Result<Hides> List(const std::string& path, Hides parent) {
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, OpenDirectoryBeneath(root_, path, Locked::kUnlock));
    SKERRY_ASSIGN_OR_RETURN(const Hides own, HidesOf(fd.get()));
    const Hides hides = parent == Hides::kAll ? Hides::kAll : own;
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd listing, OpenBeneath(fd.get(), "", O_RDONLY | O_DIRECTORY));
    auto names = NamesIn(std::move(listing), limits_.max_entries - found_.changes.size());
    if (!names && names.error().code == base::Code::kTooLarge) {
      found_.complete = false;
      return hides;
    }
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names)
      if (found_.complete) Add(fd.get(), name, JoinPath(path, name), hides);
    return hides;
  }

  void Add(int parent, const std::string& name, std::string path, Hides hides) {
    Change change{.path = std::move(path)};
    struct stat facts{};
    if (::fstatat(parent, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) < 0) {
      Refuse(change, "cannot be looked at: " + os::ErrnoText(errno));
    } else {
      Describe(change, facts, parent, name, hides);
    }
    path_bytes_ += change.path.size() + change.target.size();
    if (path_bytes_ > limits_.max_path_bytes) {
      found_.complete = false;
      return;
    }
    if (change.kind == ChangeKind::kDirectory) pending_.push_back({found_.changes.size(), hides});
    found_.changes.push_back(std::move(change));
  }

  void Describe(Change& change, const struct stat& facts, int parent, const std::string& name, Hides hides) {
    change.mode = facts.st_mode;
    change.inode = facts.st_ino;
    change.changed = facts.st_ctim;
    change.accessed = facts.st_atim;
    change.kind = KindOf(facts);
    if (change.kind == ChangeKind::kOther) return Refuse(change, WhatIsNeverWritten(facts.st_mode));
    if (change.kind == ChangeKind::kFile) return DescribeFile(change, facts, parent, name, hides);
    if (change.kind == ChangeKind::kLink) {
      auto target = os::ReadLink(parent, name);
      if (!target) return Refuse(change, target.error().message);
      change.target = std::move(*target);
    }
    constexpr std::size_t kLongestDirectory = PATH_MAX - NAME_MAX - 2;  // so that its entries can still be named
    const bool deep = DepthOf(change.path) >= limits_.max_depth || change.path.size() > kLongestDirectory;
    if (change.kind == ChangeKind::kDirectory && deep) Refuse(change, "too deep");
  }

  void DescribeFile(Change& change, const struct stat& facts, int parent, const std::string& name, Hides hides) {
    change.size = static_cast<std::uint64_t>(facts.st_size);
    if (marks_ == Marks::kNone) return;
    const auto attributes = AttributesOf("/proc/self/fd/" + std::to_string(parent) + "/" + name);
    if (!attributes) return Refuse(change, attributes.error().message);
    if (Names(*attributes, kRedirect) || Names(*attributes, kMetacopy))
      return Refuse(change, "is marked as an overlay's own");
    if (!Names(*attributes, kWhiteout)) return;
    if (hides != Hides::kByMarkedFiles || facts.st_size != 0) return Refuse(change, "is marked as an overlay's own");
    change.kind = ChangeKind::kDeletion;
  }

  base::Result<Hides> HidesOf(int directory) {
    if (marks_ == Marks::kNone) return Hides::kNothing;
    SKERRY_ASSIGN_OR_RETURN(const std::string_view attributes,
                            AttributesOf("/proc/self/fd/" + std::to_string(directory) + "/."));
    if (Names(attributes, kRedirect) || Names(attributes, kMetacopy))
      return base::Err(base::Code::kPermissionDenied, "is marked as an overlay's own");
    if (!Names(attributes, kOpaque)) return Hides::kNothing;
    char value = 0;
    if (::fgetxattr(directory, kOpaque, &value, 1) != 1) return os::ErrnoErr("its attributes cannot be read");
    if (value == 'y') return Hides::kAll;
    if (value == 'x') return Hides::kByMarkedFiles;
    return base::Err(base::Code::kPermissionDenied, "is marked as an overlay's own");
  }

  // Valid until the next call. Listing attributes needs no right to read the file, unlike getting a value.
  base::Result<std::string_view> AttributesOf(const std::string& path) {
    attributes_.resize(XATTR_LIST_MAX);
    const ssize_t count = ::llistxattr(path.c_str(), attributes_.data(), attributes_.size());
    if (count < 0 && errno != ENOTSUP) return os::ErrnoErr("its attributes cannot be read");
    return std::string_view(attributes_.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  }

  int root_;
  WalkLimits limits_;
  Marks marks_;
  OverlayChanges found_;
  std::vector<Pending> pending_;
  std::size_t path_bytes_ = 0;
  std::string attributes_;
};

}  // namespace

base::Result<OverlayChanges> ReadOverlayChanges(int upper, const WalkLimits& limits) {
  return Scanner(upper, limits, Marks::kOverlay).Run();
}

void AddMarks(const LayerMarks& marks, OverlayChanges& found) {
  const auto at = [&](const std::string& path) {
    return std::ranges::lower_bound(found.changes, path, PathBefore, &Change::path);
  };
  for (const std::string& path : marks.opaque)
    if (const auto change = at(path); change != found.changes.end() && change->path == path) change->opaque = true;
  std::vector<Change> deletions;
  for (const std::string& path : marks.deleted)
    if (const auto change = at(path); change == found.changes.end() || change->path != path)
      deletions.push_back({.path = path, .kind = ChangeKind::kDeletion});
  found.changes.insert(found.changes.end(), std::make_move_iterator(deletions.begin()),
                       std::make_move_iterator(deletions.end()));
  std::ranges::sort(found.changes, PathBefore, &Change::path);
}

base::Result<FileList> ListFiles(int directory, const WalkLimits& limits) {
  SKERRY_ASSIGN_OR_RETURN(OverlayChanges found, Scanner(directory, limits, Marks::kNone).Run());
  FileList list{.complete = found.complete};
  for (Change& change : found.changes) {
    if (S_ISDIR(change.mode) && change.kind == ChangeKind::kOther) list.complete = false;
    if (!S_ISDIR(change.mode)) list.files.push_back(std::move(change.path));
  }
  std::ranges::sort(list.files);
  return list;
}

}  // namespace skerry::workspace

#include "workspace/tree_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "workspace/content.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

using Changes = std::vector<core::FileChange>;

// The bytes of all paths together. The files may be few and small, and their paths thousands of bytes each.
class PathBytes {
 public:
  base::Status Add(const std::string& path) {
    constexpr std::size_t kMost = std::size_t{64} << 20U;
    bytes_ += path.size();
    if (bytes_ <= kMost) return {};
    return base::Err(base::Code::kTooLarge,
                     "the paths of its files take more than " + std::to_string(kMost >> 20U) + " MB; take parts of it");
  }

 private:
  std::size_t bytes_ = 0;
};

class Recorder : public TreeVisitor {
 public:
  Recorder(const std::string& path, const MountBorder& border, std::uint64_t budget)
      : path_(path), border_(border), budget_(budget) {}

  base::Status Visit(const TreeEntry& entry) override {
    return Add(entry.directory, entry.name, JoinPath(path_, entry.path));
  }
  base::Status Enter(const TreeEntry&) override { return {}; }

  base::Status Add(int directory, const std::string& name, std::string path) {
    auto change = Describe(directory, name, border_, budget_);
    if (!change && change.error().code == base::Code::kTooLarge)
      return std::unexpected(Named(path, std::move(change).error()));
    if (!change || !*change) return {};  // the entry is gone, or something else by now
    SKERRY_RETURN_IF_ERROR(path_bytes_.Add(path));
    (*change)->path = std::move(path);
    changes_.push_back(std::move(**change));
    return {};
  }

  Changes Sorted() && {
    std::ranges::sort(changes_, {}, &core::FileChange::path);
    return std::move(changes_);
  }

 private:
  const std::string& path_;
  const MountBorder& border_;
  std::uint64_t budget_;
  PathBytes path_bytes_;
  Changes changes_;
};

class RemovalList : public TreeVisitor {
 public:
  RemovalList(const std::string& path, std::uint64_t limit) : path_(path), limit_(limit) {}

  base::Status Visit(const TreeEntry& entry) override {
    if (entry.facts.stx_nlink == 1) removal_.usage.bytes += BytesOnDisk(entry.facts);
    if (IsFile(entry.facts) || IsLink(entry.facts)) {
      removal_.changes.push_back(
          RemovedAt(JoinPath(path_, entry.path), IsLink(entry.facts) ? core::FileKind::kLink : core::FileKind::kFile));
      SKERRY_RETURN_IF_ERROR(path_bytes_.Add(removal_.changes.back().path));
    }
    return Count();
  }
  base::Status Enter(const TreeEntry&) override { return Count(); }

  Removal Sorted() && {
    std::ranges::sort(removal_.changes, {}, &core::FileChange::path);
    return std::move(removal_);
  }

 private:
  base::Status Count() {
    if (++removal_.usage.entries <= limit_) return {};
    return base::Err(base::Code::kTooLarge,
                     "holds more than " + std::to_string(limit_) + " files; delete what is in it one by one");
  }

  const std::string& path_;
  std::uint64_t limit_;
  PathBytes path_bytes_;
  Removal removal_;
};

}  // namespace

base::Result<Changes> RecordOf(const Place& place, const std::string& path, const MountBorder& border,
                               std::uint64_t budget) {
  if (place.HoldsDirectory()) {
    const base::UniqueFd fd(
        ::openat(place.parent.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid()) return PathErr();
    return RecordIn(fd.get(), path, border, budget);
  }
  SKERRY_ASSIGN_OR_RETURN(auto change, Describe(place.parent.get(), place.name, border, budget));
  if (!change) return base::Err(base::Code::kConflict, "is no regular file");
  change->path = path;
  return Changes{std::move(*change)};
}

base::Result<Changes> RecordIn(int directory, const std::string& path, const MountBorder& border,
                               std::uint64_t budget) {
  Recorder recorder(path, border, budget);
  const WalkOptions options{.locked = WalkOptions::Obstacle::kPass, .mounts = WalkOptions::Obstacle::kPass};
  SKERRY_RETURN_IF_ERROR(WalkTree(directory, recorder, options));
  return std::move(recorder).Sorted();
}

base::Result<Removal> RemovalOf(const Place& place, const std::string& path, const MountBorder& border,
                                std::uint64_t limit) {
  Facts facts{};
  if (!FactsAt(place.parent.get(), place.name.c_str(), facts)) return PathErr();
  if (!border.Holds(facts)) return PathErr(EXDEV);
  const base::UniqueFd fd(
      ::openat(place.parent.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return errno == EACCES ? base::Result<Removal>(Removal{}) : PathErr();
  RemovalList list(path, limit);
  const WalkOptions options{.locked = WalkOptions::Obstacle::kPass,
                            .mounts = WalkOptions::Obstacle::kFail,
                            .private_names = WalkOptions::Private::kShow};
  SKERRY_RETURN_IF_ERROR(WalkTree(fd.get(), list, options));
  return std::move(list).Sorted();
}

core::FileChange RemovedAt(std::string path, core::FileKind kind) {
  return {
      .path = std::move(path), .action = core::FileAction::kRemoved, .kind = kind, .size = 0, .mode = 0, .sha256 = {}};
}

}  // namespace skerry::workspace

#include "workspace/tree_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/sha256.hpp"
#include "os/files.hpp"
#include "workspace/content.hpp"
#include "workspace/file_copy.hpp"
#include "workspace/link_check.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

class Copier : public TreeVisitor {
 public:
  Copier(int to, CopyTask& task) : task_(task), here_(::fcntl(to, F_DUPFD_CLOEXEC, 0)) {}

  base::Status Visit(const TreeEntry& entry) override {
    const std::string path = JoinPath(task_.path, entry.path);
    if (IsFile(entry.facts)) return Named(entry.path, AddFile(entry, path));
    if (IsLink(entry.facts)) return Named(entry.path, AddLink(entry, path));
    return NamedErr(entry.path, base::Code::kConflict, "is no regular file, and cannot be copied");
  }

  base::Status Enter(const TreeEntry& entry) override {
    SKERRY_RETURN_IF_ERROR(task_.reservation.Add({.bytes = 0, .entries = 1}));
    ++task_.taken.entries;
    Level level{.facts = {}, .mode = PermissionsOf(entry.facts)};
    if (!FactsAt(here_.get(), "", level.facts)) return PathErr();
    if (::mkdirat(here_.get(), entry.name.c_str(), S_IRWXU) < 0) return PathErr();
    base::UniqueFd next(::openat(here_.get(), entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return PathErr();
    SKERRY_RETURN_IF_ERROR(GiveTo(task_.owner, next.get()));
    here_ = std::move(next);
    levels_.push_back(level);
    return {};
  }

  base::Status Leave() override {
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd above, OpenAbove(here_.get(), levels_.back().facts));
    // Only now: with its final mode not even the owner may be allowed to write into the directory.
    if (::fchmod(here_.get(), levels_.back().mode) < 0) return PathErr();
    here_ = std::move(above);
    levels_.pop_back();
    return {};
  }

 private:
  struct Level {
    Facts facts;  // of the directory above
    mode_t mode;
  };

  base::Status AddFile(const TreeEntry& entry, const std::string& path) {
    SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd from, OpenFileIn(entry.directory, entry.name, task_.border, O_RDONLY));
    const base::UniqueFd to(::openat(here_.get(), entry.name.c_str(),
                                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!to.valid()) return PathErr();
    return CopyFile(from.get(), to.get(), path, task_);
  }

  base::Status AddLink(const TreeEntry& entry, const std::string& path) {
    SKERRY_ASSIGN_OR_RETURN(const std::string target, os::ReadLink(entry.directory, entry.name));
    if (!LinkObstacle(path, target, LinkRule::kOwn).empty()) return LeadsOut();
    SKERRY_RETURN_IF_ERROR(task_.reservation.Add({.bytes = 0, .entries = 1}));
    ++task_.taken.entries;
    if (::symlinkat(target.c_str(), here_.get(), entry.name.c_str()) < 0) return PathErr();
    const base::UniqueFd made(::openat(here_.get(), entry.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!made.valid()) return PathErr();
    SKERRY_RETURN_IF_ERROR(GiveTo(task_.owner, made.get()));
    task_.changes.push_back({.path = path,
                             .action = core::FileAction::kCreated,
                             .kind = core::FileKind::kLink,
                             .size = target.size(),
                             .mode = ACCESSPERMS,
                             .sha256 = base::Sha256Hex(target)});
    return {};
  }

  CopyTask& task_;
  base::UniqueFd here_;
  std::vector<Level> levels_;
};

}  // namespace

base::Status CopyFile(int from, int to, const std::string& path, CopyTask& task) {
  Facts facts{};
  if (!FactsAt(from, "", facts)) return PathErr();
  if (facts.stx_size > task.budget)
    return base::Err(base::Code::kTooLarge, "has " + std::to_string(facts.stx_size) + " bytes, too many to be copied");
  SKERRY_RETURN_IF_ERROR(task.reservation.Add({.bytes = BytesOnDisk(facts), .entries = 1}));
  SKERRY_RETURN_IF_ERROR(CopyContent(from, to, facts.stx_size, task.max_written, Hashing::kNone));
  SKERRY_RETURN_IF_ERROR(GiveTo(task.owner, to));
  if (::fchmod(to, PermissionsOf(facts)) < 0) return PathErr();
  SKERRY_ASSIGN_OR_RETURN(Content content, ContentOf(to, task.budget));
  task.budget -= content.size;
  Facts made{};
  if (!FactsAt(to, "", made)) return PathErr();
  task.taken = {.bytes = task.taken.bytes + BytesOnDisk(made), .entries = task.taken.entries + 1};
  task.changes.push_back({.path = path,
                          .action = core::FileAction::kCreated,
                          .kind = core::FileKind::kFile,
                          .size = content.size,
                          .mode = PermissionsOf(made),
                          .sha256 = std::move(content.sha256)});
  return {};
}

base::Status CopyTree(int from, int to, CopyTask& task) {
  Copier copier(to, task);
  return WalkTree(from, copier, {});
}

}  // namespace skerry::workspace

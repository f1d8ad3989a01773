// Copies and links.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/sha256.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/destination.hpp"
#include "workspace/link_check.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/reservation.hpp"
#include "workspace/staged_entry.hpp"
#include "workspace/tree_copy.hpp"

namespace skerry::workspace {
namespace {

base::Status CheckTarget(const Place& place, Existing existing) {
  if (!place.entry) return {};
  if (place.HoldsDirectory()) return PathErr(EISDIR);
  return existing == Existing::kKeep ? base::Status(PathErr(EEXIST)) : base::Status();
}

Usage UsageOf(const Place& place) {
  if (!place.entry) return {};
  const std::uint64_t bytes = static_cast<std::uint64_t>(place.entry->st_blocks) * 512;
  return {.bytes = place.entry->st_nlink == 1 ? bytes : 0, .entries = 1};
}

base::Result<base::UniqueFd> OpenSource(const Place& place, const MountBorder& border) {
  if (!place.HoldsDirectory()) return OpenFileIn(place.parent.get(), place.name, border, O_RDONLY);
  base::UniqueFd fd(::openat(place.parent.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  Facts facts{};
  if (!fd.valid() || !FactsAt(fd.get(), "", facts)) return PathErr();
  if (!border.Holds(facts)) return PathErr(EXDEV);
  return fd;
}

// The whole copy, on disk.
base::Result<StagedEntry> StageCopy(int from, int stage, CopyTask& task) {
  struct stat facts{};
  if (::fstat(from, &facts) < 0) return PathErr();
  if (!S_ISDIR(facts.st_mode)) {
    SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::File(stage));
    SKERRY_RETURN_IF_ERROR(CopyFile(from, staged.fd(), task.path, task));
    if (::fsync(staged.fd()) < 0) return PathErr();
    return staged;
  }
  SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::Directory(stage));
  SKERRY_RETURN_IF_ERROR(task.reservation.Add({.bytes = 0, .entries = 1}));
  ++task.taken.entries;
  SKERRY_RETURN_IF_ERROR(CopyTree(from, staged.fd(), task));
  SKERRY_RETURN_IF_ERROR(GiveTo(task.owner, staged.fd()));
  if (::fchmod(staged.fd(), facts.st_mode & ACCESSPERMS) < 0) return PathErr();
  if (::syncfs(staged.fd()) < 0) return PathErr();  // once, instead of an fsync for every file
  return staged;
}

}  // namespace

base::Result<AgentWorkspace::Changes> AgentWorkspace::Copy(std::string_view from, std::string_view to,
                                                           Existing existing) {
  const auto locate = [&]() -> base::Result<Resolver::Located> {
    SKERRY_ASSIGN_OR_RETURN(const std::string mapped, MapPath(from));
    SKERRY_ASSIGN_OR_RETURN(Resolver::Located located, resolver_.Locate(mapped, Resolver::LastLink::kFollow));
    if (!located.place.entry) return PathErr(ENOENT);
    return located;
  };
  auto source = locate();
  if (!source) return std::unexpected(Named(from, std::move(source).error()));
  auto fd = OpenSource(source->place, resolver_.border());
  if (!fd) return std::unexpected(Named(from, std::move(fd).error()));
  return Named(to, CopyTo(*source, *fd, to, existing));
}

base::Result<AgentWorkspace::Changes> AgentWorkspace::CopyTo(const Resolver::Located& from, const base::UniqueFd& fd,
                                                             std::string_view to, Existing existing) {
  SKERRY_ASSIGN_OR_RETURN(const std::string mapped, MapPath(to));
  SKERRY_ASSIGN_OR_RETURN(Destination target,
                          Destination::Find(resolver_, mapped, Resolver::LastLink::kKeep, Parents::kMake));
  if (target.path() == from.path || IsBelow(target.path(), from.path))
    return base::Err(base::Code::kInvalidArgument, "lies in what is to be copied");
  SKERRY_RETURN_IF_ERROR(CheckTarget(target.place(), existing));
  if (target.place().entry && from.place.HoldsDirectory())
    return base::Err(base::Code::kConflict, "is there, and is no directory");
  Reservation reservation(usage_);
  SKERRY_RETURN_IF_ERROR(reservation.Add({.bytes = 0, .entries = target.missing()}));
  SKERRY_ASSIGN_OR_RETURN(const Owner owner, OwnerFor(target.place()));
  CopyTask task{.border = resolver_.border(),
                .owner = owner,
                .path = target.path(),
                .reservation = reservation,
                .budget = HashBudget(),
                .max_written = options_.max_bytes};
  SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StageCopy(fd.get(), StageFor(target.place()), task));
  const std::scoped_lock lock(*order_);
  SKERRY_ASSIGN_OR_RETURN(MadeParents parents, target.MakeParents(resolver_));
  SKERRY_RETURN_IF_ERROR(CheckTarget(target.place(), existing));
  task.taken.entries += parents.count();
  SKERRY_RETURN_IF_ERROR(reservation.Settle(task.taken, UsageOf(target.place())));
  SKERRY_RETURN_IF_ERROR(staged.MoveTo(target.place(), existing));
  reservation.Keep();
  parents.Keep();
  SKERRY_RETURN_IF_ERROR(SyncDirectory(target.place().parent.get()));
  if (target.place().entry) task.changes.front().action = core::FileAction::kChanged;
  std::ranges::sort(task.changes, {}, &core::FileChange::path);
  return std::move(task.changes);
}

base::Result<core::FileChange> AgentWorkspace::MakeLink(std::string_view path, const std::string& target,
                                                        Existing existing) {
  return Named(path, MakeLinkAt(path, target, existing));
}

base::Result<core::FileChange> AgentWorkspace::MakeLinkAt(std::string_view path, const std::string& target,
                                                          Existing existing) {
  SKERRY_ASSIGN_OR_RETURN(const std::string mapped, MapPath(path));
  SKERRY_ASSIGN_OR_RETURN(Destination destination,
                          Destination::Find(resolver_, mapped, Resolver::LastLink::kKeep, Parents::kMake));
  if (target.empty() || target.find('\0') != std::string::npos)
    return base::Err(base::Code::kInvalidArgument, "is a link to nothing");
  if (!LinkObstacle(destination.path(), target, LinkRule::kOwn).empty()) return LeadsOut();
  SKERRY_RETURN_IF_ERROR(CheckTarget(destination.place(), existing));
  Reservation reservation(usage_);
  SKERRY_RETURN_IF_ERROR(reservation.Add({.bytes = 0, .entries = destination.missing() + 1}));
  SKERRY_ASSIGN_OR_RETURN(StagedEntry staged, StagedEntry::Link(StageFor(destination.place()), target));
  SKERRY_RETURN_IF_ERROR(staged.GiveToOwnerOf(destination.place()));
  const std::scoped_lock lock(*order_);
  SKERRY_ASSIGN_OR_RETURN(MadeParents parents, destination.MakeParents(resolver_));
  SKERRY_RETURN_IF_ERROR(CheckTarget(destination.place(), existing));
  SKERRY_RETURN_IF_ERROR(
      reservation.Settle({.bytes = 0, .entries = parents.count() + 1}, UsageOf(destination.place())));
  SKERRY_RETURN_IF_ERROR(staged.MoveTo(destination.place(), existing));
  reservation.Keep();
  parents.Keep();
  SKERRY_RETURN_IF_ERROR(SyncDirectory(destination.place().parent.get()));
  return core::FileChange{.path = destination.path(),
                          .action = destination.place().entry ? core::FileAction::kChanged : core::FileAction::kCreated,
                          .kind = core::FileKind::kLink,
                          .size = target.size(),
                          .mode = ACCESSPERMS,
                          .sha256 = base::Sha256Hex(target)};
}

}  // namespace skerry::workspace

// Directories, moves and deletions.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/ids.hpp"
#include "os/remove_tree.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/destination.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/reservation.hpp"
#include "workspace/staged_entry.hpp"
#include "workspace/tree_record.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

using Changes = AgentWorkspace::Changes;

core::FileKind KindOf(const Place& place) {
  return place.HoldsLink() ? core::FileKind::kLink : core::FileKind::kFile;
}

std::uint64_t BytesOf(const struct stat& facts) {
  return facts.st_nlink == 1 && !S_ISDIR(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_blocks) * 512 : 0;
}

base::Result<Resolver::Located> LocateExisting(const Resolver& resolver, std::string_view path,
                                               Resolver::LastLink last) {
  SKERRY_ASSIGN_OR_RETURN(const std::string mapped, MapPath(path));
  SKERRY_ASSIGN_OR_RETURN(Resolver::Located located, resolver.Locate(mapped, last));
  if (!located.place.entry) return PathErr(ENOENT);
  return located;
}

// Why `from` cannot replace the entry at `to`.
base::Status CheckMove(const Resolver::Located& from, const Destination& to, Existing existing) {
  if (from.path == to.path()) return base::Err(base::Code::kInvalidArgument, "is the same place");
  if (IsBelow(to.path(), from.path)) return base::Err(base::Code::kInvalidArgument, "lies in what is to be moved");
  if (!to.place().entry) return {};
  if (to.place().HoldsDirectory()) return PathErr(EISDIR);
  if (existing == Existing::kKeep) return PathErr(EEXIST);
  if (from.place.HoldsDirectory()) return base::Err(base::Code::kConflict, "is there, and is no directory");
  return {};
}

// The changes for files that were recorded at `from` and are at `to` now.
Changes MovedChanges(Changes recorded, const std::string& from, const std::string& to, core::FileAction action) {
  Changes changes;
  for (core::FileChange& change : recorded) {
    changes.push_back(RemovedAt(change.path, change.kind));
    change.path = to + change.path.substr(from.size());
    change.action = action;
    changes.push_back(std::move(change));
  }
  std::ranges::sort(changes, {}, &core::FileChange::path);
  return changes;
}

// Whether both are names of one file: renaming one to the other would do nothing.
bool SameFile(const Place& left, const Place& right) {
  return left.entry && right.entry && left.entry->st_ino == right.entry->st_ino &&
         left.entry->st_dev == right.entry->st_dev;
}

base::Status Rename(const Place& from, const Place& to, Existing existing) {
  const int result = SameFile(from, to) ? ::unlinkat(from.parent.get(), from.name.c_str(), 0)
                                        : MoveEntry(from.parent.get(), from.name, to, existing);
  if (result < 0 && errno == EINVAL) return base::Err(base::Code::kInvalidArgument, "lies in what is to be moved");
  if (result < 0) return PathErr();
  SKERRY_RETURN_IF_ERROR(SyncDirectory(to.parent.get()));
  return SyncDirectory(from.parent.get());
}

}  // namespace

base::Status AgentWorkspace::MakeDirectory(std::string_view path, Parents parents) {
  return Named(path, MakeDirectoryAt(path, parents));
}

base::Status AgentWorkspace::MakeDirectoryAt(std::string_view path, Parents parents) {
  SKERRY_ASSIGN_OR_RETURN(const std::string mapped, MapPath(path));
  const bool may_exist = parents == Parents::kMake;
  if (may_exist && resolver_.Open(mapped, O_PATH | O_DIRECTORY)) return {};
  if (mapped.empty()) return PathErr(EEXIST);
  SKERRY_ASSIGN_OR_RETURN(Destination destination,
                          Destination::Find(resolver_, mapped, Resolver::LastLink::kKeep, parents));
  const Place& place = destination.place();
  // Another process may have made it since the look above.
  if (may_exist && place.HoldsDirectory()) return {};
  if (place.entry) return PathErr(EEXIST);
  Reservation reservation(usage_);
  SKERRY_RETURN_IF_ERROR(reservation.Add({.bytes = 0, .entries = destination.missing() + 1}));
  const std::scoped_lock lock(*order_);
  SKERRY_ASSIGN_OR_RETURN(MadeParents above, destination.MakeParents(resolver_));
  SKERRY_ASSIGN_OR_RETURN(const MadeDirectory made,
                          MakeDirectoryIn(place.parent.get(), place.name, resolver_.border()));
  const bool by_others = made.from == MadeDirectory::From::kOthers;
  if (by_others && !may_exist) return PathErr(EEXIST);
  SKERRY_RETURN_IF_ERROR(reservation.Settle({.bytes = 0, .entries = above.count() + (by_others ? 0U : 1U)}, {}));
  reservation.Keep();
  above.Keep();
  return SyncDirectory(place.parent.get());
}

base::Result<Changes> AgentWorkspace::Move(std::string_view from, std::string_view to, Existing existing) {
  const std::scoped_lock lock(*order_);
  auto source = LocateExisting(resolver_, from, Resolver::LastLink::kKeep);
  if (!source) return std::unexpected(Named(from, std::move(source).error()));
  auto mapped = MapPath(to);
  if (!mapped) return std::unexpected(Named(to, std::move(mapped).error()));
  auto target = Destination::Find(resolver_, *mapped, Resolver::LastLink::kKeep, Parents::kMake);
  if (!target) return std::unexpected(Named(to, std::move(target).error()));
  SKERRY_RETURN_IF_ERROR(Named(to, CheckMove(*source, *target, existing)));
  auto recorded = RecordOf(source->place, source->path, resolver_.border(), HashBudget());
  if (!recorded) return std::unexpected(Named(from, std::move(recorded).error()));
  Reservation reservation(usage_);
  SKERRY_RETURN_IF_ERROR(Named(to, reservation.Add({.bytes = 0, .entries = target->missing()})));
  auto parents = target->MakeParents(resolver_);
  if (!parents) return std::unexpected(Named(to, std::move(parents).error()));
  SKERRY_RETURN_IF_ERROR(Named(to, Rename(source->place, target->place(), existing)));
  reservation.Keep();
  parents->Keep();
  const auto& replaced = target->place().entry;
  if (replaced) usage_->GiveBack({.bytes = BytesOf(*replaced), .entries = 1});
  return MovedChanges(std::move(*recorded), source->path, target->path(),
                      replaced ? core::FileAction::kChanged : core::FileAction::kCreated);
}

base::Result<Changes> AgentWorkspace::Delete(std::string_view path, Depth depth) {
  auto located = LocateExisting(resolver_, path, Resolver::LastLink::kKeep);
  if (!located) return std::unexpected(Named(path, std::move(located).error()));
  if (located->place.HoldsDirectory() && depth == Depth::kAll) return Named(path, DeleteTree(*located));
  return Named(path, DeleteOne(*located));
}

base::Result<Changes> AgentWorkspace::DeleteOne(const Resolver::Located& located) {
  const std::scoped_lock lock(*order_);
  const Place& place = located.place;
  if (::unlinkat(place.parent.get(), place.name.c_str(), place.HoldsDirectory() ? AT_REMOVEDIR : 0) < 0)
    return PathErr();
  usage_->GiveBack({.bytes = BytesOf(*place.entry), .entries = 1});
  SKERRY_RETURN_IF_ERROR(SyncDirectory(place.parent.get()));
  Changes changes;
  if (place.HoldsFile() || place.HoldsLink()) changes.push_back(RemovedAt(located.path, KindOf(place)));
  return changes;
}

base::Result<Changes> AgentWorkspace::DeleteTree(const Resolver::Located& located) {
  const Place& place = located.place;
  std::unique_lock lock(*order_);
  SKERRY_ASSIGN_OR_RETURN(Removal removal, RemovalOf(place, located.path, resolver_.border(), options_.max_entries));
  // Moved away first, so that the tree is gone at once. A tree that may not be moved is removed where it is.
  const Place away{.parent = base::UniqueFd(::fcntl(StageFor(place), F_DUPFD_CLOEXEC, 0)),
                   .name = base::RandomId(kPrivatePrefix),
                   .entry = {}};
  const bool moved = MoveEntry(place.parent.get(), place.name, away, Existing::kReplace) == 0;
  // A program that still writes there can make this take long. Other calls need not wait for it.
  lock.unlock();
  const auto removed =
      moved ? os::RemoveTree(away.parent.get(), away.name) : os::RemoveTree(place.parent.get(), place.name);
  if (!removed) {
    usage_->Forget();
    return base::Err(removed.error().code, "could not be removed to the end: " + removed.error().message);
  }
  usage_->GiveBack({.bytes = removal.usage.bytes, .entries = removal.usage.entries + 1});
  SKERRY_RETURN_IF_ERROR(SyncDirectory(place.parent.get()));
  return std::move(removal.changes);
}

base::Result<Changes> AgentWorkspace::AllFiles() const {
  return RecordIn(root(), "", resolver_.border(), HashBudget());
}

}  // namespace skerry::workspace

#include "workspace/destination.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ranges>
#include <utility>

#include "workspace/path_errors.hpp"
#include "workspace/path_walk.hpp"
#include "workspace/staged_entry.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

constexpr mode_t kDirectoryMode = 0755;
constexpr const char* kNoDirectory = "a part of the path is no directory";

}  // namespace

base::Result<Destination> Destination::Find(const Resolver& resolver, const std::string& path, Resolver::LastLink last,
                                            Parents parents) {
  if (IsPrivateName(NameOf(path)))
    return base::Err(base::Code::kInvalidArgument, "such names are Skerry's own; take another one");
  auto located = resolver.Locate(path, last);
  if (!located && located.error().code == base::Code::kNotFound && parents == Parents::kMake)
    return FindNearest(resolver, path);
  if (!located) return std::unexpected(std::move(located).error());
  Destination destination;
  destination.located_ = std::move(*located);
  return destination;
}

base::Result<Destination> Destination::FindNearest(const Resolver& resolver, const std::string& path) {
  Destination destination;
  std::string_view nearest = path;
  base::Result<base::UniqueFd> fd;
  while (!fd.has_value() || !fd->valid()) {
    const std::string_view name = NameOf(nearest);
    if (name == "..") return PathErr(ENOENT);  // out of a directory that is not there
    destination.missing_.emplace_back(name);
    nearest = ParentOf(nearest);
    fd = resolver.Open(std::string(nearest), O_PATH | O_DIRECTORY);
    if (!fd && (fd.error().code != base::Code::kNotFound || nearest.empty()))
      return std::unexpected(std::move(fd).error());
  }
  struct stat facts{};
  if (destination.missing_.size() < 2) return PathErr(ENOENT);  // a link at the end leads to nothing
  if (::fstatat(fd->get(), destination.missing_.back().c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
    return base::Err(base::Code::kConflict, kNoDirectory);
  // Its own path may lead through links.
  SKERRY_ASSIGN_OR_RETURN(Walked walked,
                          PathWalk(resolver.root(), resolver.border()).Run(nearest, Resolver::LastLink::kFollow));
  destination.located_.place.parent = std::move(walked.entry);
  destination.located_.place.name = std::move(destination.missing_.front());
  destination.missing_.erase(destination.missing_.begin());
  destination.located_.path = std::move(walked.path);
  for (const std::string& name : destination.missing_ | std::views::reverse)
    destination.located_.path = JoinPath(destination.located_.path, name);
  destination.located_.path = JoinPath(destination.located_.path, destination.located_.place.name);
  return destination;
}

base::Status Destination::MakeParents(const MountBorder& border) {
  for (; !missing_.empty(); missing_.pop_back()) SKERRY_RETURN_IF_ERROR(MakeOne(missing_.back(), border));
  return {};
}

base::Status Destination::Refresh() {
  struct stat facts{};
  located_.place.entry.reset();
  if (::fstatat(place().parent.get(), place().name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    located_.place.entry = facts;
  } else if (errno != ENOENT) {
    return PathErr();
  }
  return {};
}

Destination::~Destination() {
  if (!made_.empty()) RemoveMadeParents();
}

base::Status Destination::MakeOne(const std::string& name, const MountBorder& border) {
  Facts above{};
  if (!FactsAt(place().parent.get(), "", above)) return PathErr();
  SKERRY_ASSIGN_OR_RETURN(MadeDirectory next, MakeDirectoryIn(place().parent.get(), name, border));
  located_.place.parent = std::move(next.fd);
  if (next.from == MadeDirectory::From::kUs) made_.push_back({above, name});
  return {};
}

void Destination::RemoveMadeParents() {
  base::UniqueFd here(::fcntl(place().parent.get(), F_DUPFD_CLOEXEC, 0));
  for (; !made_.empty(); made_.pop_back()) {
    auto above = OpenAbove(here.get(), made_.back().directory);
    if (!above || ::unlinkat(above->get(), made_.back().name.c_str(), AT_REMOVEDIR) < 0) return;
    here = std::move(*above);
  }
}

base::Result<MadeDirectory> MakeDirectoryIn(int parent, const std::string& name, const MountBorder& border) {
  const bool made = ::mkdirat(parent, name.c_str(), kDirectoryMode) == 0;
  if (!made && errno != EEXIST) return PathErr();
  base::UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  Facts facts{};
  if (!fd.valid() || !FactsAt(fd.get(), "", facts)) {
    if (errno == ENOTDIR || errno == ELOOP) return base::Err(base::Code::kConflict, kNoDirectory);
    return PathErr();
  }
  if (!border.Holds(facts)) return PathErr(EXDEV);
  if (!made) return MadeDirectory{std::move(fd), MadeDirectory::From::kOthers};
  struct stat above{};
  if (::fstat(parent, &above) < 0) return PathErr();
  SKERRY_RETURN_IF_ERROR(GiveTo({above.st_uid, above.st_gid}, fd.get()));
  // A set-group bit is inherited, and stays.
  if (::fchmod(fd.get(), (facts.stx_mode & S_ISGID) | kDirectoryMode) < 0) return PathErr();
  return MadeDirectory{std::move(fd), MadeDirectory::From::kUs};
}

}  // namespace skerry::workspace

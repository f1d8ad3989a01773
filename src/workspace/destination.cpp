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
  constexpr int kTries = 100;
  for (int tries = 0; tries < kTries; ++tries) {
    auto located = resolver.Locate(path, last);
    if (located) return Destination(std::move(*located), parents);
    if (located.error().code != base::Code::kNotFound || parents != Parents::kMake)
      return std::unexpected(std::move(located).error());
    SKERRY_ASSIGN_OR_RETURN(auto nearest, FindNearest(resolver, path));
    if (nearest) return std::move(*nearest);
  }
  return base::Err(base::Code::kConflict, "the directories above it come and go; try again");
}

// Nothing when other processes made or removed directories of the path meanwhile, so that it has to be looked up again.
base::Result<std::optional<Destination>> Destination::FindNearest(const Resolver& resolver, const std::string& path) {
  std::vector<std::string> missing;
  std::string_view nearest = path;
  base::Result<base::UniqueFd> fd;
  while (!fd.has_value() || !fd->valid()) {
    const std::string_view name = NameOf(nearest);
    if (name == "..") return PathErr(ENOENT);  // out of a directory that is not there
    missing.emplace_back(name);
    nearest = ParentOf(nearest);
    fd = resolver.Open(std::string(nearest), O_PATH | O_DIRECTORY);
    if (!fd && (fd.error().code != base::Code::kNotFound || nearest.empty()))
      return std::unexpected(std::move(fd).error());
  }
  struct stat facts{};
  const bool is_there = ::fstatat(fd->get(), missing.back().c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (missing.size() == 1) {
    if (is_there && S_ISLNK(facts.st_mode)) return PathErr(ENOENT);  // a link at the end leads to nothing
    return std::nullopt;
  }
  if (is_there && S_ISDIR(facts.st_mode)) return std::nullopt;
  if (is_there) return base::Err(base::Code::kConflict, kNoDirectory);
  // The path of the nearest directory may itself lead through links.
  auto walked = PathWalk(resolver.root(), resolver.border()).Run(nearest, Resolver::LastLink::kFollow);
  if (!walked && walked.error().code != base::Code::kNotFound) return std::unexpected(std::move(walked).error());
  if (!walked || !walked->entry.valid()) return std::nullopt;
  Resolver::Located located{
      .place = {.parent = std::move(walked->entry), .name = std::move(missing.front()), .entry = {}},
      .path = std::move(walked->path)};
  missing.erase(missing.begin());
  for (const std::string& name : missing | std::views::reverse) located.path = JoinPath(located.path, name);
  located.path = JoinPath(located.path, located.place.name);
  Destination destination(std::move(located), Parents::kMake);
  destination.missing_ = std::move(missing);
  return destination;
}

base::Result<MadeParents> Destination::MakeParents(const Resolver& resolver) {
  auto now = Find(resolver, path(), Resolver::LastLink::kKeep, parents_);
  if (!now && now.error().code != base::Code::kPathTraversal) return std::unexpected(std::move(now).error());
  if (!now || now->path() != path()) return base::Err(base::Code::kConflict, "a link came in its way meanwhile");
  located_ = std::move(now->located_);
  missing_ = std::move(now->missing_);
  MadeParents made;
  const bool all_there = missing_.empty();
  for (; !missing_.empty(); missing_.pop_back()) {
    SKERRY_ASSIGN_OR_RETURN(located_.place.parent, made.Make(place().parent.get(), missing_.back(), resolver.border()));
  }
  if (all_there) return made;
  // Programs in the session take no lock, and may have put an entry there.
  struct stat facts{};
  if (::fstatat(place().parent.get(), place().name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    located_.place.entry = facts;
  } else if (errno != ENOENT) {
    return PathErr();
  }
  return made;
}

base::Result<base::UniqueFd> MadeParents::Make(int above, const std::string& name, const MountBorder& border) {
  Facts facts{};
  if (!FactsAt(above, "", facts)) return PathErr();
  SKERRY_ASSIGN_OR_RETURN(MadeDirectory next, MakeDirectoryIn(above, name, border));
  if (next.from == MadeDirectory::From::kUs) made_.push_back({facts, name});
  last_.Reset(::fcntl(next.fd.get(), F_DUPFD_CLOEXEC, 0));
  return std::move(next.fd);
}

MadeParents::~MadeParents() {
  base::UniqueFd here = std::move(last_);
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

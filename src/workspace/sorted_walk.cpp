#include "workspace/sorted_walk.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "workspace/beneath.hpp"
#include "workspace/directory_listing.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
constexpr std::size_t kMostPassed = 100;

}  // namespace

base::Result<SortedWalk> SortedWalk::Open(int top, const Memory& memory) {
  base::UniqueFd here(::openat(top, ".", kDirectory));
  Facts facts{};
  if (!here.valid() || !FactsAt(here.get(), "", facts)) return PathErr();
  SortedWalk walk(std::move(here), MountBorder(top), memory);
  walk.levels_.push_back({.facts = facts, .path_size = 0});
  return walk;
}

base::Result<bool> SortedWalk::Next() {
  if (std::exchange(descend_, false)) SKERRY_RETURN_IF_ERROR(GoDown());
  while (!levels_.empty()) {
    Level& level = levels_.back();
    path_.resize(level.path_size);
    if (level.next < level.names.size()) {
      level.last = std::move(level.names[level.next++]);
      name_ = level.last;
      if (!path_.empty()) path_ += '/';
      path_ += name_;
      if (Look()) return true;
    } else if (level.more) {
      SKERRY_RETURN_IF_ERROR(Load(level));
    } else {
      SKERRY_RETURN_IF_ERROR(GoUp());
    }
  }
  return false;
}

// Whether the present name is to be given.
bool SortedWalk::Look() {
  if (LiesBefore()) return false;
  if (!FactsAt(here_.get(), name_.c_str(), facts_)) {
    if (errno != ENOENT) Pass();
    return false;
  }
  if (!border_.Holds(facts_)) {
    Pass();
    return false;
  }
  descend_ = IsDirectory(facts_);
  return true;
}

// Whether the path lies before the beginning. The directories above the beginning do not: they are on the way to it.
bool SortedWalk::LiesBefore() const {
  return !begin_.empty() && PathBefore(path_, begin_) && !IsBelow(begin_, path_);
}

base::Status SortedWalk::Load(Level& level) {
  kept_ -= level.names.size();
  level.names.clear();
  level.next = 0;
  base::UniqueFd listing(::openat(here_.get(), ".", kDirectory));
  if (!listing.valid()) return std::unexpected(Named(path_, PathError(errno)));
  auto page = PageOf(std::move(listing), level.last, memory_.of_one);
  if (!page) return std::unexpected(Named(path_, std::move(page).error()));
  level.names = std::move(page->names);
  level.more = page->more;
  kept_ += level.names.size();
  return {};
}

// Drops the pages of directories above; they are read again when it is their turn.
void SortedWalk::DropPages() {
  for (std::size_t i = 0; i < levels_.size() && kept_ > memory_.of_all; ++i) {
    Level& level = levels_[i];
    if (level.names.empty()) continue;
    level.more = level.more || level.next < level.names.size();
    kept_ -= level.names.size();
    level.names = {};
    level.next = 0;
  }
}

base::Status SortedWalk::GoDown() {
  base::UniqueFd next(::openat(here_.get(), name_.c_str(), kDirectory));
  Facts facts{};
  // By ".", so that a directory that may be listed but not entered is found now: there would be no way up from it.
  if (!next.valid() || !FactsAt(next.get(), ".", facts) || !border_.Holds(facts)) {
    Pass();
    return {};
  }
  DropPages();
  here_ = std::move(next);
  levels_.push_back({.facts = facts, .path_size = path_.size()});
  return {};
}

base::Status SortedWalk::GoUp() {
  kept_ -= levels_.back().names.size();
  levels_.pop_back();
  if (levels_.empty()) return {};
  auto above = OpenAbove(here_.get(), levels_.back().facts);
  if (!above) return std::unexpected(Named(path_, std::move(above).error()));
  here_ = std::move(*above);
  return {};
}

void SortedWalk::Pass() {
  ++passed_count_;
  if (passed_.size() < kMostPassed) passed_.push_back(path_);
}

}  // namespace skerry::workspace

#include "engine/host_trail.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "os/files.hpp"

namespace skerry::engine {
namespace {

constexpr int kMostLinks = 40;  // as the kernel has it

// Puts the names of a path in front of the pending ones, which are stored in reverse: the next name is the last.
void PushNames(std::string_view path, std::vector<std::string>& pending) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::size_t start = slash == std::string_view::npos ? 0 : slash + 1;
    if (std::string name(path.substr(start)); !name.empty() && name != ".") pending.push_back(std::move(name));
    path = path.substr(0, start == 0 ? 0 : start - 1);
  }
}

}  // namespace

HostTrails::HostTrails(int root) {
  root_ = os::ReadLink(AT_FDCWD, "/proc/self/fd/" + std::to_string(root)).value_or("");
  if (root_ == "/") root_.clear();
  (void)::fstat(root, &facts_);
}

Trail HostTrails::Follow(std::string_view path) const {
  Trail trail;
  std::vector<std::string> pending;
  PushNames(path, pending);
  int links = 0;
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {
      trail.end.resize(std::min(trail.end.rfind('/'), trail.end.size()));
      continue;
    }
    const std::string next = trail.end + '/' + name;
    if (auto step = Inside(next); step && !step->empty()) trail.steps.push_back(std::move(*step));
    struct stat facts{};
    const bool there = ::fstatat(AT_FDCWD, next.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISLNK(facts.st_mode) && ++links <= kMostLinks) {
      const std::string target = os::ReadLink(AT_FDCWD, next).value_or("");
      if (target.starts_with('/')) trail.end.clear();
      PushNames(target, pending);
      continue;
    }
    trail.end = there && IsRoot(facts) ? root_ : next;
  }
  trail.place = Inside(trail.end);
  return trail;
}

std::optional<std::string> HostTrails::Inside(const std::string& path) const {
  if (path == root_) return "";
  if (path.starts_with(root_) && path[root_.size()] == '/') return path.substr(root_.size() + 1);
  return std::nullopt;
}

// Also recognises the root through another mount.
bool HostTrails::IsRoot(const struct stat& facts) const {
  return facts.st_dev == facts_.st_dev && facts.st_ino == facts_.st_ino;
}

}  // namespace skerry::engine

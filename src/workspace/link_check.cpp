#include "workspace/link_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <climits>
#include <cstddef>
#include <optional>
#include <vector>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"
#include "workspace/resolver.hpp"

namespace skerry::workspace {
namespace {

constexpr std::string_view kLeadsOut = "leads out of the workspace";

// The components of a path, without empty ones and ".".
std::vector<std::string_view> ComponentsOf(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const std::string_view first = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(first.size() + 1, path.size()));
    if (!first.empty() && first != ".") components.push_back(first);
  }
  return components;
}

// Where `target` of a link at `path` points to, as a path of the workspace. Nothing for a ".." after a name: that name
// may be a link.
std::optional<std::string> InsideTarget(std::string_view path, std::string_view target) {
  std::string_view directory = ParentOf(path);
  std::string inside;
  bool climbing = true;
  for (const std::string_view component : ComponentsOf(target)) {
    if (component == ".." && (!climbing || directory.empty())) return std::nullopt;
    if (component == "..") {
      directory = ParentOf(directory);
    } else {
      climbing = false;
      inside = JoinPath(inside, component);
    }
  }
  if (inside.empty()) return std::string(directory);
  return JoinPath(directory, inside);
}

// Whether the target stays inside, seen from a directory of that depth.
bool StaysInside(std::size_t depth, std::string_view target) {
  for (const std::string_view component : ComponentsOf(target)) {
    if (component == ".." && depth-- == 0) return false;
    if (component != "..") ++depth;
  }
  return true;
}

bool IsInsideOwn(std::string_view path, std::string_view target) {
  constexpr std::string_view kInside = "/workspace";
  if (!target.starts_with('/')) return StaysInside(DepthOf(ParentOf(path)), target);
  return (target == kInside || IsBelow(target, kInside)) && StaysInside(0, target.substr(kInside.size()));
}

bool IsProgramOfTheSystem(std::string_view target) {
  constexpr std::array<std::string_view, 2> kPlaces = {"/usr/bin/", "/usr/local/bin/"};
  bool below = false;
  for (const std::string_view place : kPlaces) below = below || target.starts_with(place);
  for (const std::string_view component : ComponentsOf(target)) below = below && component != "..";
  struct stat facts{};
  return below && ::stat(std::string(target).c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         (facts.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

// For Python's environments: python3.11 -> python -> /usr/bin/python3.
bool EndsAtProgramOfTheSystem(int root, std::string path) {
  constexpr int kMaxSteps = 8;
  for (int step = 0; step < kMaxSteps; ++step) {
    const auto place = FindPlace(root, path);
    if (!place || !place->HoldsLink()) return false;
    const auto target = os::ReadLink(place->parent.get(), place->name);
    if (!target) return false;
    if (target->starts_with('/')) return IsProgramOfTheSystem(*target);
    const auto next = InsideTarget(path, *target);
    if (!next || next->empty()) return false;
    path = *next;
  }
  return false;
}

}  // namespace

std::string LinkObstacle(std::string_view path, std::string_view target, LinkRule rule) {
  if (target.empty()) return "is a link to nothing";
  if (target.size() >= PATH_MAX) return "is a link with too long a target";
  const bool inside = rule == LinkRule::kOwn ? IsInsideOwn(path, target)
                                             : !target.starts_with('/') && InsideTarget(path, target).has_value();
  return inside || IsProgramOfTheSystem(target) ? std::string() : std::string(kLeadsOut);
}

namespace {

std::string FollowedInOwn(int root, const std::string& path) {
  base::UniqueFd own(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto end = Resolver(std::move(own)).Open(path, O_PATH);
  if (end || end.error().code != base::Code::kPathTraversal) return {};
  return EndsAtProgramOfTheSystem(root, path) ? std::string() : std::string(kLeadsOut);
}

}  // namespace

std::string FollowedLinkObstacle(int root, const std::string& path, LinkRule rule) {
  if (FollowBeneath(root, path).valid() || errno == ENOENT || errno == ENOTDIR) return {};
  if (errno == ELOOP) return "is a link that leads to itself";
  if (errno != EXDEV) return "is a link that cannot be followed: " + os::ErrnoText(errno);
  if (rule == LinkRule::kOwn) return FollowedInOwn(root, path);
  return EndsAtProgramOfTheSystem(root, path) ? std::string() : std::string(kLeadsOut);
}

}  // namespace skerry::workspace

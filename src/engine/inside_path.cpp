#include "engine/inside_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ranges>
#include <vector>

#include "os/files.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::string_view kWorkspace = "workspace";
constexpr std::string_view kInside = "/workspace/";
constexpr int kMostLinks = 40;  // as Linux has it

using Parts = std::vector<std::string_view>;

// The names of a path, without empty ones and dots.
Parts PartsOf(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  return parts;
}

// /proc/PID/cwd or root, or those of a thread: it is unknown whose they are; most often they are the program's own.
bool IsOfProcess(const Parts& parts, std::string_view name) {
  const bool is_thread = parts.size() == 5 && parts[2] == "task";
  return (parts.size() == 3 || is_thread) && parts[0] == "proc" && parts.back() == name;
}

bool IsLink(const base::UniqueFd& handle) {
  struct stat facts{};
  return ::fstat(handle.get(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

// One walk, name by name, for paths with links.
class Walk {
 public:
  Walk(int workspace, LookupBudget& budget) : workspace_(workspace), budget_(budget) {}

  InsideFile To(std::string_view path) {
    if (!Prepend(path)) return {};
    while (!ahead_.empty()) {
      const std::string part = std::move(ahead_.back());
      ahead_.pop_back();
      if (!(is_inside_ ? StepInside(part) : StepOutside(part))) return {};
    }
    if (!is_inside_ || !Reopen()) return {};
    return {std::move(at_), std::move(path_)};
  }

 private:
  bool Prepend(std::string_view path) {
    const Parts parts = PartsOf(path);
    if (!budget_.Spend(1 + parts.size())) return false;
    for (const std::string_view part : std::views::reverse(parts)) ahead_.emplace_back(part);
    return true;
  }

  void GoToRoot() {
    is_inside_ = false;
    above_.clear();
    path_.clear();
    at_.Reset();
  }

  // Between the root and the workspace only the names are known.
  bool StepOutside(const std::string& part) {
    if (part != "..") {
      is_inside_ = above_.empty() && part == kWorkspace;
      if (!is_inside_) above_.push_back(part);
    } else if (!above_.empty()) {
      above_.pop_back();
    }
    return true;
  }

  bool StepInside(const std::string& part) {
    if (part == "..") {
      if (path_.empty()) {
        GoToRoot();
      } else {
        path_ = workspace::ParentOf(path_);
        at_.Reset();
      }
      return true;
    }
    if (!Reopen() || !budget_.Spend(1)) return false;
    base::UniqueFd next(::openat(at_.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return false;
    if (IsLink(next)) return FollowLink(next);
    path_ = workspace::JoinPath(path_, part);
    at_ = std::move(next);
    return true;
  }

  bool FollowLink(const base::UniqueFd& link) {
    const auto target = os::ReadLink(link.get(), "");
    if (!target || ++links_ > kMostLinks) return false;
    if (target->starts_with('/')) GoToRoot();
    return Prepend(*target);
  }

  // A directory that was moved meanwhile has another parent, so the way up begins at the workspace.
  bool Reopen() {
    if (at_.valid()) return true;
    if (!budget_.Spend(1 + PartsOf(path_).size())) return false;
    at_ = workspace::WalkBeneath(workspace_, path_);
    return at_.valid() && !IsLink(at_);
  }

  int workspace_;
  LookupBudget& budget_;
  std::vector<std::string> ahead_;  // names to walk; the next one is the last
  bool is_inside_ = true;
  std::vector<std::string> above_;  // the position, outside of the workspace
  std::string path_;                // the position, inside
  base::UniqueFd at_;               // the directory at path_, when it is open
  int links_ = 0;
};

}  // namespace

std::string_view WithoutRoot(std::string_view word) {
  if (word.starts_with(kInside)) word.remove_prefix(kInside.size());
  if (word == "/workspace") return "";
  while (word.starts_with("./")) word.remove_prefix(2);
  while (word.ends_with('.') || word.ends_with('/')) word.remove_suffix(1);
  return word;
}

bool TakeInside(std::string_view directory, std::string_view path, std::string& inside) {
  Parts begin = {kWorkspace};
  for (const std::string_view part : PartsOf(directory)) begin.push_back(part);
  Parts parts = path.starts_with('/') ? Parts{} : begin;
  for (const std::string_view part : PartsOf(path)) {
    if (part != "..") parts.push_back(part);
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (IsOfProcess(parts, "cwd")) parts = begin;
    if (IsOfProcess(parts, "root")) parts.clear();
  }
  if (parts.empty() || parts.front() != kWorkspace) return false;
  inside.clear();
  for (const std::string_view part : parts | std::views::drop(1)) inside.append(inside.empty() ? "" : "/").append(part);
  return true;
}

InsideFile OpenInside(int workspace, const std::string& path, LookupBudget& budget) {
  const auto parts = 1 + static_cast<std::uint64_t>(std::ranges::count(path, '/'));
  if (!budget.Spend(parts)) return {};
  base::UniqueFd handle = workspace::WalkBeneath(workspace, path);
  if (handle.valid() ? IsLink(handle) : errno == ELOOP) return Walk(workspace, budget).To(path);
  return {std::move(handle), path};
}

}  // namespace skerry::engine

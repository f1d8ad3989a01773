#include "workspace/path_walk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <ranges>
#include <utility>

#include "workspace/beneath.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel
// Descriptors held at once; a walk that climbs further opens its directories again.
constexpr std::size_t kHeld = 64;
// With links, a short path can lead through millions of names.
constexpr std::size_t kMaxOpened = 100'000;

base::Result<base::UniqueFd> CopyOf(int fd) {
  base::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return PathErr();
  return copy;
}

}  // namespace

std::vector<std::string_view> NamesOf(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::string_view first = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(first.size() + 1, path.size()));
    if (!first.empty() && first != ".") names.push_back(first);
  }
  return names;
}

base::Result<Walked> PathWalk::Run(std::string_view path, Resolver::LastLink last) {
  for (const std::string_view name : NamesOf(path) | std::views::reverse) ahead_.emplace_back(name);
  while (!ahead_.empty()) {
    std::string name = std::move(ahead_.back());
    ahead_.pop_back();
    if (name == "..") {
      SKERRY_RETURN_IF_ERROR(GoUp());
      continue;
    }
    SKERRY_ASSIGN_OR_RETURN(const int directory, DirectoryAt(steps_.size()));
    Facts facts{};
    auto next = OpenNext(directory, name, facts);
    if (!next && next.error().code == base::Code::kNotFound && ahead_.empty()) return EndAt(std::move(name), {});
    if (!next) return std::unexpected(std::move(next).error());
    if (IsDirectory(facts)) {
      Enter(std::move(name), facts, std::move(*next));
    } else if (IsLink(facts) && (last == Resolver::LastLink::kFollow || !ahead_.empty())) {
      SKERRY_RETURN_IF_ERROR(FollowLink(next->get()));
    } else if (ahead_.empty()) {
      return EndAt(std::move(name), std::move(*next));
    } else {
      return PathErr(ENOTDIR);
    }
  }
  return EndHere();
}

base::Result<base::UniqueFd> PathWalk::OpenNext(int directory, const std::string& name, Facts& facts) {
  if (++opened_ > kMaxOpened) return PathErr(ELOOP);
  base::UniqueFd fd(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() || !FactsAt(fd.get(), "", facts)) return PathErr();
  if (!border_.Holds(facts)) return PathErr(EXDEV);
  return fd;
}

base::Result<int> PathWalk::DirectoryAt(std::size_t count) {
  if (count == 0) return root_;
  if (!steps_[count - 1].fd.valid()) SKERRY_RETURN_IF_ERROR(WalkAgain(count));
  return steps_[count - 1].fd.get();
}

base::Status PathWalk::WalkAgain(std::size_t count) {
  base::UniqueFd passed;
  int directory = root_;
  for (std::size_t at = 0; at < count; ++at) {
    Step& step = steps_[at];
    Facts facts{};
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd fd, OpenNext(directory, step.name, facts));
    if (!SameThing(facts, step.facts)) return base::Err(base::Code::kConflict, "was moved meanwhile");
    directory = fd.get();
    if (at + kHeld >= count) {
      step.fd = std::move(fd);
    } else {
      passed = std::move(fd);
    }
  }
  return {};
}

void PathWalk::Enter(std::string name, const Facts& facts, base::UniqueFd fd) {
  steps_.push_back({std::move(name), facts, std::move(fd)});
  if (steps_.size() > kHeld) steps_[steps_.size() - kHeld - 1].fd.Reset();
}

base::Status PathWalk::FollowLink(int link) {
  if (++links_ > kMaxLinks) return PathErr(ELOOP);
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
  if (size < 0) return PathErr();
  const std::string_view target(text.data(), static_cast<std::size_t>(size));
  std::vector<std::string_view> names = NamesOf(target);
  if (target.starts_with('/')) {
    if (names.empty() || names.front() != kInsideName) return LeadsOut();
    names.erase(names.begin());
    steps_.clear();
  }
  for (const std::string_view name : names | std::views::reverse) ahead_.emplace_back(name);
  return {};
}

base::Status PathWalk::GoUp() {
  if (steps_.empty()) return LeadsOut();
  steps_.pop_back();
  return {};
}

base::Result<Walked> PathWalk::EndAt(std::string name, base::UniqueFd entry) {
  SKERRY_ASSIGN_OR_RETURN(const int directory, DirectoryAt(steps_.size()));
  Walked walked;
  SKERRY_ASSIGN_OR_RETURN(walked.parent, CopyOf(directory));
  for (const Step& step : steps_) walked.path = std::move(walked.path) + step.name + '/';
  walked.path += name;
  walked.name = std::move(name);
  walked.entry = std::move(entry);
  return walked;
}

base::Result<Walked> PathWalk::EndHere() {
  SKERRY_ASSIGN_OR_RETURN(const int here, DirectoryAt(steps_.size()));
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd entry, CopyOf(here));
  if (steps_.empty()) {
    Walked root;
    root.entry = std::move(entry);
    return root;
  }
  std::string name = std::move(steps_.back().name);
  steps_.pop_back();
  return EndAt(std::move(name), std::move(entry));
}

}  // namespace skerry::workspace

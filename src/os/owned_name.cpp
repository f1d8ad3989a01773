#include "os/owned_name.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>

#include "base/ids.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"

namespace skerry::os {
namespace {

// Identifies a process for the whole time of this boot: a pid may be used again, but not with the same start time.
struct Owner {
  std::uint64_t pid_namespace = 0;
  std::uint64_t pid = 0;
  std::uint64_t start = 0;
};

std::uint64_t OwnPidNamespace() {
  struct stat facts{};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

struct ProcessFacts {
  char state = '?';
  std::uint64_t start = 0;
};

// Nothing when the facts cannot be read, for whatever reason.
std::optional<ProcessFacts> FactsOf(std::uint64_t pid) {
  constexpr std::size_t kLimit = 8192;
  constexpr int kFieldsToStart = 18;  // from the one after the state on
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat", kLimit);
  if (!text || text->rfind(')') == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(text->rfind(')') + 1));
  ProcessFacts facts;
  fields >> facts.state;
  std::string skipped;
  for (int i = 0; i < kFieldsToStart; ++i) fields >> skipped;
  fields >> facts.start;
  return fields ? std::optional(facts) : std::nullopt;
}

// True only when it is certain: the sandbox of a living process must not be removed because a file could not be read.
bool IsDead(const Owner& owner) {
  if (::kill(static_cast<pid_t>(owner.pid), 0) < 0 && errno == ESRCH) return true;
  const auto facts = FactsOf(owner.pid);
  // A zombie owns nothing any more.
  return facts && (facts->start != owner.start || facts->state == 'Z' || facts->state == 'X');
}

std::optional<Owner> Parse(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::array<std::uint64_t, 3> numbers{};
  for (std::uint64_t& number : numbers) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end == name.data() + name.size() || *end != '-') return std::nullopt;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()) + 1);
  }
  if (name.empty()) return std::nullopt;
  return Owner{numbers[0], numbers[1], numbers[2]};
}

}  // namespace

std::string OwnedName(std::string_view prefix) {
  // Looked up once by each process; a forked process looks again.
  thread_local Owner own;
  const auto pid = static_cast<std::uint64_t>(::getpid());
  if (own.pid != pid || own.start == 0) own = {OwnPidNamespace(), pid, FactsOf(pid).value_or(ProcessFacts{}).start};
  return std::string(prefix) + std::to_string(own.pid_namespace) + "-" + std::to_string(own.pid) + "-" +
         std::to_string(own.start) + "-" + base::RandomId("");
}

OwnerState StateOfOwner(std::string_view name, std::string_view prefix) {
  const auto owner = Parse(name, prefix);
  const std::uint64_t here = OwnPidNamespace();
  if (!owner || owner->start == 0 || owner->pid == 0 || here == 0 || owner->pid_namespace != here)
    return OwnerState::kUnknown;
  return IsDead(*owner) ? OwnerState::kDead : OwnerState::kAlive;
}

void SweepOwned(const std::string& base, std::string_view prefix) {
  const Directory directory(::opendir(base.c_str()));
  if (directory == nullptr) return;
  const int fd = ::dirfd(directory.get());
  while (const dirent* entry = ::readdir(directory.get())) {
    if (StateOfOwner(entry->d_name, prefix) != OwnerState::kDead) continue;
    struct stat facts{};
    const bool there = ::fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
    if (there && (facts.st_uid == ::geteuid() || ::geteuid() == 0)) (void)RemoveTree(fd, entry->d_name);
  }
}

}  // namespace skerry::os

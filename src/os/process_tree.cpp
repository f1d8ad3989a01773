#include "os/process_tree.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>

#include "os/directory.hpp"
#include "os/files.hpp"

namespace skerry::os {
namespace {

constexpr std::size_t kProcFileLimit = 1 << 20;
constexpr std::size_t kMaxProcesses = 100'000;

void AppendChildren(pid_t parent, std::vector<pid_t>& tree) {
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  const Directory directory(::opendir(tasks.c_str()));
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (IsDots(entry->d_name)) continue;
    const auto children = ReadFile(tasks + "/" + entry->d_name + "/children", kProcFileLimit);
    if (!children) continue;
    std::istringstream stream(*children);
    for (pid_t child = 0; stream >> child && tree.size() < kMaxProcesses;) tree.push_back(child);
  }
}

// By its threads: the files of a process whose first thread has ended, while others live on, show nothing.
std::uint64_t ResidentBytes(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  const Directory directory(::opendir(tasks.c_str()));
  if (directory == nullptr) return 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto text = ReadFile(tasks + "/" + entry->d_name + "/statm", kProcFileLimit);
    if (!text) continue;
    std::istringstream stream(*text);
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    stream >> total >> resident;
    if (resident != 0) return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return 0;
}

// A directory has a link for each directory in it, besides its own two.
std::uint64_t TasksOf(pid_t pid) {
  struct stat facts{};
  return ::stat(("/proc/" + std::to_string(pid) + "/task").c_str(), &facts) == 0 ? facts.st_nlink - 2 : 0;
}

// Falls back to the resident size where the kernel does not let us look.
std::uint64_t ProportionalBytes(pid_t pid) {
  constexpr std::uint64_t kKibibyte = 1024;
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup", kProcFileLimit);
  if (!text) return ResidentBytes(pid);
  const auto at = text->find("\nPss:");
  if (at == std::string::npos) return ResidentBytes(pid);
  std::istringstream stream(text->substr(at + 5));
  std::uint64_t kibibytes = 0;
  stream >> kibibytes;
  return kibibytes != 0 ? kibibytes * kKibibyte : ResidentBytes(pid);
}

}  // namespace

std::vector<pid_t> ProcessTree(pid_t root) {
  std::vector<pid_t> tree = {root};
  for (std::size_t at = 0; at < tree.size(); ++at) AppendChildren(tree[at], tree);
  return tree;
}

TreeUse ProcessTreeUse(pid_t root, std::uint64_t threshold) {
  const std::vector<pid_t> tree = ProcessTree(root);
  TreeUse use;
  for (const pid_t pid : tree) {
    use.memory_bytes += ResidentBytes(pid);
    use.tasks += TasksOf(pid);
  }
  if (use.memory_bytes <= threshold) return use;
  use.memory_bytes = 0;
  for (const pid_t pid : tree) use.memory_bytes += ProportionalBytes(pid);
  return use;
}

bool KillAllDescendants(base::Deadline deadline) {
  const pid_t self = ::getpid();
  for (;;) {
    for (const pid_t pid : ProcessTree(self)) {
      // Descendants of a subreaper stay ours until we reap them, so their pids cannot have gone to strangers.
      if (pid != self) ::kill(pid, SIGKILL);
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return true;
    if (deadline.Expired()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace skerry::os

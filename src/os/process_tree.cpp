#include "os/process_tree.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <set>
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

// Read from the threads: when the first thread of a process has ended and others live on, the files of the process show
// nothing.
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

// A directory has one link for each directory in it, besides its own two.
std::uint64_t TasksOf(pid_t pid) {
  struct stat facts{};
  return ::stat(("/proc/" + std::to_string(pid) + "/task").c_str(), &facts) == 0 ? facts.st_nlink - 2 : 0;
}

// The resident size where the kernel does not let this process look.
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

struct Kinship {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
};

// Reads "pid (name) state parent group session …"; the name may have any character.
std::optional<Kinship> KinshipOf(const std::string& entry) {
  Kinship kin;
  if (std::from_chars(entry.data(), entry.data() + entry.size(), kin.pid).ec != std::errc()) return std::nullopt;
  const auto text = ReadFile("/proc/" + entry + "/stat", kProcFileLimit);
  const auto name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream stream(text->substr(name_end + 1));
  char state = 0;
  pid_t group = 0;
  stream >> state >> kin.parent >> group >> kin.session;
  return stream && state != 'Z' && state != 'X' ? std::optional(kin) : std::nullopt;
}

std::vector<Kinship> AllProcesses() {
  std::vector<Kinship> all;
  const Directory directory(::opendir("/proc"));
  while (const dirent* entry = directory == nullptr ? nullptr : ::readdir(directory.get())) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (const auto kin = KinshipOf(entry->d_name)) all.push_back(*kin);
  }
  return all;
}

// Adds all relatives to `family`. Gives those that are new.
std::vector<pid_t> Relatives(std::set<pid_t>& family) {
  const std::vector<Kinship> all = AllProcesses();
  const pid_t self = ::getpid();
  std::vector<pid_t> found;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Kinship& kin : all) {
      const bool related = family.contains(kin.parent) || family.contains(kin.session);
      if (kin.pid == self || !related || !family.insert(kin.pid).second) continue;
      found.push_back(kin.pid);
      grows = true;
    }
  }
  return found;
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

pid_t ParentOf(pid_t pid) {
  const auto kin = KinshipOf(std::to_string(pid));
  return kin ? kin->parent : 0;
}

// All processes are stopped first: none can have children, or lose the parent that shows whose child it is, meanwhile.
void KillSessionTree(pid_t leader, base::Deadline deadline) {
  std::set<pid_t> family = {leader};
  ::kill(leader, SIGSTOP);
  for (bool grows = true; grows && !deadline.Expired();) {
    const std::vector<pid_t> found = Relatives(family);
    for (const pid_t pid : found) ::kill(pid, SIGSTOP);
    grows = !found.empty();
  }
  for (const pid_t pid : family) ::kill(pid, SIGKILL);
  // A thread that was not stopped yet may have made one more process.
  for (bool grows = true; grows && !deadline.Expired();) {
    const std::vector<pid_t> found = Relatives(family);
    for (const pid_t pid : found) ::kill(pid, SIGKILL);
    grows = !found.empty();
  }
}

std::size_t KillDescendantsOf(pid_t root) {
  std::size_t count = 0;
  for (const pid_t pid : ProcessTree(root)) {
    if (pid == root) continue;
    ::kill(pid, SIGKILL);
    ++count;
  }
  return count;
}

bool KillAllDescendants(base::Deadline deadline) {
  for (;;) {
    // Descendants of a subreaper stay its own until it reaps them, so their pids cannot belong to other processes.
    KillDescendantsOf(::getpid());
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return true;
    if (deadline.Expired()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace skerry::os

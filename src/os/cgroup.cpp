#include "os/cgroup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>
#include <thread>

#include "os/directory.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/owned_name.hpp"

namespace skerry::os {
namespace {

constexpr std::size_t kControlFileLimit = 1 << 20;
constexpr auto kRetryInterval = std::chrono::milliseconds(1);
constexpr auto kRemovalPatience = std::chrono::seconds(5);

std::uint64_t Number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "key 12\nother 3\n" → 12 for "key"; 0 when it is not there.
std::uint64_t KeyedNumber(const std::string& path, std::string_view key) {
  const auto text = ReadFile(path, kControlFileLimit);
  if (!text) return 0;
  std::istringstream stream(*text);
  std::string name;
  for (std::string value; stream >> name >> value;)
    if (name == key) return Number(value);
  return 0;
}

std::uint64_t PlainNumber(const std::string& path) {
  const auto text = ReadFile(path, kControlFileLimit);
  return text ? Number(*text) : 0;
}

// A control that this kernel does not have is nothing to set; one that it has must take what is written.
base::Status WriteIfThere(const std::string& path, std::string_view text) {
  const auto written = WriteControlFile(path, text);
  return written || written.error().code == base::Code::kNotFound ? base::Status{} : written;
}

base::Status LimitMemory(CgroupVersion version, const std::string& directory, std::uint64_t bytes) {
  const std::string text = std::to_string(bytes);
  if (version == CgroupVersion::kTwo) {
    SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/memory.max", text));
    // Absent without swap accounting; then there is nothing to swap to within the group either.
    return WriteIfThere(directory + "/memory.swap.max", "0");
  }
  SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/memory.limit_in_bytes", text));
  SKERRY_RETURN_IF_ERROR(WriteIfThere(directory + "/memory.memsw.limit_in_bytes", text));
  // Version 1 counts the buffers of TCP and UDP sockets apart from memory. A quarter is plenty for a loopback; without
  // the limit a program can hold gigabytes in sockets that it never reads from. The launcher watches them besides.
  return WriteIfThere(directory + "/memory.kmem.tcp.limit_in_bytes", std::to_string(bytes / 4));
}

base::Status LimitCpu(CgroupVersion version, const std::string& directory, std::uint32_t percent) {
  constexpr std::uint32_t kPeriodMicroseconds = 100'000;
  const std::string quota = std::to_string(percent * (kPeriodMicroseconds / 100));
  if (version == CgroupVersion::kTwo)
    return WriteControlFile(directory + "/cpu.max", quota + " " + std::to_string(kPeriodMicroseconds));
  return WriteControlFile(directory + "/cpu.cfs_quota_us", quota);
}

void KillMembers(CgroupVersion version, const std::string& directory) {
  if (version == CgroupVersion::kTwo && WriteControlFile(directory + "/cgroup.kill", "1").has_value()) return;
  const auto members = ReadFile(directory + "/cgroup.procs", kControlFileLimit);
  if (!members) return;
  std::istringstream stream(*members);
  // The pids are read from our own group a moment ago; a group being killed cannot lend its pids to others.
  for (pid_t pid = 0; stream >> pid;) ::kill(pid, SIGKILL);
}

// Kills what is inside until the directory can be removed. False when it could not be by the deadline.
bool RemoveGroup(CgroupVersion version, const std::string& directory, base::Deadline deadline) {
  while (::rmdir(directory.c_str()) < 0) {
    if (errno == ENOENT) return true;
    if (errno != EBUSY || deadline.Expired()) return false;
    KillMembers(version, directory);
    std::this_thread::sleep_for(kRetryInterval);
  }
  return true;
}

void SweepMount(const CgroupMount& mount, std::string_view prefix, base::Deadline deadline) {
  const os::Directory directory(::opendir(mount.directory.c_str()));
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory.get()))
    if (StateOfOwner(entry->d_name, prefix) == OwnerState::kDead)
      (void)RemoveGroup(mount.version, mount.directory + "/" + entry->d_name, deadline);
}

}  // namespace

void SweepCgroups(const CgroupHierarchy& hierarchy, std::string_view prefix) {
  const auto deadline = base::Deadline::After(kRemovalPatience);
  for (const CgroupMount& mount : hierarchy.mounts) SweepMount(mount, prefix, deadline);
}

base::Result<Cgroup> Cgroup::Create(const CgroupHierarchy& hierarchy, const std::string& name, CgroupLimits limits) {
  Cgroup cgroup;
  for (const CgroupMount& mount : hierarchy.mounts) SKERRY_RETURN_IF_ERROR(cgroup.Add(mount, name));
  SKERRY_RETURN_IF_ERROR(cgroup.Limit(limits));
  return cgroup;
}

base::Status Cgroup::Add(const CgroupMount& mount, const std::string& name) {
  const std::string directory = mount.directory + "/" + name;
  if (::mkdir(directory.c_str(), 0755) < 0) return ErrnoErr("make cgroup " + directory);
  groups_.push_back({mount.version, directory, mount.controllers, {}});
  if (mount.version == CgroupVersion::kTwo) {
    version2_.Reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!version2_.valid()) return ErrnoErr(directory);
    if (!mount.Has("memory") && !mount.Has("pids") && !mount.Has("cpu")) return {};
    groups_.back().join.Reset(::open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    return groups_.back().join.valid() ? base::Status{} : ErrnoErr(directory + "/cgroup.procs");
  }
  groups_.back().join.Reset(::open((directory + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
  return groups_.back().join.valid() ? base::Status{} : ErrnoErr(directory + "/tasks");
}

base::Status Cgroup::Limit(CgroupLimits limits) const {
  if (const Group* group = Directory("memory"); group != nullptr && limits.memory_bytes != 0)
    SKERRY_RETURN_IF_ERROR(LimitMemory(group->version, group->directory, limits.memory_bytes));
  if (const Group* group = Directory("pids"); group != nullptr && limits.pids != 0)
    SKERRY_RETURN_IF_ERROR(WriteControlFile(group->directory + "/pids.max", std::to_string(limits.pids)));
  if (const Group* group = Directory("cpu"); group != nullptr && limits.cpu_percent != 0)
    SKERRY_RETURN_IF_ERROR(LimitCpu(group->version, group->directory, limits.cpu_percent));
  return {};
}

const Cgroup::Group* Cgroup::Directory(std::string_view controller) const {
  const auto found = std::ranges::find_if(groups_, [&](const Group& group) {
    return std::ranges::find(group.controllers, controller) != group.controllers.end();
  });
  return found == groups_.end() ? nullptr : &*found;
}

std::vector<int> Cgroup::JoinFds() const {
  std::vector<int> fds;
  for (const Group& group : groups_)
    if (group.join.valid() && group.version == CgroupVersion::kOne) fds.push_back(group.join.get());
  return fds;
}

std::vector<int> Cgroup::JoinFdsForMembers() const {
  std::vector<int> fds;
  for (const Group& group : groups_)
    if (group.join.valid()) fds.push_back(group.join.get());
  return fds;
}

void Cgroup::Kill() const {
  for (const Group& group : groups_) KillMembers(group.version, group.directory);
}

bool Cgroup::Empty() const {
  return std::ranges::all_of(groups_, [](const Group& group) {
    const auto members = ReadFile(group.directory + "/cgroup.procs", kControlFileLimit);
    return !members || members->empty();
  });
}

bool Cgroup::WaitEmpty(base::Deadline deadline) const {
  while (!Empty()) {
    if (deadline.Expired()) return false;
    std::this_thread::sleep_for(kRetryInterval);
  }
  return true;
}

CgroupUsage Cgroup::Usage() const {
  CgroupUsage usage;
  if (const Group* group = Directory("memory"); group != nullptr) {
    const bool two = group->version == CgroupVersion::kTwo;
    usage.out_of_memory_kills =
        KeyedNumber(group->directory + (two ? "/memory.events" : "/memory.oom_control"), "oom_kill");
    usage.memory_peak_bytes = PlainNumber(group->directory + (two ? "/memory.peak" : "/memory.max_usage_in_bytes"));
  }
  if (const Group* group = Directory("pids"); group != nullptr)
    usage.forks_refused = KeyedNumber(group->directory + "/pids.events", "max");
  if (const Group* group = Directory("cpu"); group != nullptr)
    usage.times_throttled = KeyedNumber(group->directory + "/cpu.stat", "nr_throttled");
  return usage;
}

Cgroup::~Cgroup() {
  const auto deadline = base::Deadline::After(kRemovalPatience);
  for (const Group& group : groups_) (void)RemoveGroup(group.version, group.directory, deadline);
}

}  // namespace skerry::os

#include "os/cgroup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

// A control file that this kernel lacks is skipped; one that it has must take the text.
base::Status WriteIfThere(const std::string& path, std::string_view text) {
  const auto written = WriteControlFile(path, text);
  return written || written.error().code == base::Code::kNotFound ? base::Status{} : written;
}

base::Status LimitMemory(CgroupVersion version, const std::string& directory, std::uint64_t bytes) {
  const std::string text = std::to_string(bytes);
  if (version == CgroupVersion::kTwo) {
    SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/memory.max", text));
    // The file is missing without swap accounting; then the group cannot swap either.
    return WriteIfThere(directory + "/memory.swap.max", "0");
  }
  // The limit of memory may never be above that of memory and swap together: in a group that has limits already, a
  // larger limit needs the second file first, a smaller one the first.
  const std::string both = directory + "/memory.memsw.limit_in_bytes";
  if (!WriteControlFile(directory + "/memory.limit_in_bytes", text)) {
    SKERRY_RETURN_IF_ERROR(WriteIfThere(both, text));
    SKERRY_RETURN_IF_ERROR(WriteControlFile(directory + "/memory.limit_in_bytes", text));
  }
  SKERRY_RETURN_IF_ERROR(WriteIfThere(both, text));
  // Version 1 counts the buffers of TCP and UDP sockets apart from memory. A quarter is plenty for a loopback; without
  // the limit a program can hold gigabytes in sockets that it never reads from. The launcher watches sockets in
  // addition.
  return WriteIfThere(directory + "/memory.kmem.tcp.limit_in_bytes", std::to_string(bytes / 4));
}

base::Status LimitCpu(CgroupVersion version, const std::string& directory, std::uint32_t percent) {
  constexpr std::uint32_t kPeriodMicroseconds = 100'000;
  const std::string quota = std::to_string(percent * (kPeriodMicroseconds / 100));
  if (version == CgroupVersion::kTwo)
    return WriteControlFile(directory + "/cpu.max", quota + " " + std::to_string(kPeriodMicroseconds));
  return WriteControlFile(directory + "/cpu.cfs_quota_us", quota);
}

}  // namespace

base::Status ShareProcessors(const GroupPlace& processors, std::uint32_t parts) {
  constexpr std::uint32_t kWhole1 = 1024;
  constexpr std::uint32_t kLeast1 = 2;
  constexpr std::uint32_t kWhole2 = 100;
  constexpr std::uint32_t kLeast2 = 1;
  if (processors.version == CgroupVersion::kTwo)
    return WriteControlFile(processors.directory + "/cpu.weight", std::to_string(std::max(kWhole2 / parts, kLeast2)));
  return WriteControlFile(processors.directory + "/cpu.shares", std::to_string(std::max(kWhole1 / parts, kLeast1)));
}

namespace {

bool KillAtOnce(const std::string& directory) {
  return WriteControlFile(directory + "/cgroup.kill", "1").has_value();
}

void KillListed(const std::string& directory, pid_t spared) {
  const auto members = ReadFile(directory + "/cgroup.procs", kControlFileLimit);
  if (!members) return;
  std::istringstream stream(*members);
  // The pids were read from Skerry's own group a moment ago; the pids of a group that is being killed go to no other
  // process.
  for (pid_t pid = 0; stream >> pid;)
    if (pid != spared) ::kill(pid, SIGKILL);
}

void KillMembers(CgroupVersion version, const std::string& directory) {
  if (version != CgroupVersion::kTwo || !KillAtOnce(directory)) KillListed(directory, 0);
}

// Kills all members until the directory can be removed. False when that was not possible by the deadline.
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
  SKERRY_RETURN_IF_ERROR(cgroup.OpenLimitedVersion2());
  return cgroup;
}

base::Status Cgroup::OpenLimitedVersion2() {
  for (Group& group : groups_) {
    const bool limits = std::ranges::any_of(
        group.controllers, [](const std::string& name) { return name == "memory" || name == "pids" || name == "cpu"; });
    if (group.version != CgroupVersion::kTwo || !limits) continue;
    group.join.Reset(::open((group.directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!group.join.valid()) return ErrnoErr(group.directory + "/cgroup.procs");
  }
  return {};
}

base::Status Cgroup::Add(const CgroupMount& mount, const std::string& name) {
  const std::string directory = mount.directory + "/" + name;
  if (::mkdir(directory.c_str(), 0755) < 0) return ErrnoErr("make cgroup " + directory);
  groups_.push_back({mount.version, directory, mount.controllers, {}});
  if (mount.version == CgroupVersion::kTwo) {
    version2_.Reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return version2_.valid() ? base::Status{} : ErrnoErr(directory);
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

// Version 2 first, which kills all at once: while a list is worked through, the killer itself may be killed.
void Cgroup::Kill(pid_t spared) const {
  const Group* all = Version2();
  const bool killed = all != nullptr && KillAtOnce(all->directory);
  for (const Group& group : groups_)
    if (!killed || &group != all) KillListed(group.directory, spared);
}

const Cgroup::Group* Cgroup::Version2() const {
  const auto found = std::ranges::find(groups_, CgroupVersion::kTwo, &Group::version);
  return found == groups_.end() ? nullptr : &*found;
}

base::Status Cgroup::Set(Motion motion) const {
  const Group* group = Version2();
  if (group == nullptr) return base::Err(base::Code::kUnavailable, "there is no cgroup of version 2 to freeze");
  return WriteControlFile(group->directory + "/cgroup.freeze", motion == Motion::kFrozen ? "1" : "0");
}

Cgroup::Motion Cgroup::CurrentMotion() const {
  const Group* group = Version2();
  const auto events = group != nullptr ? ReadFile(group->directory + "/cgroup.events", kControlFileLimit)
                                       : base::Result<std::string>(base::Err(base::Code::kNotFound, ""));
  return events && KeyedNumber(*events, "frozen") == 1 ? Motion::kFrozen : Motion::kMoving;
}

// All members are in the group that limits processes, where there is one; else each group is asked.
bool Cgroup::Empty() const {
  const Group* counted = Directory("pids");
  return std::ranges::all_of(groups_, [&](const Group& group) {
    if (counted != nullptr && &group != counted) return true;
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

bool CgroupCounters::Has(Kind kind) const {
  return std::ranges::any_of(counters_, [&](const Counter& counter) { return counter.kind == kind; });
}

CgroupUsage CgroupCounters::Read() const {
  CgroupUsage usage;
  for (const Counter& counter : counters_) {
    std::array<char, 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by pread
    const ssize_t size = ::pread(counter.fd.get(), buffer.data(), buffer.size(), 0);
    const std::string_view text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    switch (counter.kind) {
      case Kind::kMemoryPeak:
        usage.memory_peak_bytes = Number(text);
        break;
      case Kind::kMemoryEvents:
        usage.out_of_memory_kills = KeyedNumber(text, "oom_kill").value_or(0);
        break;
      case Kind::kPidsEvents:
        usage.forks_refused = KeyedNumber(text, "max").value_or(0);
        break;
      case Kind::kCpuStatistics:
        usage.times_throttled = KeyedNumber(text, "nr_throttled").value_or(0);
        break;
    }
  }
  return usage;
}

CgroupCounters Cgroup::OpenCounters() const {
  struct Row {
    CgroupCounters::Kind kind;
    std::string_view controller;
    std::string_view version1;
    std::string_view version2;
  };
  using Kind = CgroupCounters::Kind;
  static constexpr std::array<Row, CgroupCounters::kKinds> kRows = {
      Row{Kind::kMemoryPeak, "memory", "/memory.max_usage_in_bytes", "/memory.peak"},
      Row{Kind::kMemoryEvents, "memory", "/memory.oom_control", "/memory.events"},
      Row{Kind::kPidsEvents, "pids", "/pids.events", "/pids.events"},
      Row{Kind::kCpuStatistics, "cpu", "/cpu.stat", "/cpu.stat"}};
  std::vector<CgroupCounters::Counter> counters;
  for (const Row& row : kRows) {
    const Group* group = Directory(row.controller);
    if (group == nullptr) continue;
    const std::string_view name = group->version == CgroupVersion::kTwo ? row.version2 : row.version1;
    base::UniqueFd fd(::open((group->directory + std::string(name)).c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.valid()) counters.push_back({row.kind, std::move(fd)});
  }
  return CgroupCounters(std::move(counters));
}

// In a version 2 group that limits nothing there need not be members (see JoinFdsForMembers); one that limits something
// counts processor time whichever controllers it has.
GroupPlaces Cgroup::Places() const {
  const auto place = [](const Group* group) {
    return group != nullptr ? GroupPlace{group->version, group->directory} : GroupPlace{};
  };
  const Group* accounting = Directory("cpuacct");
  const Group* second = Version2();
  if (accounting == nullptr && second != nullptr && second->join.valid()) accounting = second;
  return {.memory = place(Directory("memory")),
          .cpu = place(accounting),
          .pids = place(Directory("pids")),
          .processors = place(Directory("cpu"))};
}

Cgroup::~Cgroup() {
  const auto deadline = base::Deadline::After(kRemovalPatience);
  for (const Group& group : groups_) (void)RemoveGroup(group.version, group.directory, deadline);
}

}  // namespace skerry::os

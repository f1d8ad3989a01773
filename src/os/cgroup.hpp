// A cgroup of one sandbox: limits, one atomic kill, and the proof that it is empty.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/cgroup_hierarchy.hpp"
#include "os/group_usage.hpp"

namespace skerry::os {

struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // with swap; 0 for no limit
  std::uint64_t pids = 0;          // 0 for no limit
  std::uint32_t cpu_percent = 0;   // of one core; 0 for no limit

  bool operator==(const CgroupLimits&) const = default;
};

struct CgroupUsage {
  std::uint64_t out_of_memory_kills = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t forks_refused = 0;
  std::uint64_t times_throttled = 0;
};

// The counters of a cgroup as open files: a process that holds these descriptors reads them without asking the owner of
// the cgroup.
class CgroupCounters {
 public:
  // What a counter counts. A cgroup without a controller lacks the controller's counters.
  enum class Kind : std::uint8_t { kMemoryPeak, kMemoryEvents, kPidsEvents, kCpuStatistics };
  static constexpr std::size_t kKinds = 4;
  struct Counter {
    Kind kind = Kind::kMemoryPeak;
    base::UniqueFd fd;
  };

  CgroupCounters() = default;
  explicit CgroupCounters(std::vector<Counter> counters) : counters_(std::move(counters)) {}

  [[nodiscard]] const std::vector<Counter>& all() const { return counters_; }
  [[nodiscard]] bool Has(Kind kind) const;
  [[nodiscard]] CgroupUsage Read() const;

 private:
  std::vector<Counter> counters_;
};

// Gives a cgroup one part in `parts` of the processor share that it would have by itself beside other cgroups. That
// counts only while more processor time is wanted than there is. At least 1.
base::Status ShareProcessors(const GroupPlace& processors, std::uint32_t parts);

// Removes the cgroups whose OwnedName() says that the process that made them is dead, and kills what is left in them.
// Other cgroups are not touched.
void SweepCgroups(const CgroupHierarchy& hierarchy, std::string_view prefix);

// Owns one directory per hierarchy. The destructor kills every member, waits until the cgroup is empty and removes it.
class Cgroup {
 public:
  // Makes `name` in every hierarchy that has a wanted controller, and in version 2 for the kill. A limit that the
  // machine cannot keep is no error here: LimitsMemory(), LimitsPids() and LimitsCpu() tell.
  static base::Result<Cgroup> Create(const CgroupHierarchy& hierarchy, const std::string& name, CgroupLimits limits);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup();

  [[nodiscard]] bool LimitsMemory() const { return Directory("memory") != nullptr; }
  // Version 1 gives every socket its least share beyond the limit, and a program can have very many sockets.
  [[nodiscard]] bool LimitsSockets() const {
    return LimitsMemory() && Directory("memory")->version == CgroupVersion::kTwo;
  }
  [[nodiscard]] bool LimitsPids() const { return Directory("pids") != nullptr; }
  [[nodiscard]] bool LimitsCpu() const { return Directory("cpu") != nullptr; }

  // Replaces the limits that the cgroup was made with.
  base::Status Limit(CgroupLimits limits) const;

  // For clone3's CLONE_INTO_CGROUP, or -1.
  [[nodiscard]] int Version2Fd() const { return version2_.get(); }

  // Version 1: a new single-threaded child writes "0" to each of these to join. Writing a pid from outside takes about
  // 10 ms, this way some 40 µs.
  [[nodiscard]] std::vector<int> JoinFds() const;

  // As JoinFds, for a process that exists already: besides version 1 also a version 2 cgroup that limits something. A
  // version 2 cgroup that only serves to kill is left out: entering it from outside takes milliseconds, and the kill
  // finds such a process through its pid namespace.
  [[nodiscard]] std::vector<int> JoinFdsForMembers() const;

  // SIGKILL to every member at once where version 2 can, else to one listed member after the other, but not to
  // `spared`: a member that has to outlive the others.
  void Kill(pid_t spared = 0) const;
  // Asks for every member to stop where it is, or to go on. Of version 2 only; kUnavailable without.
  enum class Motion { kFrozen, kMoving };
  base::Status Set(Motion motion) const;
  // How far Set has come: kFrozen when every member stands still.
  [[nodiscard]] Motion CurrentMotion() const;
  [[nodiscard]] bool WaitEmpty(base::Deadline deadline) const;
  [[nodiscard]] CgroupUsage Usage() const { return OpenCounters().Read(); }
  [[nodiscard]] CgroupCounters OpenCounters() const;
  // The directories from which the present use of the cgroup can be read.
  [[nodiscard]] GroupPlaces Places() const;

 private:
  struct Group {
    CgroupVersion version;
    std::string directory;
    std::vector<std::string> controllers;
    base::UniqueFd join;  // version 1: `tasks`, version 2 with controllers: `cgroup.procs`; open for writing
  };

  Cgroup() = default;
  base::Status Add(const CgroupMount& mount, const std::string& name);
  base::Status OpenLimitedVersion2();
  [[nodiscard]] const Group* Version2() const;
  [[nodiscard]] const Group* Directory(std::string_view controller) const;
  [[nodiscard]] bool Empty() const;

  std::vector<Group> groups_;
  base::UniqueFd version2_;
};

}  // namespace skerry::os

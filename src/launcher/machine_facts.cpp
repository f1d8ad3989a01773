#include "launcher/machine_facts.hpp"

#include "os/cgroup.hpp"
#include "os/landlock.hpp"

namespace skerry::launcher {

MachineFacts::MachineFacts() : landlock_abi_(os::LandlockAbi()) {}

const os::CgroupHierarchy& MachineFacts::Cgroups() {
  if (!cgroups_) {
    cgroups_ = os::CgroupHierarchy::Detect();
    os::SweepCgroups(*cgroups_, kCgroupPrefix);
  }
  return *cgroups_;
}

std::span<const sock_filter> MachineFacts::Filter(const os::FilterOptions& options) {
  for (const Compiled& known : filters_)
    if (known.options == options) return known.program;
  filters_.push_back({options, os::CompileFilter(os::SandboxSyscalls(), options)});
  return filters_.back().program;
}

}  // namespace skerry::launcher

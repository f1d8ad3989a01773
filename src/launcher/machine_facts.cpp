#include "launcher/machine_facts.hpp"

#include <unistd.h>

#include <chrono>

#include "os/cgroup.hpp"
#include "os/landlock.hpp"

namespace skerry::launcher {

namespace {

// How long the launcher relies on the template still showing the host's files.
constexpr std::chrono::milliseconds kTemplateInterval{200};

}  // namespace

MachineFacts::MachineFacts() : landlock_abi_(os::LandlockAbi()) {}

const os::CgroupHierarchy& MachineFacts::Cgroups() {
  if (!cgroups_) {
    cgroups_ = os::CgroupHierarchy::Detect();
    os::SweepCgroups(*cgroups_, kCgroupPrefix);
  }
  return *cgroups_;
}

int MachineFacts::RootTemplateFor() {
  if (::geteuid() != 0 || template_failed_) return -1;
  const bool look = next_template_look_.Expired();
  if (look) next_template_look_ = base::Deadline::After(kTemplateInterval);
  if (!template_ || (look && !template_->Current())) {
    auto built = RootTemplate::Build();
    // After a failure every sandbox builds its root itself, and reports what does not work.
    template_failed_ = !built;
    if (!built) return -1;
    template_ = std::move(*built);
    ++template_number_;
  }
  return template_->mount_namespace();
}

std::span<const sock_filter> MachineFacts::Filter(const os::FilterOptions& options) {
  for (const Compiled& known : filters_)
    if (known.options == options) return known.program;
  filters_.push_back({options, os::CompileFilter(os::SandboxSyscalls(), options)});
  return filters_.back().program;
}

}  // namespace skerry::launcher

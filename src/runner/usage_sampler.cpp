#include "runner/usage_sampler.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>

#include "os/process_tree.hpp"

namespace skerry::runner {
namespace {

// Values that are expensive to read and seldom change are read each tenth time.
constexpr unsigned kThoroughEvery = 10;
// When memory has changed by this much, the part of it that can be dropped may have changed too.
constexpr std::uint64_t kMuchMemory = 4U << 20U;

std::uint64_t Distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

}  // namespace

// A fork is a child of the launcher, as the init is; the pid of a fork whose end is not reported yet may belong to
// another process by now.
std::vector<pid_t> UsageSampler::Roots(const Forks& forks) const {
  std::vector<pid_t> roots = {init_};
  const pid_t launcher = forks.alive.empty() ? 0 : os::ParentOf(init_);
  for (const pid_t pid : forks.alive)
    if (launcher != 0 && os::ParentOf(pid) == launcher) roots.push_back(pid);
  return roots;
}

void UsageSampler::FillFromProcesses(core::SandboxUsage& usage, const Forks& forks) const {
  const os::ProcessesUse use = os::UseOfProcesses(Roots(forks));
  usage.cpu_time = use.cpu_time + forks.ended_time;
  usage.memory_bytes = use.memory_bytes;
  usage.pids = use.tasks;
}

// Reading how much the kernel could drop costs as much as everything else together. It matters when memory gets scarce:
// then file caches give way to programs while the sum stays the same.
bool UsageSampler::FillFromGroups(core::SandboxUsage& usage, Look look) {
  if (groups_.memory.Counts()) {
    const auto used = os::MemoryOf(groups_.memory);
    if (!used) return false;
    const bool scarce = usage.memory_limit_bytes != 0 && *used > usage.memory_limit_bytes / 2;
    if (look == Look::kThorough || scarce || Distance(*used, used_then_) > kMuchMemory) {
      droppable_ = os::DroppableMemoryOf(groups_.memory).value_or(0);
      used_then_ = *used;
    }
    usage.memory_bytes = *used - std::min(*used, droppable_);
  }
  if (groups_.cpu.Counts()) {
    const auto time = os::CpuTimeOf(groups_.cpu);
    if (!time) return false;
    usage.cpu_time = *time;
  }
  if (groups_.pids.Counts()) {
    const auto tasks = os::TasksOf(groups_.pids);
    if (!tasks) return false;
    usage.pids = *tasks;
  }
  return true;
}

// A network namespace that has nothing but a loopback may get an interface, but seldom does.
void UsageSampler::FillNetwork(core::SandboxUsage& usage, Look look) {
  if (isolation_ != launcher::Isolation::kNamespaces) return;
  if (look == Look::kThorough || network_.interfaces != 0) network_ = os::NetworkUseOf(init_).value_or(network_);
  usage.received_bytes = network_.received_bytes;
  usage.sent_bytes = network_.sent_bytes;
}

bool UsageSampler::Fill(core::SandboxUsage& usage, const Forks& forks, std::uint64_t waiting) {
  const std::lock_guard lock(mutex_);
  const Look look = looks_++ % kThoroughEvery == 0 ? Look::kThorough : Look::kBrief;
  if (!Counted()) FillFromProcesses(usage, forks);
  if (!FillFromGroups(usage, look)) return false;
  FillNetwork(usage, look);
  const std::uint64_t own = 1 + waiting;
  usage.pids -= std::min(usage.pids, own);
  // The time of a process that ends while others are counted is only seen at the next look.
  cpu_ = std::max(cpu_, usage.cpu_time);
  usage.cpu_time = cpu_;
  return true;
}

void FillDisk(core::SandboxUsage& usage, int changes) {
  struct statfs facts{};
  if (changes < 0 || ::fstatfs(changes, &facts) < 0 || facts.f_type != TMPFS_MAGIC) return;
  const auto block = static_cast<std::uint64_t>(facts.f_bsize);
  usage.disk_bytes = (facts.f_blocks - std::min(facts.f_blocks, facts.f_bfree)) * block;
  usage.disk_limit_bytes = facts.f_blocks * block;
}

}  // namespace skerry::runner

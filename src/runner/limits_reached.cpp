#include "runner/limits_reached.hpp"

#include <sys/statfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "runner/running_command.hpp"

namespace skerry::runner {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20U;

// A full file system has next to nothing left.
void AddDisk(std::vector<core::LimitReached>& reached, int changes_fd, const core::SandboxLimits& limits) {
  constexpr std::uint64_t kBlocksLeft = 16;
  struct statfs facts{};
  if (changes_fd < 0 || ::fstatfs(changes_fd, &facts) < 0) return;
  if (facts.f_blocks != 0 && facts.f_bfree < kBlocksLeft)
    reached.push_back({"disk", facts.f_blocks * static_cast<std::uint64_t>(facts.f_bsize) / kMegabyte, "MB"});
  if (facts.f_files != 0 && facts.f_ffree == 0) reached.push_back({"files", limits.disk_files, ""});
}

void AddOutcome(std::vector<core::LimitReached>& reached, const core::Outcome& outcome) {
  if (outcome.kind == core::OutcomeKind::kTimedOut) reached.push_back({"time", outcome.limit, "s"});
  if (outcome.kind == core::OutcomeKind::kOutOfMemory) reached.push_back({"memory", outcome.limit, "MB"});
  if (outcome.kind == core::OutcomeKind::kFileTooLarge) reached.push_back({"file_size", outcome.limit, "MB"});
}

}  // namespace

launcher::Usage UsedSince(const launcher::Usage& before, const launcher::Usage& now) {
  // Threads that look at the same time may note their figures in another order.
  const auto more = [](std::uint64_t late, std::uint64_t early) { return late > early ? late - early : 0; };
  return {.out_of_memory_kills = more(now.out_of_memory_kills, before.out_of_memory_kills),
          .memory_peak_bytes = now.memory_peak_bytes,
          .forks_refused = more(now.forks_refused, before.forks_refused),
          .times_throttled = more(now.times_throttled, before.times_throttled)};
}

// A program that the kernel killed for its memory shows as SIGKILL, or as 137 when a shell stood between.
core::Outcome OutcomeOf(int wait_status, const launcher::Usage& used, const core::SandboxLimits& limits) {
  const bool signalled = WIFSIGNALED(wait_status);
  const int code = signalled ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  if (used.out_of_memory_kills != 0 && code == kExitKilled)
    return {.kind = core::OutcomeKind::kOutOfMemory, .exit_code = kExitKilled, .limit = limits.memory_mb};
  if (signalled && WTERMSIG(wait_status) == SIGXFSZ)
    return {.kind = core::OutcomeKind::kFileTooLarge, .exit_code = code, .signal = SIGXFSZ, .limit = limits.file_mb};
  if (signalled) return {.kind = core::OutcomeKind::kSignalled, .exit_code = code, .signal = WTERMSIG(wait_status)};
  return {.kind = core::OutcomeKind::kExited, .exit_code = code};
}

std::vector<core::LimitReached> LimitsReached(const LimitEvidence& evidence, const core::SandboxLimits& limits) {
  std::vector<core::LimitReached> reached;
  AddOutcome(reached, evidence.outcome);
  // A process was killed for its memory, though not the one that was waited for.
  if (evidence.usage.out_of_memory_kills != 0 && evidence.outcome.kind != core::OutcomeKind::kOutOfMemory)
    reached.push_back({"memory", limits.memory_mb, "MB"});
  if (evidence.usage.forks_refused != 0) reached.push_back({"processes", limits.pids, ""});
  if (evidence.usage.times_throttled != 0 && limits.cpu_percent != 0)
    reached.push_back({"cpu", limits.cpu_percent, "%"});
  if (evidence.output_truncated) reached.push_back({"output", evidence.max_output_bytes / kMegabyte, "MB"});
  AddDisk(reached, evidence.changes_fd, limits);
  std::ranges::sort(reached);
  return reached;
}

}  // namespace skerry::runner

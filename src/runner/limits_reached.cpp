#include "runner/limits_reached.hpp"

#include <sys/statfs.h>

#include <algorithm>

namespace skerry::runner {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20U;

// A file system that refuses to take more shows it by having next to nothing left.
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

std::vector<core::LimitReached> LimitsReached(const LimitEvidence& evidence, const core::SandboxLimits& limits) {
  std::vector<core::LimitReached> reached;
  AddOutcome(reached, evidence.outcome);
  // Some process was killed for its memory, though not the one that was waited for.
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

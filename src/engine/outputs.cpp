#include "engine/outputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "base/unique_fd.hpp"
#include "os/own_directory.hpp"

namespace skerry::engine {

base::Status Outputs::Adopt(const std::vector<core::RunOwner>& runs) {
  std::unordered_map<std::string, const core::RunOwner*> known;
  for (const core::RunOwner& run : runs) known.emplace(run.id, &run);
  SKERRY_ASSIGN_OR_RETURN(const auto names, os::NamesOf(directory_));
  const std::scoped_lock lock(mutex_);
  for (const std::string& name : names) {
    const auto found = known.find(name);
    struct stat facts{};
    if (found == known.end() || ::fstatat(directory_, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      (void)::unlinkat(directory_, name.c_str(), 0);
      continue;
    }
    const core::RunOwner& run = *found->second;
    const auto bytes = static_cast<std::uint64_t>(facts.st_size);
    // The file exists, whatever the limits are now; the next run that needs room makes it.
    (void)budget_.Take(run.tenant, bytes, base::Reach::kReserve);
    outputs_.emplace(name, Output{.tenant = run.tenant, .sequence = run.sequence, .bytes = bytes});
    over_[run.tenant].emplace(run.sequence, name);
  }
  return {};
}

void Outputs::Begin(const core::RunRecord& run, base::Reach reach) {
  const std::scoped_lock lock(mutex_);
  outputs_.emplace(run.id, Output{.tenant = run.tenant, .reach = reach, .sequence = run.sequence});
}

std::optional<base::Shortage> Outputs::Take(const std::string& run, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = outputs_.find(run);
  if (found == outputs_.end()) return base::Shortage::kOwn;
  Output& output = found->second;
  for (;;) {
    const auto shortage = budget_.Take(output.tenant, bytes, output.reach);
    if (!shortage) break;
    if (!MakeRoom(*shortage, output.tenant)) return shortage;
  }
  output.bytes += bytes;
  // A tenant that is never refused room gives up its old output all the same.
  const std::uint64_t each = budget_.limits().each;
  while (each != 0 && budget_.UsedBy(output.tenant) > each && EvictOldestOf(output.tenant)) {
  }
  return std::nullopt;
}

// A tenant beyond its own share loses its own output; beyond the share of all, the tenants with the most lose theirs.
bool Outputs::MakeRoom(base::Shortage shortage, const std::string& tenant) {
  if (shortage == base::Shortage::kOwn || shortage == base::Shortage::kHalf) return EvictOldestOf(tenant);
  return EvictFromLargest();
}

bool Outputs::EvictFromLargest() {
  const std::string* most = nullptr;
  for (const auto& [each, outputs] : over_)
    if (most == nullptr || budget_.UsedBy(each) > budget_.UsedBy(*most)) most = &each;
  return most != nullptr && EvictOldestOf(std::string(*most));
}

bool Outputs::EvictOldestOf(const std::string& tenant) {
  const auto found = over_.find(tenant);
  if (found == over_.end()) return false;
  ++evicted_;
  Erase(outputs_.find(found->second.begin()->second));
  return true;
}

void Outputs::Erase(Outlines::iterator output) {
  RemoveFile(output->first);
  budget_.GiveBack(output->second.tenant, output->second.bytes);
  if (const auto found = over_.find(output->second.tenant); found != over_.end()) {
    found->second.erase({output->second.sequence, output->first});
    if (found->second.empty()) over_.erase(found);
  }
  outputs_.erase(output);
}

// Truncated first: a slow reader has the file open, which would keep its room on the disk.
void Outputs::RemoveFile(const std::string& run) const {
  const base::UniqueFd emptied(
      ::openat(directory_, run.c_str(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  (void)::unlinkat(directory_, run.c_str(), 0);
}

void Outputs::MakeRoomOnDisk(std::uint64_t bytes) {
  const auto& left = budget_.limits().left;
  const std::scoped_lock lock(mutex_);
  while (left && left() < bytes && EvictFromLargest()) {
  }
}

void Outputs::GiveBack(const std::string& run, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = outputs_.find(run);
  if (found == outputs_.end()) return;
  bytes = std::min(bytes, found->second.bytes);
  found->second.bytes -= bytes;
  budget_.GiveBack(found->second.tenant, bytes);
}

void Outputs::End(const std::string& run) {
  const std::scoped_lock lock(mutex_);
  const auto found = outputs_.find(run);
  if (found == outputs_.end()) return;
  if (found->second.bytes == 0) {
    outputs_.erase(found);
    return;
  }
  over_[found->second.tenant].emplace(found->second.sequence, run);
}

void Outputs::Remove(const std::string& run) {
  const std::scoped_lock lock(mutex_);
  const auto found = outputs_.find(run);
  if (found != outputs_.end()) return Erase(found);
  RemoveFile(run);
}

std::uint64_t Outputs::evicted() const {
  const std::scoped_lock lock(mutex_);
  return evicted_;
}

}  // namespace skerry::engine

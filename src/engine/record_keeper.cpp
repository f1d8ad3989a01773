#include "engine/record_keeper.hpp"

#include <algorithm>
#include <vector>

namespace skerry::engine {
namespace {

using std::chrono_literals::operator""s;

// Making room frees a tenth of the limit: otherwise the next run would have to make room again.
constexpr std::uint64_t kOfTen = 9;

std::uint64_t Excess(std::uint64_t used, std::uint64_t limit) {
  return limit == 0 || used <= limit ? 0 : used - limit / 10 * kOfTen;
}

std::string Megabytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20U) + " MB";
}

}  // namespace

std::uint64_t RecordKeeper::Total() const {
  std::uint64_t total = 0;
  for (const auto& [tenant, bytes] : used_) total += bytes;
  return total;
}

bool RecordKeeper::IsBeyond(const std::string& tenant) const {
  const auto found = used_.find(tenant);
  const bool own = limits_.each != 0 && found != used_.end() && found->second > limits_.each;
  return own || (limits_.all != 0 && Total() > limits_.all);
}

base::Status RecordKeeper::Count() {
  SKERRY_ASSIGN_OR_RETURN(used_, parts_.runs.BytesByTenant());
  if (parts_.history == nullptr) return {};
  SKERRY_ASSIGN_OR_RETURN(const auto history, parts_.history->BytesByTenant());
  for (const auto& [tenant, bytes] : history) used_[tenant] += bytes;
  return {};
}

base::Status RecordKeeper::Free(const std::string& tenant, std::uint64_t bytes) {
  constexpr std::size_t kAtOnce = 200;
  std::uint64_t freed = 0;
  if (parts_.history != nullptr) {
    SKERRY_ASSIGN_OR_RETURN(freed, parts_.history->ForgetDeleted(tenant, bytes));
  }
  while (freed < bytes) {
    SKERRY_ASSIGN_OR_RETURN(const auto forgotten, parts_.runs.ForgetRunsOf(tenant, bytes - freed, kAtOnce));
    for (const std::string& id : forgotten.ids) parts_.forget_output(id);
    freed += forgotten.bytes;
    if (forgotten.ids.size() < kAtOnce) break;
  }
  return {};
}

// A tenant beyond its own share loses its own records; beyond the share of all, the tenants with the most lose theirs.
// The owner comes last.
base::Status RecordKeeper::MakeRoom() {
  for (const auto& [tenant, bytes] : std::map(used_)) {
    const std::uint64_t excess = tenant == parts_.owner ? 0 : Excess(bytes, limits_.each);
    if (excess != 0) SKERRY_RETURN_IF_ERROR(Free(tenant, excess));
  }
  SKERRY_RETURN_IF_ERROR(Count());
  if (Excess(Total(), limits_.all) == 0) return {};
  std::vector<std::pair<std::uint64_t, std::string>> most;
  most.reserve(used_.size());
  for (const auto& [tenant, bytes] : used_) most.emplace_back(tenant == parts_.owner ? 0 : bytes, tenant);
  std::ranges::sort(most, std::greater());
  for (const auto& [bytes, tenant] : most) {
    const std::uint64_t excess = Excess(Total(), limits_.all);
    if (excess == 0) return {};
    SKERRY_RETURN_IF_ERROR(Free(tenant, std::min(excess, used_[tenant])));
    SKERRY_RETURN_IF_ERROR(Count());
  }
  return {};
}

base::Status RecordKeeper::Admit(const Principal& principal) {
  if (principal.owner) return {};
  constexpr std::uint64_t kForOne = std::uint64_t{1} << 20U;
  if (parts_.room.Left() < kForOne) parts_.make_room(kForOne);
  if (parts_.room.Left() < kForOne) return NoRoomOnDisk();
  const std::scoped_lock lock(mutex_);
  if (!IsBeyond(principal.tenant)) return {};
  // Something may have been deleted since the last count.
  if (again_.Expired()) {
    again_ = base::Deadline::After(1s);
    SKERRY_RETURN_IF_ERROR(Count());
    if (IsBeyond(principal.tenant)) SKERRY_RETURN_IF_ERROR(MakeRoom());
  }
  const std::uint64_t own = used_[principal.tenant];
  if (limits_.each != 0 && own > limits_.each)
    return base::Err(base::Code::kRateLimited, "the record of this tenant takes " + Megabytes(own) + " of " +
                                                   Megabytes(limits_.each) +
                                                   " (sandbox.budgets.recordPerTenantMb); delete sessions that are not "
                                                   "needed any more");
  if (limits_.all != 0 && Total() > limits_.all)
    return NoRoom(
        "the record of all tenants takes " + Megabytes(Total()) + " of " + Megabytes(limits_.all) +
        " (sandbox.budgets.recordMb); delete sessions that are not needed any more, or ask the owner for more");
  return {};
}

void RecordKeeper::Add(const std::string& tenant, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  used_[tenant] += bytes;
}

base::Status RecordKeeper::Tend(const std::stop_token& stop) {
  constexpr std::size_t kKeptApprovals = 10'000;  // of each tenant
  constexpr int kPieces = 64;
  {
    const std::scoped_lock lock(mutex_);
    SKERRY_RETURN_IF_ERROR(Count());
    SKERRY_RETURN_IF_ERROR(MakeRoom());
  }
  SKERRY_RETURN_IF_ERROR(parts_.runs.ForgetApprovals(kKeptApprovals));
  for (int piece = 0; piece < kPieces && !stop.stop_requested(); ++piece) {
    SKERRY_ASSIGN_OR_RETURN(const bool more, parts_.runs.Shrink());
    if (!more) return {};
  }
  return {};
}

std::map<std::string, std::uint64_t> RecordKeeper::usage() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

}  // namespace skerry::engine

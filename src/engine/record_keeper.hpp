// RecordKeeper: keeps the record of what happened within its budget. The oldest and least needed entries go first: the
// history of deleted sessions, then results of old runs. A tenant that is beyond its share all the same begins nothing
// new.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "core/service_store.hpp"
#include "engine/budgets.hpp"
#include "engine/disk_room.hpp"
#include "engine/principal.hpp"

namespace skerry::engine {

// All of these outlive the keeper.
struct KeeperParts {
  core::ServiceStore& runs;
  core::RecordStore* history = nullptr;  // none when the store cannot be used
  const DiskRoom& room;
  std::string owner;                                          // the tenant of the daemon's owner
  std::function<void(const std::string& run)> forget_output;  // of a run whose result is forgotten
  std::function<void(std::uint64_t bytes)> make_room;         // on the disk, by removing outputs
};

// Thread-safe.
class RecordKeeper {
 public:
  RecordKeeper(Budgets::Share limits, KeeperParts parts) : limits_(limits), parts_(std::move(parts)) {}

  // Before a recorded deed begins. kRateLimited: the tenant's share is used up. NoRoom: the budget of all tenants is,
  // or the disk.
  base::Status Admit(const Principal& principal);
  // So many bytes were recorded since the stores were counted.
  void Add(const std::string& tenant, std::uint64_t bytes);
  // To be called every now and then: counts, makes room, and gives unused space back to the disk.
  base::Status Tend(const std::stop_token& stop);

  [[nodiscard]] std::map<std::string, std::uint64_t> usage() const;

 private:
  // These need the lock.
  base::Status Count();
  base::Status MakeRoom();
  base::Status Free(const std::string& tenant, std::uint64_t bytes);
  [[nodiscard]] bool IsBeyond(const std::string& tenant) const;
  [[nodiscard]] std::uint64_t Total() const;

  const Budgets::Share limits_;
  const KeeperParts parts_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> used_;
  base::Deadline again_ = base::Deadline::After({});  // when it is worth counting again for a principal that waits
};

}  // namespace skerry::engine

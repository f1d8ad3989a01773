// RecordKeeper: keeps the record of what happened within its budget. What is oldest and needed least goes first: the
// history of deleted sessions, then results of old runs. Who is beyond their share all the same begins nothing new.
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

// All of them outlive it.
struct KeeperParts {
  core::ServiceStore& runs;
  core::RecordStore* history = nullptr;  // none when it cannot be had
  const DiskRoom& room;
  std::string owner;                                          // the tenant of the daemon's owner
  std::function<void(const std::string& run)> forget_output;  // of a run whose result is forgotten
  std::function<void(std::uint64_t bytes)> make_room;         // on the disk, by what may go
};

// Thread-safe.
class RecordKeeper {
 public:
  RecordKeeper(Budgets::Share limits, KeeperParts parts) : limits_(limits), parts_(std::move(parts)) {}

  // Before something begins that is recorded. kRateLimited: the tenant's share is used up. NoRoom: that of all is, or
  // the disk.
  base::Status Admit(const Principal& principal);
  // So much was recorded since the stores were asked.
  void Add(const std::string& tenant, std::uint64_t bytes);
  // Every now and then: counts, makes room, and gives what is not used any more back to the disk.
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
  base::Deadline again_ = base::Deadline::After({});  // when it is worth counting again for somebody who waits
};

}  // namespace skerry::engine

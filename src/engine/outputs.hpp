// Outputs: the files that hold what runs wrote, within a budget. When there is no room for more, the oldest of those
// whose run is over goes first.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/result.hpp"
#include "core/service_store.hpp"

namespace skerry::engine {

// Thread-safe. A file has the id of its run as its name.
class Outputs {
 public:
  // `directory` is borrowed and outlives it.
  Outputs(int directory, base::BudgetLimits limits) : directory_(directory), budget_(std::move(limits)) {}

  // Counts what an earlier daemon left: all of those runs are over. What belongs to none of them is removed.
  base::Status Adopt(const std::vector<core::RunOwner>& runs);

  // One that begins.
  void Begin(const core::RunRecord& run, base::Reach reach);
  // Before so many bytes are written to its file. Nothing: there is room for them now.
  std::optional<base::Shortage> Take(const std::string& run, std::uint64_t bytes);
  void GiveBack(const std::string& run, std::uint64_t bytes);
  // Until the disk has so many bytes left, or there is nothing that may go.
  void MakeRoomOnDisk(std::uint64_t bytes);
  // It writes nothing more: from now on it may go.
  void End(const std::string& run);
  // With its file.
  void Remove(const std::string& run);

  [[nodiscard]] int directory() const { return directory_; }
  [[nodiscard]] const base::Budget& budget() const { return budget_; }
  [[nodiscard]] std::uint64_t evicted() const;  // files that went to make room

 private:
  struct Output {
    std::string tenant;
    base::Reach reach = base::Reach::kTenant;
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
  };
  using Outlines = std::map<std::string, Output>;
  // These need the lock. False: there is nothing that may go.
  bool MakeRoom(base::Shortage shortage, const std::string& tenant);
  bool EvictOldestOf(const std::string& tenant);
  bool EvictFromLargest();
  void Erase(Outlines::iterator output);
  void RemoveFile(const std::string& run) const;

  int directory_;
  base::Budget budget_;
  mutable std::mutex mutex_;
  Outlines outputs_;
  // Those that are over and hold something, by their tenant, the oldest first.
  std::map<std::string, std::set<std::pair<std::uint64_t, std::string>>> over_;
  std::uint64_t evicted_ = 0;
};

}  // namespace skerry::engine

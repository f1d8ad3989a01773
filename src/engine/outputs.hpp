// Outputs: the files that hold the output of runs, within a budget. When there is no room for more, the oldest output
// of a finished run goes first.
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
  // `directory` is borrowed and outlives the object.
  Outputs(int directory, base::BudgetLimits limits) : directory_(directory), budget_(std::move(limits)) {}

  // Counts the files that an earlier daemon left: all of `runs` are over. Files of no such run are removed.
  base::Status Adopt(const std::vector<core::RunOwner>& runs);

  // A run begins.
  void Begin(const core::RunRecord& run, base::Reach reach);
  // Before so many bytes are written to the run's file. Nothing: there is room for them now.
  std::optional<base::Shortage> Take(const std::string& run, std::uint64_t bytes);
  void GiveBack(const std::string& run, std::uint64_t bytes);
  // Removes outputs until the disk has so many bytes left, or there is none that may go.
  void MakeRoomOnDisk(std::uint64_t bytes);
  // The run writes nothing more: its output may go from now on.
  void End(const std::string& run);
  // Forgets the run's output and removes its file.
  void Remove(const std::string& run);

  [[nodiscard]] int directory() const { return directory_; }
  [[nodiscard]] const base::Budget& budget() const { return budget_; }
  [[nodiscard]] std::uint64_t evicted() const;  // outputs that were removed to make room

 private:
  struct Output {
    std::string tenant;
    base::Reach reach = base::Reach::kTenant;
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
  };
  using Outlines = std::map<std::string, Output>;
  // These need the lock. False: there is no output that may go.
  bool MakeRoom(base::Shortage shortage, const std::string& tenant);
  bool EvictOldestOf(const std::string& tenant);
  bool EvictFromLargest();
  void Erase(Outlines::iterator output);
  void RemoveFile(const std::string& run) const;

  int directory_;
  base::Budget budget_;
  mutable std::mutex mutex_;
  Outlines outputs_;
  // Outputs of finished runs that hold something, by tenant, the oldest first.
  std::map<std::string, std::set<std::pair<std::uint64_t, std::string>>> over_;
  std::uint64_t evicted_ = 0;
};

}  // namespace skerry::engine

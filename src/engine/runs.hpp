// Runs: every run of a daemon that is under way, and the records of finished ones.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/service_store.hpp"
#include "engine/outputs.hpp"
#include "engine/run.hpp"

namespace skerry::engine {

enum class Input {
  kNone,
  kPipe,  // clients attach to the run and feed it
};

struct RunOrder {
  core::RunRecord record;  // session, tenant, kind, language, what
  std::optional<core::IdempotencyClaim> claim;
  std::uint64_t most_of_tenant = 0;          // runs at once; 0: any number
  base::Reach reach = base::Reach::kTenant;  // how far its output may fill the budget
  Input input = Input::kNone;
  std::string given_input;  // in place of fed input
  std::optional<core::TerminalSize> terminal;
};

struct Begun {
  std::shared_ptr<Run> run;
  bool replayed = false;  // the run was there already: the claim's key was used before
};

// Thread-safe.
class Runs {
 public:
  // `outputs` is for what the runs write. Both outlive the object.
  Runs(core::ServiceStore& store, Outputs& outputs)
      : store_(store), outputs_(outputs), directory_(outputs.directory()) {}

  // The run is in the store before it is given out. kRateLimited; kConflict: the key was used for something else.
  base::Result<Begun> Begin(RunOrder order);
  // Once for each begun run. Gives the bytes that the end takes in the store; 0 when it could not be written yet.
  std::uint64_t End(Run& run, RunEnd end);

  // A run that is under way or over. kNotFound.
  [[nodiscard]] base::Result<std::shared_ptr<Run>> Find(const std::string& id) const;
  [[nodiscard]] base::Result<std::vector<std::shared_ptr<Run>>> List(core::RunFilter filter) const;
  [[nodiscard]] std::vector<std::shared_ptr<Run>> UnderWay() const;
  [[nodiscard]] std::size_t CountOf(const std::string& session) const;
  [[nodiscard]] std::size_t Count() const;

  // Ends the runs of a session, or all; false when some were left at the deadline.
  bool Stop(const std::optional<std::string>& session, base::Deadline deadline);

  // Before anything begins: marks runs of an earlier daemon that are not over as lost, and gives them.
  base::Result<std::vector<core::RunRecord>> MarkLost();
  // Writes the ends of runs that could not be written before.
  void WriteAgain();
  // Forgets old runs, with what they wrote.
  base::Status Forget(std::chrono::seconds keep_for, std::size_t keep);
  // Removes what the runs of a session wrote.
  base::Status ForgetOutputs(const std::string& session);

 private:
  [[nodiscard]] std::shared_ptr<Run> FromRecord(core::RunRecord record) const;
  [[nodiscard]] std::shared_ptr<Run> UnderWay(const std::string& id) const;
  [[nodiscard]] base::Status CheckLimit(const RunOrder& order) const;
  [[nodiscard]] base::Result<Begun> Replay(const core::IdempotencyClaim& claim) const;

  core::ServiceStore& store_;
  Outputs& outputs_;
  int directory_;
  mutable std::mutex begin_mutex_;  // taken before mutex_
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::set<std::string> ending_;  // runs that are over and have not told it yet
  std::map<std::string, std::shared_ptr<Run>> under_way_;
  std::map<std::string, std::shared_ptr<Run>> unwritten_;  // runs that are over and not in the store as such
};

}  // namespace skerry::engine

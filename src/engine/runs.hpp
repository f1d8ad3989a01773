// Runs: everything that executes in a daemon, and what is left of what did.
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
  kPipe,  // for those who feed it
};

struct RunOrder {
  core::RunRecord record;  // session, tenant, kind, language, what
  std::optional<core::IdempotencyClaim> claim;
  std::uint64_t most_of_tenant = 0;          // runs at once; 0: any number
  base::Reach reach = base::Reach::kTenant;  // of what it writes
  Input input = Input::kNone;
  std::string given_input;  // in place of what is fed
  std::optional<core::TerminalSize> terminal;
};

struct Begun {
  std::shared_ptr<Run> run;
  bool replayed = false;  // it was there already: the claim is one of before
};

// Thread-safe.
class Runs {
 public:
  // `outputs` is for what they write. Both outlive it.
  Runs(core::ServiceStore& store, Outputs& outputs)
      : store_(store), outputs_(outputs), directory_(outputs.directory()) {}

  // In the store before it is given out. kRateLimited, kConflict (the key was used for something else).
  base::Result<Begun> Begin(RunOrder order);
  // Once for each that was begun. Gives the bytes that the end takes in the store; 0 when it could not be written yet.
  std::uint64_t End(Run& run, RunEnd end);

  // One that is under way or over. kNotFound.
  [[nodiscard]] base::Result<std::shared_ptr<Run>> Find(const std::string& id) const;
  [[nodiscard]] base::Result<std::vector<std::shared_ptr<Run>>> List(core::RunFilter filter) const;
  [[nodiscard]] std::vector<std::shared_ptr<Run>> UnderWay() const;
  [[nodiscard]] std::size_t CountOf(const std::string& session) const;
  [[nodiscard]] std::size_t Count() const;

  // Ends those of a session, or all; false when some were left at the deadline.
  bool Stop(const std::optional<std::string>& session, base::Deadline deadline);

  // Whoever ran what is not over is dead: to be called before anything begins. Those that are lost by that.
  base::Result<std::vector<core::RunRecord>> MarkLost();
  // What could not be written at its end.
  void WriteAgain();
  // What nobody will ask for any more goes, with what it wrote.
  base::Status Forget(std::chrono::seconds keep_for, std::size_t keep);
  // What the runs of a session wrote.
  base::Status ForgetOutputs(const std::string& session);

 private:
  [[nodiscard]] std::shared_ptr<Run> FromRecord(core::RunRecord record) const;
  [[nodiscard]] std::shared_ptr<Run> UnderWay(const std::string& id) const;
  [[nodiscard]] base::Status CheckLimit(const RunOrder& order) const;
  [[nodiscard]] base::Result<Begun> Replay(const core::IdempotencyClaim& claim) const;

  core::ServiceStore& store_;
  Outputs& outputs_;
  int directory_;
  mutable std::mutex begin_mutex_;  // before the other
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::set<std::string> ending_;  // that are over and not told yet
  std::map<std::string, std::shared_ptr<Run>> under_way_;
  std::map<std::string, std::shared_ptr<Run>> unwritten_;  // that are over, and not in the store
};

}  // namespace skerry::engine

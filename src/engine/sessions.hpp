// Sessions: making, finding and ending sessions, and the clean-up of those that are not used any more (S4.1, S4.2,
// S4.7).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "engine/recorder.hpp"
#include "engine/session.hpp"

namespace skerry::engine {

struct SessionsOptions {
  std::string base_dir;  // absolute
  SessionLimits limits;
  std::chrono::hours cleanup_after{24};
  // Where the files of a new workspace come from: see CopySource (engine/bootstrap.hpp). "" for none.
  std::string source;
  std::vector<std::string> bootstrap_files;
};

struct SessionSummary {
  std::string id;
  core::TimePoint used_at;
  bool busy = false;  // open somewhere now
};

// Thread-safe: each call is on its own.
class Sessions {
 public:
  Sessions(SessionsOptions options, std::shared_ptr<const Recorder> recorder)
      : options_(std::move(options)), recorder_(std::move(recorder)) {}

  // Makes a session with the directories of S4.2 and the files of the source; without an id it gets a new one.
  // kConflict when the id is taken.
  base::Result<Session> Create(const std::optional<std::string>& id) const;
  // kNotFound; kUnavailable when the session is still open elsewhere at the deadline.
  base::Result<Session> Open(const std::string& id, base::Deadline deadline) const;
  // For reading while the session is open elsewhere: files as the last commit left them. During a commit each file is
  // the old or the new one.
  base::Result<std::unique_ptr<const workspace::AgentWorkspace>> OpenForReading(const std::string& id) const;

  [[nodiscard]] base::Result<std::vector<SessionSummary>> List() const;
  base::Status Delete(const std::string& id, base::Deadline deadline) const;
  // Removes sessions that were not used for cleanup_after; never an open one. Gives their ids.
  base::Result<std::vector<std::string>> Sweep() const;

  [[nodiscard]] const SessionsOptions& options() const { return options_; }

 private:
  base::Result<Session> Begin(const std::string& id) const;
  base::Status Furnish(Session& session) const;

  SessionsOptions options_;
  std::shared_ptr<const Recorder> recorder_;
};

}  // namespace skerry::engine

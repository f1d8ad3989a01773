// Sessions: making, finding and ending them, and the clean-up of those that nobody uses any more (S4.1, S4.2, S4.7).
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
  // What a new workspace starts with: what is in `source`/init, the directory `source`/skills, and, where there is no
  // init, the listed files of `source`. "" for nothing.
  std::string source;
  std::vector<std::string> bootstrap_files;
};

struct SessionSummary {
  std::string id;
  core::TimePoint used_at;
  bool busy = false;  // somebody works with it now
};

// Thread-safe: each call is on its own.
class Sessions {
 public:
  Sessions(SessionsOptions options, std::shared_ptr<const Recorder> recorder)
      : options_(std::move(options)), recorder_(std::move(recorder)) {}

  // Without an id one is made up. With the directories of S4.2 and what the source gives. kConflict when it is there.
  base::Result<Session> Create(const std::optional<std::string>& id) const;
  // kNotFound; kUnavailable when somebody else has it until the deadline.
  base::Result<Session> Open(const std::string& id, base::Deadline deadline) const;
  // For reading beside whoever works with it: files as the last commit left them. While one is under way each file is
  // the old or the new one.
  base::Result<std::unique_ptr<const workspace::AgentWorkspace>> OpenForReading(const std::string& id) const;

  [[nodiscard]] base::Result<std::vector<SessionSummary>> List() const;
  base::Status Delete(const std::string& id, base::Deadline deadline) const;
  // Removes those that nobody has used for cleanup_after; never one that somebody works with. Gives their ids.
  base::Result<std::vector<std::string>> Sweep() const;

  [[nodiscard]] const SessionsOptions& options() const { return options_; }

 private:
  base::Result<Session> Begin(const std::string& id) const;
  base::Status Furnish(Session& session) const;

  SessionsOptions options_;
  std::shared_ptr<const Recorder> recorder_;
};

}  // namespace skerry::engine

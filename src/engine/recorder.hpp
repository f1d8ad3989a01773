// Recorder: writes what happens in a session into the store (S4.8, S10.3).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "core/record.hpp"

namespace skerry::engine {

// What to do when the store cannot be used.
enum class Recording {
  kRequired,    // nothing happens without a record
  kBestEffort,  // a warning says so, and the execution happens all the same
};

struct RecorderOptions {
  std::shared_ptr<core::RecordStore> store;  // none when the store could not be opened; then `problem` says why
  std::string problem;
  Recording recording = Recording::kRequired;
  std::string by;  // who acts
  // What one execution did to files and used beyond so many bytes is counted and not named. 0: no limit.
  std::uint64_t most_of_execution = std::uint64_t{16} << 20U;
  std::function<void(const std::string&)> warn;  // told what could not be recorded
  // Told which files an execution changed; may be empty.
  std::function<void(const std::string& session, const std::string& execution,
                     const std::vector<core::FileChange>& changes)>
      told;
};

// Thread-safe.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}

  // The store; none where it cannot be used and need not be used.
  [[nodiscard]] base::Result<core::RecordStore*> Store() const;

  // Before an execution. Gives its id, a new one where the record has none, even if nothing could be written; fails
  // only where a record is required.
  base::Result<std::string> Begin(core::ExecutionRecord execution) const;
  // After an execution, which an error cannot undo: the status only tells what went wrong.
  base::Status End(const std::string& session, const std::string& id, core::ExecutionEnd end) const;

  // What comes of an attempt to write to the store: an error where a record is required, else only a warning.
  base::Status Tell(const base::Status& status) const;

  // Tells the person something that stops nothing.
  void Warn(const std::string& text) const {
    if (options_.warn) options_.warn(text);
  }

  [[nodiscard]] const std::string& by() const { return options_.by; }

 private:
  RecorderOptions options_;
};

}  // namespace skerry::engine

// Recorder: writes what happens in a session into the store (S4.8, S10.3).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "core/record.hpp"

namespace skerry::engine {

// When the store cannot be used.
enum class Recording {
  kRequired,    // nothing happens without a record
  kBestEffort,  // it is said, and what was asked for happens all the same
};

struct RecorderOptions {
  std::shared_ptr<core::RecordStore> store;  // none when it could not be opened; then `problem` says why
  std::string problem;
  Recording recording = Recording::kRequired;
  std::string by;  // who acts
  // More of what one execution did to files, and of what it used, is counted and not named. 0: all of it.
  std::uint64_t most_of_execution = std::uint64_t{16} << 20U;
  std::function<void(const std::string&)> warn;  // told of what could not be recorded
  // Told of what became of files, by what; may be empty.
  std::function<void(const std::string& session, const std::string& execution,
                     const std::vector<core::FileChange>& changes)>
      told;
};

// Thread-safe.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}

  // The store; none where it cannot be used and need not be.
  [[nodiscard]] base::Result<core::RecordStore*> Store() const;

  // Before something happens. Gives the id, a new one where there is none; fails only where a record is required. The
  // id is given even if nothing could be written.
  base::Result<std::string> Begin(core::ExecutionRecord execution) const;
  // When it has happened. Only says what went wrong: it cannot be made undone by that.
  base::Status End(const std::string& session, const std::string& id, core::ExecutionEnd end) const;

  // What became of an attempt to write to the store: an error where a record is required, else only told.
  base::Status Tell(const base::Status& status) const;

  // Something that the person should know, and that stops nothing.
  void Warn(const std::string& text) const {
    if (options_.warn) options_.warn(text);
  }

  [[nodiscard]] const std::string& by() const { return options_.by; }

 private:
  RecorderOptions options_;
};

}  // namespace skerry::engine

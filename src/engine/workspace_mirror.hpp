// WorkspaceMirror: a directory of this host, and the copy of its files that a sandbox elsewhere works on.
//
// The directory is authoritative. Its changes are pushed into the sandbox; changes of programs are pulled as a layer,
// which is committed to the directory like that of an overlay: with the same rules, limits, journal and record.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/sandbox_files.hpp"
#include "workspace/overlay_changes.hpp"

namespace skerry::engine {

// The changes of programs, on this host. Removed with the object.
class ReceivedLayer {
 public:
  // An empty layer below `stage`, which is borrowed and on this host; -1 for a temporary directory.
  static base::Result<ReceivedLayer> Make(int stage);
  ReceivedLayer(ReceivedLayer&& other) noexcept = default;
  ReceivedLayer& operator=(ReceivedLayer&&) = delete;
  ~ReceivedLayer();

  [[nodiscard]] int directory() const { return directory_.get(); }
  [[nodiscard]] bool empty() const { return marks.deleted.empty() && !has_files; }

  workspace::LayerMarks marks;
  bool has_files = false;

 private:
  ReceivedLayer(base::UniqueFd parent, std::string name) : parent_(std::move(parent)), name_(std::move(name)) {}

  base::UniqueFd parent_;
  std::string name_;
  base::UniqueFd directory_;
};

// Of one thread at a time. Both sides outlive it.
class WorkspaceMirror {
 public:
  // `directory` and `stage` are borrowed; see ReceivedLayer.
  WorkspaceMirror(int directory, core::SandboxFiles& inside, int stage)
      : directory_(directory), stage_(stage), inside_(inside) {}

  // Brings what changed in the directory since the last time into the sandbox: at first all of it. What programs did to
  // the same files since the last Pull is lost.
  base::Status Push(base::Deadline deadline, const std::stop_token& stop);

  // The changes of programs since the last time.
  enum class Extent {
    kChanges,
    kEverything,  // all files: for rules that look at other files too
  };
  base::Result<ReceivedLayer> Pull(Extent extent, base::Deadline deadline, const std::stop_token& stop);
  // The pulled changes have been committed, as far as the rules allow: from now on the directory and the sandbox count
  // as equal. Without this call the next Pull brings the same changes again.
  base::Status Settle(base::Deadline deadline, const std::stop_token& stop);

  // The sandbox was replaced by an empty one.
  void Forget();

 private:
  int directory_;
  int stage_;
  core::SandboxFiles& inside_;
  core::FileMark here_;    // the directory as it was when both were the same
  core::FileMark there_;   // the sandbox's files at that time
  core::FileMark pulled_;  // the sandbox's files as they were last pulled
};

}  // namespace skerry::engine

// WorkspaceMirror: a directory of this host, and the copy of its files that a sandbox elsewhere works on.
//
// The directory is what counts. What is changed there is pushed into the sandbox; what programs changed is pulled as a
// layer, which is committed to the directory as that of an overlay is: with the same rules, limits, journal and record.
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

// What programs changed, on this host. Gone with the object.
class ReceivedLayer {
 public:
  // An empty one below `stage`, which is borrowed and on this host; -1 for a temporary directory.
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

  // Brings what is different in the directory since the last time into the sandbox: at first all of it. What programs
  // did to the same files since the last Pull is lost by that.
  base::Status Push(base::Deadline deadline, const std::stop_token& stop);

  // What programs changed since the last time.
  enum class Extent {
    kChanges,
    kEverything,  // all files: for rules that look around
  };
  base::Result<ReceivedLayer> Pull(Extent extent, base::Deadline deadline, const std::stop_token& stop);
  // What was pulled has been committed, as far as it was: the directory as it is now is what the sandbox has. Without
  // it the next Pull brings the same again.
  base::Status Settle(base::Deadline deadline, const std::stop_token& stop);

  // The sandbox is another one now, and empty.
  void Forget();

 private:
  int directory_;
  int stage_;
  core::SandboxFiles& inside_;
  core::FileMark here_;    // the directory as it was when both were the same
  core::FileMark there_;   // the sandbox's files, likewise
  core::FileMark pulled_;  // as they were when they were last pulled
};

}  // namespace skerry::engine

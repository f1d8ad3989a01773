// Session: one workspace, the file tools of an agent on it, the programs that run in it, and the record of both.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/execution.hpp"
#include "engine/named_files.hpp"
#include "engine/recorder.hpp"
#include "engine/sandbox_manager.hpp"
#include "engine/tree_look.hpp"
#include "os/file_identity.hpp"
#include "text/text_edit.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/archive_import.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::engine {

struct SessionLimits {
  std::uint64_t max_bytes = std::uint64_t{1024} << 20U;
  // What the disk has left for a session's files, and whether there is room for so many bytes more; both or none.
  std::function<std::uint64_t(const std::string& session)> room;
  std::function<base::Status(const std::string& session, std::uint64_t bytes)> check_room;
};

// Held by one at a time, of all processes. What changes something is recorded, whether it succeeds or not. Reading goes
// through files() and is not.
//
// Of one thread at a time. Between BeginLife and EndLife Run and files() may be used by any number, beside
// one that changes files.
class Session {
 public:
  using Changes = workspace::AgentWorkspace::Changes;

  // What an interrupted predecessor left is brought in order, and the record with it.
  static base::Result<Session> Make(workspace::SessionDirectory directory, const SessionLimits& limits,
                                    std::shared_ptr<const Recorder> recorder);

  [[nodiscard]] const std::string& id() const { return directory_->id(); }
  [[nodiscard]] const workspace::SessionDirectory& directory() const { return *directory_; }
  // What it gives stays until EndLife.
  [[nodiscard]] workspace::AgentWorkspace& files() const;

  base::Result<core::FileChange> Write(std::string_view path, std::string_view bytes,
                                       const workspace::WriteOptions& options = {});
  // What `feed` writes, however much it is.
  base::Result<core::FileChange> WriteStream(std::string_view path, const workspace::WriteOptions& options,
                                             const std::function<base::Status(workspace::FileWriter&)>& feed);
  base::Result<core::FileChange> Append(std::string_view path, std::string_view bytes);
  base::Result<workspace::AgentWorkspace::Edited> Edit(std::string_view path, const std::vector<text::TextEdit>& edits,
                                                       const std::optional<std::string>& expected_sha256);
  base::Status MakeDirectory(std::string_view path, workspace::Parents parents);
  base::Result<Changes> Move(std::string_view from, std::string_view to, workspace::Existing existing);
  base::Result<Changes> Copy(std::string_view from, std::string_view to, workspace::Existing existing);
  base::Result<Changes> Delete(std::string_view path, workspace::Depth depth);
  // Unpacks an archive, all of it or nothing, also when it is killed. `archive` is borrowed and seekable.
  base::Result<workspace::ImportReport> Import(int archive, const workspace::ImportOptions& options,
                                               const std::string& what);
  // Anything else that changes files; `what` in words.
  base::Result<Changes> Record(const std::string& kind, const std::string& what,
                               const std::function<base::Result<Changes>()>& act);

  // In the sandbox that stays, if there is one, or in one of its own, on these files; what it changed is carried over
  // at its end. `execution` is its id in the record; "" for a new one. In one of its own it may be called while the
  // session lives; its asker sees to it that the session does not when it begins.
  enum class In { kThatStays, kItsOwn };
  base::Result<core::ExecutionResult> Run(SandboxManager& manager, core::ExecutionRequest request,
                                          const RunStreams& streams, std::stop_token stop, std::string execution = "",
                                          In sandbox = In::kThatStays, RunOccasion occasion = {});
  // A cell of a context that has a sandbox and files of its own: it is recorded, and nothing here changes. Of any
  // thread.
  base::Result<core::ExecutionResult> RunElsewhere(SandboxManager& manager, core::ExecutionRequest request,
                                                   const RunStreams& streams, std::stop_token stop,
                                                   std::string execution, const RunOccasion& occasion) const;

  // From now on programs run in one sandbox that stays, with what they leave running, until EndLife. files() is then
  // what they see, at once and both ways. What was changed is committed at the end of each command and of each change
  // through the file tools, and only what was committed outlives the sandbox. `manager` has to outlive the session. The
  // request says which image and sandbox.
  base::Status BeginLife(SandboxManager& manager, const core::ExecutionRequest& request,
                         const core::SandboxLimits& limits = {}, const std::string& tenant = {},
                         base::Deadline deadline = base::Deadline::Never(), const std::stop_token& stop = {});
  // Ends every process, and commits what they did since the last time.
  base::Status EndLife();
  [[nodiscard]] bool IsLive() const { return live_ != nullptr; }
  // While it lives.
  [[nodiscard]] core::Sandbox& sandbox() const { return *live_->sandbox; }
  [[nodiscard]] const core::Backend& backend() const { return *live_->backend; }
  // Whether files() has what programs change only after a commit: they work on a copy.
  [[nodiscard]] bool IsMirrored() const { return live_ != nullptr && live_->mirror != nullptr; }
  // Brings what programs of a copy changed since the last time into files().
  base::Status Refresh();
  // What the last run that changed something did, as a diff; "" for nothing.
  [[nodiscard]] base::Result<std::string> Diff() const;
  base::Result<Changes> Undo(workspace::LaterWork later);

  // What is different between the files and what the record says of them.
  [[nodiscard]] base::Result<Changes> Unrecorded() const;

  // Everything goes but the record.
  base::Status Remove();

 private:
  Session() = default;
  base::Status PutInOrder();
  base::Result<workspace::ImportReport> ImportByJournal(int archive, const workspace::ImportOptions& options);
  enum class Known { kAlready, kSinceNow };
  base::Result<Known> Introduce(core::RecordStore& store);
  base::Result<std::string> RecordLost(core::RecordStore& store);
  [[nodiscard]] base::Result<SessionRun> NextRun(std::string execution) const;
  [[nodiscard]] workspace::WorkspaceOptions WorkspaceLimits() const;
  base::Status OpenLiveView();
  // A run in the sandbox that lives.
  void Join(SessionRun& run) const;
  // What a tool changed becomes known to programs of a copy.
  void Push();
  // After a change through the file tools: it, and what programs did meanwhile, becomes part of the workspace.
  base::Status CommitLive(const Changes& own);
  // What a commit brought besides: programs did it that live on.
  base::Status RecordBackground(SessionRun run, const Changes& own);
  // Does it, between the two halves of its record.
  template <class Act>
  auto Recorded(const std::string& kind, std::string what, const Act& act) -> decltype(act());

  std::unique_ptr<workspace::SessionDirectory> directory_;
  std::unique_ptr<workspace::AgentWorkspace> files_;
  std::shared_ptr<const Recorder> recorder_;
  SessionLimits limits_;
  SandboxManager* manager_ = nullptr;
  std::unique_ptr<LiveSandbox> live_;
  // As its programs see it, the last one; those before it are those of sandboxes that were lost.
  std::vector<std::unique_ptr<workspace::AgentWorkspace>> live_files_;
  std::unique_ptr<std::mutex> view_mutex_ = std::make_unique<std::mutex>();  // of live_files_ and generation_
  std::uint64_t generation_ = 0;
  os::FileIdentity identity_;  // whose rights its files need
};

}  // namespace skerry::engine

// Session: one workspace, the file tools of an agent on it, the programs that run on it, and the record of both.
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
  // How many bytes the disk has left for a session's files, and whether so many more fit; both or none.
  std::function<std::uint64_t(const std::string& session)> room;
  std::function<base::Status(const std::string& session, std::uint64_t bytes)> check_room;
};

// A session is open once at a time, in all processes. Changes are recorded, whether they succeed or not. Reading goes
// through files() and is not recorded.
//
// For one thread at a time. Between BeginLife and EndLife any number of threads may use Run and files(), beside one
// that changes files.
class Session {
 public:
  using Changes = workspace::AgentWorkspace::Changes;

  // Puts what an interrupted predecessor left in order, and the record with it.
  static base::Result<Session> Make(workspace::SessionDirectory directory, const SessionLimits& limits,
                                    std::shared_ptr<const Recorder> recorder);

  [[nodiscard]] const std::string& id() const { return directory_->id(); }
  [[nodiscard]] const workspace::SessionDirectory& directory() const { return *directory_; }
  // The workspace stays valid until EndLife.
  [[nodiscard]] workspace::AgentWorkspace& files() const;

  base::Result<core::FileChange> Write(std::string_view path, std::string_view bytes,
                                       const workspace::WriteOptions& options = {});
  // Writes all bytes that `feed` gives, however many.
  base::Result<core::FileChange> WriteStream(std::string_view path, const workspace::WriteOptions& options,
                                             const std::function<base::Status(workspace::FileWriter&)>& feed);
  base::Result<core::FileChange> Append(std::string_view path, std::string_view bytes);
  base::Result<workspace::AgentWorkspace::Edited> Edit(std::string_view path, const std::vector<text::TextEdit>& edits,
                                                       const std::optional<std::string>& expected_sha256);
  base::Status MakeDirectory(std::string_view path, workspace::Parents parents);
  base::Result<Changes> Move(std::string_view from, std::string_view to, workspace::Existing existing);
  base::Result<Changes> Copy(std::string_view from, std::string_view to, workspace::Existing existing);
  base::Result<Changes> Delete(std::string_view path, workspace::Depth depth);
  // Unpacks an archive, all of it or nothing, even when the process is killed. `archive` is borrowed and seekable.
  base::Result<workspace::ImportReport> Import(int archive, const workspace::ImportOptions& options,
                                               const std::string& what);
  // Any other change of files; `what` describes it in words.
  base::Result<Changes> Record(const std::string& kind, const std::string& what,
                               const std::function<base::Result<Changes>()>& act);

  // Runs a program on the session's files: in the sandbox that stays, if there is one, else in a sandbox of its own;
  // its changes are carried over at its end. `execution` is its id in the record; "" for a new one. kItsOwn may be used
  // while the session lives; the asker makes sure that it does not when the program begins.
  enum class In { kThatStays, kItsOwn };
  base::Result<core::ExecutionResult> Run(SandboxManager& manager, core::ExecutionRequest request,
                                          const RunStreams& streams, const std::stop_token& stop,
                                          std::string execution = "", In sandbox = In::kThatStays,
                                          RunOccasion occasion = {});
  // Runs a cell of a context that has a sandbox and files of its own: it is recorded, and the session's files stay. For
  // any thread.
  base::Result<core::ExecutionResult> RunElsewhere(SandboxManager& manager, core::ExecutionRequest request,
                                                   const RunStreams& streams, const std::stop_token& stop,
                                                   std::string execution, const RunOccasion& occasion) const;

  // From now on programs run in one sandbox that stays, with the processes that they leave, until EndLife. files()
  // shows what they see, at once and both ways. Changes are committed at the end of each command and of each change
  // through the file tools, and only committed changes outlive the sandbox. `manager` has to outlive the session. The
  // request says which image and sandbox.
  base::Status BeginLife(SandboxManager& manager, const core::ExecutionRequest& request,
                         const core::SandboxLimits& limits = {}, const std::string& tenant = {},
                         base::Deadline deadline = base::Deadline::Never(), const std::stop_token& stop = {});
  // Ends every process, and commits what they changed since the last commit.
  base::Status EndLife();
  [[nodiscard]] bool IsLive() const { return live_ != nullptr; }
  // While the session lives.
  [[nodiscard]] core::Sandbox& sandbox() const { return *live_->sandbox; }
  [[nodiscard]] const core::Backend& backend() const { return *live_->backend; }
  // Whether files() shows changes of programs only after a commit: they work on a copy.
  [[nodiscard]] bool IsMirrored() const { return live_ != nullptr && live_->mirror != nullptr; }
  // Commits what programs that work on a copy changed, so that files() shows it.
  base::Status Refresh();
  // The diff of the last run that changed something; "" for none.
  [[nodiscard]] base::Result<std::string> Diff() const;
  base::Result<Changes> Undo(workspace::LaterWork later);

  // How the files differ from what the record says of them.
  [[nodiscard]] base::Result<Changes> Unrecorded() const;

  // Removes everything but the record.
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
  // Makes a run one of the sandbox that lives.
  void Join(SessionRun& run) const;
  // Shows a tool's change to programs that work on a copy.
  void Push();
  // After a change through the file tools: commits it, and what programs changed meanwhile.
  base::Status CommitLive(const Changes& own);
  // Records what a commit brought besides `own`: changes of programs that live on.
  base::Status RecordBackground(SessionRun run, const Changes& own);
  // Calls `act` between the two halves of its record.
  template <class Act>
  auto Recorded(const std::string& kind, std::string what, const Act& act) -> decltype(act());

  std::unique_ptr<workspace::SessionDirectory> directory_;
  std::unique_ptr<workspace::AgentWorkspace> files_;
  std::shared_ptr<const Recorder> recorder_;
  SessionLimits limits_;
  SandboxManager* manager_ = nullptr;
  std::unique_ptr<LiveSandbox> live_;
  // The workspace as programs see it is the last one; the others are those of sandboxes that were lost.
  std::vector<std::unique_ptr<workspace::AgentWorkspace>> live_files_;
  std::unique_ptr<std::mutex> view_mutex_ = std::make_unique<std::mutex>();  // guards live_files_ and generation_
  std::uint64_t generation_ = 0;
  os::FileIdentity identity_;  // the user and group that own the files
};

}  // namespace skerry::engine

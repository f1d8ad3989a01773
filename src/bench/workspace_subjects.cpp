#include "bench/workspace_subjects.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/ids.hpp"
#include "bench/candidate.hpp"
#include "bench/command.hpp"
#include "os/directory.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/commit.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::bench {
namespace {

constexpr std::size_t kFileBytes = 4096;
constexpr std::size_t kFiles = 1000;
constexpr std::size_t kSmallBytes = 1000;

// A directory that is gone with the last subject that uses it.
class Scratch {
 public:
  explicit Scratch(const std::string& parent) : path_(parent + "/" + base::RandomId("skerry-bench-")) {
    made_ = ::mkdir(path_.c_str(), S_IRWXU) == 0;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { (void)os::RemoveTree(path_); }

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};
using ScratchPointer = std::shared_ptr<const Scratch>;

base::Status WriteFile(const std::string& path, std::string_view bytes) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid()) return os::ErrnoErr(path);
  return os::WriteAll(file.get(), bytes);
}

base::UniqueFd OpenDirectory(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Duration Since(Clock::time_point began) {
  return Clock::now() - began;
}

// --- reading

constexpr std::size_t kReadsInOneSample = 20;  // a single read is too short for the clock

void AddRead(Baselines& all, const ScratchPointer& scratch) {
  const std::string group = "workspace-read";
  const std::string path = scratch->path() + "/read";
  ::mkdir(path.c_str(), S_IRWXU);
  ::mkdir((path + "/data").c_str(), S_IRWXU);
  const auto written = WriteFile(path + "/data/file.txt", std::string(kFileBytes, 'x'));
  if (!written) return LeaveOut(all, "skerry", {group}, written.error().message);
  const auto files =
      std::make_shared<workspace::AgentWorkspace>(OpenDirectory(path), base::UniqueFd(), workspace::WorkspaceOptions{});
  all.subjects.push_back({.group = group,
                          .name = "skerry",
                          .detail = "AgentWorkspace::Read of data/file.txt, 4 KB",
                          .run = [files, scratch]() -> base::Result<Sample> {
                            const auto began = Clock::now();
                            for (std::size_t i = 0; i < kReadsInOneSample; ++i)
                              SKERRY_RETURN_IF_ERROR(files->Read("data/file.txt", {}, kFileBytes));
                            return Sample{.total = Since(began) / kReadsInOneSample};
                          }});
  all.subjects.push_back({.group = group,
                          .name = "open, read",
                          .detail = "open(2), fstat(2), read(2), close(2) by the whole path",
                          .run = [whole = path + "/data/file.txt", scratch]() -> base::Result<Sample> {
                            const auto began = Clock::now();
                            for (std::size_t i = 0; i < kReadsInOneSample; ++i)
                              SKERRY_RETURN_IF_ERROR(os::ReadFile(whole, kFileBytes));
                            return Sample{.total = Since(began) / kReadsInOneSample};
                          }});
}

// --- committing

class AllowEverything : public workspace::CommitRules {
 public:
  std::string Refuses(const workspace::Change&, const workspace::ChangeContents&) override { return ""; }
};

// Commits as Session::Run does, with digests and a journal, each time into a new session.
base::Result<Sample> TimeCommit(const std::string& base, int layer) {
  SKERRY_ASSIGN_OR_RETURN(workspace::SessionDirectory session,
                          workspace::SessionDirectory::Create(base, base::RandomId("s")));
  AllowEverything rules;
  const auto began = Clock::now();
  workspace::ChangeJournal journal = session.BeginChanges();
  SKERRY_ASSIGN_OR_RETURN(
      const workspace::CommitReport report,
      workspace::Commit(layer, session.root(), rules,
                        {.links = workspace::LinkRule::kOwn, .hashing = workspace::Hashing::kContent}, journal));
  SKERRY_RETURN_IF_ERROR(session.KeepChanges(journal, "bench"));
  const Duration total = Since(began);
  if (report.created.size() != kFiles) return base::Err(base::Code::kExecutionFailed, "not everything was committed");
  SKERRY_RETURN_IF_ERROR(session.Remove());
  return Sample{.total = total};
}

base::Status FillLayer(const std::string& layer) {
  const std::string bytes(kSmallBytes, 'x');
  for (std::size_t i = 0; i < kFiles; ++i) {
    const std::string directory = layer + "/d" + std::to_string(i % 10);
    if (i < 10) ::mkdir(directory.c_str(), S_IRWXU);
    SKERRY_RETURN_IF_ERROR(WriteFile(directory + "/f" + std::to_string(i), bytes));
  }
  return {};
}

void AddCommit(Baselines& all, const ScratchPointer& scratch) {
  const std::string group = "workspace-commit";
  // Like a sandbox's layer, this one is in memory.
  const auto memory = std::make_shared<const Scratch>("/dev/shm");
  const auto filled = memory->made() ? FillLayer(memory->path()) : base::Err(base::Code::kUnavailable, "no /dev/shm");
  if (!filled) return LeaveOut(all, "skerry", {group}, filled.error().message);
  const auto layer = std::make_shared<const base::UniqueFd>(OpenDirectory(memory->path()));
  all.subjects.push_back({.group = group,
                          .name = "skerry",
                          .detail = "1,000 files of 1 KB from a layer into a session, with digests and journal",
                          .run = [base = scratch->path() + "/sessions", layer, scratch, memory] {
                            return TimeCommit(base, layer->get());
                          }});
  const auto copy = FindProgram("cp");
  if (!copy) return LeaveOut(all, "cp -a", {group}, "not installed");
  all.subjects.push_back({.group = group,
                          .name = "cp -a",
                          .detail = "cp -a of the same files to the same disk",
                          .run = [copy = *copy, scratch, memory]() -> base::Result<Sample> {
                            const std::string target = scratch->path() + "/" + base::RandomId("copy-");
                            auto sample = TimeCommand({{copy, "-a", memory->path(), target}, PlainEnvironment()}, "");
                            SKERRY_RETURN_IF_ERROR(os::RemoveTree(target));
                            return sample;
                          }});
}

// --- copy-on-write for nothing

class NoSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    return {.accepted = bytes.size()};
  }
};

// Times of start, execution, end and commit.
using Parts = std::array<Duration, 4>;

base::Result<Parts> TimeRun(core::Backend& backend, const workspace::SessionDirectory& session,
                            core::WorkspaceChanges changes) {
  // After each sandbox the launcher makes the next one ahead; on few processors that would slow down this run.
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Parts parts{};
  auto began = Clock::now();
  const auto lap = [&](std::size_t part) { parts[part] = Since(std::exchange(began, Clock::now())); };
  auto place = std::make_shared<core::HostPlace>();
  place->path = session.path();
  place->fd.Reset(::fcntl(session.root(), F_DUPFD_CLOEXEC, 0));
  SKERRY_ASSIGN_OR_RETURN(const auto sandbox, backend.Create({.workspace = std::move(place),
                                                              .workspace_owner = core::WorkspaceOwner::kPerson,
                                                              .workspace_changes = changes,
                                                              .demand = core::Demand::kWhatIsPossible}));
  SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::Never(), {}));
  lap(0);
  NoSink sink;
  SKERRY_ASSIGN_OR_RETURN(const auto ended,
                          sandbox->Execute({.program = core::Code{core::Language::kShell, "true"}}, sink, {}));
  lap(1);
  SKERRY_RETURN_IF_ERROR(sandbox->Stop(base::Deadline::Never()));
  lap(2);
  if (ended.outcome.exit_code != 0) return base::Err(base::Code::kExecutionFailed, "true failed");
  if (const auto view = sandbox->files().Local(); view && !os::IsEmptyDirectory(view->changes)) {
    AllowEverything rules;
    workspace::ChangeJournal journal = session.BeginChanges();
    SKERRY_RETURN_IF_ERROR(
        workspace::Commit(view->changes, session.root(), rules, {.hashing = workspace::Hashing::kContent}, journal));
  }
  lap(3);
  return parts;
}

Duration TotalOf(const Parts& parts) {
  return parts[0] + parts[1] + parts[2] + parts[3];
}

void AddNothing(Baselines& all, const ScratchPointer& scratch, core::Backend* backend) {
  const std::string group = "workspace-nothing";
  if (backend == nullptr) return LeaveOut(all, "skerry", {group}, "there is no sandbox");
  auto made = workspace::SessionDirectory::Create(scratch->path() + "/sessions", "nothing");
  if (!made) return LeaveOut(all, "skerry", {group}, made.error().message);
  const auto session = std::make_shared<const workspace::SessionDirectory>(std::move(*made));
  using core::WorkspaceChanges;
  all.subjects.push_back(
      {.group = group,
       .name = "skerry",
       .detail = "the difference between a run of true with copy-on-write and one in place, as a pair",
       .run = [backend, session, scratch]() -> base::Result<Sample> {
         SKERRY_ASSIGN_OR_RETURN(const Parts in_place, TimeRun(*backend, *session, WorkspaceChanges::kInPlace));
         SKERRY_ASSIGN_OR_RETURN(const Parts apart, TimeRun(*backend, *session, WorkspaceChanges::kApart));
         return Sample{.total = TotalOf(apart) - TotalOf(in_place),
                       .steps = {{"more for start", apart[0] - in_place[0]},
                                 {"more for run", apart[1] - in_place[1]},
                                 {"more for end", apart[2] - in_place[2]},
                                 {"more for commit", apart[3] - in_place[3]}}};
       }});
  all.subjects.push_back({.group = group,
                          .name = "in place",
                          .detail = "a run of true that writes to the directory itself",
                          .run = [backend, session, scratch]() -> base::Result<Sample> {
                            SKERRY_ASSIGN_OR_RETURN(const Parts parts,
                                                    TimeRun(*backend, *session, WorkspaceChanges::kInPlace));
                            return Sample{.total = TotalOf(parts)};
                          }});
}

}  // namespace

Baselines FindWorkspaceSubjects(const std::string& directory, core::Backend* backend) {
  Baselines all;
  const auto scratch = std::make_shared<const Scratch>(directory);
  if (!scratch->made()) {
    LeaveOut(all, "skerry", {"workspace-read", "workspace-commit", "workspace-nothing"},
             "cannot make a directory in " + directory);
    return all;
  }
  AddRead(all, scratch);
  AddCommit(all, scratch);
  AddNothing(all, scratch, backend);
  return all;
}

}  // namespace skerry::bench

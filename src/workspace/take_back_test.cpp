#include "workspace/take_back.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/deadline.hpp"
#include "workspace/overlay_fixture.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

// The content of a tree: mode and content of every path, links with their targets.
using Tree = std::map<std::string, std::string>;

Tree TreeOf(const fs::path& root) {
  Tree tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat facts{};
    EXPECT_EQ(::lstat(entry.path().c_str(), &facts), 0);
    std::string text = std::to_string(facts.st_mode) + " ";
    if (S_ISLNK(facts.st_mode)) text += fs::read_symlink(entry.path()).string();
    if (S_ISREG(facts.st_mode)) {
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path()).rdbuf();
      text += std::to_string(facts.st_mtim.tv_sec) + " " + bytes.str();
    }
    tree[entry.path().lexically_relative(root).string()] = std::move(text);
  }
  return tree;
}

// From now on every system call of this thread that can change a file first stops the thread for its tracer.
void StopAtChanges() {
  constexpr std::array kChanging = {SYS_mkdirat,  SYS_linkat,    SYS_symlinkat, SYS_renameat,       SYS_renameat2,
                                    SYS_unlinkat, SYS_write,     SYS_pwrite64,  SYS_ftruncate,      SYS_fchmod,
                                    SYS_fchownat, SYS_utimensat, SYS_fchmodat,  SYS_copy_file_range};
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : kChanging) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3));
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Runs `work` in a child until before its change number `step`, and kills it there. False: the work came to its end.
bool KillAtStep(int step, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    StopAtChanges();
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESECCOMP);
  for (int i = 0; i < step; ++i) {
    if (::ptrace(PTRACE_CONT, child, nullptr, nullptr) < 0) break;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return false;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

// Every kind of change that a commit can make, once.
constexpr const char* kWork =
    "echo new > made; ln -s made link; mkdir -p deep/er; echo x > deep/er/file; echo changed > changed; chmod 755 "
    "changed; rm removed; rm -r tree; mkdir tree; echo y > tree/other; rm was-dir/f; rmdir was-dir; echo z > was-dir; "
    "rm was-file; mkdir was-file; echo w > was-file/in; chmod 700 dir; touch -d @1000 touched; rm old-link; ln -s made "
    "old-link; mv moved moved-away";

class TakeBackTest : public OverlayTest {
 protected:
  void SetUp() override {
    OverlayTest::SetUp();
    if (!IsSkipped()) Fill();
  }

  void Fill() {
    fs::create_directories(base_ / "sessions");
    {
      const auto session = SessionDirectory::Create((base_ / "sessions").string(), "s");
    }
    fs::remove_all(lower_);
    lower_ = base_ / "sessions" / "s";
    for (const char* name :
         {"changed", "removed", "tree/a", "tree/b/c", "was-dir/f", "was-file", "touched", "moved", "dir/x"})
      Put(name, std::string("old ") + name);
    fs::create_symlink("changed", lower_ / "old-link");
    fs::permissions(lower_ / "dir", fs::perms(0755));
    limits_.links = LinkRule::kOwn;
    limits_.hashing = Hashing::kContent;
  }

  [[nodiscard]] base::Result<SessionDirectory> Open() const {
    return SessionDirectory::Open((base_ / "sessions").string(), "s", base::Deadline::After({}));
  }

  base::Result<CommitReport> CommitTo(const SessionDirectory& session) {
    ChangeJournal journal = session.BeginChanges();
    auto report = workspace::Commit(upper_.get(), session.root(), rules_, limits_, journal);
    if (report && !session.KeepChanges(journal, "x1")) return base::Err(base::Code::kInternal, "not kept");
    return report;
  }

  // Saves a copy of the session's present state; Load returns to it.
  void Save() {
    fs::copy(base_ / "sessions", base_ / "saved", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  void Load() {
    fs::remove_all(base_ / "sessions");
    fs::copy(base_ / "saved", base_ / "sessions", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    for (const char* name :
         {"changed", "removed", "touched", "moved", "was-file", "tree/a", "tree/b/c", "was-dir/f", "dir/x"}) {
      const std::array<timespec, 2> times = {timespec{.tv_sec = 5, .tv_nsec = 0}, timespec{.tv_sec = 5, .tv_nsec = 0}};
      if (fs::exists(lower_ / name)) ::utimensat(AT_FDCWD, (lower_ / name).c_str(), times.data(), 0);
    }
  }
  [[nodiscard]] Tree Now() const { return TreeOf(lower_); }
};

TEST_F(TakeBackTest, AnUndoneCommitLeavesEverythingAsItWas) {
  const Tree before = Now();
  Shell(kWork);
  {
    const auto session = Open();
    ASSERT_TRUE(session) << session.error().message;
    const auto report = CommitTo(*session);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(Lines(report->withheld), "");
  }
  EXPECT_NE(Now(), before);
  const auto session = Open();
  ASSERT_TRUE(session);
  EXPECT_FALSE(session->recovered());
  const auto changes = session->Undo(LaterWork::kStays);
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(Now(), before);
  EXPECT_FALSE(session->Undo(LaterWork::kStays));  // there is nothing more
}

TEST_F(TakeBackTest, TheReportNamesEveryFileWithItsDigest) {
  Shell(kWork);
  const auto session = Open();
  ASSERT_TRUE(session);
  const auto report = CommitTo(*session);
  ASSERT_TRUE(report);
  std::map<std::string, core::FileAction> actions;
  for (const core::FileChange& change : report->changes) {
    actions[change.path] = change.action;
    EXPECT_EQ(change.sha256.empty(), change.action == core::FileAction::kRemoved) << change.path;
  }
  using enum core::FileAction;
  const std::map<std::string, core::FileAction> expected = {
      {"made", kCreated},      {"link", kCreated},    {"deep/er/file", kCreated}, {"changed", kChanged},
      {"removed", kRemoved},   {"tree/a", kRemoved},  {"tree/b/c", kRemoved},     {"tree/other", kCreated},
      {"was-dir/f", kRemoved}, {"was-dir", kCreated}, {"was-file", kRemoved},     {"was-file/in", kCreated},
      {"old-link", kChanged},  {"moved", kRemoved},   {"moved-away", kCreated}};
  EXPECT_EQ(actions, expected);
}

TEST_F(TakeBackTest, WhatWasChangedSinceIsNotLost) {
  Shell("echo new > changed; echo new > made");
  const auto session = Open();
  ASSERT_TRUE(session);
  ASSERT_TRUE(CommitTo(*session));
  Put("changed", "somebody's later work");
  const auto refused = session->Undo(LaterWork::kStays);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kConflict);
  EXPECT_NE(refused.error().message.find("changed"), std::string::npos);
  EXPECT_EQ(Get("changed"), "somebody's later work");
  EXPECT_EQ(Get("made"), "new\n");
  ASSERT_TRUE(session->Undo(LaterWork::kGoes));
  EXPECT_EQ(Get("changed"), "old changed");
  EXPECT_FALSE(Exists("made"));
}

TEST_F(TakeBackTest, WhatComesBackFindsItsDirectoryAgain) {
  Shell("rm tree/a");
  const auto session = Open();
  ASSERT_TRUE(session);
  ASSERT_TRUE(CommitTo(*session));
  fs::remove_all(lower_ / "tree");
  const auto refused = session->Undo(LaterWork::kStays);
  ASSERT_FALSE(refused);  // more was removed since
  EXPECT_EQ(refused.error().code, base::Code::kConflict);
  ASSERT_TRUE(session->Undo(LaterWork::kGoes));
  EXPECT_EQ(Get("tree/a"), "old tree/a");
}

TEST_F(TakeBackTest, WhatIsInTheWayOfAForcedUndoGoes) {
  Shell("echo new > changed; echo new > made; rm -r tree");
  const auto session = Open();
  ASSERT_TRUE(session);
  ASSERT_TRUE(CommitTo(*session));
  fs::remove(lower_ / "changed");
  fs::create_directories(lower_ / "changed/sub");
  Put("made", "rewritten");
  fs::rename(lower_ / "made", lower_ / "other");
  Put("made", "another file");
  Put("tree", "a file where a directory was");
  ASSERT_FALSE(session->Undo(LaterWork::kStays));
  const auto undone = session->Undo(LaterWork::kGoes);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(Get("changed"), "old changed");
  EXPECT_FALSE(Exists("made"));
  EXPECT_EQ(Get("tree/b/c"), "old tree/b/c");
}

TEST_F(TakeBackTest, NothingOfARemovedSessionComesBackInANewOne) {
  const std::string sessions = (base_ / "sessions").string();
  Shell("echo new > changed");
  {
    const auto session = Open();
    ASSERT_TRUE(session && CommitTo(*session));
  }
  // A state that a removal leaves when it is killed in its middle.
  fs::rename(lower_, base_ / "sessions/.skerry/s/gone-s");
  const auto session = SessionDirectory::Create(sessions, "s");
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_TRUE(fs::is_empty(lower_));
  EXPECT_FALSE(session->Last()->has_value());
  EXPECT_FALSE(fs::exists(base_ / "sessions/.skerry/s/gone-s"));
}

TEST_F(TakeBackTest, AJournalThatCannotBeReadIsPutAsideAndTheSessionGoesOn) {
  fs::create_directory(base_ / "sessions/.skerry/s/now");
  std::ofstream(base_ / "sessions/.skerry/s/now/journal") << "nonsense\n";
  const auto session = Open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_NE(session->problem(), "");
  EXPECT_TRUE(session->recovered());
  EXPECT_FALSE(fs::exists(base_ / "sessions/.skerry/s/now"));
}

TEST_F(TakeBackTest, ALineThatDidNotFitLeavesNoHalf) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const base::UniqueFd parent(::open(base_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ChangeJournal journal(parent.get(), "j");
    int failed = journal.BeforeDirectory("first") ? 0 : 1;
    const rlimit small{.rlim_cur = 40, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &small);
    failed += journal.BeforeDirectory("the second one, which does not fit") ? 1 : 0;
    const rlimit none{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &none);
    failed += journal.BeforeDirectory("third") ? 0 : 1;
    ::_exit(failed);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const base::UniqueFd directory(::open((base_ / "j").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto journal = ReadJournal(directory.get());
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_EQ(journal->records.size(), 2U);
  EXPECT_EQ(journal->records[1].path, "third");
}

TEST_F(TakeBackTest, AKillAtAnyStepOfACommitLeavesTheOldOrTheNewState) {
  Shell(kWork);
  Save();
  Load();
  const Tree before = Now();
  Tree after;
  {
    const auto session = Open();
    ASSERT_TRUE(session && CommitTo(*session));
    after = Now();
  }
  int killed_before = 0;
  int killed_after = 0;
  for (int step = 1;; ++step) {
    Load();
    const bool killed = KillAtStep(step, [&] {
      const auto session = Open();
      if (session) (void)CommitTo(*session);
    });
    const auto session = Open();
    ASSERT_TRUE(session) << "step " << step << ": " << session.error().message;
    const Tree now = Now();
    ASSERT_TRUE(now == before || now == after) << "step " << step;
    (now == before ? killed_before : killed_after) += killed ? 1 : 0;
    ASSERT_EQ(fs::exists(base_ / "sessions/.skerry/s/now"), false) << "step " << step;
    if (!killed) break;
  }
  EXPECT_GT(killed_before, 50);
  EXPECT_GT(killed_after, 1);
}

TEST_F(TakeBackTest, AKillDuringTheRepairOrAnUndoLosesNothing) {
  Shell(kWork);
  Save();
  Load();
  const Tree before = Now();
  // A commit that is killed near its end, and then its repair, killed at every step.
  int steps = 0;
  while (KillAtStep(++steps, [&] {
    const auto session = Open();
    if (session) (void)CommitTo(*session);
  }))
    Load();
  for (int step = 1;; ++step) {
    Load();
    KillAtStep(steps * 3 / 4, [&] {
      const auto session = Open();
      if (session) (void)CommitTo(*session);
    });
    const bool killed = KillAtStep(step, [&] { (void)Open(); });
    const auto session = Open();
    ASSERT_TRUE(session) << session.error().message;
    ASSERT_EQ(Now(), before) << "repair, step " << step;
    if (!killed) break;
  }
  // An undo that was killed is completed.
  for (int step = 1;; ++step) {
    Load();
    {
      const auto session = Open();
      ASSERT_TRUE(session && CommitTo(*session));
    }
    const Tree after = Now();
    const bool killed = KillAtStep(step, [&] {
      const auto session = Open();
      if (session) (void)session->Undo(LaterWork::kStays);
    });
    const auto session = Open();
    ASSERT_TRUE(session);
    const Tree now = Now();
    ASSERT_TRUE(now == before || now == after) << "undo, step " << step;
    if (!killed) break;
  }
}

}  // namespace
}  // namespace skerry::workspace

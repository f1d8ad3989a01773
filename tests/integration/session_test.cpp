// Sessions with the native sandbox and the real record: what becomes of files, and what is recorded.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "backends/native/native_backend.hpp"
#include "engine/sessions.hpp"
#include "store/sqlite_record_store.hpp"
#include "support/open_gate.hpp"
#include "support/temporary_directory.hpp"

namespace skerry {
namespace {

namespace fs = std::filesystem;
using core::Language;
using engine::Session;

void Replace(std::string& text, std::string_view mark, const std::string& by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    const auto programs = launcher::ProgramPaths::BesideThisProgram().value();
    EXPECT_TRUE(registry_.Add(std::make_unique<backends::native::NativeBackend>(programs)));
    manager_.emplace(registry_, engine::ManagerOptions{.gate = OpenGate()});
    OpenStore();
  }

  void OpenStore() {
    auto opened = store::SqliteRecordStore::Open((home_ / "record.db").string(), {});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }

  [[nodiscard]] engine::Sessions Sessions(std::uint64_t max_bytes = std::uint64_t{64} << 20U) const {
    return {{.base_dir = (home_ / "workspaces").string(), .limits = {.max_bytes = max_bytes}},
            std::make_shared<engine::Recorder>(engine::RecorderOptions{.store = store_, .by = "test"})};
  }

  [[nodiscard]] static core::ExecutionRequest Shell(std::string code) {
    return {.code = std::move(code), .language = Language::kShell};
  }
  core::ExecutionResult Run(Session& session, const std::string& code) {
    auto result = session.Run(*manager_, Shell(code), {}, {});
    EXPECT_TRUE(result) << result.error().message;
    if (!result) return {};
    EXPECT_EQ(result->outcome.exit_code, 0) << code << "\n" << result->standard_error;
    return std::move(*result);
  }
  [[nodiscard]] fs::path Root(const Session& session) const { return home_ / "workspaces" / session.id(); }
  [[nodiscard]] std::string OnDisk(const Session& session, const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(Root(session) / path).rdbuf();
    return text.str();
  }

  // The files that the record does not know, as text.
  static std::string Unrecorded(const Session& session) {
    const auto different = session.Unrecorded();
    if (!different) return different.error().message;
    std::string text;
    for (const core::FileChange& change : *different)
      text += std::string(core::NameOf(change.action)) + " " + change.path + "\n";
    return text;
  }

  support::TemporaryDirectory directory_;
  fs::path home_ = directory_.path();
  core::BackendRegistry registry_;
  std::optional<engine::SandboxManager> manager_;
  std::shared_ptr<store::SqliteRecordStore> store_;
};

TEST_F(SessionTest, ANewOneHasTheDirectoriesAndTheNotes) {
  const auto session = Sessions().Create("s");
  ASSERT_TRUE(session) << session.error().message;
  for (const char* name : {"code", "data", "output", "artifacts", "temp", ".memory"})
    EXPECT_TRUE(fs::is_directory(Root(*session) / name)) << name;
  EXPECT_EQ(OnDisk(*session, ".memory/task_plan.md"), "# Task Plan\n\n");
  EXPECT_EQ(OnDisk(*session, ".memory/findings.md"), "# Findings\n\n");
  EXPECT_EQ(OnDisk(*session, ".memory/progress.md"), "# Progress\n\n");
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, ItStartsFromItsSource) {
  fs::create_directories(home_ / "source/skills/a");
  std::ofstream(home_ / "source/skills/a/SKILL.md") << "skill";
  std::ofstream(home_ / "source/AGENTS.md") << "agents";
  std::ofstream(home_ / "source/other.md") << "not listed";
  fs::create_symlink("/etc/passwd", home_ / "source/SOUL.md");
  engine::SessionsOptions options{.base_dir = (home_ / "workspaces").string(),
                                  .source = (home_ / "source").string(),
                                  .bootstrap_files = {"AGENTS.md", "SOUL.md", "USER.md"}};
  const auto recorder = std::make_shared<engine::Recorder>(engine::RecorderOptions{.store = store_});
  {
    const auto session = engine::Sessions(options, recorder).Create("listed");
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(OnDisk(*session, "AGENTS.md"), "agents");
    EXPECT_EQ(OnDisk(*session, "skills/a/SKILL.md"), "skill");
    EXPECT_FALSE(fs::exists(Root(*session) / "other.md"));
    EXPECT_FALSE(fs::exists(Root(*session) / "SOUL.md"));  // a link that leads out of the source
  }
  fs::create_directories(home_ / "source/init/data");
  std::ofstream(home_ / "source/init/data/seed") << "seed";
  const auto session = engine::Sessions(options, recorder).Create("init");
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(OnDisk(*session, "data/seed"), "seed");
  EXPECT_EQ(OnDisk(*session, "skills/a/SKILL.md"), "skill");
  EXPECT_FALSE(fs::exists(Root(*session) / "AGENTS.md"));
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, RunsSeeTheFilesOfEarlierRunsAndOfTheFileTools) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->Write("data/in.txt", "from outside"));
  EXPECT_EQ(Run(*session, "cat data/in.txt; cp data/in.txt out.txt; mkdir d; ln -s ../out.txt d/l").standard_output,
            "from outside");
  EXPECT_EQ(Run(*session, "cat d/l; pwd").standard_output, "from outside/workspace\n");
  EXPECT_EQ(session->files().Read("d/l", {}, 100).value_or(""), "from outside");
  EXPECT_EQ(session->files().Read("/workspace/out.txt", {}, 100).value_or(""), "from outside");
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, NothingIsWithheldButWhatLeadsOut) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  const auto result =
      Run(*session,
          "mkdir -p .git/hooks .vscode; echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; "
          "echo x > .bashrc; echo x > .mcp.json; echo x > .vscode/tasks.json; ln -s /workspace/data in; "
          "ln -s /etc/passwd out; ln -s ../../etc out2; mkfifo fifo; ln -s /usr/bin/env program");
  std::string withheld;
  for (const core::WithheldFile& file : result.files_withheld) withheld += file.path + ": " + file.reason + "\n";
  EXPECT_EQ(withheld, "fifo: is a fifo\nout: leads out of the workspace\nout2: leads out of the workspace\n");
  EXPECT_TRUE(fs::exists(Root(*session) / ".git/hooks/pre-commit"));
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, TheQuotaHoldsForToolsAndForRuns) {
  auto session = Sessions(std::uint64_t{4} << 20U).Create("s");
  ASSERT_TRUE(session);
  const std::string megabyte(1U << 20U, 'x');
  ASSERT_TRUE(session->Write("a", megabyte));
  const auto refused = session->Write("b", std::string(std::size_t{4} << 20U, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooLarge);
  EXPECT_FALSE(fs::exists(Root(*session) / "b"));
  const auto result = session->Run(
      *manager_, Shell("head -c 3500000 /dev/zero > big; rm .memory/findings.md; echo small > small"), {}, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(fs::exists(Root(*session) / "big"));
  ASSERT_EQ(result->files_withheld.size(), 2U);
  EXPECT_EQ(result->files_withheld[0].reason, "was kept, because not everything new could be written");
  EXPECT_EQ(result->files_withheld[1].reason, "the workspace would be larger than it may be");
  EXPECT_TRUE(fs::exists(Root(*session) / "small"));
  const auto usage = session->files().CurrentUsage();
  ASSERT_TRUE(usage);
  EXPECT_LE(usage->bytes, std::uint64_t{4} << 20U);
  EXPECT_EQ(Unrecorded(*session), "");
}

// Of a workspace with many files the count is most of what a small run would take.
TEST_F(SessionTest, TheUseIsCountedAgainOnlyAfterARunThatChangedSomething) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  const auto used = [&] { return session->files().CurrentUsage().value_or(workspace::Usage{}); };
  const workspace::Usage before = used();
  std::ofstream(Root(*session) / "unseen") << "x";
  ASSERT_TRUE(session->Run(*manager_, Shell("cat code/* ; true"), {}, {}));
  EXPECT_EQ(used().entries, before.entries);
  ASSERT_TRUE(session->Run(*manager_, Shell("mkdir empty"), {}, {}));
  EXPECT_EQ(used().entries, before.entries + 2);
  ASSERT_TRUE(session->Run(*manager_, Shell("rm unseen; rmdir empty"), {}, {}));
  EXPECT_EQ(used().entries, before.entries);
}

TEST_F(SessionTest, ALargeFileCanBeRenamedAndRewrittenNearTheQuota) {
  auto session = Sessions(std::uint64_t{8} << 20U).Create("s");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->Write("big", std::string(std::size_t{6} << 20U, 'x')));
  core::ExecutionRequest request = Shell("mv big renamed && head -c 5000000 /dev/urandom > renamed");
  const auto result = session->Run(*manager_, request, {}, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->files_withheld.empty()) << result->files_withheld.front().reason;
  EXPECT_EQ(fs::file_size(Root(*session) / "renamed"), 5'000'000U);
  EXPECT_FALSE(fs::exists(Root(*session) / "big"));
}

TEST_F(SessionTest, ADryRunShowsAndChangesNothing) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session && session->Write("f", "one\ntwo\n"));
  ASSERT_TRUE(session->Write("gone", "x\n"));
  core::ExecutionRequest request = Shell("sed -i s/two/2/ f; rm gone; mkdir d; echo new > d/n");
  request.carry = core::Carry::kShow;
  const auto result = session->Run(*manager_, request, {}, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->files_created, std::vector<std::string>{"d/n"});
  EXPECT_EQ(result->files_changed, std::vector<std::string>{"f"});
  EXPECT_EQ(result->files_deleted, std::vector<std::string>{"gone"});
  EXPECT_NE(result->diff.find("-two\n+2\n"), std::string::npos) << result->diff;
  EXPECT_EQ(OnDisk(*session, "f"), "one\ntwo\n");
  EXPECT_TRUE(fs::exists(Root(*session) / "gone"));
  EXPECT_FALSE(fs::exists(Root(*session) / "d"));
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, AFileThatItsOwnerLockedIsThereForTheRecord) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  Run(*session, "mkdir d; echo 1 > d/f; chmod 0 d/f");
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, AfterARandomSequenceTheRecordEqualsTheFiles) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  std::mt19937 random(20261116);  // NOLINT(cert-msc51-cpp): the same each time
  const auto pick = [&](unsigned count) { return random() % count; };
  const auto name = [&] {
    static const std::array<std::string, 4> kDirectories = {"", "d/", "d/e/", "x y/"};
    return kDirectories[pick(4)] + "f" + std::to_string(pick(6));
  };
  int succeeded = 0;
  for (int step = 0; step < 120; ++step) {
    bool done = false;
    switch (pick(9)) {
      case 0:
        done = session->Write(name(), "text " + std::to_string(step)).has_value();
        break;
      case 1:
        done = session->Append(name(), "more\n").has_value();
        break;
      case 2:
        done = session->Move(name(), name(), workspace::Existing::kReplace).has_value();
        break;
      case 3:
        done = session->Delete(pick(4) == 0 ? "d" : name(), workspace::Depth::kAll).has_value();
        break;
      case 4:
        done =
            session
                ->Copy(pick(4) == 0 ? "d" : name(), pick(4) == 0 ? "x y/copy" : name(), workspace::Existing::kReplace)
                .has_value();
        break;
      case 5:
        done = session->Edit(name(), {text::ReplaceText{"text", "edited", 0}}, std::nullopt).has_value();
        break;
      case 6:
        done = session->Undo(workspace::LaterWork::kStays).has_value();
        break;
      default: {
        constexpr std::array<std::string_view, 6> kScripts = {
            "mkdir -p d/e 'x y'; echo run@step > '@a'",
            "rm -rf d; mkdir -p 'x y'; echo again > '@a' || true",
            "mv '@a' '@b' || true",
            "chmod 600 '@a' || true; ln -sf f1 '@b' || true",
            "rm -rf '@a'; mkdir -p '@a'; echo in > '@a'/inner || true",
            "find . -name 'f*' -type f | head -3 | while read -r f; do date +%N >> \"$f\"; done"};
        std::string script(kScripts[pick(6)]);
        Replace(script, "@step", std::to_string(step));
        Replace(script, "@a", name());
        Replace(script, "@b", name());
        done = session->Run(*manager_, Shell(script), {}, {}).has_value();
        break;
      }
    }
    succeeded += done ? 1 : 0;
    ASSERT_EQ(Unrecorded(*session), "") << "step " << step;
  }
  EXPECT_GT(succeeded, 40);
}

// --- with processes that live on

TEST_F(SessionTest, InALivingSessionToolsAndProgramsSeeTheSameFilesAtOnce) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session && session->Write("start.txt", "before"));
  ASSERT_TRUE(session->BeginLife(*manager_, {})) << session->BeginLife(*manager_, {}).error().message;
  // A server that copies the content of a file.
  Run(*session,
      "(while :; do if [ -f question ]; then cp question answer.tmp; mv answer.tmp answer; rm question; fi; sleep "
      "0.02; "
      "done) >/dev/null 2>&1 &");
  const auto asked = session->Write("question", "are you there?");
  ASSERT_TRUE(asked) << asked.error().message;
  std::string answer;
  for (int i = 0; i < 500 && answer.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    answer = session->files().Read("answer", {}, 100).value_or("");
  }
  EXPECT_EQ(answer, "are you there?");
  EXPECT_EQ(Run(*session, "cat start.txt answer").standard_output, "beforeare you there?");
  // Changes are committed at the end of a command.
  EXPECT_EQ(OnDisk(*session, "answer"), "are you there?");
  EXPECT_FALSE(fs::exists(Root(*session) / "question"));
  ASSERT_TRUE(session->EndLife());
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, ACommandInALivingSessionIsCommittedAtItsEnd) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->BeginLife(*manager_, {}));
  Run(*session, "mkdir -p new/deep; echo 1 > new/deep/f; echo 1 > new/g; echo 1 > top");
  EXPECT_EQ(OnDisk(*session, "new/deep/f"), "1\n");
  // Names that the kernel removes without a mark, since only the layer had them.
  Run(*session, "rm new/g; echo 2 > new/deep/f");
  EXPECT_FALSE(fs::exists(Root(*session) / "new/g"));
  EXPECT_EQ(OnDisk(*session, "new/deep/f"), "2\n");
  Run(*session, "rm -r new top; mkdir new; echo 3 > new/h");
  EXPECT_FALSE(fs::exists(Root(*session) / "new/deep"));
  EXPECT_FALSE(fs::exists(Root(*session) / "top"));
  EXPECT_EQ(OnDisk(*session, "new/h"), "3\n");
  ASSERT_TRUE(session->Write("new/tool", "from outside"));
  EXPECT_EQ(Run(*session, "cat new/tool; rm new/tool; ls new").standard_output, "from outsideh\n");
  EXPECT_FALSE(fs::exists(Root(*session) / "new/tool"));
  EXPECT_EQ(Unrecorded(*session), "");
  ASSERT_TRUE(session->EndLife());
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, AFileIsNeverCommittedHalfWhileAProgramGoesOnWriting) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->BeginLife(*manager_, {}));
  const auto started = session->Run(*manager_,
                                    {.code = "import subprocess, sys\n"
                                             "subprocess.Popen([sys.executable, '-c', '''\n"
                                             "import os\n"
                                             "n = 0\n"
                                             "while True:\n"
                                             "    n += 1\n"
                                             "    text = (str(n % 10) * 200000).encode()\n"
                                             "    fd = os.open(\"big\", os.O_WRONLY | os.O_CREAT)\n"
                                             "    os.write(fd, text)\n"
                                             "    os.close(fd)\n"
                                             "'''], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n",
                                     .language = Language::kPython},
                                    {}, {});
  ASSERT_TRUE(started && started->outcome.exit_code == 0);
  for (const std::string& line : started->degraded)
    if (line.contains("while programs go on")) GTEST_SKIP() << line;
  std::string last;
  int different = 0;
  for (int i = 0; i < 30; ++i) {
    Run(*session, "true");
    const std::string text = OnDisk(*session, "big");
    if (!text.empty()) {
      EXPECT_EQ(text.size(), 200'000U);
      EXPECT_EQ(text.find_first_not_of(text.front()), std::string::npos) << "a mixture, round " << i;
    }
    different += text != last ? 1 : 0;
    last = text;
  }
  EXPECT_GT(different, 2);
  ASSERT_TRUE(session->EndLife());
  EXPECT_EQ(Unrecorded(*session), "");
}

TEST_F(SessionTest, ATimeoutInALivingSessionKeepsTheFiles) {
  auto session = Sessions().Create("s");
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->BeginLife(*manager_, {}));
  core::ExecutionRequest request = Shell("echo kept > f; sleep 60");
  request.timeout = std::chrono::seconds(1);
  const auto result = session->Run(*manager_, request, {}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome.kind, core::OutcomeKind::kTimedOut);
  EXPECT_EQ(OnDisk(*session, "f"), "kept\n");
  EXPECT_EQ(Run(*session, "cat f; echo more > g").standard_output, "kept\n");
  ASSERT_TRUE(session->Write("h", "tool"));
  EXPECT_EQ(Run(*session, "cat g h").standard_output, "more\ntool");
}

TEST_F(SessionTest, OneThatWasInterruptedIsPutInOrder) {
  const auto sessions = Sessions();
  {
    auto session = sessions.Create("s");
    ASSERT_TRUE(session);
    Run(*session, "echo x > f");
    // Like a run whose Skerry died.
    ASSERT_TRUE(store_->BeginExecution({.id = "xdead", .session = "s", .kind = "run", .what = "boom"}));
  }
  std::ofstream(home_ / "workspaces/s/planted") << "by nobody we know";
  const auto session = sessions.Open("s", base::Deadline::After(std::chrono::seconds(1)));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(Unrecorded(*session), "");
  EXPECT_EQ(store_->FindExecution("xdead")->state, core::ExecutionState::kLost);
  EXPECT_EQ(store_->VersionsOf("s", "planted")->size(), 1U);
}

TEST_F(SessionTest, WithoutARecordNothingHappensUnlessThatIsAllowed) {
  const auto make = [&](engine::Recording recording, std::string* warning) {
    return engine::Sessions(
        {.base_dir = (home_ / "workspaces").string()},
        std::make_shared<engine::Recorder>(engine::RecorderOptions{
            .problem = "it is damaged", .recording = recording, .warn = [warning](const std::string& text) {
              *warning = text;
            }}));
  };
  std::string warning;
  const auto refused = make(engine::Recording::kRequired, &warning).Create("s");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("it is damaged"), std::string::npos);
  EXPECT_FALSE(fs::exists(home_ / "workspaces/s"));
  auto session = make(engine::Recording::kBestEffort, &warning).Create("s");
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_NE(warning.find("it is damaged"), std::string::npos);
  Run(*session, "echo x > f");
  EXPECT_EQ(OnDisk(*session, "f"), "x\n");
}

TEST_F(SessionTest, TheSweeperTakesOnlyWhatNobodyUses) {
  const engine::Sessions sessions(
      {.base_dir = (home_ / "workspaces").string(), .cleanup_after = std::chrono::hours(24)},
      std::make_shared<engine::Recorder>(engine::RecorderOptions{.store = store_}));
  for (const char* id : {"old", "busy", "fresh"}) ASSERT_TRUE(sessions.Create(id));
  const auto busy = sessions.Open("busy", base::Deadline::After({}));
  ASSERT_TRUE(busy);
  for (const char* id : {"old", "busy"}) {
    const fs::path lock = home_ / "workspaces/.skerry" / id / "lock";
    fs::last_write_time(lock, fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  const auto swept = sessions.Sweep();
  ASSERT_TRUE(swept);
  EXPECT_EQ(*swept, std::vector<std::string>{"old"});
  EXPECT_FALSE(fs::exists(home_ / "workspaces/old"));
  EXPECT_TRUE(fs::exists(home_ / "workspaces/busy"));
  EXPECT_TRUE(fs::exists(home_ / "workspaces/fresh"));
  EXPECT_TRUE(store_->FindSession("old")->deleted_at.has_value());
}

}  // namespace
}  // namespace skerry

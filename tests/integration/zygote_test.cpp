// Why an interpreter that was forked from a zygote is as safe as one that was executed: each mitigation by itself.
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <thread>

#include "base/ids.hpp"
#include "integration/observed_sandbox.hpp"
#include "interpreters/worker.hpp"
#include "runner/launch_request.hpp"
#include "runner/launched_sandbox.hpp"

namespace skerry {
namespace {

using namespace support;
using core::Preload;
using core::StartKind;
using interpreters::kBareZygote;

// A program that does nothing until its stdin ends.
constexpr char kWait[] = "import sys\nprint('here', flush=True)\nsys.stdin.read()";

class ZygoteTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto found = NativeBackend(Programs()).Probe(base::Deadline::Never()); !found.usable)
      GTEST_SKIP() << found.detail;
    if (interpreters::PythonZygotes().empty()) GTEST_SKIP() << "this machine's python3 is not one to fork from";
  }

  // Runs a program in a sandbox of its own.
  Ran RunAlone(const std::string& text, Preload preload = Preload::kNone) {
    const auto sandbox = Started(backend_, Spec(preload));
    return Execute(*sandbox, Python(text));
  }

  pid_t TheZygote() {
    EXPECT_EQ(RunAlone("pass").Start(), StartKind::kFork);
    const auto pids = ZygotesOf(TheLauncher());
    EXPECT_EQ(pids.size(), 1U);
    return pids.empty() ? kNobody : pids.front();
  }

  NativeBackend backend_{Programs(), {}, NativeBackend::Zygotes::kPython};
};

// A program that waits in a sandbox while the test looks at it. No other launcher runs meanwhile.
class Waiting {
 public:
  explicit Waiting(StartKind start)
      : backend_(Programs(), {}, start == StartKind::kExec ? Zygotes::kNone : Zygotes::kPython),
        sandbox_(Started(backend_, Spec(start == StartKind::kWarm ? Preload::kPython : Preload::kNone))) {
    core::Command command = Python(kWait);
    command.input_end = core::InputEnd::kOpen;
    process_ = sandbox_->Launch(std::move(command), sink_, {}).value();
    thread_ = std::thread([this] { result_ = process_->Await({}); });
    EXPECT_TRUE(Eventually([this] { return sink_.here.load(); }));
    launcher = TheLauncher();
    init = Only(InitsOf(launcher));
    program = Only(start == StartKind::kExec ? ChildrenOf(init) : ForkedBy(launcher));
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { (void)End(); }

  // Lets the program come to its end.
  const base::Result<core::CommandResult>& End() {
    (void)process_->CloseInput();
    if (thread_.joinable()) thread_.join();
    return *result_;
  }

  pid_t launcher = kNobody;
  pid_t init = kNobody;
  pid_t program = kNobody;

 private:
  using Zygotes = NativeBackend::Zygotes;
  struct WakingSink : core::OutputSink {
    core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
      here = true;
      return {.accepted = bytes.size()};
    }
    std::atomic<bool> here = false;
  };
  static pid_t Only(const std::vector<pid_t>& pids) {
    EXPECT_EQ(pids.size(), 1U);
    return pids.size() == 1 ? pids.front() : -1;
  }

  NativeBackend backend_;
  std::unique_ptr<core::Sandbox> sandbox_;
  WakingSink sink_;
  std::unique_ptr<core::Process> process_;
  std::optional<base::Result<core::CommandResult>> result_;
  std::thread thread_;
};

// ---- 1. Random numbers

constexpr char kDraw[] = R"(
import random, secrets, ssl, tempfile, uuid
print('ssl', ssl.RAND_bytes(16).hex())
print('random', random.random())
print('SystemRandom', random.SystemRandom().random())
print('uuid1', uuid.uuid1())
print('clock_seq', uuid.uuid1().clock_seq, uuid.uuid1().node)
print('uuid4', uuid.uuid4())
print('tempfile', tempfile.mktemp())
print('secrets', secrets.token_hex(16))
import multiprocessing.process
print('authkey', bytes(multiprocessing.process.current_process().authkey).hex())
try:
    import numpy
    print('numpy', numpy.random.rand())
    print('default_rng', numpy.random.default_rng().random())
except ImportError:
    pass
)";

TEST_F(ZygoteTest, NoTwoChildrenDrawTheSame) {
  std::set<std::string> drawn;
  std::size_t lines = 0;
  std::string last;
  for (const Preload preload : {Preload::kNone, Preload::kNone, Preload::kPythonData, Preload::kPythonData}) {
    const Ran ran = RunAlone(kDraw, preload);
    EXPECT_EQ(ran.Start(), preload == Preload::kNone ? StartKind::kFork : StartKind::kWarm) << ran;
    ASSERT_EQ(ran.Code(), 0) << ran;
    std::istringstream words(ran.out);
    for (std::string line; std::getline(words, line); ++lines)
      EXPECT_TRUE(drawn.insert(line).second) << "drawn twice: " << line;
    last = ran.out;
  }
  EXPECT_GE(lines, 4 * 9U);
  if (last.find("numpy") == std::string::npos) GTEST_SKIP() << "all but numpy, which is not installed";
}

// ---- 2. Bytes of tenants

// How often `marker` lies in the memory of a process; -1 when it cannot be read.
int Occurrences(pid_t pid, const std::string& marker) {
  constexpr std::size_t kPiece = 1U << 20U;
  constexpr unsigned long kReserved = 1UL << 30U;  // only a sanitizer maps so much, for itself
  const base::UniqueFd memory(::open(ProcPath(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::istringstream maps(Text(ProcPath(pid, "maps")));
  if (!memory.valid()) return -1;
  int found = 0;
  std::size_t read_bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx r", &from, &to) != 2 || to - from >= kReserved) continue;
    std::string bytes;  // the end of the previous piece, and the next one
    for (ssize_t size = 1; from < to && size > 0; from += static_cast<unsigned long>(size)) {
      const std::size_t kept = bytes.size();
      bytes.resize(kept + std::min<std::size_t>(kPiece, to - from));
      size = ::pread(memory.get(), &bytes[kept], bytes.size() - kept, static_cast<off_t>(from));
      if (size <= 0) break;
      bytes.resize(kept + static_cast<std::size_t>(size));
      read_bytes += static_cast<std::size_t>(size);
      for (auto at = bytes.find(marker); at != std::string::npos; at = bytes.find(marker, at + 1)) ++found;
      bytes.erase(0, bytes.size() - std::min(bytes.size(), marker.size() - 1));
    }
  }
  return read_bytes > 0 ? found : -1;
}

TEST_F(ZygoteTest, NothingOfAProgramIsInTheZygoteOrTheLauncher) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can read the memory of a process that nobody may look into";
  const std::string marker = "tenant" + std::to_string(base::RandomU64()) + std::to_string(base::RandomU64());
  for (const Preload preload : {Preload::kNone, Preload::kPython}) {
    const auto sandbox = Started(backend_, Spec(preload));
    core::Command command = Python("import os, sys\nx = '" + marker + "-code'\nprint(x, sys.stdin.read())\n" +
                                   "print(os.environ['TENANT'], file=sys.stderr)\nraise ValueError(x)");
    command.environment["TENANT"] = marker + "-environment";
    command.input = marker + "-in";
    const Ran ran = Execute(*sandbox, command);
    EXPECT_EQ(ran.out, marker + "-code " + marker + "-in\n") << ran;
    EXPECT_NE(ran.Start(), StartKind::kExec);
  }
  const pid_t launcher = TheLauncher();
  const auto zygotes = ZygotesOf(launcher);
  ASSERT_EQ(zygotes.size(), 1U);
  EXPECT_GT(Occurrences(::getpid(), marker), 0) << "the search finds nothing at all";
  EXPECT_GT(Occurrences(zygotes.front(), "become_zygote"), 0) << "the search finds nothing in a zygote";
  EXPECT_EQ(Occurrences(zygotes.front(), marker), 0);
  EXPECT_EQ(Occurrences(launcher, marker), 0);
}

// ---- 3. Rotation

runner::LaunchProfile ProfileOf(std::shared_ptr<launcher::Launcher> launcher) {
  return {.launcher = std::move(launcher),
          .zygotes = {std::string(kBareZygote)},
          .directory = "/workspace",
          .home = "/home/agent",
          .temporary = "/tmp"};
}

std::shared_ptr<launcher::Launcher> LauncherWith(launcher::Launcher::Zygote zygote) {
  return std::make_shared<launcher::Launcher>(Programs(), std::vector{std::move(zygote)});
}

launcher::Launcher::Zygote BareZygote() {
  auto program = interpreters::PythonZygotes().front();
  return {{program.name, program.arguments, program.environment}, program.text};
}

TEST_F(ZygoteTest, AnotherOneServesAfterAThousandForks) {
  // Children that do nothing: the test only counts them.
  launcher::Launcher::Zygote zygote = BareZygote();
  const auto place = zygote.text.rfind("\nbecome_zygote(");
  zygote.text.insert(place, "\ndef serve(*_): os._exit(0)\n");
  const auto launcher = LauncherWith(std::move(zygote));
  const auto request = runner::LaunchRequestFor(ProfileOf(launcher), Spec()).request;
  auto handle = launcher::SandboxHandle::Start(launcher, request, {});
  ASSERT_TRUE(handle.has_value()) << handle.error().message;
  const auto life = std::make_shared<runner::SharedHandle>(std::move(*handle));
  const auto fork = [&] {
    auto worker = runner::WorkerProcess::Fork(life, kBareZygote);
    ASSERT_TRUE(worker.has_value()) << worker.error().message;
    ASSERT_TRUE(worker->process().AwaitEnd(base::Deadline::After(10s)).value().has_value());
  };
  fork();
  const auto zygotes = [] {
    std::vector<pid_t> all;
    for (const pid_t one : Launchers()) std::ranges::copy(ZygotesOf(one), std::back_inserter(all));
    return all;
  };
  ASSERT_EQ(zygotes().size(), 1U);
  const pid_t first = zygotes().front();
  for (int i = 1; i < 1000; ++i) fork();
  EXPECT_EQ(zygotes(), std::vector{first}) << "it was replaced too soon";
  const auto replaced = [&] {
    fork();
    return !Runs(first);
  };
  EXPECT_TRUE(Eventually(replaced, 20s)) << "it was not replaced, or did not end";
  ASSERT_EQ(zygotes().size(), 1U);
  EXPECT_NE(zygotes().front(), first);
  fork();
}

// OpenSSL notices a fork by the pid. In a sandbox a child can get the very pid that its zygote has on the host, and
// this zygote has drawn before.
TEST_F(ZygoteTest, ChildrenWithTheZygotesPidDrawDifferentlyToo) {
  launcher::Launcher::Zygote zygote = BareZygote();
  zygote.text.insert(zygote.text.rfind("\nbecome_zygote("), "\nimport ssl\nssl.RAND_bytes(16)\n");
  const auto launcher = LauncherWith(std::move(zygote));
  runner::LaunchedSandbox first(ProfileOf(launcher), Spec());
  ASSERT_TRUE(first.Start(base::Deadline::Never(), {}).has_value());
  ASSERT_EQ(Execute(first, Python("pass")).Start(), StartKind::kFork);
  const std::string pid = std::to_string(ZygotesOf(TheLauncher()).at(0));
  if (pid.size() < 3 || pid.size() > 5) GTEST_SKIP() << pid << " is a pid that cannot be had in a sandbox soon";
  core::Command count_up = Python(
      "import _thread, threading\ndef note():\n    global last\n"
      "    last = threading.get_native_id()\n    done.release()\n"
      "done = threading.Semaphore(0)\nlast = 0\nwhile last < " +
      pid +
      " - 1:\n"
      "    _thread.start_new_thread(note, ())\n    done.acquire()");
  count_up.environment["PYTHONUNBUFFERED"] = "1";  // so that a new interpreter is executed
  std::set<std::string> drawn;
  for (int i = 0; i < 2; ++i) {
    runner::LaunchedSandbox sandbox(ProfileOf(launcher), Spec());
    ASSERT_TRUE(sandbox.Start(base::Deadline::Never(), {}).has_value());
    EXPECT_EQ(Execute(sandbox, count_up).Code(), 0);
    const Ran ran = Execute(sandbox, Python("import os, ssl; print(os.getpid(), ssl.RAND_bytes(16).hex())"));
    EXPECT_EQ(ran.Start(), StartKind::kFork);
    EXPECT_TRUE(ran.out.starts_with(pid + " ")) << ran;
    EXPECT_TRUE(drawn.insert(ran.out).second) << "drawn twice: " << ran.out;
  }
}

// ---- 4. One thread

TEST_F(ZygoteTest, HasOneThread) {
  for (const Preload preload : {Preload::kPython, Preload::kPythonData})
    EXPECT_EQ(RunAlone("pass", preload).Start(), StartKind::kWarm);
  const auto zygotes = ZygotesOf(TheLauncher());
  ASSERT_EQ(zygotes.size(), 2U);
  for (const pid_t pid : zygotes) EXPECT_EQ(NamesIn(ProcPath(pid, "task")).size(), 1U);
}

TEST_F(ZygoteTest, OneWithASecondThreadServesNobody) {
  launcher::Launcher::Zygote zygote = BareZygote();
  const auto place = zygote.text.rfind("\nbecome_zygote(");
  ASSERT_NE(place, std::string::npos);
  zygote.text.insert(place, "\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n");
  const auto launcher = LauncherWith(std::move(zygote));
  const auto request = runner::LaunchRequestFor(ProfileOf(launcher), Spec()).request;
  auto handle = launcher::SandboxHandle::Start(launcher, request, {});
  ASSERT_TRUE(handle.has_value()) << handle.error().message;
  const auto life = std::make_shared<runner::SharedHandle>(std::move(*handle));
  const auto worker = runner::WorkerProcess::Fork(life, kBareZygote);
  ASSERT_FALSE(worker.has_value());
  EXPECT_EQ(worker.error().code, base::Code::kUnavailable);
  EXPECT_FALSE(worker.error().message.empty());
  runner::LaunchedSandbox sandbox(ProfileOf(launcher), Spec());
  ASSERT_TRUE(sandbox.Start(base::Deadline::Never(), {}).has_value());
  const Ran ran = Execute(sandbox, Python("print(6*7)"));
  EXPECT_EQ(ran.out, "42\n");
  EXPECT_EQ(ran.Start(), StartKind::kExec);
}

TEST_F(ZygoteTest, OneThatCannotStartIsGivenUpAndProgramsAreExecuted) {
  launcher::Launcher::Zygote zygote = BareZygote();
  zygote.offer.arguments = {"/usr/bin/false"};
  const auto launcher = LauncherWith(std::move(zygote));
  runner::LaunchedSandbox sandbox(ProfileOf(launcher), Spec(Preload::kPython));
  ASSERT_TRUE(sandbox.Start(base::Deadline::Never(), {}).has_value());
  for (int i = 0; i < 5; ++i) {
    const Ran ran = Execute(sandbox, Python("print(6*7)"));
    EXPECT_EQ(ran.out, "42\n");
    EXPECT_EQ(ran.Start(), StartKind::kExec);
  }
  const auto request = runner::LaunchRequestFor(ProfileOf(launcher), Spec()).request;
  auto handle = launcher::SandboxHandle::Start(launcher, request, {});
  ASSERT_TRUE(handle.has_value()) << handle.error().message;
  const auto life = std::make_shared<runner::SharedHandle>(std::move(*handle));
  const auto worker = runner::WorkerProcess::Fork(life, kBareZygote);
  ASSERT_FALSE(worker.has_value());
  EXPECT_NE(worker.error().message.find("before it was ready"), std::string::npos) << worker.error().message;
}

// ---- 5. What is inherited

TEST_F(ZygoteTest, AChildHasItsStreamsAndItsChannelAndNoOtherDescriptor) {
  // The listing shows its own descriptor too, which is closed by then.
  constexpr char kList[] = R"(
import os
for fd in sorted(map(int, os.listdir('/proc/self/fd'))):
    try:
        print(fd, os.readlink(f'/proc/self/fd/{fd}').split(':')[0])
    except FileNotFoundError:
        pass
)";
  for (const Preload preload : {Preload::kNone, Preload::kPython}) {
    const Ran ran = RunAlone(kList, preload);
    EXPECT_NE(ran.Start(), StartKind::kExec);
    EXPECT_EQ(ran.out, "0 pipe\n1 pipe\n2 pipe\n100 socket\n") << ran;
  }
}

TEST_F(ZygoteTest, NothingOfTheCallerIsInherited) {
  ASSERT_EQ(::setenv("SKERRY_TEST_SECRET", "caller's secret", 1), 0);
  const std::string directory = Programs().launcher.substr(0, Programs().launcher.rfind('/'));
  // All that a process can find out about how it was started, and from which files.
  const std::string show = R"(
import os
for name, value in sorted(os.environ.items()):
    if name != 'MPLBACKEND': print(name, value)
text = ''.join(open('/proc/self/' + name).read() for name in ('environ', 'cmdline', 'maps', 'mountinfo'))
print('secret' in text, ')" +
                           directory + R"(' in text)
)";
  NativeBackend executing(Programs());
  const Ran executed = Execute(*Started(executing), Python(show));
  EXPECT_TRUE(executed.out.ends_with("\nFalse False\n")) << executed;
  for (const Preload preload : {Preload::kNone, Preload::kPython}) {
    const Ran ran = RunAlone(show, preload);
    EXPECT_NE(ran.Start(), StartKind::kExec);
    EXPECT_EQ(ran.out, executed.out) << ran;
  }
  ::unsetenv("SKERRY_TEST_SECRET");
}

// ---- 6. The fence

// Lines of /proc/PID/status that tell what a process may do.
std::string RightsOf(pid_t pid) {
  std::string rights;
  for (const char* field : {"Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs",
                            "Seccomp", "Seccomp_filters", "Speculation_Store_Bypass", "Umask", "SigBlk", "SigIgn"}) {
    rights += field;
    for (const std::string& word : Status(pid, field)) rights += " " + word;
    rights += "\n";
  }
  return rights;
}

// Without the ids: as root each sandbox has another user on the host.
std::string WithoutIds(const std::string& rights) {
  return rights.substr(rights.find("Groups"));
}

constexpr std::array kForks = {StartKind::kFork, StartKind::kWarm};

TEST_F(ZygoteTest, AChildHasTheRightsAndLimitsOfAnExecutedProgram) {
  std::string rights;
  std::string limits;
  {
    const Waiting executed(StartKind::kExec);
    rights = WithoutIds(RightsOf(executed.program));
    limits = Text(ProcPath(executed.program, "limits"));
  }
  for (const char* line : {"CapPrm 0000000000000000\n", "CapBnd 0000000000000000\n", "NoNewPrivs 1\n", "Seccomp 2\n"})
    EXPECT_NE(rights.find(line), std::string::npos) << line << rights;
  ASSERT_FALSE(limits.empty());
  for (const StartKind start : kForks) {
    Waiting forked(start);
    EXPECT_EQ(WithoutIds(RightsOf(forked.program)), rights) << core::NameOf(start);
    EXPECT_EQ(Text(ProcPath(forked.program, "limits")), limits) << core::NameOf(start);
    EXPECT_EQ(forked.End()->start, start);
  }
}

TEST_F(ZygoteTest, AChildIsOfItsSandboxAsTheInitIs) {
  for (const StartKind start : kForks) {
    const Waiting forked(start);
    EXPECT_EQ(Status(forked.program, "Uid"), Status(forked.init, "Uid"));
    EXPECT_EQ(Status(forked.program, "Gid"), Status(forked.init, "Gid"));
    std::size_t compared = 0;
    for (const std::string& name : NamesIn(ProcPath(forked.program, "ns"))) {
      const auto ours = os::ReadLink(AT_FDCWD, ProcPath(forked.program, "ns/" + name));
      const auto inits = os::ReadLink(AT_FDCWD, ProcPath(forked.init, "ns/" + name));
      if (!ours || !inits) continue;
      EXPECT_EQ(*ours, *inits) << core::NameOf(start);
      ++compared;
    }
    if (compared == 0) GTEST_SKIP() << "this user cannot see the namespaces of the init";
    EXPECT_GE(compared, 10U);
  }
}

// Version 2 without controllers limits nothing and is not joined.
std::string LimitingCgroups(pid_t pid) {
  std::istringstream lines(Text(ProcPath(pid, "cgroup")));
  const bool both = Text(ProcPath(pid, "cgroup")).find(":memory:") != std::string::npos;
  std::string groups;
  for (std::string line; std::getline(lines, line);)
    if (!both || !line.starts_with("0::")) groups += line + "\n";
  return groups;
}

TEST_F(ZygoteTest, AChildIsInTheCgroupsThatLimitItsSandbox) {
  for (const StartKind start : kForks) {
    const Waiting forked(start);
    if (CgroupsOf(forked.launcher).empty()) GTEST_SKIP() << "this user has no cgroups to make any in";
    EXPECT_NE(LimitingCgroups(forked.program).find("/skerry-"), std::string::npos);
    EXPECT_EQ(LimitingCgroups(forked.program), LimitingCgroups(forked.init)) << core::NameOf(start);
  }
}

TEST_F(ZygoteTest, AChildIsNotTheFirstProcessAndLeadsASession) {
  for (const StartKind start : kForks) {
    const Waiting forked(start);
    const auto pids = Status(forked.program, "NSpid");
    ASSERT_EQ(pids.size(), 2U);
    EXPECT_NE(pids.back(), "1");
    EXPECT_EQ(Status(forked.program, "NSsid").back(), pids.back());
    EXPECT_EQ(Status(forked.program, "NSpgid").back(), pids.back());
  }
}

TEST_F(ZygoteTest, AChildMayTouchTheFilesThatAnExecutedProgramMay) {
  constexpr char kTry[] = R"(
import os
def attempt(name, function):
    try:
        function()
        print(name, 'allowed')
    except OSError as error:
        print(name, error.errno)
attempt('workspace', lambda: open('/workspace/x', 'w').close())
attempt('shm', lambda: open('/dev/shm/x', 'w').close())
attempt('fifo', lambda: os.mkfifo('/workspace/f'))
attempt('run usr', lambda: os.close(os.open('/usr/bin/env', os.O_RDONLY)))
attempt('write proc', lambda: open('/proc/self/oom_score_adj', 'w').close())
attempt('write comm', lambda: open('/proc/self/comm', 'w').close())
attempt('root', lambda: open('/x', 'w').close())
attempt('list dev', lambda: os.listdir('/dev'))
attempt('make in dev', lambda: open('/dev/x', 'w').close())
attempt('truncate tty', lambda: os.truncate('/dev/null', 0))
attempt('subprocess', lambda: os.waitpid(os.posix_spawn('/usr/bin/true', ['true'], {}), 0))
)";
  NativeBackend executing(Programs());
  const Ran executed = Execute(*Started(executing), Python(kTry));
  for (const Preload preload : {Preload::kNone, Preload::kPython}) {
    const Ran ran = RunAlone(kTry, preload);
    EXPECT_NE(ran.Start(), StartKind::kExec);
    EXPECT_EQ(ran.out, executed.out);
  }
}

// Landlock lets no process look at one outside of its own fence, and /proc hides processes that may not be looked at.
TEST_F(ZygoteTest, AChildIsBehindAFenceOfLandlock) {
  NativeBackend executing(Programs());
  const auto sees_neighbour = [](core::Sandbox& sandbox, StartKind start) {
    const Ran left = Execute(sandbox, Shell("sleep 60 > /dev/null 2>&1 & echo $!"));
    const Ran looked = Execute(
        sandbox, Python("import os; print('" + left.out.substr(0, left.out.find('\n')) + "' in os.listdir('/proc'))"));
    EXPECT_EQ(looked.Start(), start) << looked;
    return looked.out;
  };
  const auto plain = Started(executing);
  for (const std::string& line : plain->Degraded())
    if (line.find("andlock") != std::string::npos) GTEST_SKIP() << line;
  EXPECT_EQ(sees_neighbour(*plain, StartKind::kExec), "True\n") << "started by the init, it is behind the init's";
  EXPECT_EQ(sees_neighbour(*Started(backend_), StartKind::kFork), "False\n");
  EXPECT_EQ(sees_neighbour(*Started(backend_, Spec(Preload::kPython)), StartKind::kWarm), "False\n");
}

// ---- 7. Who may look

bool IsDumpable(pid_t pid) {
  struct stat facts{};
  EXPECT_EQ(::stat(ProcPath(pid, "io").c_str(), &facts), 0);
  return std::to_string(facts.st_uid) == FirstOf(Status(pid, "Uid"));  // otherwise the files belong to root
}

TEST_F(ZygoteTest, NobodyMayLookIntoTheZygote) {
  EXPECT_FALSE(IsDumpable(TheZygote()));
}

// Entering a user namespace for the first child would hide the zygote too, but only from then on.
TEST_F(ZygoteTest, NobodyMayLookIntoAZygoteThatHasNotForkedYet) {
  launcher::Launcher::Zygote zygote = BareZygote();
  zygote.text.insert(zygote.text.rfind("\nbecome_zygote("), R"(
freeze = gc.freeze
def look():  # the last thing before it serves
    if os.stat('/proc/self/io').st_uid == os.getuid(): os._exit(9)
    gc.freeze = freeze
gc.freeze = look
)");
  const auto launcher = LauncherWith(std::move(zygote));
  runner::LaunchedSandbox sandbox(ProfileOf(launcher), Spec());
  ASSERT_TRUE(sandbox.Start(base::Deadline::Never(), {}).has_value());
  const Ran ran = Execute(sandbox, Python("print(6*7)"));
  EXPECT_EQ(ran.out, "42\n");
  EXPECT_EQ(ran.Start(), StartKind::kFork) << "the zygote saw that others could look into it";
}

TEST_F(ZygoteTest, AChildIsAnOrdinaryProcess) {
  for (const StartKind start : kForks) {
    const Waiting forked(start);
    EXPECT_TRUE(IsDumpable(forked.program)) << core::NameOf(start);
  }
}

TEST_F(ZygoteTest, HasNoPrivilegeButWhatLetsItsChildrenIn) {
  const pid_t zygote = TheZygote();
  EXPECT_NE(FirstOf(Status(zygote, "Uid")), "0");
  EXPECT_EQ(Status(zygote, "CapEff"), std::vector<std::string>{"0000000000000000"});
  EXPECT_EQ(Status(zygote, "CapInh"), std::vector<std::string>{"0000000000000000"});
  EXPECT_EQ(Status(zygote, "CapAmb"), std::vector<std::string>{"0000000000000000"});
  EXPECT_EQ(Status(zygote, "NoNewPrivs"), std::vector<std::string>{"1"});
  // As root CAP_SYS_PTRACE (19) and CAP_SYS_ADMIN (21).
  const std::string permitted = ::geteuid() == 0 ? "0000000000280000" : "0000000000000000";
  EXPECT_EQ(Status(zygote, "CapPrm"), std::vector<std::string>{permitted});
}

// ---- 8. Its end

TEST_F(ZygoteTest, ItsDeathHurtsNobody) {
  for (const StartKind start : kForks) {
    Waiting running(start);
    const auto zygotes = ZygotesOf(running.launcher);
    ASSERT_EQ(zygotes.size(), 1U);
    if (!SignalProcess(zygotes.front(), SIGKILL)) GTEST_SKIP() << "the zygote is not this user's to kill";
    ASSERT_TRUE(Eventually([&] { return !Runs(zygotes.front()); }));
    EXPECT_TRUE(Runs(running.program));
    const auto& ended = running.End();
    ASSERT_TRUE(ended.has_value()) << ended.error().message;
    EXPECT_EQ(ended->outcome.kind, core::OutcomeKind::kExited);
    EXPECT_EQ(ended->outcome.exit_code, 0);
  }
}

TEST_F(ZygoteTest, AnotherOneTakesItsPlace) {
  for (const Preload preload : {Preload::kNone, Preload::kPython}) {
    const pid_t first = TheZygote();
    ASSERT_TRUE(SignalProcess(first, SIGKILL));
    const Ran ran = RunAlone("print(6*7)", preload);
    EXPECT_EQ(ran.out, "42\n") << ran;
    EXPECT_NE(TheZygote(), first);
  }
}

TEST_F(ZygoteTest, EndsWithItsLauncher) {
  const pid_t zygote = TheZygote();
  ASSERT_TRUE(SignalProcess(TheLauncher(), SIGKILL));
  EXPECT_TRUE(Eventually([&] { return !Runs(zygote); }, 2s));
  EXPECT_EQ(RunAlone("print(1)").out, "1\n");
}

}  // namespace
}  // namespace skerry

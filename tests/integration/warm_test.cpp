// Sandboxes that wait are used once: whatever one session does in its sandbox, no other session finds a trace of it.
#include <signal.h>

#include <array>
#include <atomic>
#include <functional>

#include "base/ids.hpp"
#include "core/backend_registry.hpp"
#include "engine/sandbox_manager.hpp"
#include "integration/observed_sandbox.hpp"
#include "interpreters/interpreter.hpp"
#include "interpreters/worker.hpp"
#include "os/process_tree.hpp"
#include "support/open_gate.hpp"

namespace skerry {
namespace {

using namespace support;
using core::Language;
using core::Preload;
using core::StartKind;

class WarmTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto found = NativeBackend(Programs()).Probe(base::Deadline::Never()); !found.usable)
      GTEST_SKIP() << found.detail;
    if (interpreters::PythonZygotes().empty()) GTEST_SKIP() << "this machine's python3 is not one to fork from";
    auto backend = std::make_unique<NativeBackend>(Programs(), base::FeatureSet{}, NativeBackend::Zygotes::kPython);
    ASSERT_TRUE(registry_->Add(std::move(backend)).has_value());
    engine::ManagerOptions options;
    options.gate = OpenGate();
    // A plain user may have no cgroups, which strict mode demands.
    options.mode = ::geteuid() == 0 ? policy::SecurityMode::kStrict : policy::SecurityMode::kPermissive;
    options.pool = engine::PoolOptions{.max_instances = 12, .min_instances = 4};
    manager_ = std::make_unique<engine::SandboxManager>(*registry_, options);
  }

  // Waits until a sandbox is warm, and runs the code in it.
  core::ExecutionResult RunWarm(const std::string& code, Language language = Language::kPython) {
    manager_->warm()->AwaitWarm(engine::PreloadFor({language, code}), base::Deadline::After(20s));
    return Run(code, language);
  }

  core::ExecutionResult Run(const std::string& code, Language language = Language::kPython) {
    core::ExecutionRequest request;
    request.code = code;
    request.language = language;
    auto result = manager_->Execute(request, {}, {});
    EXPECT_TRUE(result.has_value()) << result.error().message;
    return result.value_or(core::ExecutionResult{});
  }

  std::unique_ptr<core::BackendRegistry> registry_ = std::make_unique<core::BackendRegistry>();
  std::unique_ptr<engine::SandboxManager> manager_;
};

// Leaves a mark everywhere that a program can. A place that the sandbox refuses needs no search; the others are listed.
constexpr char kPlant[] = R"python(
import builtins, ctypes, os, random, socket, struct, subprocess, sys, tempfile
MARK = '@MARK@'
left = []
def attempt(name, function):
    try:
        function()
        left.append(name)
    except (OSError, ValueError):
        pass
def write(path):
    with open(path, 'w') as file:
        file.write(MARK)
for place in ('/workspace', '/tmp', '/home/agent', '/dev/shm', '/run', '/var/tmp', '/dev', '/'):
    attempt(place, lambda: write(place + '/planted-' + MARK))
    attempt(place + ' hidden', lambda: write(place + '/.planted'))
os.makedirs('/home/agent/.local/lib/python3.%d/site-packages' % sys.version_info[1])
attempt('user site', lambda: write('/home/agent/.local/lib/python3.%d/site-packages/planted.pth' % sys.version_info[1]))
libc = ctypes.CDLL(None, use_errno=True)
def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), 'no')
    return result
libc.shmat.restype = ctypes.c_void_p
def segment():
    address = libc.shmat(checked(libc.shmget(0x5ce221, 4096, 0o1600 | 0o66)), None, 0)
    ctypes.memmove(address, MARK.encode(), len(MARK))
attempt('shm', segment)
attempt('sem', lambda: checked(libc.semget(0x5ce221, 1, 0o1666)))
attempt('msg', lambda: checked(libc.msgget(0x5ce221, 0o1666)))
attempt('mq', lambda: checked(libc.mq_open(b'/planted', os.O_CREAT | os.O_RDWR, 0o666, None)))
tcp = socket.socket()
attempt('tcp', lambda: (tcp.bind(('127.0.0.1', 47391)), tcp.listen()))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
attempt('udp', lambda: udp.bind(('127.0.0.1', 47391)))
hidden = socket.socket(socket.AF_UNIX)
attempt('abstract', lambda: (hidden.bind('\0planted'), hidden.listen()))
named = socket.socket(socket.AF_UNIX)
attempt('named', lambda: (named.bind('/tmp/planted.socket'), named.listen()))
os.environ['PLANTED'] = os.environ['PATH'] = MARK
builtins.print_planted = builtins.len = lambda *_: MARK
sys.modules['json'] = sys.modules['planted'] = MARK
sys.path.insert(0, MARK)
random.seed(1)
os.umask(0o777)
sys.setrecursionlimit(12345)
tempfile.tempdir = MARK
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        libc.prctl(15, b'planted', 0, 0, 0)
        import time
        while True:
            time.sleep(3600)
sys.stdout.write(' '.join(left))
)python";

// Prints the marks that it finds; nothing when there is none.
constexpr char kLook[] = R"python(
import builtins, ctypes, glob, os, socket, sys
found = []
def look(name, function):
    try:
        if function():
            found.append(name)
    except OSError:
        pass
for place in ('/workspace', '/tmp', '/home/agent', '/dev/shm', '/run', '/var/tmp', '/dev', ''):
    look(place, lambda: [name for name in os.listdir(place + '/') if 'planted' in name])
look('workspace is not empty', lambda: os.listdir('/workspace'))
look('home is not empty', lambda: os.listdir('/home/agent'))
look('temporary is not empty', lambda: os.listdir('/tmp'))
libc = ctypes.CDLL(None)
look('shm', lambda: libc.shmget(0x5ce221, 0, 0) >= 0)
look('sem', lambda: libc.semget(0x5ce221, 0, 0) >= 0)
look('msg', lambda: libc.msgget(0x5ce221, 0) >= 0)
look('mq', lambda: libc.mq_open(b'/planted', os.O_RDWR) >= 0)
look('ipc', lambda: open('/proc/sysvipc/shm').read().count('\n') > 1)
def connects(family, address):
    with socket.socket(family) as client:
        client.connect(address)
        return True
look('tcp', lambda: connects(socket.AF_INET, ('127.0.0.1', 47391)))
look('abstract', lambda: connects(socket.AF_UNIX, '\0planted'))
look('named', lambda: connects(socket.AF_UNIX, '/tmp/planted.socket'))
look('udp', lambda: open('/proc/net/udp').read().count('\n') > 1)
look('sockets', lambda: 'planted' in open('/proc/net/unix').read())
look('environment', lambda: 'PLANTED' in os.environ or '@MARK@' in os.environ['PATH'])
look('builtins', lambda: hasattr(builtins, 'print_planted') or len([1]) != 1)
look('modules', lambda: 'planted' in sys.modules or isinstance(sys.modules.get('json'), str))
look('path', lambda: '@MARK@' in sys.path)
look('umask', lambda: os.umask(0) != 0o22)
look('recursion', lambda: sys.getrecursionlimit() == 12345)
import json
look('json', lambda: json.dumps([1]) != '[1]')
pids = [int(name) for name in os.listdir('/proc') if name.isdigit()]
look('processes', lambda: set(pids) - {1, os.getpid()})
for pid in pids:
    look('process', lambda: 'planted' in open(f'/proc/{pid}/comm').read())
print('looked', found)
)python";

std::string Marked(std::string text, const std::string& mark) {
  for (auto at = text.find("@MARK@"); at != std::string::npos; at = text.find("@MARK@", at)) text.replace(at, 6, mark);
  return text;
}

TEST_F(WarmTest, NothingThatASessionPlantsIsFoundByAnother) {
  const std::string mark = "mark" + std::to_string(base::RandomU64());
  const core::ExecutionResult planted = RunWarm(Marked(kPlant, mark));
  ASSERT_EQ(planted.start, StartKind::kWarm);
  ASSERT_EQ(planted.outcome.exit_code, 0) << planted.standard_error;
  for (const char* thing : {"/workspace", "/tmp", "/home/agent", "/dev/shm", "tcp", "abstract", "named", "user site"})
    EXPECT_NE(planted.standard_output.find(thing), std::string::npos) << planted.standard_output;
  RecordProperty("planted", planted.standard_output);
  for (int i = 0; i < 50; ++i) {
    const core::ExecutionResult looked = RunWarm(Marked(kLook, mark));
    EXPECT_EQ(looked.start, StartKind::kWarm);
    ASSERT_EQ(looked.standard_output, "looked []\n") << looked.standard_error;
    EXPECT_TRUE(looked.files_created.empty());
  }
}

// The same search in the sandbox where the marks were left, or the test above proves nothing. Started by the init, both
// programs have one Landlock domain, so that the processes of the first can be seen.
TEST_F(WarmTest, TheLookFindsWhatIsThere) {
  NativeBackend backend(Programs());
  const auto sandbox = Started(backend);
  const Ran planted = Execute(*sandbox, Python(Marked(kPlant, "mark")));
  ASSERT_EQ(planted.Code(), 0) << planted;
  const Ran looked = Execute(*sandbox, Python(Marked(kLook, "mark")));
  for (const char* thing :
       {"/workspace", "/tmp", "/home/agent", "/dev/shm", "workspace is not empty", "home is not empty",
        "temporary is not empty", "processes", "process", "tcp", "udp", "abstract", "named", "sockets"})
    EXPECT_NE(looked.out.find("'" + std::string(thing) + "'"), std::string::npos) << thing << "\n" << looked;
  for (const std::string thing : {"shm", "sem", "msg", "mq"}) {
    const bool was_left = (" " + planted.out + " ").find(" " + thing + " ") != std::string::npos;
    EXPECT_EQ(looked.out.find("'" + thing + "'") != std::string::npos, was_left) << thing << planted << looked;
  }
}

TEST_F(WarmTest, JavaScriptLeavesNothingEither) {
  if (!interpreters::FindInterpreter(Language::kJavaScript)) GTEST_SKIP() << "there is no node";
  const auto run = [&](const std::string& code) { return RunWarm(code, Language::kJavaScript); };
  const core::ExecutionResult planted = run(R"(
const fs = require('fs');
for (const place of ['/workspace', '/tmp', '/home/agent', '/dev/shm']) fs.writeFileSync(place + '/planted', 'x');
globalThis.planted = 1; Array.prototype.planted = 1; process.env.PLANTED = '1';
require('child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref();
console.log('planted');)");
  EXPECT_EQ(planted.standard_output, "planted\n") << planted.standard_error;
  EXPECT_EQ(planted.start, StartKind::kWarm);
  for (int i = 0; i < 5; ++i) {
    const core::ExecutionResult looked = run(R"(
const fs = require('fs');
const places = ['/workspace', '/tmp', '/home/agent', '/dev/shm'].flatMap((place) => fs.readdirSync(place));
const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== '1' && name !== `${process.pid}`);
console.log(places, typeof planted, [].planted, process.env.PLANTED, pids);)");
    EXPECT_EQ(looked.start, StartKind::kWarm);
    EXPECT_EQ(looked.standard_output, "[] undefined undefined undefined []\n") << looked.standard_error;
  }
}

TEST_F(WarmTest, ManyAtOnceAreNotMixedUp) {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kRuns = 50;
  RunWarm("pass");
  std::atomic<std::size_t> wrong = 0;
  std::array<std::atomic<std::size_t>, 3> starts{};
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::size_t thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (std::size_t i = 0; i < kRuns; ++i) {
          const std::string mark = std::to_string(thread) + "-" + std::to_string(i);
          std::string code = "import os, sys\nmark = '";
          code.append(mark).append(
              "'\nopen(mark, 'w').close()\nprint(mark, os.listdir('.'), len(os.listdir('/tmp')))\n");
          const auto result = Run(code.append("sys.exit(").append(std::to_string(i)).append(")"));
          ++starts.at(static_cast<std::size_t>(result.start));
          std::string expected = mark;
          expected.append(" ['").append(mark).append("'] 0\n");
          const bool right = result.standard_output == expected && result.outcome.exit_code == static_cast<int>(i) &&
                             result.files_created == std::vector{mark};
          if (!right) ADD_FAILURE() << mark << ": " << result.standard_output << result.standard_error;
          wrong += right ? 0U : 1U;
        }
      });
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(starts.at(static_cast<std::size_t>(StartKind::kWarm)), 0U);
  manager_->warm()->AwaitWarm(Preload::kPython, base::Deadline::After(20s));
  const auto all = manager_->warm()->Statistics();
  ASSERT_EQ(all.size(), 1U);
  const engine::PoolStatistics& pool = all.front().pool;
  EXPECT_EQ(pool.warm_hits + pool.misses, kThreads * kRuns + 1);
  EXPECT_EQ(pool.warm_hits, starts.at(static_cast<std::size_t>(StartKind::kWarm)) + 1);
  EXPECT_EQ(pool.created - pool.destroyed, pool.total - pool.acquiring);
  EXPECT_EQ(pool.busy, 0U);
  EXPECT_EQ(pool.failures, 0U);
  EXPECT_LE(pool.total, pool.max);
}

TEST_F(WarmTest, NothingIsLeftAfterTheManager) {
  RunWarm("pass");
  if (interpreters::FindInterpreter(Language::kJavaScript)) RunWarm("1", Language::kJavaScript);
  RunWarm("true", Language::kShell);
  const pid_t launcher = TheLauncher();
  EXPECT_GE(InitsOf(launcher).size(), 8U);
  manager_.reset();
  EXPECT_TRUE(InitsOf(launcher).empty());
  EXPECT_TRUE(ForkedBy(launcher).empty());
  const auto processes = os::ProcessTree(launcher);
  registry_.reset();
  EXPECT_TRUE(CgroupsOf(launcher).empty());
  for (const pid_t pid : processes) EXPECT_FALSE(Runs(pid));
  EXPECT_TRUE(ChildrenOf(::getpid()).empty());
}

class WarmLossTest : public WarmTest {
 protected:
  // Kills the processes of a launcher that `choose` names, while four sandboxes wait; every run must succeed all the
  // same.
  void ExpectNoProgramPays(const std::function<std::vector<pid_t>(pid_t)>& choose) {
    RunWarm("pass");
    manager_->warm()->AwaitWarm(Preload::kPython, base::Deadline::After(20s));
    const auto victims = choose(TheLauncher());
    ASSERT_FALSE(victims.empty());
    for (const pid_t pid : victims) ASSERT_TRUE(SignalProcess(pid, SIGKILL));
    ASSERT_TRUE(Eventually([&] { return std::ranges::none_of(victims, Runs); }));
    std::this_thread::sleep_for(100ms);  // until the launcher has noticed
    for (int i = 0; i < 6; ++i) {
      const auto result = Run("print(6*7)");
      EXPECT_EQ(result.standard_output, "42\n") << core::NameOf(result.outcome.kind);
    }
    EXPECT_EQ(RunWarm("print(1)").start, StartKind::kWarm);
  }
};

TEST_F(WarmLossTest, InterpretersThatDieWhileTheyWaitCostNoProgram) {
  ExpectNoProgramPays(ForkedBy);
}

TEST_F(WarmLossTest, SandboxesThatDieWhileTheyWaitCostNoProgram) {
  if (::geteuid() != 0) GTEST_SKIP() << "a plain user cannot kill what nobody may look into";
  ExpectNoProgramPays(InitsOf);
}

TEST_F(WarmLossTest, ALauncherThatIsKilledCostsNoLaterProgram) {
  ExpectNoProgramPays([](pid_t launcher) { return std::vector{launcher}; });
}

TEST_F(WarmLossTest, ZygotesThatDieCostNoProgram) {
  ExpectNoProgramPays(ZygotesOf);
}

TEST_F(WarmLossTest, ANodeThatDiesWhileItWaitsCostsNoProgram) {
  if (!interpreters::FindInterpreter(Language::kJavaScript)) GTEST_SKIP() << "there is no node";
  NativeBackend backend(Programs());
  const auto sandbox = Started(backend, Spec(Preload::kJavaScript));
  const auto inits = InitsOf(TheLauncher());
  ASSERT_EQ(inits.size(), 1U);
  const auto nodes = ChildrenOf(inits.front());
  ASSERT_EQ(nodes.size(), 1U);
  ASSERT_TRUE(SignalProcess(nodes.front(), SIGKILL));
  ASSERT_TRUE(Eventually([&] { return IsReaped(nodes.front()); }));
  core::Command command;
  command.program = core::Code{Language::kJavaScript, "setTimeout(() => console.log('late'), 6000)"};
  const Ran ran = Execute(*sandbox, command);
  EXPECT_EQ(ran.out, "late\n") << ran;
  EXPECT_EQ(ran.Start(), StartKind::kExec);
}

TEST_F(WarmLossTest, AShellThatDiesWhileItWaitsCostsNoProgram) {
  NativeBackend backend(Programs());
  const auto sandbox = Started(backend, Spec(Preload::kShell));
  const auto inits = InitsOf(TheLauncher());
  ASSERT_EQ(inits.size(), 1U);
  ASSERT_TRUE(Eventually([&] { return ChildrenOf(inits.front()).size() == 1; }));
  const pid_t shell = ChildrenOf(inits.front()).front();
  ASSERT_TRUE(SignalProcess(shell, SIGKILL));
  ASSERT_TRUE(Eventually([&] { return IsReaped(shell); }));
  const Ran ran = Execute(*sandbox, Shell("echo here"));
  EXPECT_EQ(ran.out, "here\n") << ran;
  EXPECT_EQ(ran.Start(), StartKind::kExec);
}

}  // namespace
}  // namespace skerry

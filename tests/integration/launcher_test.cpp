// One launcher and its sandboxes, through every way that either of them can end.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>

#include "integration/observed_sandbox.hpp"
#include "launcher/client.hpp"
#include "os/process_tree.hpp"
#include "os/socket.hpp"
#include "runner/launch_request.hpp"
#include "support/temporary_directory.hpp"

namespace skerry {
namespace {

using namespace support;
using core::OutcomeKind;
using launcher::ToLauncher;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMany = 20;

std::string EncodedStart() {
  const runner::LaunchProfile profile;
  return launcher::Encode(ToLauncher{runner::LaunchRequestFor(profile, Spec()).request});
}

// A sandbox that was requested without the client library.
struct Made {
  pid_t init = 0;                   // 0 when the request was refused
  std::vector<base::UniqueFd> fds;  // the socket to the init, which the sandbox ends with, and the others
};

Made StartOn(const base::UniqueFd& session) {
  if (!os::SendMessage(session.get(), EncodedStart())) return {};
  auto message = os::ReceiveMessage(session.get(), base::Deadline::After(20s));
  const auto answer = message ? launcher::DecodeFromLauncher(message->bytes) : std::nullopt;
  const auto* started = answer ? std::get_if<launcher::Started>(&*answer) : nullptr;
  if (started == nullptr) return {};
  return {static_cast<pid_t>(started->init_pid), std::move(message->fds)};
}

// Cgroups are removed a moment after the last message about a sandbox.
bool LeavesNoCgroups(pid_t launcher) {
  return Eventually([&] { return CgroupsOf(launcher).empty(); }, 2s);
}

class LauncherProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    const core::Availability availability = backend_->Probe(base::Deadline::Never());
    if (!availability.usable) GTEST_SKIP() << availability.detail;
  }

  [[nodiscard]] bool Answers(core::Sandbox& sandbox) const {
    const Ran ran = Execute(sandbox, Shell("echo here"));
    EXPECT_EQ(ran.out, "here\n") << ran;
    return ran.out == "here\n";
  }

  std::unique_ptr<NativeBackend> backend_ = std::make_unique<NativeBackend>(Programs());
};

TEST_F(LauncherProcessTest, MakesManySandboxesAtOnce) {
  std::atomic<std::size_t> right = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kMany; ++i)
      threads.emplace_back([&, i] {
        const auto sandbox = Started(*backend_);
        if (sandbox == nullptr) return;
        const Ran ran = Execute(*sandbox, Shell("echo " + std::to_string(i)));
        right += ran.out == std::to_string(i) + "\n" ? 1U : 0U;
      });
  }
  EXPECT_EQ(right, kMany);
  const pid_t launcher = TheLauncher();
  EXPECT_TRUE(ChildrenOf(launcher).empty());
  EXPECT_TRUE(LeavesNoCgroups(launcher));
}

TEST_F(LauncherProcessTest, TheEndOfOneSandboxIsNothingToTheOthers) {
  const auto first = Started(*backend_);
  const auto second = Started(*backend_);
  auto third = Started(*backend_);
  const pid_t launcher = TheLauncher();
  ASSERT_EQ(InitsOf(launcher).size(), 3U);
  ASSERT_TRUE(first->Stop(base::Deadline::Never()).has_value());
  EXPECT_EQ(InitsOf(launcher).size(), 2U);
  third.reset();
  EXPECT_EQ(InitsOf(launcher).size(), 1U);
  EXPECT_TRUE(Answers(*second));
  EXPECT_EQ(TheLauncher(), launcher);
}

TEST_F(LauncherProcessTest, ASandboxEndsWithItsSocket) {
  launcher::Launcher one(Programs());
  auto session = one.Connect();
  ASSERT_TRUE(session.has_value());
  const Made made = StartOn(*session);
  ASSERT_GT(made.init, 0);
  ASSERT_TRUE(Runs(made.init));
  session->Reset();
  EXPECT_TRUE(Eventually([&] { return !Runs(made.init); }, 2s));
  for (const pid_t launcher : Launchers()) {
    EXPECT_TRUE(LeavesNoCgroups(launcher));
  }
}

// The result of a command whose launcher was killed, and when it was reported.
struct Loss {
  Ran ran;
  Clock::time_point at;
};

TEST_F(LauncherProcessTest, WithALauncherThatIsKilledCommandsAreLostAndNothingHangs) {
  constexpr std::size_t kCommands = 4;
  std::vector<std::unique_ptr<core::Sandbox>> sandboxes;
  for (std::size_t i = 0; i < kCommands; ++i) sandboxes.push_back(Started(*backend_));
  const pid_t launcher = TheLauncher();
  std::vector<std::optional<Loss>> losses(kCommands);
  std::vector<pid_t> processes;
  Clock::time_point killed;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kCommands; ++i)
      threads.emplace_back([&, i] {
        Ran ran = Execute(*sandboxes[i], Shell("sleep 60; true"));
        losses[i] = Loss{std::move(ran), Clock::now()};
      });
    const std::size_t all = 1 + 3 * kCommands;  // the launcher, and for each sandbox an init, a shell and its command
    ASSERT_TRUE(Eventually([&] { return os::ProcessTree(launcher).size() == all; }));
    processes = os::ProcessTree(launcher);
    killed = Clock::now();
    ASSERT_TRUE(SignalProcess(launcher, SIGKILL));
  }
  for (const auto& loss : losses) {
    ASSERT_TRUE(loss.has_value() && loss->ran.result.has_value()) << loss->ran;
    EXPECT_EQ(loss->ran.Kind(), OutcomeKind::kLost) << loss->ran;
    EXPECT_LT(loss->at - killed, 1s);
  }
  for (const pid_t pid : processes) EXPECT_TRUE(Eventually([&] { return !Runs(pid); }, 2s)) << pid;
  // The next launcher starts when it is needed, and removes what the last one left.
  EXPECT_TRUE(Answers(*sandboxes.front()));
  EXPECT_NE(TheLauncher(), launcher);
  EXPECT_TRUE(Answers(*Started(*backend_)));
  EXPECT_TRUE(LeavesNoCgroups(launcher));
}

TEST_F(LauncherProcessTest, ASandboxThatWasLostWhileNobodyUsedItIsMadeAnew) {
  const auto sandbox = Started(*backend_);
  const pid_t launcher = TheLauncher();
  ASSERT_TRUE(SignalProcess(launcher, SIGKILL));
  ASSERT_TRUE(Eventually([&] { return !Runs(launcher); }));
  EXPECT_TRUE(Eventually([&] { return !sandbox->IsRunning(); }, 2s));
  EXPECT_TRUE(Answers(*sandbox));
  EXPECT_TRUE(sandbox->IsRunning());
}

TEST_F(LauncherProcessTest, ALauncherThatIsAskedToEndLeavesNothing) {
  const auto sandbox = Started(*backend_);
  const pid_t launcher = TheLauncher();
  std::optional<Ran> ran;
  {
    const std::jthread thread([&] { ran = Execute(*sandbox, Shell("sleep 60; true")); });
    ASSERT_TRUE(Eventually([&] { return os::ProcessTree(launcher).size() == 4; }));
    const auto processes = os::ProcessTree(launcher);
    ASSERT_TRUE(SignalProcess(launcher, SIGTERM));
    for (const pid_t pid : processes) EXPECT_TRUE(Eventually([&] { return !Runs(pid); }, 5s)) << pid;
    EXPECT_TRUE(LeavesNoCgroups(launcher));
  }
  ASSERT_TRUE(ran->result.has_value()) << *ran;
  EXPECT_EQ(ran->Kind(), OutcomeKind::kLost) << *ran;
  EXPECT_TRUE(Answers(*Started(*backend_)));
}

// A process of its own that has a program running in each of `count` sandboxes. To be made while there is one thread.
class Client {
 public:
  Client(std::size_t count, std::chrono::milliseconds lifetime) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    {
      NativeBackend backend(Programs());
      core::Command command = Shell("sleep 60; true");
      command.lifetime = lifetime;
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&] {
          if (const auto sandbox = Started(backend)) (void)Execute(*sandbox, command);
        });
    }
    ::_exit(0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    if (SignalProcess(pid_, SIGKILL)) ::waitpid(pid_, nullptr, 0);
  }

  // All processes that it started, once all of them run.
  [[nodiscard]] std::vector<pid_t> Processes(std::size_t count) const {
    EXPECT_TRUE(Eventually([&] { return os::ProcessTree(pid_).size() == 2 + 3 * count; }));
    auto processes = os::ProcessTree(pid_);
    std::erase(processes, pid_);
    return processes;
  }
  void Signal(int signal) const { EXPECT_TRUE(SignalProcess(pid_, signal)); }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = kNobody;
};

TEST_F(LauncherProcessTest, NothingOutlivesAClientThatIsKilled) {
  backend_.reset();
  const Client client(3, 0ms);
  const auto processes = client.Processes(3);
  const pid_t launcher = TheLauncher(client.pid());
  client.Signal(SIGKILL);
  for (const pid_t pid : processes) EXPECT_TRUE(Eventually([&] { return !Runs(pid); }, 5s)) << pid;
  EXPECT_TRUE(LeavesNoCgroups(launcher));
}

TEST_F(LauncherProcessTest, ALifetimeEndsASandboxWhoseClientIsStopped) {
  backend_.reset();
  const Client client(1, 1500ms);
  auto processes = client.Processes(1);
  const pid_t launcher = TheLauncher(client.pid());
  std::erase(processes, launcher);
  client.Signal(SIGSTOP);
  EXPECT_TRUE(std::ranges::all_of(processes, Runs));
  for (const pid_t pid : processes) EXPECT_TRUE(Eventually([&] { return !Runs(pid); }, 5s)) << pid;
  EXPECT_TRUE(LeavesNoCgroups(launcher));
  EXPECT_TRUE(Runs(launcher));
  EXPECT_EQ(FirstOf(Status(client.pid(), "State")), "T");
}

// ---- Messages that make no sense

class LauncherMessageTest : public LauncherProcessTest {
 protected:
  // Whether the session has ended, with or without messages before.
  static bool HasEnded(const base::UniqueFd& session) {
    for (;;) {
      const auto message = os::ReceiveMessage(session.get(), base::Deadline::After(10s));
      if (!message) return message.error().code != base::Code::kTimeout;
      if (message->EndOfStream()) return true;
    }
  }

  // Sends the bytes to an idle session and to one with a sandbox. Both have to end, and the neighbour must not notice.
  void ExpectOnlyThatSessionEnds(const std::string& bytes, std::span<const int> fds = {}) {
    const base::UniqueFd idle = launcher_->Connect().value();
    ASSERT_TRUE(os::SendMessage(idle.get(), bytes, fds).has_value());
    EXPECT_TRUE(HasEnded(idle));
    const base::UniqueFd busy = launcher_->Connect().value();
    const Made made = StartOn(busy);
    ASSERT_GT(made.init, 0);
    ASSERT_TRUE(os::SendMessage(busy.get(), bytes, fds).has_value());
    EXPECT_TRUE(HasEnded(busy));
    EXPECT_FALSE(Runs(made.init));
    EXPECT_TRUE(Runs(neighbour_.init));
  }

  void SetUp() override {
    LauncherProcessTest::SetUp();
    if (IsSkipped()) return;
    backend_.reset();
    neighbours_session_ = launcher_->Connect().value();
    neighbour_ = StartOn(neighbours_session_);
    ASSERT_GT(neighbour_.init, 0);
  }

  std::shared_ptr<launcher::Launcher> launcher_ = std::make_shared<launcher::Launcher>(Programs());
  base::UniqueFd neighbours_session_;
  Made neighbour_;
};

TEST_F(LauncherMessageTest, WhatIsNoMessageEndsItsSessionOnly) {
  const std::string start = EncodedStart();
  ExpectOnlyThatSessionEnds("x");
  ExpectOnlyThatSessionEnds(std::string(launcher::kConnect));
  ExpectOnlyThatSessionEnds(std::string(200'000, '\xff'));
  ExpectOnlyThatSessionEnds(start.substr(0, start.size() / 2));
  ExpectOnlyThatSessionEnds(start + "x");
}

TEST_F(LauncherMessageTest, DescriptorsWhereNoneBelongAreClosed) {
  const base::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> fds(os::kMaxMessageFds, null.get());
  const pid_t launcher = TheLauncher();
  const std::size_t before = DescriptorsOf(launcher);
  ExpectOnlyThatSessionEnds("x", fds);
  EXPECT_TRUE(Eventually([&] { return DescriptorsOf(launcher) <= before; }, 2s)) << DescriptorsOf(launcher);
}

TEST_F(LauncherMessageTest, ASecondStartEndsTheSandbox) {
  const base::UniqueFd session = launcher_->Connect().value();
  const Made made = StartOn(session);
  ASSERT_TRUE(os::SendMessage(session.get(), EncodedStart()).has_value());
  EXPECT_TRUE(HasEnded(session));
  EXPECT_FALSE(Runs(made.init));
  EXPECT_TRUE(Runs(neighbour_.init));
}

TEST_F(LauncherMessageTest, AStartWithoutItsDescriptorsIsRefused) {
  launcher::StartRequest request;
  request.workspace = launcher::WorkspaceKind::kLayered;
  request.workspace_path = "/tmp";
  const auto handle = launcher::SandboxHandle::Start(launcher_, request, {});
  ASSERT_FALSE(handle.has_value());
  EXPECT_TRUE(Runs(neighbour_.init));
}

TEST_F(LauncherMessageTest, AForkWithoutItsDescriptorsIsRefusedAndTheSandboxStays) {
  const base::UniqueFd session = launcher_->Connect().value();
  const Made made = StartOn(session);
  for (const std::string name : {"python", "", "no such"}) {
    ASSERT_TRUE(os::SendMessage(session.get(), Encode(ToLauncher{launcher::ForkRequest{name}})).has_value());
    const auto message = os::ReceiveMessage(session.get(), base::Deadline::After(5s));
    const auto answer = launcher::DecodeFromLauncher(message.value().bytes);
    ASSERT_TRUE(answer && std::holds_alternative<launcher::Forked>(*answer));
    EXPECT_EQ(std::get<launcher::Forked>(*answer).pid, 0U);
  }
  EXPECT_TRUE(Runs(made.init));
}

TEST_F(LauncherMessageTest, OnlyWhatEnteredTheSandboxCanBeSignalled) {
  const pid_t victim = ::fork();
  if (victim == 0) {
    ::setsid();
    ::pause();
    ::_exit(0);
  }
  const base::UniqueFd session = launcher_->Connect().value();
  const Made made = StartOn(session);
  for (const pid_t pid : {victim, made.init, neighbour_.init, TheLauncher()}) {
    ASSERT_GT(pid, 1);
    const launcher::SignalRequest request{static_cast<std::uint64_t>(pid), SIGKILL};
    ASSERT_TRUE(os::SendMessage(session.get(), Encode(ToLauncher{request})).has_value());
  }
  // An answer to the next question means that the messages before it were read.
  ASSERT_TRUE(os::SendMessage(session.get(), Encode(ToLauncher{launcher::UsageRequest{}})).has_value());
  EXPECT_FALSE(os::ReceiveMessage(session.get(), base::Deadline::After(5s)).value().EndOfStream());
  for (const pid_t pid : {victim, made.init, neighbour_.init}) EXPECT_TRUE(Runs(pid));
  if (SignalProcess(victim, SIGKILL)) ::waitpid(victim, nullptr, 0);
}

// A launcher without a client library, whose own socket the test uses.
class BareLauncher {
 public:
  BareLauncher() {
    auto pair = os::SocketPair::Create().value();
    const launcher::ProgramPaths programs = Programs();
    pid_ = ::fork();
    if (pid_ == 0) {
      const int high = ::fcntl(pair.second.get(), F_DUPFD, 10);
      const int init = ::fcntl(::open(programs.init.c_str(), O_PATH), F_DUPFD, 20);
      ::dup2(high, 3);
      ::dup2(init, 4);
      ::execl(programs.launcher.c_str(), "skerry-launcher", nullptr);
      ::_exit(127);
    }
    socket = std::move(pair.first);
  }
  BareLauncher(const BareLauncher&) = delete;
  BareLauncher& operator=(const BareLauncher&) = delete;
  ~BareLauncher() {
    socket.Reset();
    if (pid_ > 0) (void)ExitCode();
  }

  [[nodiscard]] base::UniqueFd Connect() const {
    auto pair = os::SocketPair::Create().value();
    const std::array fds = {pair.second.get()};
    EXPECT_TRUE(os::SendMessage(socket.get(), launcher::kConnect, fds).has_value());
    return std::move(pair.first);
  }
  // Waits for the launcher's end; -1 when a signal ended it.
  int ExitCode() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

  base::UniqueFd socket;

 private:
  pid_t pid_ = kNobody;
};

TEST_F(LauncherProcessTest, WhatIsNoMessageOnTheMainSocketEndsEverythingInOrder) {
  backend_.reset();
  launcher::ZygoteOffer offer{"python", {"/usr/bin/python3"}, {}};
  for (const std::string& bytes :
       {std::string("x"), std::string(200'000, '+'), std::string(launcher::kConnect), launcher::Encode(offer)}) {
    BareLauncher launcher;
    const pid_t pid = launcher.pid();
    const base::UniqueFd session = launcher.Connect();
    const Made made = StartOn(session);
    ASSERT_GT(made.init, 0);
    ASSERT_TRUE(os::SendMessage(launcher.socket.get(), bytes).has_value());  // the descriptors are missing
    EXPECT_EQ(launcher.ExitCode(), 0);
    EXPECT_FALSE(Runs(made.init));
    EXPECT_TRUE(LeavesNoCgroups(pid));
  }
}

TEST_F(LauncherProcessTest, EveryRequestToEndIsHeeded) {
  backend_.reset();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    BareLauncher launcher;
    const pid_t pid = launcher.pid();
    const base::UniqueFd session = launcher.Connect();
    const Made made = StartOn(session);
    ASSERT_GT(made.init, 0);
    ASSERT_TRUE(SignalProcess(pid, signal));
    EXPECT_EQ(launcher.ExitCode(), 0);
    EXPECT_FALSE(Runs(made.init));
    EXPECT_TRUE(LeavesNoCgroups(pid));
  }
}

TEST(LauncherPathsTest, AProgramThatIsMissingIsNamed) {
  for (std::string launcher::ProgramPaths::* const missing :
       {&launcher::ProgramPaths::launcher, &launcher::ProgramPaths::init}) {
    launcher::ProgramPaths programs = Programs();
    programs.*missing = "/nowhere/skerry-program";
    NativeBackend backend(programs);
    const auto sandbox = backend.Create(Spec());
    const auto started = (*sandbox)->Start(base::Deadline::Never(), {});
    ASSERT_FALSE(started.has_value());
    EXPECT_NE(started.error().message.find("/nowhere/skerry-program"), std::string::npos) << started.error().message;
    EXPECT_FALSE(backend.Probe(base::Deadline::Never()).usable);
  }
}

// Offering many zygotes takes long: the launcher has ended by then.
TEST(LauncherPathsTest, ALauncherThatEndsAtOnceIsHeardAllTheSame) {
  const support::TemporaryDirectory directory;
  const auto in = [&](const char* name) { return (directory.path() / name).string(); };
  const launcher::FromLauncher word = launcher::Failed{base::Code::kUnavailable, "there is no signalfd"};
  std::ofstream(in("word"), std::ios::binary) << launcher::Encode(word);
  std::ofstream(in("launcher")) << "#!/bin/sh\nexec cat '" << in("word") << "' >&3\n";
  ASSERT_EQ(::chmod(in("launcher").c_str(), 0755), 0);
  launcher::ProgramPaths programs = Programs();
  programs.launcher = in("launcher");
  const launcher::Launcher::Zygote zygote{.text = std::string(std::size_t{1} << 20U, '#')};
  const auto started =
      launcher::SandboxHandle::Start(std::make_shared<launcher::Launcher>(programs, std::vector(200, zygote)), {}, {});
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().message, "there is no signalfd");
}

TEST_F(LauncherProcessTest, StartingAndStoppingLeavesNothing) {
  const auto cycle = [&] { ASSERT_TRUE(Started(*backend_)->Stop(base::Deadline::Never()).has_value()); };
  for (int i = 0; i < 5; ++i) cycle();
  const pid_t launcher = TheLauncher();
  std::this_thread::sleep_for(200ms);  // the last descriptors are closed a moment after the last message
  const std::size_t before = DescriptorsOf(launcher);
  const std::size_t ours = DescriptorsOf(::getpid());
  for (int i = 0; i < 200; ++i) cycle();
  EXPECT_EQ(TheLauncher(), launcher);
  EXPECT_TRUE(LeavesNoCgroups(launcher));
  EXPECT_TRUE(Eventually([&] { return DescriptorsOf(launcher) == before; }, 2s)) << DescriptorsOf(launcher);
  EXPECT_EQ(DescriptorsOf(::getpid()), ours);
  EXPECT_TRUE(ChildrenOf(launcher).empty());
}

}  // namespace
}  // namespace skerry

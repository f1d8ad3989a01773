// Hostile programs in interpreters that a zygote forked into waiting sandboxes, and what must be true after each of
// them. For tests.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/native/native_backend.hpp"
#include "base/ids.hpp"
#include "core/backend_registry.hpp"
#include "core/context.hpp"
#include "engine/sandbox_manager.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "support/open_gate.hpp"

namespace skerry::support {

using backends::native::NativeBackend;
using core::OutcomeKind;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Clock = std::chrono::steady_clock;

inline constexpr auto kGonePatience = 3s;

// Empty when the file is gone.
inline std::string ReadText(const std::string& path) {
  constexpr std::size_t kMost = 64U << 10U;
  return os::ReadFile(path, kMost).value_or("");
}

// The processes of that name, as the host sees them, including those that wait to be reaped.
inline std::vector<std::string> ProcessesNamed(const std::string& name) {
  std::vector<std::string> found;
  const os::Directory all(::opendir("/proc"));
  while (const dirent* entry = ::readdir(all.get()))
    if (ReadText(std::string("/proc/") + entry->d_name + "/comm") == name + "\n") found.emplace_back(entry->d_name);
  return found;
}

inline std::string LauncherOfThisProcess() {
  const std::string parent = "\nPPid:\t" + std::to_string(::getpid()) + "\n";
  for (const std::string& pid : ProcessesNamed("skerry-launcher"))
    if (ReadText("/proc/" + pid + "/status").find(parent) != std::string::npos) return pid;
  return "";
}

template <class Predicate>
bool Within(std::chrono::milliseconds patience, Predicate holds) {
  const auto end = Clock::now() + patience;
  while (!holds()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

class NoSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    return {.accepted = bytes.size()};
  }
};

class WarmHostileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    environment_ = "secret" + std::to_string(base::RandomU64());
    ::setenv("SKERRY_TEST_SECRET", environment_.c_str(), 1);
    auto backend = std::make_unique<NativeBackend>(launcher::ProgramPaths::BesideThisProgram().value(),
                                                   base::FeatureSet{}, NativeBackend::Zygotes::kPython);
    if (const auto available = backend->Probe(base::Deadline::Never()); !available.usable)
      GTEST_SKIP() << available.detail;
    ASSERT_TRUE(registry_.Add(std::move(backend)).has_value());
    engine::ManagerOptions options;
    options.gate = OpenGate();
    options.pool = engine::PoolOptions{.max_instances = 4, .min_instances = 1};
    manager_ = std::make_unique<engine::SandboxManager>(registry_, std::move(options));
    const auto first = Run("print('first')", 10s);
    ASSERT_TRUE(first.has_value()) << first.error().message;
    if (first->start != core::StartKind::kWarm) GTEST_SKIP() << "no zygotes here";
    launcher_ = LauncherOfThisProcess();
    ASSERT_FALSE(launcher_.empty());
  }

  base::Result<core::ExecutionResult> Run(const std::string& code, std::chrono::seconds timeout,
                                          std::stop_token stop = {}) {
    manager_->warm()->AwaitWarm(core::Preload::kPython, base::Deadline::After(20s));
    core::ExecutionRequest request;
    request.code = code;
    request.timeout = timeout;
    return manager_->Execute(request, {}, std::move(stop));
  }

  // A program whose processes the host knows by their name.
  base::Result<core::ExecutionResult> Attack(const std::string& code, std::chrono::seconds timeout = 10s,
                                             std::stop_token stop = {}) {
    name_ = "atk" + std::to_string(base::RandomU64() % 1'000'000'000);
    const std::string prelude =
        "import ctypes, errno, os, signal, socket, struct, sys, threading, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "import stat\n"
        "CLONE, EXIT, READV, KEYCTL = (56, 60, 310, 250) if os.uname().machine == 'x86_64' else (220, 93, 270, 219)\n"
        "def is_socket(number):\n"
        "    try: return stat.S_ISSOCK(os.fstat(number).st_mode)\n"
        "    except OSError: return False\n"
        "CHANNEL = next(number for number in range(3, 1024) if is_socket(number))\n"
        "open('/proc/self/comm', 'w').write('" +
        name_ + "')\n";
    start_ = Clock::now();
    auto result = Run(prelude + code, timeout, std::move(stop));
    if (!result) return result;
    EXPECT_EQ(core::StartKind::kWarm, result->start);
    EXPECT_EQ(std::string::npos, result->standard_error.find("Traceback")) << result->standard_error;
    return result;
  }

  [[nodiscard]] std::chrono::milliseconds Took() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
  }

  // No process of the program is left, and the launcher and the pool are as before.
  void ExpectOverAndDone() {
    EXPECT_TRUE(Within(kGonePatience, [&] { return ProcessesNamed(name_).empty(); })) << "processes are left";
    for (const std::string& pid : ProcessesNamed(name_))
      ADD_FAILURE() << ReadText("/proc/" + pid + "/status").substr(0, 150);
    EXPECT_TRUE(Within(kGonePatience, [&] { return Kind().ending == 0; })) << "the pool still ends a sandbox";
    EXPECT_EQ(launcher_, LauncherOfThisProcess()) << "another launcher";
    const auto next = Run("print('next')", 10s);
    ASSERT_TRUE(next.has_value()) << next.error().message;
    EXPECT_EQ("next\n", next->standard_output);
    EXPECT_EQ(core::StartKind::kWarm, next->start);
    EXPECT_EQ(0U, Kind().failures);
  }

  [[nodiscard]] engine::PoolStatistics Kind() const {
    for (const auto& kind : manager_->warm()->Statistics())
      if (kind.kind == core::Preload::kPython) return kind.pool;
    return {};
  }

  core::BackendRegistry registry_;
  std::unique_ptr<engine::SandboxManager> manager_;
  std::string environment_;  // in the environment of the process that starts the launcher
  std::string launcher_;
  std::string name_;
  Clock::time_point start_;
};

}  // namespace skerry::support

// Programs in native sandboxes, and what the host sees of a launcher's processes and cgroups. For tests.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/native/native_backend.hpp"
#include "base/unique_fd.hpp"
#include "os/cgroup_hierarchy.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "os/pipe.hpp"

namespace skerry::support {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using backends::native::NativeBackend;

inline launcher::ProgramPaths Programs() {
  return launcher::ProgramPaths::BesideThisProgram().value();  // tests and programs share one directory
}

// ---- Running programs

class KeepingSink : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline) override {
    (stream == core::Stream::kStdout ? out : err).append(bytes);
    return {.accepted = bytes.size()};
  }
  std::string out;
  std::string err;
};

struct Ran {
  base::Result<core::CommandResult> result;
  std::string out;
  std::string err;

  [[nodiscard]] core::OutcomeKind Kind() const { return result.value().outcome.kind; }
  [[nodiscard]] int Code() const { return result.value().outcome.exit_code; }
  [[nodiscard]] core::StartKind Start() const { return result.value().start; }
};

// For the messages of failed tests.
inline std::ostream& operator<<(std::ostream& stream, const Ran& ran) {
  if (!ran.result) return stream << "error: " << ran.result.error().message;
  return stream << core::NameOf(ran.Kind()) << " " << ran.Code() << " start " << core::NameOf(ran.Start()) << "\n"
                << ran.out.substr(0, 2000) << "\n"
                << ran.err.substr(0, 2000);
}

inline core::Command Python(std::string text) {
  core::Command command;
  command.program = core::Code{core::Language::kPython, std::move(text)};
  return command;
}

inline core::Command Shell(std::string text) {
  core::Command command;
  command.program = core::Code{core::Language::kShell, std::move(text)};
  return command;
}

inline Ran Execute(core::Sandbox& sandbox, const core::Command& command, std::stop_token stop = {}) {
  KeepingSink sink;
  auto result = sandbox.Execute(command, sink, std::move(stop));
  return {std::move(result), std::move(sink.out), std::move(sink.err)};
}

// The specification of every sandbox of these tests: as much as the machine and the user have.
inline core::SandboxSpec Spec(core::Preload preload = core::Preload::kNone) {
  return {.demand = core::Demand::kWhatIsPossible, .preload = preload};
}

// A started sandbox, or nullptr after a failure of the test.
inline std::unique_ptr<core::Sandbox> Started(core::Backend& backend, const core::SandboxSpec& spec = Spec()) {
  auto sandbox = backend.Create(spec);
  const auto started =
      sandbox ? (*sandbox)->Start(base::Deadline::Never(), {}) : base::Status(std::unexpected(sandbox.error()));
  EXPECT_TRUE(started.has_value()) << started.error().message;
  return started ? std::move(*sandbox) : nullptr;
}

// ---- Looking on

// Asks again and again; false when it has not become true by the end of `patience`.
inline bool Eventually(const std::predicate auto& holds, std::chrono::milliseconds patience = 10s) {
  for (const auto deadline = base::Deadline::After(patience); !holds(); std::this_thread::sleep_for(5ms))
    if (deadline.Expired()) return holds();
  return true;
}

inline std::string Text(const std::string& path) {
  return os::ReadFile(path, std::size_t{16} << 20U).value_or("");
}

inline std::string ProcPath(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

// The words of a line of /proc/PID/status; none when there is no such process.
inline std::vector<std::string> Status(pid_t pid, std::string_view field) {
  std::istringstream lines(Text(ProcPath(pid, "status")));
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(std::string(field) + ":")) continue;
    std::istringstream rest(line.substr(field.size() + 1));
    for (std::string word; rest >> word;) words.push_back(word);
  }
  return words;
}

inline std::string FirstOf(const std::vector<std::string>& words) {
  return words.empty() ? "" : words.front();
}

inline bool Runs(pid_t pid) {
  const std::string state = FirstOf(Status(pid, "State"));
  return !state.empty() && state != "Z" && state != "X";
}

// Its parent knows of its end. A sandbox's init that has reaped a process holds nothing more of what it started it
// with: until then a dead program's channel may look as if somebody still listened.
inline bool IsReaped(pid_t pid) {
  return Status(pid, "State").empty();
}

// Never more than one process: to kill(2) -1 is all processes of this user, and 0 the caller's own group.
[[nodiscard]] inline bool SignalProcess(pid_t pid, int signal) {
  return pid > 1 && ::kill(pid, signal) == 0;
}

inline std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  const os::Directory directory(::opendir(path.c_str()));
  while (const dirent* entry = directory == nullptr ? nullptr : ::readdir(directory.get()))
    if (!os::IsDots(entry->d_name)) names.emplace_back(entry->d_name);
  return names;
}

inline std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const std::string& name : NamesIn("/proc")) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && FirstOf(Status(pid, "PPid")) == std::to_string(parent)) children.push_back(pid);
  }
  return children;
}

inline std::vector<pid_t> ZombiesOf(pid_t parent) {
  std::vector<pid_t> zombies = ChildrenOf(parent);
  std::erase_if(zombies, [](pid_t pid) { return FirstOf(Status(pid, "State")) != "Z"; });
  return zombies;
}

// The launchers that `client` started.
inline std::vector<pid_t> Launchers(pid_t client = ::getpid()) {
  std::vector<pid_t> pids = ChildrenOf(client);
  std::erase_if(pids, [](pid_t pid) { return FirstOf(Status(pid, "Name")) != "skerry-launcher" || !Runs(pid); });
  return pids;
}

// Stands for a process that was not found: no process has this pid. To kill(2) -1 would be all processes.
inline constexpr pid_t kNobody = std::numeric_limits<pid_t>::max();

inline pid_t TheLauncher(pid_t client = ::getpid()) {
  const auto pids = Launchers(client);
  EXPECT_EQ(pids.size(), 1U);
  return pids.empty() ? kNobody : pids.front();
}

// The children of a launcher are zygotes, the inits of sandboxes, and processes that zygotes forked into sandboxes.
inline std::vector<pid_t> ZygotesOf(pid_t launcher) {
  std::vector<pid_t> pids = ChildrenOf(launcher);
  std::erase_if(pids, [](pid_t pid) { return Status(pid, "NSpid").size() != 1 || !Runs(pid); });
  return pids;
}

// Without the inits of sandboxes that are kept ready and not in use yet.
inline std::vector<pid_t> InitsOf(pid_t launcher) {
  std::vector<pid_t> pids = ChildrenOf(launcher);
  std::erase_if(pids, [](pid_t pid) {
    const auto ids = Status(pid, "NSpid");
    return ids.size() < 2 || ids.back() != "1" || !Text(ProcPath(pid, "cmdline")).starts_with("skerry-init");
  });
  return pids;
}

inline std::vector<pid_t> ForkedBy(pid_t launcher) {
  std::vector<pid_t> pids = ChildrenOf(launcher);
  std::erase_if(pids, [](pid_t pid) {
    const auto ids = Status(pid, "NSpid");
    return ids.size() < 2 || ids.back() == "1" || !Runs(pid);
  });
  return pids;
}

// The cgroups that a launcher made, in every hierarchy in which it may.
inline std::vector<std::string> CgroupsOf(pid_t launcher) {
  static const os::CgroupHierarchy hierarchy = os::CgroupHierarchy::Detect();
  std::vector<std::string> groups;
  for (const os::CgroupMount& mount : hierarchy.mounts)
    for (const std::string& name : NamesIn(mount.directory))
      if (name.starts_with("skerry-") && name.find("-" + std::to_string(launcher) + "-") != std::string::npos)
        groups.push_back(mount.directory + "/" + name);
  return groups;
}

inline std::size_t DescriptorsOf(pid_t pid) {
  return NamesIn(ProcPath(pid, "fd")).size();
}

}  // namespace skerry::support

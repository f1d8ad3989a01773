#include "backends/fake/fake_backend.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "backends/fake/tiny_process.hpp"
#include "backends/fake/tiny_shell.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"
#include "workspace/beneath.hpp"
#include "workspace/directory_files.hpp"

namespace skerry::backends::fake {
namespace {

namespace fs = std::filesystem;
using core::Outcome;

// The directory of the workspace, and nothing outside of it: every path is resolved by the kernel beneath it.
class DirectoryOfTests : public TinyFiles {
 public:
  explicit DirectoryOfTests(core::SharedPlace place) : place_(std::move(place)) {}

  std::optional<std::string> Read(const std::string& path) override {
    const auto file = workspace::OpenFileBeneath(Root(), path, workspace::Locked::kLeave);
    const auto text = file ? os::ReadAll(file->get(), std::size_t{64} << 20U) : std::unexpected(file.error());
    return text ? std::optional(*text) : std::nullopt;
  }
  bool Write(const std::string& path, std::string_view text, How how) override {
    const auto place = workspace::FindPlace(Root(), path);
    if (!place || place->name.empty()) return false;
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (how == How::kAppend ? O_APPEND : O_TRUNC);
    const base::UniqueFd file(::openat(place->parent.get(), place->name.c_str(), flags, 0644));
    return file.valid() && os::WriteAll(file.get(), text);
  }
  bool MakeDirectory(const std::string& path) override {
    const auto place = workspace::FindPlace(Root(), path);
    return place && !place->name.empty() && ::mkdirat(place->parent.get(), place->name.c_str(), 0755) == 0;
  }
  bool Remove(const std::string& path) override {
    const auto place = workspace::FindPlace(Root(), path);
    return place && !place->name.empty() && place->entry && os::RemoveTree(place->parent.get(), place->name);
  }
  std::vector<std::string> Names() override {
    auto names = workspace::NamesIn(base::UniqueFd(::openat(Root(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), 10'000)
                     .value_or(std::vector<std::string>());
    std::ranges::sort(names);
    return names;
  }

 private:
  [[nodiscard]] int Root() const { return place_->fd.get(); }

  core::SharedPlace place_;
};

class FakeProcess : public core::Process {
 public:
  FakeProcess(core::Sandbox& sandbox, core::Command command, core::OutputSink& sink, core::SharedPlace workspace)
      : sandbox_(sandbox),
        command_(std::move(command)),
        input_(std::move(command_.input), command_.input_end),
        output_(sink, command_.max_output_bytes),
        files_(std::move(workspace)),
        deadline_(base::Deadline::After(command_.timeout)),
        life_(command_.lifetime.count() == 0 ? base::Deadline::Never() : base::Deadline::After(command_.lifetime)) {}

  base::Result<std::size_t> Feed(std::string_view bytes) override { return input_.Feed(bytes); }
  [[nodiscard]] bool AwaitRoom(base::Deadline deadline) override { return input_.AwaitRoom(deadline); }
  base::Status CloseInput() override { return input_.Close(); }
  base::Status Signal(int) override { return base::Err(base::Code::kUnavailable, "nothing here heeds signals"); }
  base::Status Resize(const core::TerminalSize&) override {
    return base::Err(base::Code::kConflict, "the program has no terminal");
  }

  base::Result<core::CommandResult> Await(std::stop_token stop) override {
    std::map<std::string, std::string> variables = command_.environment;
    const TinySurroundings around{
        .files = files_,
        .variables = variables,
        .write = [this](core::Stream stream, std::string_view bytes) { output_.Write(stream, bytes); },
        .read = [&] { return ReadInput(stop); },
        .sleep = [&](std::chrono::milliseconds time) { return Sleep(time, stop); }};
    const auto outcome = RunTinyProgram(command_.program, around);
    input_.End();
    if (!outcome) return std::unexpected(outcome.error());
    return output_.Finish(*outcome);
  }

 private:
  static constexpr std::chrono::milliseconds kStep{1};

  std::optional<std::string> ReadInput(const std::stop_token& stop) {
    while (!stop.stop_requested() && !deadline_.Expired())
      if (auto bytes = input_.Take(base::Deadline::After(kStep))) return bytes;
    return std::nullopt;
  }

  std::optional<Outcome> Sleep(std::chrono::milliseconds time, const std::stop_token& stop) {
    for (const auto end = base::Deadline::After(time);; std::this_thread::sleep_for(kStep)) {
      if (stop.stop_requested()) return core::EndedByStop();
      if (deadline_.Expired()) return core::EndedByTimeout(command_.timeout);
      if (life_.Expired() && sandbox_.Stop(base::Deadline::Never())) return core::EndedByLoss();
      if (end.Expired()) return std::nullopt;
    }
  }

  core::Sandbox& sandbox_;
  core::Command command_;
  TinyInput input_;
  TinyOutput output_;
  DirectoryOfTests files_;
  base::Deadline deadline_;
  base::Deadline life_;
};

class FakeSandbox : public core::Sandbox {
 public:
  FakeSandbox(core::SandboxSpec spec, std::atomic<int>& running) : spec_(std::move(spec)), counter_(running) {
    if (spec_.workspace) return;
    std::string name = (fs::temp_directory_path() / "skerry-fake-XXXXXX").string();
    auto place = std::make_shared<core::HostPlace>();
    own_ = place->path = ::mkdtemp(name.data());
    place->fd.Reset(::open(own_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    spec_.workspace = std::move(place);
  }
  ~FakeSandbox() override {
    (void)FakeSandbox::Stop(base::Deadline::Never());
    if (!own_.empty()) (void)os::RemoveTree(own_);
  }

  base::Status Start(base::Deadline, const std::stop_token&) override {
    if (!running_) ++counter_;
    running_ = true;
    return {};
  }

  base::Status Stop(base::Deadline) override {
    if (running_) --counter_;
    running_ = false;
    return {};
  }

  base::Result<std::unique_ptr<core::Process>> Launch(core::Command command, core::OutputSink& sink,
                                                      const std::stop_token&) override {
    if (!running_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
    return std::make_unique<FakeProcess>(*this, std::move(command), sink, spec_.workspace);
  }

  [[nodiscard]] core::SandboxFiles& files() override { return files_; }
  [[nodiscard]] bool IsRunning() const override { return running_; }
  [[nodiscard]] std::vector<std::string> Degraded() const override { return {}; }
  // No process outlives its command here, so there is nothing to measure.
  [[nodiscard]] base::Result<core::SandboxUsage> Sample(base::Deadline) override {
    if (!running_) return base::Err(base::Code::kUnavailable, "the sandbox does not run");
    return core::SandboxUsage{.memory_limit_bytes = spec_.limits.memory_mb << 20U, .pids_limit = spec_.limits.pids};
  }

 private:
  core::SandboxSpec spec_;
  std::string own_;  // path of the workspace that was made because the specification had none
  std::atomic<int>& counter_;
  std::atomic<bool> running_ = false;
  workspace::DirectoryFiles files_{
      [this] { return base::UniqueFd(::fcntl(spec_.workspace->fd.get(), F_DUPFD_CLOEXEC, 0)); }};
};

}  // namespace

core::Abilities AbilitiesOf(core::Strength strength) {
  const bool strong = strength >= core::Strength::kNamespaces;
  return {.strength = strength,
          .workspace = core::WorkspaceKind::kInPlace,
          .images = strong ? core::ImageKind::kRootFileSystem : core::ImageKind::kNone,
          .contexts = strong,
          .terminals = strong,
          .binds = strong,
          .cpu_quota = strong,
          .preload = strong};
}

base::Result<std::unique_ptr<core::Sandbox>> FakeBackend::Create(const core::SandboxSpec& spec) {
  ++created_;
  return std::make_unique<FakeSandbox>(spec, running_);
}

}  // namespace skerry::backends::fake

#include "backends/fake/fake_backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace skerry::backends::fake {
namespace {

namespace fs = std::filesystem;
using core::Arguments;
using core::Outcome;
using core::OutcomeKind;

// Passes bytes on and keeps count, as every backend must.
class CountingOutput {
 public:
  CountingOutput(core::OutputSink& sink, std::uint64_t room) : sink_(sink), room_(room) {}

  void Write(core::Stream stream, std::string_view bytes) {
    total_ += bytes.size();
    const std::string_view fitting = bytes.substr(0, room_);
    truncated_ = truncated_ || fitting.size() < bytes.size();
    room_ -= fitting.size();
    if (!fitting.empty()) (void)sink_.Write(stream, fitting, base::Deadline::Never());
  }

  [[nodiscard]] core::CommandResult Finish(const Outcome& outcome) const {
    return {.outcome = outcome, .output_truncated = truncated_, .output_bytes = total_};
  }

 private:
  core::OutputSink& sink_;
  std::uint64_t room_;
  std::uint64_t total_ = 0;
  bool truncated_ = false;
};

Arguments WordsOf(const core::Command& command) {
  if (const auto* arguments = std::get_if<Arguments>(&command.program)) return *arguments;
  std::istringstream stream(std::get<core::Code>(command.program).text);
  Arguments words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::uint64_t Number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

class FakeSandbox : public core::Sandbox {
 public:
  FakeSandbox(core::SandboxSpec spec, std::atomic<int>& running) : spec_(std::move(spec)), counter_(running) {
    if (!spec_.workspace.empty()) return;
    std::string name = (fs::temp_directory_path() / "skerry-fake-XXXXXX").string();
    own_ = spec_.workspace = ::mkdtemp(name.data());
  }
  ~FakeSandbox() override {
    (void)FakeSandbox::Stop();
    if (!own_.empty()) fs::remove_all(own_);
  }

  base::Status Start() override {
    if (!running_) ++counter_;
    running_ = true;
    return {};
  }

  base::Status Stop() override {
    if (running_) --counter_;
    running_ = false;
    return {};
  }

  base::Result<core::CommandResult> Execute(const core::Command& command, core::OutputSink& sink,
                                            std::stop_token stop) override {
    if (!running_) return base::Err(base::Code::kNotStarted, "the sandbox has not been started");
    const Arguments words = WordsOf(command);
    if (words.empty()) return base::Err(base::Code::kInvalidArgument, "there is no command to run");
    CountingOutput output(sink, command.max_output_bytes);
    SKERRY_ASSIGN_OR_RETURN(const Outcome outcome, Interpret(words, command, output, stop));
    return output.Finish(outcome);
  }

  [[nodiscard]] bool IsRunning() const override { return running_; }
  [[nodiscard]] std::string Workspace() const override { return spec_.workspace; }
  [[nodiscard]] std::vector<std::string> Degraded() const override { return {}; }

 private:
  base::Result<Outcome> Interpret(const Arguments& words, const core::Command& command, CountingOutput& output,
                                  const std::stop_token& stop) const {
    const std::string& name = words.front();
    if (name == "true") return Outcome{};
    if (name == "false") return Outcome{.exit_code = 1};
    if (name == "echo") return Echo(words, output);
    if (name == "sleep" && words.size() == 2) return Sleep(Number(words[1]), command.timeout, stop);
    if (name == "cat") return Cat(command.input_fd, output);
    if (name == "touch" && words.size() == 2) return Touch(words[1]);
    if (name == "ls") return List(output);
    if (name == "head" && words.size() == 4) return Zeros(Number(words[2]), output);
    return base::Err(base::Code::kNotFound, "not found in the sandbox: " + name);
  }

  static Outcome Echo(const Arguments& words, CountingOutput& output) {
    std::string line;
    for (std::size_t i = 1; i < words.size(); ++i) line += (i == 1 ? "" : " ") + words[i];
    output.Write(core::Stream::kStdout, line + "\n");
    return {};
  }

  static Outcome Sleep(std::uint64_t seconds, std::chrono::milliseconds timeout, const std::stop_token& stop) {
    const auto end = base::Deadline::After(std::chrono::seconds(seconds));
    const auto limit = base::Deadline::After(timeout);
    while (!end.Expired()) {
      if (stop.stop_requested()) return {.kind = OutcomeKind::kCancelled, .exit_code = 130};
      if (limit.Expired())
        return {.kind = OutcomeKind::kTimedOut,
                .exit_code = 124,
                .limit = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(timeout).count())};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }

  static Outcome Cat(int input_fd, CountingOutput& output) {
    std::string buffer(65536, '\0');
    for (ssize_t count = 0; input_fd >= 0 && (count = ::read(input_fd, buffer.data(), buffer.size())) > 0;)
      output.Write(core::Stream::kStdout, std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    return {};
  }

  [[nodiscard]] Outcome Touch(const std::string& name) const {
    const std::ofstream file(fs::path(spec_.workspace) / name, std::ios::app);
    return {.exit_code = file.good() ? 0 : 1};
  }

  Outcome List(CountingOutput& output) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(spec_.workspace)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    for (const std::string& name : names) output.Write(core::Stream::kStdout, name + "\n");
    return {};
  }

  static Outcome Zeros(std::uint64_t count, CountingOutput& output) {
    const std::string block(65536, '\0');
    for (std::uint64_t done = 0; done < count; done += block.size())
      output.Write(core::Stream::kStdout, std::string_view(block).substr(0, count - done));
    return {};
  }

  core::SandboxSpec spec_;
  std::string own_;  // a workspace that nobody gave us
  std::atomic<int>& counter_;
  bool running_ = false;
};

}  // namespace

base::Result<std::unique_ptr<core::Sandbox>> FakeBackend::Create(const core::SandboxSpec& spec) {
  ++created_;
  return std::make_unique<FakeSandbox>(spec, running_);
}

}  // namespace skerry::backends::fake

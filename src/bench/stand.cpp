#include "bench/stand.hpp"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "bench/workloads.hpp"
#include "confirm/auto_approve.hpp"
#include "engine/warm_sandboxes.hpp"

namespace skerry::bench {
namespace {

using std::chrono_literals::operator""s;

constexpr auto kWarmPatience = 30s;

class Collected : public core::OutputSink {
 public:
  core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
    text.append(bytes);
    return {.accepted = bytes.size()};
  }
  std::string text;
};

base::Error Wrong(const std::string& got) {
  return {base::Code::kExecutionFailed, "the answer is not right: " + got.substr(0, 200)};
}

// Runs a command in a sandbox and checks its output.
base::Status Ask(core::Sandbox& sandbox, const core::Command& command, std::string_view expected) {
  Collected sink;
  SKERRY_ASSIGN_OR_RETURN(const core::CommandResult result, sandbox.Execute(command, sink, {}));
  if (result.outcome.exit_code != 0 || sink.text != expected) return std::unexpected(Wrong(sink.text));
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Stand>> Stand::Make(std::unique_ptr<core::BackendRegistry> registry,
                                                 engine::PoolOptions pool) {
  std::unique_ptr<Stand> stand(new Stand());
  stand->registry_ = std::move(registry);
  SKERRY_ASSIGN_OR_RETURN(stand->native_, stand->registry_->Find("native"));
  if (const core::Availability availability = stand->native_->Probe(base::Deadline::Never()); !availability.usable)
    return base::Err(base::Code::kUnavailable, "there is no native sandbox to measure: " + availability.detail);
  engine::ManagerOptions options;
  options.pool = pool;
  options.gate.confirmation = std::make_shared<confirm::AutoApprove>("bench");
  stand->manager_ = std::make_unique<engine::SandboxManager>(*stand->registry_, std::move(options));
  return stand;
}

base::Result<std::unique_ptr<core::Sandbox>> Stand::Park(core::Preload preload) {
  core::SandboxSpec spec;
  spec.preload = preload;
  SKERRY_ASSIGN_OR_RETURN(auto sandbox, native_->Create(spec));
  SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::Never(), {}));
  return sandbox;
}

base::Result<Sample> Stand::RunWarm(core::Language language, const std::string& code, const std::string& expected) {
  core::ExecutionRequest request;
  request.code = code;
  request.language = language;
  const auto start = Clock::now();
  SKERRY_ASSIGN_OR_RETURN(const core::ExecutionResult result, manager_->Execute(request, {}, {}));
  Sample sample{Clock::now() - start, {}};
  if (!result.Success() || result.standard_output != expected)
    return std::unexpected(Wrong(result.standard_output + result.standard_error));
  if (result.start != core::StartKind::kWarm)
    return base::Err(base::Code::kUnavailable,
                     "no interpreter was waiting: it was started by " + std::string(core::NameOf(result.start)));
  sample.steps = {{"claim", result.timings.obtain}, {"run", result.timings.run}, {"finish", result.timings.finish}};
  return sample;
}

Subject Stand::Warm(const std::string& group, core::Language language) {
  const Workload* workload = FindWorkload(group);
  const std::string code(workload->code);
  const auto settle = [this, language, code] {
    manager_->warm()->AwaitWarm(engine::PreloadFor({language, code}), base::Deadline::After(kWarmPatience));
    // The work that made the interpreter ready ends a moment later.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  return {
      .group = group,
      .name = "skerry",
      .detail = "SandboxManager::Execute, warm",
      .run = [this, language, code, output = std::string(workload->output)] { return RunWarm(language, code, output); },
      .settle = settle,
      .target = {}};
}

base::Result<Sample> Stand::RunCold() {
  const core::Command command{.program = core::Arguments{"true"}};
  const auto start = Clock::now();
  SKERRY_ASSIGN_OR_RETURN(const auto sandbox, native_->Create({}));
  SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::Never(), {}));
  const auto started = Clock::now();
  SKERRY_RETURN_IF_ERROR(Ask(*sandbox, command, ""));
  const auto ran = Clock::now();
  SKERRY_RETURN_IF_ERROR(sandbox->Stop(base::Deadline::Never()));
  const auto stopped = Clock::now();
  return Sample{stopped - start, {{"start", started - start}, {"run", ran - started}, {"stop", stopped - ran}}};
}

// All hundred sandboxes are there at the same time, and are destroyed only then.
base::Result<Sample> Stand::RunHundred() {
  const Workload* workload = FindWorkload("hundred");
  std::vector<std::unique_ptr<core::Sandbox>> sandboxes(kHundred);
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto note = [&](const base::Error& error) {
    const std::scoped_lock lock(mutex);
    failures.push_back(error.message);
  };
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    threads.reserve(kHundred);
    for (auto& sandbox : sandboxes)
      threads.emplace_back([&] {
        auto created = native_->Create({});
        if (!created) return note(created.error());
        sandbox = std::move(*created);
        if (const auto started = sandbox->Start(base::Deadline::Never(), {}); !started) return note(started.error());
        const core::Command command{.program = core::Arguments{"/bin/sh", "-c", std::string(workload->code)}};
        if (const auto asked = Ask(*sandbox, command, workload->output); !asked) note(asked.error());
      });
  }
  Sample sample{Clock::now() - start, {}};
  if (!failures.empty())
    return base::Err(base::Code::kExecutionFailed,
                     std::to_string(failures.size()) + " of 100 failed, one of them so: " + failures.front());
  std::vector<std::jthread> threads;
  threads.reserve(kHundred);
  for (auto& sandbox : sandboxes) threads.emplace_back([&] { sandbox.reset(); });
  return sample;
}

base::Result<Sample> Stand::RunCell() {
  if (context_ == nullptr || !context_->Alive()) {
    SKERRY_ASSIGN_OR_RETURN(cell_sandbox_, Park(core::Preload::kPython));
    SKERRY_ASSIGN_OR_RETURN(context_, cell_sandbox_->contexts()->OpenContext(
                                          {.language = core::Language::kPython, .ends = core::Reach::kSandbox}));
  }
  Collected sink;
  const auto start = Clock::now();
  SKERRY_ASSIGN_OR_RETURN(const core::CellResult result, context_->Run({.text = "1+1"}, sink, {}));
  Sample sample{Clock::now() - start, {}};
  const bool right = result.outputs.size() == 1 && !result.outputs[0].forms.empty() &&
                     result.outputs[0].forms[0].mime == "text/plain" && result.outputs[0].forms[0].data == "2";
  if (!right) return std::unexpected(Wrong(result.error ? result.error->traceback : "no result"));
  return sample;
}

std::vector<Subject> Stand::Subjects() {
  std::vector<Subject> subjects = {Warm("python", core::Language::kPython), Warm("pandas", core::Language::kPython),
                                   Warm("node", core::Language::kJavaScript), Warm("shell", core::Language::kShell)};
  subjects.push_back({.group = "cold",
                      .name = "skerry",
                      .detail = "Backend::Create, Start, Execute, Stop; nothing waits but the launcher",
                      .run = [this] { return RunCold(); },
                      .settle = {},
                      .target = {}});
  subjects.push_back({.group = "hundred",
                      .name = "skerry",
                      .detail = "100 threads, each Backend::Create, Start, Execute; nothing waits but the launcher",
                      .run = [this] { return RunHundred(); },
                      // The kernel takes a while to remove the namespaces of the previous hundred.
                      .settle = [] { std::this_thread::sleep_for(2s); },
                      .target = {}});
  subjects.push_back({.group = "cell",
                      .name = "skerry",
                      .detail = "Context::Run",
                      .run = [this] { return RunCell(); },
                      .settle = {},
                      .target = {}});
  return subjects;
}

}  // namespace skerry::bench

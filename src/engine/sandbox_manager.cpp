#include "engine/sandbox_manager.hpp"

#include <fcntl.h>

#include <memory>
#include <optional>

#include "base/unique_fd.hpp"
#include "workspace/file_snapshot.hpp"
#include "workspace/persons_directory.hpp"
#include "workspace/temporary_workspace.hpp"

namespace skerry::engine {
namespace {

class CollectingSink : public core::OutputSink {
 public:
  explicit CollectingSink(core::ExecutionResult& result) : result_(result) {}
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline) override {
    (stream == core::Stream::kStdout ? result_.standard_output : result_.standard_error).append(bytes);
    return {.accepted = bytes.size()};
  }

 private:
  core::ExecutionResult& result_;
};

// The directory of a run: a person's, or one that burns with this object.
class RunWorkspace {
 public:
  static base::Result<RunWorkspace> Open(const std::optional<std::string>& persons, const ManagerOptions& options) {
    RunWorkspace workspace;
    if (persons) {
      SKERRY_ASSIGN_OR_RETURN(workspace.persons_, workspace::OpenPersonsDirectory(*persons, options.own_directories));
    } else {
      SKERRY_ASSIGN_OR_RETURN(auto temporary, workspace::TemporaryWorkspace::Create(options.workspace_base));
      workspace.temporary_.emplace(std::move(temporary));
    }
    return workspace;
  }

  [[nodiscard]] const std::string& path() const { return temporary_ ? temporary_->path() : persons_.path; }
  [[nodiscard]] int fd() const { return temporary_ ? temporary_->fd() : persons_.fd.get(); }
  [[nodiscard]] core::WorkspaceOwner owner() const {
    return temporary_ ? core::WorkspaceOwner::kSkerry : core::WorkspaceOwner::kPerson;
  }

  // What is in it as `sandbox` has it, who may have put it elsewhere.
  [[nodiscard]] base::Result<workspace::FileSnapshot> Snapshot(const core::Sandbox& sandbox) const {
    if (sandbox.Workspace() == path()) return workspace::FileSnapshot::Take(fd());
    const base::UniqueFd elsewhere(::open(sandbox.Workspace().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return workspace::FileSnapshot::Take(elsewhere.get());
  }

 private:
  std::optional<workspace::TemporaryWorkspace> temporary_;
  workspace::OpenedDirectory persons_;
};

// What a run takes longer than its timeout to be ended by the backend, at most; after that the launcher does it.
constexpr std::chrono::seconds kGrace{2};

core::SandboxSpec SpecFor(const core::ExecutionRequest& request, const RunWorkspace& workspace,
                          const core::SandboxLimits& limits) {
  core::SandboxSpec spec{.workspace = workspace.path(),
                         .workspace_fd = workspace.fd(),
                         .workspace_owner = workspace.owner(),
                         .limits = limits,
                         .lifetime = request.timeout + kGrace};
  spec.limits.memory_mb = request.max_memory_mb;
  return spec;
}

core::Command CommandFor(const core::ExecutionRequest& request, int input_fd) {
  constexpr std::uint64_t kMegabyte = 1U << 20U;
  return {.program = core::Code{request.language, request.code},
          .environment = {},
          .timeout = request.timeout,
          .max_output_bytes = request.max_output_mb * kMegabyte,
          .input_fd = input_fd};
}

}  // namespace

base::Result<core::Backend*> SandboxManager::Choose(const std::string& sandbox_type) const {
  const std::string& name = sandbox_type == core::kAutoSandbox ? options_.default_backend : sandbox_type;
  SKERRY_ASSIGN_OR_RETURN(core::Backend * backend, registry_.Find(name));
  if (policy::Allows(options_.mode, backend->Isolation())) return backend;
  // S1.4: a request that names a weaker sandbox than the mode demands gets the stronger one.
  for (core::Backend* candidate : registry_.All())
    if (policy::Allows(options_.mode, candidate->Isolation())) return candidate;
  return base::Err(base::Code::kUnavailable, "no sandbox here isolates as the strict mode demands");
}

base::Result<core::ExecutionResult> SandboxManager::Execute(const core::ExecutionRequest& request,
                                                            const RunStreams& streams, std::stop_token stop) {
  SKERRY_RETURN_IF_ERROR(core::Validate(request));
  SKERRY_ASSIGN_OR_RETURN(core::Backend * backend, Choose(request.sandbox_type));
  SKERRY_ASSIGN_OR_RETURN(const RunWorkspace workspace, RunWorkspace::Open(request.workspace, options_));
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<core::Sandbox> sandbox,
                          backend->Create(SpecFor(request, workspace, options_.limits)));
  SKERRY_ASSIGN_OR_RETURN(const auto before, workspace.Snapshot(*sandbox));
  SKERRY_RETURN_IF_ERROR(sandbox->Start());

  core::ExecutionResult result;
  CollectingSink collecting(result);
  core::OutputSink& sink = streams.sink != nullptr ? *streams.sink : collecting;
  const auto start = std::chrono::steady_clock::now();
  SKERRY_ASSIGN_OR_RETURN(const core::CommandResult ended,
                          sandbox->Execute(CommandFor(request, streams.input_fd), sink, std::move(stop)));
  result.execution_time =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  // What was left running ends here, so that the list of files below is the last word.
  SKERRY_RETURN_IF_ERROR(sandbox->Stop());
  result.outcome = ended.outcome;
  result.output_truncated = ended.output_truncated;
  result.output_bytes = ended.output_bytes;
  result.memory_peak_bytes = ended.memory_peak_bytes;
  result.sandbox_type = backend->Name();
  result.degraded = sandbox->Degraded();
  if (const auto after = workspace.Snapshot(*sandbox)) {
    result.files_created = before.CreatedSince(*after);
    if (!before.complete || !after->complete)
      result.degraded.emplace_back(
          "files_created: the workspace is too large, too deep or closed, and could not be listed");
  }
  return result;
}

}  // namespace skerry::engine

#include "engine/sandbox_manager.hpp"

#include <memory>
#include <optional>

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
  static base::Result<RunWorkspace> Open(const std::optional<std::string>& persons, const std::string& base) {
    RunWorkspace workspace;
    if (!persons) {
      SKERRY_ASSIGN_OR_RETURN(auto temporary, workspace::TemporaryWorkspace::Create(base));
      workspace.temporary_.emplace(std::move(temporary));
      workspace.path_ = workspace.temporary_->path();
      return workspace;
    }
    SKERRY_ASSIGN_OR_RETURN(workspace.path_, workspace::ResolvePersonsDirectory(*persons));
    return workspace;
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] core::WorkspaceOwner owner() const {
    return temporary_ ? core::WorkspaceOwner::kSkerry : core::WorkspaceOwner::kPerson;
  }

 private:
  std::optional<workspace::TemporaryWorkspace> temporary_;
  std::string path_;
};

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
  SKERRY_ASSIGN_OR_RETURN(const RunWorkspace workspace, RunWorkspace::Open(request.workspace, options_.workspace_base));
  core::SandboxSpec spec{
      .workspace = workspace.path(), .workspace_owner = workspace.owner(), .limits = options_.limits};
  spec.limits.memory_mb = request.max_memory_mb;
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<core::Sandbox> sandbox, backend->Create(spec));
  SKERRY_ASSIGN_OR_RETURN(const auto before, workspace::FileSnapshot::Take(sandbox->Workspace()));
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
  if (const auto after = workspace::FileSnapshot::Take(sandbox->Workspace())) {
    result.files_created = before.CreatedSince(*after);
    if (!before.complete || !after->complete)
      result.degraded.emplace_back("files_created: the workspace is too large or too deep to be listed");
  }
  return result;
}

}  // namespace skerry::engine

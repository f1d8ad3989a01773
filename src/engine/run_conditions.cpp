#include "engine/run_conditions.hpp"

#include "engine/named_files.hpp"
#include "engine/run_digest.hpp"

namespace skerry::engine {

base::Result<std::string> DigestOf(const core::ExecutionRequest& request, std::string_view backend,
                                   const RunWorkspace& workspace, const ManagerOptions& options) {
  DigestBuilder digest;
  digest.Add("code", request.code).Add("language", core::NameOf(request.language)).Add("sandbox", backend);
  digest.Add("timeout", static_cast<std::uint64_t>(request.timeout.count()));
  digest.Add("memory", request.max_memory_mb).Add("output", request.max_output_mb);
  digest.Add("image", request.image.value_or("")).Add("workspace", request.workspace.value_or(""));
  digest.Add("session", request.session_id.value_or("")).Add("directory", request.directory);
  digest.Add("arguments", request.arguments);
  for (const auto& [name, value] : request.environment) digest.Add("variable", name).Add("value", value);
  const core::SandboxLimits& limits = options.limits;
  digest.Add("pids", limits.pids).Add("cpu", limits.cpu_percent).Add("open_files", limits.open_files);
  digest.Add("file_mb", limits.file_mb).Add("tmp_mb", limits.tmp_mb).Add("disk_mb", limits.disk_mb);
  digest.Add("disk_files", limits.disk_files).Add("network", "none");
  const FilesystemOptions& files = options.filesystem;
  digest.Add("allow_read", files.allow_read).Add("deny_read", files.deny_read);
  digest.Add("allow_write", files.allow_write).Add("deny_write", files.deny_write);
  if (workspace.HasDirectory())
    for (const auto& [path, hash] : NamedFiles(request.code, workspace.directory()))
      digest.Add("file", path).Add("hash", hash);
  return digest.Finish();
}

namespace {

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

std::string WorkspaceInWords(const core::ExecutionRequest& request, const RunWorkspace& workspace) {
  if (workspace.session() != nullptr) return "that of session " + workspace.session()->directory.id();
  return request.workspace.value_or("an empty one, burned afterwards");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ConditionsOf(const core::ExecutionRequest& request,
                                                              std::string_view backend, const RunWorkspace& workspace,
                                                              const ManagerOptions& options) {
  std::vector<std::pair<std::string, std::string>> conditions = {
      {"sandbox", std::string(backend)},
      {"workspace", WorkspaceInWords(request, workspace)},
      {"network", "none"},
      {"limits", std::to_string(request.max_memory_mb) + " MB, " + std::to_string(request.timeout.count()) + " s"}};
  if (request.image) conditions.emplace_back("image", *request.image);
  if (!request.directory.empty()) conditions.emplace_back("directory", request.directory);
  for (const auto& [name, value] : request.environment) conditions.emplace_back("variable", name + "=" + value);
  if (!options.filesystem.allow_read.empty())
    conditions.emplace_back("may read", Joined(options.filesystem.allow_read));
  if (!options.filesystem.allow_write.empty())
    conditions.emplace_back("may write", Joined(options.filesystem.allow_write));
  if (!workspace.HasDirectory()) return conditions;
  std::vector<std::string> named;
  for (const auto& [path, hash] : NamedFiles(request.code, workspace.directory())) named.push_back(path);
  if (!named.empty()) conditions.emplace_back("files it names", Joined(named));
  return conditions;
}

}  // namespace skerry::engine

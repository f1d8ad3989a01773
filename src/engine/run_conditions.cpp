#include "engine/run_conditions.hpp"

#include "core/session_name.hpp"
#include "engine/run_digest.hpp"
#include "engine/run_input.hpp"

namespace skerry::engine {

NamedFilesFound FilesNamedBy(const RunConditions& run, const std::stop_token& stop) {
  if (run.files < 0) return {};
  NamedFilesQuery query{
      .language = run.request.language, .texts = {run.request.code}, .directory = run.request.directory};
  for (const auto& [name, value] : run.request.environment) query.texts.push_back(value);
  for (const std::string& argument : run.request.code_arguments) query.texts.push_back(argument);
  return NamedFiles(query, run.files, stop);
}

namespace {

std::string_view NameOf(core::Carry carry) {
  return carry == core::Carry::kShow ? "dry" : "real";
}

struct RunDigests {
  std::string all;
  std::string content;
};

RunDigests DigestsOf(const RunConditions& run, const NamedFilesFound& named, const TreeLook& around) {
  const core::ExecutionRequest& request = run.request;
  DigestBuilder digest;
  digest.Add("code", request.code).Add("language", core::NameOf(request.language)).Add("sandbox", run.backend);
  digest.Add("timeout", static_cast<std::uint64_t>(request.timeout.count()));
  digest.Add("memory", request.max_memory_mb).Add("output", request.max_output_mb);
  digest.Add("image", request.image.value_or("")).Add("workspace", request.workspace.value_or(""));
  digest.Add("directory", request.directory).Add("arguments", request.arguments);
  digest.Add("name", request.code_name).Add("code_arguments", request.code_arguments);
  for (const auto& [name, value] : request.environment) digest.Add("variable", name).Add("value", value);
  const core::SandboxLimits& limits = run.options.limits;
  digest.Add("pids", limits.pids).Add("cpu", limits.cpu_percent).Add("open_files", limits.open_files);
  digest.Add("file_mb", limits.file_mb).Add("tmp_mb", limits.tmp_mb).Add("disk_mb", limits.disk_mb);
  digest.Add("disk_files", limits.disk_files).Add("network", "none");
  const FilesystemOptions& files = run.options.filesystem;
  digest.Add("allow_read", files.allow_read).Add("deny_read", files.deny_read);
  digest.Add("allow_write", files.allow_write).Add("deny_write", files.deny_write);
  digest.Add("run", NameOf(request.carry));
  digest.Add("input", run.input.IsKnown() ? DigestOf(run.input) : "of " + std::string(run.execution));
  for (const auto& [path, hash] : named.files) digest.Add("file", path).Add("hash", hash);
  digest.Add("around", around.digest);
  // Cells that ran meanwhile may have changed the meaning of names in this cell.
  if (!request.context.empty()) digest.Add("context", request.context).Add("cells", run.cells.value_or(0));
  const std::string content = digest.Finish();
  DigestBuilder all;
  all.Add("content", content).Add("session", request.session_id.value_or(""));
  return {.all = all.Finish(), .content = content};
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

std::string WorkspaceInWords(const core::ExecutionRequest& request, const RunWorkspace& workspace) {
  if (workspace.session() != nullptr)
    return "that of session " + std::string(core::NameOfSession(workspace.session()->directory.id()));
  return request.workspace.value_or("an empty one, burned afterwards");
}

using Conditions = std::vector<std::pair<std::string, std::string>>;

void AddInput(Conditions& conditions, const RunInput& input) {
  if (!input.IsKnown())
    conditions.emplace_back("input", "comes while it runs, and is not shown here");
  else if (!input.text.empty())
    conditions.emplace_back("input", std::to_string(input.text.size()) + " bytes, SHA-256 " + DigestOf(input));
}

// Why the program could read files that are not in the digest; "" where it could not.
std::string ReadsElsewhere(const RunConditions& run, const TreeLook& around) {
  if (run.strength < core::Strength::kNamespaces) return "it finds the files of this machine";
  if (!run.options.filesystem.allow_write.empty()) return "it may write to directories of this machine";
  return around.rest;
}

void AddNamedFiles(Conditions& conditions, const NamedFilesFound& found) {
  std::vector<std::string> named;
  named.reserve(found.files.size());
  for (const auto& [path, hash] : found.files) named.push_back(path);
  if (!named.empty()) conditions.emplace_back("files it names", Joined(named));
  if (!found.tools.empty())
    conditions.emplace_back("reads more", Joined({found.tools.begin(), found.tools.end()}) +
                                              ": what this reads is not all named here; a yes is for once");
  if (!found.all)
    conditions.emplace_back("beware", "it names more than could be looked at; files may change unnoticed");
}

// In words and in order; see confirm::Question.
Conditions ConditionsOf(const RunConditions& run, const NamedFilesFound& named, const TreeLook& around) {
  const core::ExecutionRequest& request = run.request;
  const FilesystemOptions& files = run.options.filesystem;
  Conditions conditions = {
      {"sandbox", std::string(run.backend)},
      {"workspace", WorkspaceInWords(request, run.workspace)},
      {"network", "none"},
      {"limits", std::to_string(request.max_memory_mb) + " MB, " + std::to_string(request.timeout.count()) + " s"}};
  if (!request.context.empty()) conditions.emplace_back("context", request.context);
  if (request.image) conditions.emplace_back("image", *request.image);
  if (!request.directory.empty()) conditions.emplace_back("directory", request.directory);
  if (!request.code_arguments.empty()) conditions.emplace_back("arguments", core::ShellText(request.code_arguments));
  for (const auto& [name, value] : request.environment)
    conditions.emplace_back("variable",
                            std::string(name).append("=").append(request.secrets.contains(name) ? "***" : value));
  if (!files.allow_read.empty()) conditions.emplace_back("may read", Joined(files.allow_read));
  if (!files.allow_write.empty()) conditions.emplace_back("may write", Joined(files.allow_write));
  if (request.carry == core::Carry::kShow) conditions.emplace_back("dry run", "its changes are shown and not kept");
  if (run.workspace.session() != nullptr)
    conditions.emplace_back("alone", "it begins when nothing else runs in the session, and others wait for its end");
  AddInput(conditions, run.input);
  AddNamedFiles(conditions, named);
  if (const std::string why = ReadsElsewhere(run, around); !why.empty())
    conditions.emplace_back("not all is read", why + "; a yes is for once");
  return conditions;
}

}  // namespace

ProposalLook LookAt(const RunConditions& run, const NamedFilesFound& named, const TreeLook& around) {
  RunDigests digests = DigestsOf(run, named, around);
  // A cell depends on the cells before it: its content cannot be approved alone, nor twice when other runs share the
  // sandbox.
  const bool is_cell = !run.request.context.empty();
  const bool once_only =
      run.cells.has_value() || !named.all || !named.tools.empty() || !ReadsElsewhere(run, around).empty();
  return {.digest = std::move(digests.all),
          // Input that comes later, and files that were not read, are no part of the content.
          .content = !once_only && !is_cell && run.input.IsKnown() ? std::move(digests.content) : "",
          .once_only = once_only,
          .conditions = ConditionsOf(run, named, around),
          .unknown = named.unread};
}

}  // namespace skerry::engine

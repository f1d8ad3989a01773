#include "cli/sessions_of.hpp"

#include <pwd.h>
#include <unistd.h>

#include <utility>

#include "cli/terminal.hpp"
#include "core/record.hpp"
#include "core/service_store.hpp"
#include "os/own_directory.hpp"

namespace skerry::cli {
namespace {

std::string UserName() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::getuid());
}

}  // namespace

engine::SessionsOptions SessionsOptionsOf(const config::Workspace& workspace) {
  constexpr unsigned kMegabyte = 20;
  return {.base_dir = config::ExpandHome(workspace.base_dir, Context::Home()),
          .limits = {.max_bytes = static_cast<std::uint64_t>(workspace.max_size_mb) << kMegabyte},
          .cleanup_after = workspace.cleanup_after,
          .source = config::ExpandHome(workspace.source, Context::Home()),
          .bootstrap_files = workspace.bootstrap_files};
}

static base::Result<std::string> RecordPathIn(const config::Sandbox& sandbox) {
  std::string path = config::ExpandHome(sandbox.record.path, Context::Home());
  if (path.starts_with('/')) return path;
  return base::Err(base::Code::kInvalidArgument, "sandbox.record.path " + path + " is not absolute; set HOME");
}

base::Result<std::string> RecordPathOf(const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(std::string path, RecordPathIn(sandbox));
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd directory, os::OpenOwnDirectory(path.substr(0, path.rfind('/'))));
  return path;
}

base::Result<std::string> AuditPathOf(const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, RecordPathIn(sandbox));
  return path.substr(0, path.rfind('/')) + "/daemon/audit";
}

base::Result<std::shared_ptr<core::ServiceStore>> ServiceStoreOf(const Context& context,
                                                                 const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, RecordPathOf(sandbox));
  SKERRY_ASSIGN_OR_RETURN(auto store, context.ServiceStore(path));
  return std::shared_ptr<core::ServiceStore>(std::move(store));
}

static base::Result<std::shared_ptr<core::RecordStore>> OpenRecord(const Context& context,
                                                                   const config::Sandbox& sandbox) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, RecordPathOf(sandbox));
  SKERRY_ASSIGN_OR_RETURN(auto store, context.Store(path));
  return std::shared_ptr<core::RecordStore>(std::move(store));
}

engine::RecorderOptions RecorderOptionsOf(const Context& context, const config::Sandbox& sandbox) {
  auto store = OpenRecord(context, sandbox);
  engine::RecorderOptions options{
      .recording = sandbox.record.required ? engine::Recording::kRequired : engine::Recording::kBestEffort,
      .by = UserName() + ", skerry",
      .warn = [](const std::string& what) { Note(what); }};
  if (store) options.store = *store;
  if (!store) options.problem = store.error().message;
  return options;
}

}  // namespace skerry::cli

#include "cli/sessions_of.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/printable.hpp"
#include "cli/terminal.hpp"
#include "os/own_directory.hpp"

namespace skerry::cli {
namespace {

std::string UserName() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : std::to_string(::getuid());
}

engine::SessionsOptions OptionsOf(const config::Workspace& workspace) {
  constexpr unsigned kMegabyte = 20;
  return {.base_dir = config::ExpandHome(workspace.base_dir, Context::Home()),
          .limits = {.max_bytes = static_cast<std::uint64_t>(workspace.max_size_mb) << kMegabyte},
          .cleanup_after = workspace.cleanup_after,
          .source = config::ExpandHome(workspace.source, Context::Home()),
          .bootstrap_files = workspace.bootstrap_files};
}

}  // namespace

base::Result<std::shared_ptr<core::RecordStore>> RecordOf(const Context& context, const config::Sandbox& sandbox) {
  const std::string path = config::ExpandHome(sandbox.record.path, Context::Home());
  if (!path.starts_with('/'))
    return base::Err(base::Code::kInvalidArgument, "sandbox.record.path " + path + " is not absolute; set HOME");
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd directory, os::OpenOwnDirectory(path.substr(0, path.rfind('/'))));
  SKERRY_ASSIGN_OR_RETURN(auto store, context.Store(path));
  return std::shared_ptr<core::RecordStore>(std::move(store));
}

base::Result<SessionsAndRecord> SessionsOf(const Context& context, const config::Sandbox& sandbox) {
  auto store = RecordOf(context, sandbox);
  engine::RecorderOptions options{
      .recording = sandbox.record.required ? engine::Recording::kRequired : engine::Recording::kBestEffort,
      .by = UserName() + ", skerry",
      .warn = [](const std::string& what) { Note(what); }};
  if (store) options.store = *store;
  if (!store) options.problem = store.error().message;
  std::shared_ptr<core::RecordStore> opened = options.store;
  return SessionsAndRecord{std::move(opened), engine::Sessions(OptionsOf(sandbox.workspace),
                                                               std::make_shared<engine::Recorder>(std::move(options)))};
}

base::Deadline PatienceForSession() {
  constexpr auto kPatience = std::chrono::seconds(30);
  return base::Deadline::After(kPatience);
}

std::string AsTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> table = rows;
  std::vector<std::size_t> widths;
  for (auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = base::Printable(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i)
      text += row[i] + (i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 2, ' ') : "\n");
  return text;
}

std::string Moment(core::TimePoint time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  std::string text(sizeof "2024-05-01T12:00:00Z", '\0');
  if (::gmtime_r(&seconds, &parts) == nullptr) return "";
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

}  // namespace skerry::cli

// skerry session: workspaces that stay, with the record of what happened in them.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/sessions_of.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SessionCommandOptions {
  std::string name;
  std::vector<std::string> names;
  std::optional<std::string> wanted;
  std::optional<std::string> source;
  bool force = false;
  bool json = false;
};

bool PrintJson(const Json& json) {
  return Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

base::Result<SessionsAndRecord> Open(const Context& context, const SessionCommandOptions& options) {
  std::vector<config::Override> overrides;
  if (options.source)
    overrides.push_back({"sandbox.workspace.source", std::filesystem::absolute(*options.source).string(), "--from"});
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig(std::move(overrides)));
  return SessionsOf(context, loaded.config.sandbox);
}

base::Result<int> Create(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(const engine::Session session, opened.sessions.Create(options.wanted));
  options.json ? PrintJson({{"id", session.id()}, {"workspace", session.directory().path()}})
               : Print(session.id() + "\n");
  return 0;
}

base::Result<int> List(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(const auto sessions, opened.sessions.List());
  Json rows = Json::array();
  std::vector<std::vector<std::string>> table = {{"SESSION", "STATE", "LAST USED"}};
  for (const engine::SessionSummary& session : sessions) {
    const std::string state = session.busy ? "busy" : "idle";
    rows.push_back({{"id", session.id}, {"state", state}, {"used_at", Moment(session.used_at)}});
    table.push_back({session.id, state, Moment(session.used_at)});
  }
  if (options.json) {
    PrintJson(rows);
  } else {
    Print(sessions.empty() ? "no sessions; skerry session create makes one\n" : AsTable(table));
  }
  return 0;
}

base::Result<int> Show(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(const auto files, opened.sessions.OpenForReading(options.name));
  SKERRY_ASSIGN_OR_RETURN(const workspace::Usage usage, files->CurrentUsage());
  SKERRY_ASSIGN_OR_RETURN(const auto use,
                          workspace::SessionDirectory::UseOf(opened.sessions.options().base_dir, options.name));
  const std::uint64_t limit = opened.sessions.options().limits.max_bytes;
  Json object = {{"id", options.name},
                 {"state", use.busy ? "busy" : "idle"},
                 {"workspace", opened.sessions.options().base_dir + "/" + options.name},
                 {"used_at", Moment(use.used_at)},
                 {"bytes", usage.bytes},
                 {"max_bytes", limit},
                 {"entries", usage.entries}};
  if (const auto record = opened.store ? opened.store->FindSession(options.name)
                                       : base::Result<core::SessionRecord>(base::Err(base::Code::kNotFound, ""))) {
    object["created_at"] = Moment(record->created_at);
    object["created_by"] = record->created_by;
  }
  if (options.json) {
    PrintJson(object);
    return 0;
  }
  std::vector<std::vector<std::string>> table;
  for (const auto& [key, value] : object.items())
    table.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
  Print(AsTable(table));
  return 0;
}

base::Result<int> Delete(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  for (const std::string& name : options.names) {
    SKERRY_RETURN_IF_ERROR(opened.sessions.Delete(name, PatienceForSession()));
    if (!options.json) Print("deleted " + name + "\n");
  }
  if (options.json) PrintJson({{"deleted", options.names}});
  return 0;
}

base::Result<int> Diff(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(const engine::Session session, opened.sessions.Open(options.name, PatienceForSession()));
  SKERRY_ASSIGN_OR_RETURN(const std::string diff, session.Diff());
  Print(diff);
  return 0;
}

Json ChangesToJson(const engine::Session::Changes& changes) {
  Json rows = Json::array();
  for (const core::FileChange& change : changes)
    rows.push_back({{"path", base::ToValidUtf8(change.path)}, {"action", core::NameOf(change.action)}});
  return rows;
}

void PrintChanges(const engine::Session::Changes& changes) {
  for (const core::FileChange& change : changes)
    Print(std::string(core::NameOf(change.action)) + " " + base::Printable(change.path) + "\n");
}

base::Result<int> Undo(const Context& context, const SessionCommandOptions& options) {
  using workspace::LaterWork;
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(engine::Session session, opened.sessions.Open(options.name, PatienceForSession()));
  SKERRY_ASSIGN_OR_RETURN(const auto changes, session.Undo(options.force ? LaterWork::kGoes : LaterWork::kStays));
  options.json ? void(PrintJson({{"files", ChangesToJson(changes)}})) : PrintChanges(changes);
  return 0;
}

base::Result<int> Check(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(const engine::Session session, opened.sessions.Open(options.name, PatienceForSession()));
  SKERRY_ASSIGN_OR_RETURN(const auto different, session.Unrecorded());
  if (options.json) {
    PrintJson({{"matches", different.empty()}, {"files", ChangesToJson(different)}});
  } else if (different.empty()) {
    Print("the record and the files of " + options.name + " agree\n");
  } else {
    Note("these files were changed without a record:");
    PrintChanges(different);
  }
  return different.empty() ? 0 : 1;
}

base::Result<int> Clean(const Context& context, const SessionCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, Open(context, options));
  SKERRY_ASSIGN_OR_RETURN(const auto removed, opened.sessions.Sweep());
  if (options.json) {
    PrintJson({{"deleted", removed}});
    return 0;
  }
  for (const std::string& name : removed) Print("deleted " + name + "\n");
  const auto hours = opened.sessions.options().cleanup_after.count();
  if (removed.empty()) Print("nothing to delete: no session was unused for " + std::to_string(hours) + " hours\n");
  return 0;
}

}  // namespace

void AddSessionCommand(CLI::App& app, const Context& context, int& exit_code) {
  auto options = std::make_shared<SessionCommandOptions>();
  CLI::App* session = app.add_subcommand("session", "Workspaces that stay, and the record of what happened in them");
  session->require_subcommand(1);
  using Action = base::Result<int> (*)(const Context&, const SessionCommandOptions&);
  const auto add = [&](const char* name, const char* what, Action action) {
    CLI::App* command = session->add_subcommand(name, what);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &context, &exit_code] {
      const auto done = action(context, *options);
      exit_code = done ? *done : ReportError(done.error());
    });
    return command;
  };
  const auto with_name = [&](CLI::App* command) {
    command->add_option("session", options->name, "Its name")->option_text("SESSION")->required();
    return command;
  };
  CLI::App* create = add("create", "Make a session with an empty workspace, or one that starts from a source", Create);
  create->add_option("name", options->wanted, "Its name; one is made up without")->option_text("NAME");
  create->add_option("--from", options->source, "Directory whose init, skills and bootstrap files it starts with")
      ->option_text("DIR");
  add("list", "The sessions that are there", List);
  with_name(add("show", "What it takes of its space, and where it is", Show));
  add("delete", "End sessions: their files go, their history stays", Delete)
      ->add_option("sessions", options->names, "Their names")
      ->option_text("SESSION...")
      ->required();
  with_name(add("diff", "What the last run that changed something did, as a unified diff", Diff));
  with_name(add("undo", "Take back what the last run that changed something did", Undo))
      ->add_flag("--force", options->force, "Also where files were changed since");
  with_name(add("check", "Compare the files with the record of them", Check));
  add("clean", "Delete the sessions that nobody has used for sandbox.workspace.cleanupAfterHours", Clean);
  session->footer(
      "Examples:\n"
      "  skerry session create work\n"
      "  skerry run --session work -l shell 'echo hello > note.txt'\n"
      "  skerry session diff work; skerry session undo work\n"
      "  skerry history work");
}

}  // namespace skerry::cli

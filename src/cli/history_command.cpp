// skerry history: what a session did, in order, and where its files come from.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/history_text.hpp"
#include "cli/sessions_of.hpp"
#include "core/history.hpp"
#include "core/history_graph.hpp"
#include "json/history_json.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/resolver.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

// Each may hold a megabyte of code.
constexpr std::size_t kPage = 50;

struct HistoryOptions {
  std::string session;
  std::string path;
  std::optional<std::size_t> limit;
  bool json = false;
  bool mermaid = false;
  bool dot = false;
};

// The record outlives the session, so a session that is nowhere is told as everywhere else.
base::Status NeedRecord(core::RecordStore& store, const engine::Sessions& sessions, const std::string& session) {
  const auto record = store.FindSession(session);
  if (record) return {};
  if (record.error().code != base::Code::kNotFound) return std::unexpected(record.error());
  SKERRY_RETURN_IF_ERROR(sessions.OpenForReading(session));
  return base::Err(base::Code::kNotFound, "nothing was recorded of session " + session);
}

base::Result<std::shared_ptr<core::RecordStore>> RecordOfSession(const Context& context, const std::string& session) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(const SessionsAndRecord opened, SessionsOf(context, loaded.config.sandbox));
  std::shared_ptr<core::RecordStore> store = opened.store;
  if (store == nullptr) {
    SKERRY_ASSIGN_OR_RETURN(store, RecordOf(context, loaded.config.sandbox));
  }
  SKERRY_RETURN_IF_ERROR(NeedRecord(*store, opened.sessions, session));
  return store;
}

// The number behind which the last `limit` executions are.
base::Result<std::uint64_t> StartOf(core::RecordStore& store, const std::string& session,
                                    const std::optional<std::size_t>& limit) {
  std::deque<std::uint64_t> last;
  for (std::uint64_t after = 0; limit;) {
    SKERRY_ASSIGN_OR_RETURN(const auto page, store.Executions(session, after, kPage));
    for (const core::ExecutionRecord& execution : page) last.push_back(execution.sequence);
    while (last.size() > *limit) last.pop_front();
    if (page.size() < kPage) break;
    after = page.back().sequence;
  }
  return last.empty() ? 0 : last.front() - 1;
}

// Page by page to `take`.
template <class Take>
base::Status ForEachPage(core::RecordStore& store, const HistoryOptions& options, const Take& take) {
  SKERRY_ASSIGN_OR_RETURN(std::uint64_t after, StartOf(store, options.session, options.limit));
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(std::vector<core::HistoryEntry> page,
                            core::LoadHistory(store, options.session, {.after = after, .limit = kPage}));
    const std::size_t count = page.size();
    if (count > 0) after = page.back().execution.sequence;
    SKERRY_RETURN_IF_ERROR(take(std::move(page)));
    if (count < kPage) return {};
  }
}

// What led to an execution, as people know it: by its number.
std::string CauseOf(core::RecordStore& store, const core::ExecutionRecord& execution) {
  if (execution.caused_by.empty()) return "";
  const auto cause = store.FindExecution(execution.caused_by);
  return cause ? "#" + std::to_string(cause->sequence) : execution.caused_by;
}

base::Status WriteAsText(core::RecordStore& store, const HistoryOptions& options, archive::ByteSink& sink) {
  return ForEachPage(store, options, [&](const std::vector<core::HistoryEntry>& page) {
    std::string text;
    for (const core::HistoryEntry& entry : page) text += EntryAsText(entry, CauseOf(store, entry.execution));
    return sink.Write(text);
  });
}

base::Status WriteAsJson(core::RecordStore& store, const HistoryOptions& options, archive::ByteSink& sink) {
  std::string head = "[\n";
  SKERRY_RETURN_IF_ERROR(ForEachPage(store, options, [&](const std::vector<core::HistoryEntry>& page) {
    std::string text;
    for (const Json& object : json::HistoryToJson(page))
      text += std::exchange(head, ",\n") + object.dump(-1, ' ', false, Json::error_handler_t::replace);
    return sink.Write(text);
  }));
  return sink.Write(head == "[\n" ? "[]\n" : "\n]\n");
}

base::Status WriteAsGraph(core::RecordStore& store, const HistoryOptions& options, archive::ByteSink& sink) {
  constexpr std::size_t kEnough = 4096;  // of the code, of which the first line is drawn
  std::vector<core::HistoryEntry> entries;
  SKERRY_RETURN_IF_ERROR(ForEachPage(store, options, [&](std::vector<core::HistoryEntry> page) -> base::Status {
    for (core::HistoryEntry& entry : page) {
      if (entry.execution.what.size() > kEnough) entry.execution.what = entry.execution.what.substr(0, kEnough);
      entries.push_back(std::move(entry));
    }
    return {};
  }));
  return sink.Write(options.dot ? core::ToDot(entries) : core::ToMermaid(entries));
}

base::Result<int> Show(const Context& context, const HistoryOptions& options) {
  if (options.session.empty())
    return base::Err(base::Code::kInvalidArgument, "which session? skerry history SESSION; see skerry history --help");
  if ((options.json ? 1 : 0) + (options.mermaid ? 1 : 0) + (options.dot ? 1 : 0) > 1)
    return base::Err(base::Code::kInvalidArgument, "give one of --json, --mermaid and --dot");
  SKERRY_ASSIGN_OR_RETURN(const auto store, RecordOfSession(context, options.session));
  StdoutSink sink;
  if (options.json) return sink.ExitCode(WriteAsJson(*store, options, sink));
  if (options.mermaid || options.dot) return sink.ExitCode(WriteAsGraph(*store, options, sink));
  return sink.ExitCode(WriteAsText(*store, options, sink));
}

base::Result<int> ShowFile(const Context& context, const HistoryOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string path, workspace::Named(options.path, workspace::MapPath(options.path)));
  SKERRY_ASSIGN_OR_RETURN(const auto store, RecordOfSession(context, options.session));
  SKERRY_ASSIGN_OR_RETURN(const core::FileHistory history, core::LoadFileHistory(*store, options.session, path));
  StdoutSink sink;
  if (!options.json) return sink.ExitCode(sink.Write(FileHistoryAsText(history)));
  const Json object = json::FileHistoryToJson(history);
  return sink.ExitCode(sink.Write(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"));
}

void AddFile(CLI::App& history, const std::shared_ptr<HistoryOptions>& options, const Context& context,
             int& exit_code) {
  CLI::App* file = history.add_subcommand("file", "Every state of one file: what made it, and from which files");
  file->add_option("session", options->session, "The session")->required()->option_text("SESSION");
  file->add_option("path", options->path, "The file, also one that is gone")->required()->option_text("PATH");
  file->add_flag("--json", options->json, "As an object");
  file->footer("Example:\n  skerry history file analysis output/report.md");
  file->callback([options, &context, &exit_code] {
    exit_code = Conclude(ShowFile(context, *options), options->json ? Form::kJson : Form::kText);
  });
}

}  // namespace

void AddHistoryCommand(CLI::App& app, const Context& context, int& exit_code) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App* history = app.add_subcommand("history", "Tell what happened in a session, and what became of its files");
  history->add_option("session", options->session, "The session, also one that was deleted")->option_text("SESSION");
  history->add_flag("--json", options->json, "As an array of objects");
  history->add_flag("--mermaid", options->mermaid, "As a flowchart of Mermaid");
  history->add_flag("--dot", options->dot, "As a graph of Graphviz");
  history->add_option("--limit", options->limit, "Only the last N (all)")->check(CLI::PositiveNumber)->option_text("N");
  AddFile(*history, options, context, exit_code);
  history->footer(
      "Files: + created, ~ changed, - removed. What a program read is known as far as its code names it.\n\n"
      "Examples:\n"
      "  skerry history analysis --limit 5\n"
      "  skerry history analysis --dot | dot -Tsvg > analysis.svg\n"
      "  skerry history file analysis output/report.md");
  history->callback([history, options, &context, &exit_code] {
    if (!history->get_subcommands().empty()) return;
    exit_code = Conclude(Show(context, *options), options->json ? Form::kJson : Form::kText);
  });
}

}  // namespace skerry::cli

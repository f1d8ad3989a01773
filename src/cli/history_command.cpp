// skerry history: what was done in a session, in order, and where its files come from.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"
#include "cli/history_answer.hpp"
#include "cli/history_text.hpp"
#include "core/history.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPage = "1000";

struct HistoryOptions {
  std::string session;
  std::string path;
  std::optional<std::size_t> limit;
  bool json = false;
  bool mermaid = false;
  bool dot = false;
};

// Calls `take` for every execution, the oldest first.
template <class Take>
base::Status ForEachEntry(DaemonClient& daemon, const HistoryOptions& options, const Take& take) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.session, "/history"));
  std::optional<std::string> after;
  do {
    SKERRY_ASSIGN_OR_RETURN(Json page, daemon.Ask("GET", WithQuery(target, {{"limit", kPage}, {"after", after}})));
    for (Json& entry : page["items"]) SKERRY_RETURN_IF_ERROR(take(std::move(entry)));
    const std::string next = TextIn(page, "next_cursor");
    after = next.empty() ? std::nullopt : std::optional(next);
  } while (after);
  return {};
}

// The last executions, or all. The daemon gives them from the beginning.
template <class Take>
base::Status ForEachWanted(DaemonClient& daemon, const HistoryOptions& options, const Take& take) {
  if (!options.limit) return ForEachEntry(daemon, options, take);
  std::deque<Json> last;
  SKERRY_RETURN_IF_ERROR(ForEachEntry(daemon, options, [&](Json entry) -> base::Status {
    last.push_back(std::move(entry));
    if (last.size() > *options.limit) last.pop_front();
    return {};
  }));
  for (Json& entry : last) SKERRY_RETURN_IF_ERROR(take(std::move(entry)));
  return {};
}

// The number of the execution that led to another one; learned from the executions before it.
class Numbers {
 public:
  void Learn(const Json& entry) { numbers_[TextIn(entry, "id")] = NumberIn(entry, "sequence"); }
  [[nodiscard]] std::string CauseOf(const core::ExecutionRecord& execution) const {
    const auto found = numbers_.find(execution.caused_by);
    return found == numbers_.end() ? execution.caused_by : "#" + std::to_string(found->second);
  }

 private:
  std::map<std::string, std::uint64_t> numbers_;
};

base::Status WriteAsText(DaemonClient& daemon, const HistoryOptions& options, archive::ByteSink& sink) {
  Numbers numbers;
  std::deque<core::HistoryEntry> last;
  const auto write = [&](const core::HistoryEntry& entry) {
    return sink.Write(EntryAsText(entry, numbers.CauseOf(entry.execution)));
  };
  SKERRY_RETURN_IF_ERROR(ForEachEntry(daemon, options, [&](const Json& entry) -> base::Status {
    numbers.Learn(entry);
    if (!options.limit) return write(HistoryEntryFrom(entry));
    last.push_back(HistoryEntryFrom(entry));
    if (last.size() > *options.limit) last.pop_front();
    return {};
  }));
  for (const core::HistoryEntry& entry : last) SKERRY_RETURN_IF_ERROR(write(entry));
  return {};
}

base::Status WriteAsJson(DaemonClient& daemon, const HistoryOptions& options, archive::ByteSink& sink) {
  std::string head = "[\n";
  SKERRY_RETURN_IF_ERROR(ForEachWanted(
      daemon, options, [&](const Json& entry) { return sink.Write(std::exchange(head, ",\n") + json::Text(entry)); }));
  return sink.Write(head == "[\n" ? "[]\n" : "\n]\n");
}

// The value of `after` for the last `limit` executions.
base::Result<std::optional<std::string>> StartOf(DaemonClient& daemon, const HistoryOptions& options) {
  std::deque<std::uint64_t> last;
  if (!options.limit) return std::optional<std::string>();
  SKERRY_RETURN_IF_ERROR(ForEachEntry(daemon, options, [&](const Json& entry) -> base::Status {
    last.push_back(NumberIn(entry, "sequence"));
    if (last.size() > *options.limit) last.pop_front();
    return {};
  }));
  return std::optional(std::to_string(last.empty() ? 0 : last.front() - 1));
}

base::Status WriteAsGraph(DaemonClient& daemon, const HistoryOptions& options, archive::ByteSink& sink) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.session, "/history"));
  SKERRY_ASSIGN_OR_RETURN(const auto after, StartOf(daemon, options));
  SKERRY_ASSIGN_OR_RETURN(
      const std::string graph,
      daemon.AskText(WithQuery(target, {{"format", options.dot ? "dot" : "mermaid"}, {"after", after}})));
  return sink.Write(graph);
}

base::Result<int> Show(const Context& context, const HistoryOptions& options) {
  if (options.session.empty())
    return base::Err(base::Code::kInvalidArgument, "which session? skerry history SESSION; see skerry history --help");
  if ((options.json ? 1 : 0) + (options.mermaid ? 1 : 0) + (options.dot ? 1 : 0) > 1)
    return base::Err(base::Code::kInvalidArgument, "give one of --json, --mermaid and --dot");
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  StdoutSink sink;
  if (options.json) return sink.ExitCode(WriteAsJson(daemon, options, sink));
  if (options.mermaid || options.dot) return sink.ExitCode(WriteAsGraph(daemon, options, sink));
  return sink.ExitCode(WriteAsText(daemon, options, sink));
}

base::Result<int> ShowFile(const Context& context, const HistoryOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.session, "/history/file"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json history, daemon.Ask("GET", WithQuery(target, {{"path", options.path}})));
  StdoutSink sink;
  if (!options.json) return sink.ExitCode(sink.Write(FileHistoryAsText(FileHistoryFrom(history))));
  return sink.ExitCode(sink.Write(json::Text(history) + "\n"));
}

// The command shares its parent's options: skerry history --json file is understood.
Command FileCommand(const std::shared_ptr<HistoryOptions>& options, const Context& context) {
  return {.name = "file",
          .description = "Every state of one file: what made it, and from which files",
          .footer = "Example:\n  skerry history file analysis output/report.md",
          .arguments = {{.name = "session",
                         .value = Value::Session(),
                         .description = "The session",
                         .to = &options->session,
                         .need = Need::kRequired},
                        {.name = "path",
                         .value = Value::Text("PATH"),
                         .description = "The file, also one that is gone",
                         .to = &options->path,
                         .need = Need::kRequired}},
          .options = {{.names = "--json", .description = "As an object", .to = &options->json}},
          .action = [=, &context] { return ShowFile(context, *options); },
          .errors_as_json = &options->json};
}

}  // namespace

Command HistoryCommand(const Context& context) {
  auto options = std::make_shared<HistoryOptions>();
  return {.name = "history",
          .description = "Tell what happened in a session, and what became of its files",
          .footer =
              "Files: + created, ~ changed, - removed. What a program read is known as far as its code names it.\n\n"
              "Examples:\n"
              "  skerry history analysis --limit 5\n"
              "  skerry history analysis --dot | dot -Tsvg > analysis.svg\n"
              "  skerry history file analysis output/report.md",
          .arguments = {{.name = "session",
                         .value = Value::Session(),
                         .description = "The session, also one that was deleted",
                         .to = &options->session}},
          .options = {{.names = "--json", .description = "As an array of objects", .to = &options->json},
                      {.names = "--mermaid", .description = "As a flowchart of Mermaid", .to = &options->mermaid},
                      {.names = "--dot", .description = "As a graph of Graphviz", .to = &options->dot},
                      {.names = "--limit",
                       .value = Value::Text("N"),
                       .description = "Only the last N (all)",
                       .to = &options->limit,
                       .bounds = Positive{}}},
          .commands = {FileCommand(options, context)},
          .action = [=, &context] { return Show(context, *options); },
          .errors_as_json = &options->json};
}

}  // namespace skerry::cli

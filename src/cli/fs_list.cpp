// skerry fs list and stat: what is in a directory, and what is known of one file.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "cli/answer.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "json/base64.hpp"
#include "json/text.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPage = 1000;

struct ListCommandOptions {
  FsTarget target;
  std::optional<std::size_t> limit;
  std::optional<std::string> after;
};

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string RightAligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(text.size(), width), ' ') + text + "  ";
}

// The widths are fixed: rows are written before the last one is known.
std::string Row(const std::string& kind, const std::string& size, const std::string& changed, const std::string& name) {
  constexpr std::size_t kKindWidth = 11;
  constexpr std::size_t kSizeWidth = 12;
  constexpr std::size_t kChangedWidth = 22;
  return Padded(kind, kKindWidth) + RightAligned(size, kSizeWidth) + Padded(changed, kChangedWidth) + name + "\n";
}

// The last part of the entry's path.
std::string NameOf(const Json& entry) {
  const std::string path = BytesIn(entry, "path");
  return path.substr(path.rfind('/') + 1);
}

std::string SizeOf(const Json& entry) {
  return entry.contains("size") && entry["size"].is_number() ? json::Text(entry["size"]) : "-";
}

std::string ChangedAt(const Json& entry) {
  const auto time = TimeIn(entry, "changed_at");
  return time ? Moment(*time) : "-";
}

std::string RowOf(const Json& entry) {
  const std::string kind = TextIn(entry, "kind");
  std::string name = base::Printable(NameOf(entry));
  if (kind == "directory") name += "/";
  if (kind == "link") name += " -> " + base::Printable(BytesIn(entry, "target"));
  return Row(kind, SizeOf(entry), ChangedAt(entry), name);
}

// Page by page, so that memory does not grow with the directory. Calls `take` for each page. Gives the last name when
// more follow it.
template <class Take>
base::Result<std::string> ForEachPage(DaemonClient& daemon, const ListCommandOptions& options, const Take& take) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files"));
  std::size_t left = options.limit.value_or(SIZE_MAX);
  std::optional<std::string> cursor;
  std::string last;
  do {
    const std::string limit = std::to_string(options.after ? kPage : std::min(left, kPage));
    SKERRY_ASSIGN_OR_RETURN(
        Json page,
        daemon.Ask("GET", WithQuery(target, {{"path", options.target.path}, {"limit", limit}, {"cursor", cursor}})));
    // The daemon continues by its own cursors, and has none for --after.
    Json wanted = Json::array();
    for (Json& entry : page["items"]) {
      if (options.after && NameOf(entry) <= *options.after) continue;
      if (wanted.size() == left) return last;
      last = NameOf(entry);
      wanted.push_back(std::move(entry));
    }
    left -= wanted.size();
    SKERRY_RETURN_IF_ERROR(take(wanted));
    const std::string next = TextIn(page, "next_cursor");
    cursor = next.empty() ? std::nullopt : std::optional(next);
  } while (left > 0 && cursor);
  return cursor ? last : "";
}

base::Status ListAsText(DaemonClient& daemon, const ListCommandOptions& options, archive::ByteSink& sink) {
  std::string text = Row("KIND", "SIZE", "CHANGED", "NAME");
  const auto write = [&](const Json& entries) {
    for (const Json& entry : entries) text += RowOf(entry);
    return sink.Write(std::exchange(text, ""));
  };
  SKERRY_ASSIGN_OR_RETURN(const std::string next, ForEachPage(daemon, options, write));
  if (!next.empty()) Note("there are more; go on with --after " + next);
  return {};
}

base::Status ListAsJson(DaemonClient& daemon, const ListCommandOptions& options, archive::ByteSink& sink) {
  JsonStream stream(sink, "entries");
  const auto write = [&](const Json& entries) -> base::Status {
    for (const Json& entry : entries) SKERRY_RETURN_IF_ERROR(stream.Add(entry));
    return {};
  };
  SKERRY_ASSIGN_OR_RETURN(const std::string next, ForEachPage(daemon, options, write));
  Json rest = {{"next", nullptr}};
  if (!next.empty()) rest["next"] = base::ToValidUtf8(next);
  if (!base::IsValidUtf8(next)) rest["next_base64"] = json::Base64(next);
  return stream.End(rest);
}

base::Result<int> List(const Context& context, const ListCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  StdoutSink sink;
  return sink.ExitCode(options.target.json ? ListAsJson(daemon, options, sink) : ListAsText(daemon, options, sink));
}

base::Result<int> Stat(const Context& context, const ListCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/stat"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json entry, daemon.Ask("GET", WithQuery(target, {{"path", options.target.path}})));
  StdoutSink sink;
  if (options.target.json) return sink.ExitCode(sink.Write(json::Text(entry) + "\n"));
  const std::string kind = TextIn(entry, "kind");
  std::string text = "path     /" + base::Printable(BytesIn(entry, "path")) + "\n" + "kind     " + kind + "\n";
  if (kind == "file") text += "size     " + SizeOf(entry) + "\n";
  text += "mode     " + TextIn(entry, "mode") + "\nchanged  " + ChangedAt(entry) + "\n";
  if (kind == "link") text += "target   " + base::Printable(BytesIn(entry, "target")) + "\n";
  return sink.ExitCode(sink.Write(text));
}

}  // namespace

Command FsListCommand(const Context& context) {
  auto options = std::make_shared<ListCommandOptions>();
  return {.name = "list",
          .description = "List a directory by name",
          .footer =
              "Examples:\n"
              "  skerry fs list analysis\n"
              "  skerry fs list analysis data --limit 100 --json",
          .arguments = {SessionArgument(options->target),
                        PathArgument(options->target, "The directory; the workspace itself when it is missing",
                                     Need::kOptional)},
          .options = {JsonOption(options->target, "As an object"),
                      {.names = "--limit",
                       .value = Value::Text("N"),
                       .description = "At most so many names (all)",
                       .to = &options->limit,
                       .bounds = Positive{}},
                      {.names = "--after",
                       .value = Value::Text("NAME"),
                       .description = "Only names behind this one: the next page",
                       .to = &options->after}},
          .action = [=, &context] { return List(context, *options); },
          .errors_as_json = &options->target.json};
}

Command FsStatCommand(const Context& context) {
  auto options = std::make_shared<ListCommandOptions>();
  return {.name = "stat",
          .description = "Tell what a file, directory or link is",
          .footer = "Example:\n  skerry fs stat analysis data/input.csv --json",
          .arguments = {SessionArgument(options->target),
                        PathArgument(options->target, "The file; a link is not followed")},
          .options = {JsonOption(options->target, "As an object")},
          .action = [=, &context] { return Stat(context, *options); },
          .errors_as_json = &options->target.json};
}

}  // namespace skerry::cli

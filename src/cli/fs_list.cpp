// skerry fs list and stat: what is in a directory, and what is known of one file.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/fs_json.hpp"
#include "cli/sessions_of.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using workspace::Entry;
using workspace::EntryKind;

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

std::string RowOf(const Entry& entry) {
  std::string name = base::Printable(entry.path.substr(entry.path.rfind('/') + 1));
  if (entry.kind == EntryKind::kDirectory) name += "/";
  if (entry.kind == EntryKind::kLink) name += " -> " + base::Printable(entry.target);
  return Row(std::string(workspace::NameOf(entry.kind)),
             entry.kind == EntryKind::kFile ? std::to_string(entry.size) : "-", Moment(entry.changed_at), name);
}

// Page by page, so that memory does not grow with the directory. Each page goes to `take`.
template <class Take>
base::Result<std::string> ForEachPage(const workspace::AgentWorkspace& files, const ListCommandOptions& options,
                                      const Take& take) {
  std::size_t left = options.limit.value_or(SIZE_MAX);
  std::string after = options.after.value_or("");
  do {
    SKERRY_ASSIGN_OR_RETURN(const workspace::Listing listing,
                            files.List(options.target.path, {.after = after, .limit = std::min(left, kPage)}));
    SKERRY_RETURN_IF_ERROR(take(listing));
    left -= std::min(left, kPage);
    after = listing.next;
  } while (left > 0 && !after.empty());
  return after;
}

base::Status ListAsText(const workspace::AgentWorkspace& files, const ListCommandOptions& options,
                        archive::ByteSink& sink) {
  std::string text = Row("KIND", "SIZE", "CHANGED", "NAME");
  const auto write = [&](const workspace::Listing& listing) {
    for (const Entry& entry : listing.entries) text += RowOf(entry);
    return sink.Write(std::exchange(text, ""));
  };
  SKERRY_ASSIGN_OR_RETURN(const std::string next, ForEachPage(files, options, write));
  if (!next.empty()) Note("there are more; go on with --after " + next);
  return {};
}

base::Status ListAsJson(const workspace::AgentWorkspace& files, const ListCommandOptions& options,
                        archive::ByteSink& sink) {
  JsonStream stream(sink, "entries");
  const auto write = [&](const workspace::Listing& listing) -> base::Status {
    for (const Entry& entry : listing.entries) SKERRY_RETURN_IF_ERROR(stream.Add(EntryToJson(entry)));
    return {};
  };
  SKERRY_ASSIGN_OR_RETURN(const std::string next, ForEachPage(files, options, write));
  Json rest = {{"next", nullptr}};
  if (!next.empty()) AddBytes(rest, "next", next);
  return stream.End(rest);
}

base::Result<int> List(const Context& context, const ListCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const auto files, FilesOf(context, options.target.session));
  StdoutSink sink;
  return sink.ExitCode(options.target.json ? ListAsJson(*files, options, sink) : ListAsText(*files, options, sink));
}

base::Result<int> Stat(const Context& context, const ListCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const auto files, FilesOf(context, options.target.session));
  SKERRY_ASSIGN_OR_RETURN(const Entry entry, files->Stat(options.target.path));
  StdoutSink sink;
  if (options.target.json) return sink.ExitCode(sink.Write(EntryToJson(entry).dump() + "\n"));
  std::string text = "path     /" + base::Printable(entry.path) + "\n" + "kind     " +
                     std::string(workspace::NameOf(entry.kind)) + "\n";
  if (entry.kind == EntryKind::kFile) text += "size     " + std::to_string(entry.size) + "\n";
  text += "mode     " + Octal(entry.mode) + "\nchanged  " + Moment(entry.changed_at) + "\n";
  if (entry.kind == EntryKind::kLink) text += "target   " + base::Printable(entry.target) + "\n";
  return sink.ExitCode(sink.Write(text));
}

using Action = base::Result<int> (*)(const Context&, const ListCommandOptions&);

CLI::App* Add(const FsGroup& group, const std::shared_ptr<ListCommandOptions>& options, const std::string& name,
              const std::string& description, Action action) {
  CLI::App* command = group.app.add_subcommand(name, description);
  AddSessionArgument(*command, options->target.session);
  command->add_flag("--json", options->target.json, "As an object");
  command->callback([options, group, action] {
    group.exit_code = Conclude(action(group.context, *options), options->target.json ? Form::kJson : Form::kText);
  });
  return command;
}

}  // namespace

void AddFsList(const FsGroup& group) {
  auto options = std::make_shared<ListCommandOptions>();
  CLI::App* list = Add(group, options, "list", "List a directory by name", List);
  list->add_option("path", options->target.path, "The directory; the workspace itself when it is missing")
      ->option_text("PATH");
  list->add_option("--limit", options->limit, "At most so many names (all)")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  AddText(*list, "--after", options->after, "Only names behind this one: the next page", "NAME");
  list->footer(
      "Examples:\n"
      "  skerry fs list analysis\n"
      "  skerry fs list analysis data --limit 100 --json");
  CLI::App* stat = Add(group, options, "stat", "Tell what a file, directory or link is", Stat);
  AddPathArgument(*stat, options->target.path, "The file; a link is not followed");
  stat->footer("Example:\n  skerry fs stat analysis data/input.csv --json");
}

}  // namespace skerry::cli

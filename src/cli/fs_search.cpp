// skerry fs search: files by name, and text in them, in the form of grep.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/terminal.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPage = 1000;

struct SearchCommandOptions {
  FsTarget target;
  std::optional<std::string> pattern;
  std::string glob;
  bool literal = false;
  bool ignore_case = false;
  std::size_t context = 0;
  std::optional<std::size_t> limit;
};

// The counts of all pages.
struct Total {
  std::uint64_t matches = 0;
  std::uint64_t files_searched = 0;
  std::uint64_t binary_files = 0;
  std::uint64_t large_files = 0;
  std::uint64_t closed = 0;
  bool complete = true;
  std::string end;

  void Add(const Json& page) {
    matches += ListIn(page, "matches").size();
    files_searched += NumberIn(page, "files_searched");
    binary_files += NumberIn(page, "binary_files");
    large_files += NumberIn(page, "large_files");
    closed += NumberIn(page, "closed");
    complete = FlagIn(page, "complete");
    end = TextIn(page, "end");
  }
};

base::Result<Json> BodyOf(const SearchCommandOptions& options) {
  for (const auto& [text, what] : {std::pair(options.pattern.value_or(""), "the pattern"),
                                   std::pair(options.glob, "the glob"), std::pair(options.target.path, "the path")})
    SKERRY_RETURN_IF_ERROR(CheckIsText(text, what));
  Json body = {{"path", options.target.path},
               {"literal", options.literal},
               {"ignore_case", options.ignore_case},
               {"context", options.context}};
  if (options.pattern) body["pattern"] = *options.pattern;
  if (!options.glob.empty()) body["glob"] = options.glob;
  return body;
}

// Page by page, so that memory does not grow with the matches. Calls `take` for each match.
template <class Take>
base::Result<Total> ForEachMatch(DaemonClient& daemon, const SearchCommandOptions& options, const Take& take) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/search"));
  SKERRY_ASSIGN_OR_RETURN(Json body, BodyOf(options));
  Total total;
  for (std::size_t left = options.limit.value_or(SIZE_MAX); left > 0;) {
    body["limit"] = std::min(left, kPage);
    SKERRY_ASSIGN_OR_RETURN(const Json page, daemon.Ask("POST", target, body));
    for (const Json& match : ListIn(page, "matches")) SKERRY_RETURN_IF_ERROR(take(match));
    total.Add(page);
    left -= std::min(left, ListIn(page, "matches").size());
    const std::string next = TextIn(page, "next_cursor");
    if (next.empty()) break;
    body["cursor"] = next;
  }
  return total;
}

std::string LineOf(const Json& match, std::uint64_t line, char mark, const std::string& text) {
  return base::Printable(BytesIn(match, "path")) + mark + std::to_string(line) + mark + PrintableLine(text) + "\n";
}

std::string AsText(const Json& match) {
  const std::uint64_t number = NumberIn(match, "line");
  if (number == 0) return base::Printable(BytesIn(match, "path")) + "\n";
  std::string text;
  std::uint64_t line = number - std::min<std::uint64_t>(number, ListIn(match, "before").size());
  for (const Json& each : ListIn(match, "before")) text += LineOf(match, line++, '-', BytesIn(each, "text"));
  text += LineOf(match, line++, ':', (NumberIn(match, "text_column") > 1 ? "…" : "") + BytesIn(match, "text"));
  for (const Json& each : ListIn(match, "behind")) text += LineOf(match, line++, '-', BytesIn(each, "text"));
  return text;
}

Json ToJson(const Total& total) {
  return {{"files_searched", total.files_searched},
          {"binary_files", total.binary_files},
          {"large_files", total.large_files},
          {"closed", total.closed},
          {"complete", total.complete},
          {"end", total.end}};
}

void NotePassedOver(const Total& total) {
  const auto note = [](std::uint64_t count, const char* what) {
    if (count > 0) Note("passed over: " + std::to_string(count) + " " + what);
  };
  note(total.binary_files, "binary");
  note(total.large_files, "too large to search");
  note(total.closed, "closed to you");
  if (!total.complete) Note(total.end);
}

base::Status SearchAsText(DaemonClient& daemon, const SearchCommandOptions& options, archive::ByteSink& sink,
                          Total& total) {
  bool first = true;
  const auto write = [&](const Json& match) {
    const bool apart = options.context > 0 && !std::exchange(first, false);
    return sink.Write((apart ? "--\n" : "") + AsText(match));
  };
  SKERRY_ASSIGN_OR_RETURN(total, ForEachMatch(daemon, options, write));
  NotePassedOver(total);
  return {};
}

base::Status SearchAsJson(DaemonClient& daemon, const SearchCommandOptions& options, archive::ByteSink& sink,
                          Total& total) {
  JsonStream stream(sink, "matches");
  const auto write = [&](const Json& match) { return stream.Add(match); };
  SKERRY_ASSIGN_OR_RETURN(total, ForEachMatch(daemon, options, write));
  return stream.End(ToJson(total));
}

base::Result<int> Search(const Context& context, const SearchCommandOptions& options) {
  if (!options.pattern && options.glob.empty())
    return base::Err(base::Code::kInvalidArgument, "there is nothing to search for; give PATTERN, --glob, or both");
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  StdoutSink sink;
  Total total;
  SKERRY_ASSIGN_OR_RETURN(const int exit_code,
                          sink.ExitCode(options.target.json ? SearchAsJson(daemon, options, sink, total)
                                                            : SearchAsText(daemon, options, sink, total)));
  return exit_code == 0 && total.matches == 0 ? 1 : exit_code;
}

}  // namespace

Command FsSearchCommand(const Context& context) {
  constexpr unsigned kMaxContext = 20;
  auto options = std::make_shared<SearchCommandOptions>();
  return {
      .name = "search",
      .description = "Find files by name, and text in them",
      .footer =
          "Links are not followed; binary files and those above 16 MB are passed over. Exit code 0 when something was\n"
          "found, 1 when nothing was.\n\n"
          "Examples:\n"
          "  skerry fs search analysis 'TODO|FIXME' --glob '*.py'\n"
          "  skerry fs search analysis --glob '*.csv'",
      .arguments = {SessionArgument(options->target),
                    {.name = "pattern",
                     .value = Value::Text("PATTERN"),
                     .description = "Regular expression (RE2) for lines; without one files are listed",
                     .to = &options->pattern}},
      .options = {{.names = "--glob",
                   .value = Value::Text("GLOB"),
                   .description = "Only files like this: *.py, src/**/*.{c,h}",
                   .to = &options->glob},
                  {.names = "-F,--literal",
                   .description = "PATTERN is a text, not an expression",
                   .to = &options->literal},
                  {.names = "-i,--ignore-case",
                   .description = "Large and small letters are the same",
                   .to = &options->ignore_case},
                  {.names = "--path",
                   .value = Value::Text("PATH"),
                   .description = "Only in this directory or file",
                   .to = &options->target.path},
                  {.names = "-C,--context",
                   .value = Value::Text("N"),
                   .description = "Lines before and behind each match (0)",
                   .to = &options->context,
                   .bounds = Range{.least = 0U, .most = kMaxContext}},
                  {.names = "--limit",
                   .value = Value::Text("N"),
                   .description = "At most so many matches (all)",
                   .to = &options->limit,
                   .bounds = Positive{}},
                  JsonOption(options->target, "As an object")},
      .action = [=, &context] { return Search(context, *options); },
      .errors_as_json = &options->target.json};
}

}  // namespace skerry::cli

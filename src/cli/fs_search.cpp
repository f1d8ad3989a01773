// skerry fs search: files by name, and text in them, as grep tells it.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/fs_json.hpp"
#include "cli/terminal.hpp"
#include "workspace/search.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using workspace::SearchMatch;
using workspace::SearchResult;

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

// What was found and what was passed over, of all pages.
struct Total {
  std::uint64_t matches = 0;
  SearchResult last;  // without its matches

  void Add(const SearchResult& page) {
    matches += page.matches.size();
    last.files_searched += page.files_searched;
    last.binary_files += page.binary_files;
    last.large_files += page.large_files;
    last.closed += page.closed;
    last.end = page.end;
    last.next = page.next;
  }
};

workspace::SearchOptions OptionsOf(const SearchCommandOptions& options) {
  return {.path = options.target.path,
          .glob = options.glob,
          .pattern = options.pattern,
          .kind = options.literal ? workspace::PatternKind::kLiteral : workspace::PatternKind::kRegularExpression,
          .letter_case = options.ignore_case ? workspace::LetterCase::kIgnored : workspace::LetterCase::kDiffers,
          .context = options.context,
          .deadline = base::Deadline::Never()};
}

// Page by page, so that memory does not grow with what is found. Each match goes to `take`.
template <class Take>
base::Result<Total> ForEachMatch(const workspace::AgentWorkspace& files, const SearchCommandOptions& options,
                                 const Take& take) {
  workspace::SearchOptions search = OptionsOf(options);
  Total total;
  for (std::size_t left = options.limit.value_or(SIZE_MAX); left > 0;) {
    search.max_matches = std::min(left, kPage);
    SKERRY_ASSIGN_OR_RETURN(const SearchResult page, workspace::Search(files, search));
    for (const SearchMatch& match : page.matches) SKERRY_RETURN_IF_ERROR(take(match));
    total.Add(page);
    left -= std::min(left, page.matches.size());
    if (page.complete() || !page.next || page.next == search.after) break;
    search.after = page.next;
  }
  return total;
}

std::string LineOf(const SearchMatch& match, std::uint64_t line, char mark, const std::string& text) {
  return base::Printable(match.path) + mark + std::to_string(line) + mark + PrintableLine(text) + "\n";
}

std::string AsText(const SearchMatch& match) {
  if (match.line == 0) return base::Printable(match.path) + "\n";
  std::string text;
  std::uint64_t line = match.line - match.before.size();
  for (const std::string& each : match.before) text += LineOf(match, line++, '-', each);
  text += LineOf(match, line++, ':', (match.text_column > 1 ? "…" : "") + match.text);
  for (const std::string& each : match.behind) text += LineOf(match, line++, '-', each);
  return text;
}

Json LinesToJson(const std::vector<std::string>& lines) {
  Json array = Json::array();
  for (const std::string& line : lines) {
    Json object;
    AddBytes(object, "text", line);
    array.push_back(std::move(object));
  }
  return array;
}

Json ToJson(const SearchMatch& match) {
  Json object;
  AddBytes(object, "path", match.path);
  if (match.line == 0) return object;
  object["line"] = match.line;
  object["column"] = match.column;
  AddBytes(object, "text", match.text);
  object["text_column"] = match.text_column;
  object["before"] = LinesToJson(match.before);
  object["behind"] = LinesToJson(match.behind);
  return object;
}

Json ToJson(const Total& total) {
  return {{"files_searched", total.last.files_searched}, {"binary_files", total.last.binary_files},
          {"large_files", total.last.large_files},       {"closed", total.last.closed},
          {"complete", total.last.complete()},           {"end", workspace::TextOf(total.last.end)}};
}

void NotePassedOver(const Total& total) {
  const auto note = [](std::uint64_t count, const char* what) {
    if (count > 0) Note("passed over: " + std::to_string(count) + " " + what);
  };
  note(total.last.binary_files, "binary");
  note(total.last.large_files, "too large to search");
  note(total.last.closed, "closed to you");
  if (!total.last.complete()) Note(std::string(workspace::TextOf(total.last.end)));
}

base::Status SearchAsText(const workspace::AgentWorkspace& files, const SearchCommandOptions& options,
                          archive::ByteSink& sink, Total& total) {
  bool first = true;
  const auto write = [&](const SearchMatch& match) {
    const bool apart = options.context > 0 && !std::exchange(first, false);
    return sink.Write((apart ? "--\n" : "") + AsText(match));
  };
  SKERRY_ASSIGN_OR_RETURN(total, ForEachMatch(files, options, write));
  NotePassedOver(total);
  return {};
}

base::Status SearchAsJson(const workspace::AgentWorkspace& files, const SearchCommandOptions& options,
                          archive::ByteSink& sink, Total& total) {
  JsonStream stream(sink, "matches");
  const auto write = [&](const SearchMatch& match) { return stream.Add(ToJson(match)); };
  SKERRY_ASSIGN_OR_RETURN(total, ForEachMatch(files, options, write));
  return stream.End(ToJson(total));
}

base::Result<int> Search(const Context& context, const SearchCommandOptions& options) {
  if (!options.pattern && options.glob.empty())
    return base::Err(base::Code::kInvalidArgument, "there is nothing to search for; give PATTERN, --glob, or both");
  SKERRY_ASSIGN_OR_RETURN(const auto files, FilesOf(context, options.target.session));
  StdoutSink sink;
  Total total;
  SKERRY_ASSIGN_OR_RETURN(const int exit_code,
                          sink.ExitCode(options.target.json ? SearchAsJson(*files, options, sink, total)
                                                            : SearchAsText(*files, options, sink, total)));
  return exit_code == 0 && total.matches == 0 ? 1 : exit_code;
}

}  // namespace

void AddFsSearch(const FsGroup& group) {
  constexpr std::size_t kMaxContext = 20;
  auto options = std::make_shared<SearchCommandOptions>();
  CLI::App* search = group.app.add_subcommand("search", "Find files by name, and text in them");
  AddSessionArgument(*search, options->target.session);
  AddText(*search, "pattern", options->pattern, "Regular expression (RE2) for lines; without one files are listed",
          "PATTERN");
  search->add_option("--glob", options->glob, "Only files like this: *.py, src/**/*.{c,h}")->option_text("GLOB");
  search->add_flag("-F,--literal", options->literal, "PATTERN is a text, not an expression");
  search->add_flag("-i,--ignore-case", options->ignore_case, "Large and small letters are the same");
  search->add_option("--path", options->target.path, "Only in this directory or file")->option_text("PATH");
  search->add_option("-C,--context", options->context, "Lines before and behind each match (0)")
      ->check(CLI::Range(std::size_t{0}, kMaxContext))
      ->option_text("N");
  search->add_option("--limit", options->limit, "At most so many matches (all)")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  search->add_flag("--json", options->target.json, "As an object");
  search->footer(
      "Links are not followed; binary files and those above 16 MB are passed over. Exit code 0 when something was\n"
      "found, 1 when nothing was.\n\n"
      "Examples:\n"
      "  skerry fs search analysis 'TODO|FIXME' --glob '*.py'\n"
      "  skerry fs search analysis --glob '*.csv'");
  search->callback([options, group] {
    group.exit_code = Conclude(Search(group.context, *options), options->target.json ? Form::kJson : Form::kText);
  });
}

}  // namespace skerry::cli

// skerry fs edit: changes in a text file, all of them or none.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "cli/fs_command_parts.hpp"
#include "json/text.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxEdits = std::size_t{8} << 20U;  // of JSON in one request

struct EditOptions {
  FsTarget target;
  std::optional<std::string> replace;
  std::optional<std::string> with;
  std::optional<std::size_t> count;
  bool all = false;
  std::optional<std::uint64_t> insert;
  std::optional<std::string> text;
  std::optional<std::string> edits;
  std::optional<std::string> expected;
};

base::Status CheckUsage(const EditOptions& options) {
  const int ways = (options.replace ? 1 : 0) + (options.insert ? 1 : 0) + (options.edits ? 1 : 0);
  const auto problem = [](const char* what) { return base::Err(base::Code::kInvalidArgument, what); };
  if (ways != 1) return problem("give one of --replace OLD --with NEW, --insert LINE --text TEXT, and --edits FILE");
  if (options.replace.has_value() != options.with.has_value()) return problem("--replace needs --with, and no other");
  if (options.insert.has_value() != options.text.has_value()) return problem("--insert needs --text, and no other");
  if (options.count && options.all) return problem("give --count or --all, not both");
  if ((options.count || options.all) && !options.replace) return problem("--count and --all are for --replace");
  if (options.count == 0) return problem("--count takes a number from 1; --all is for any number");
  return {};
}

// The daemon checks each edit.
base::Result<Json> ParseEdits(const std::string& text) {
  Json edits = json::Parse(text);
  if (edits.is_array() && !edits.empty()) return edits;
  return base::Err(base::Code::kInvalidArgument,
                   "edits have to be a JSON array like [{\"replace\": \"old\", \"with\": \"new\"}]");
}

base::Result<Json> EditsOf(const EditOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckUsage(options));
  if (options.edits) {
    SKERRY_ASSIGN_OR_RETURN(const std::string text, *options.edits == "-" ? os::ReadAll(STDIN_FILENO, kMaxEdits)
                                                                          : os::ReadFile(*options.edits, kMaxEdits));
    return ParseEdits(text);
  }
  for (const auto& text : {options.replace, options.with, options.text})
    if (text) SKERRY_RETURN_IF_ERROR(CheckIsText(*text, "the text"));
  if (options.insert) return Json::array({{{"insert", *options.insert}, {"text", *options.text}}});
  const Json count = options.all ? Json("all") : Json(options.count.value_or(1));
  return Json::array({{{"replace", *options.replace}, {"with", *options.with}, {"count", count}}});
}

std::string Counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

base::Result<int> Edit(const Context& context, const EditOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(Json edits, EditsOf(options));
  SKERRY_RETURN_IF_ERROR(CheckExpected(options.expected));
  SKERRY_RETURN_IF_ERROR(CheckIsText(options.target.path, base::Printable(options.target.path)));
  Json body = {{"path", options.target.path}, {"edits", std::move(edits)}};
  if (options.expected) body["expected_sha256"] = *options.expected;
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/edit"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json edited, daemon.Ask("POST", target, body));
  if (options.target.json) {
    SKERRY_RETURN_IF_ERROR(WriteJson(edited));
    return 0;
  }
  const std::string done = ObjectIn(edited, "change").empty() ? "left as it was" : "changed";
  SKERRY_RETURN_IF_ERROR(WriteText(base::Printable(options.target.path) + ": " +
                                   Counted(NumberIn(edited, "replacements"), "replacement") + ", " +
                                   Counted(NumberIn(edited, "insertions"), "insertion") + "; " + done + "\n"));
  return 0;
}

std::vector<Option> OptionsInto(EditOptions& options) {
  return {{.names = "--replace",
           .value = Value::Text("OLD"),
           .description = "The text to replace; it has to be there exactly once",
           .to = &options.replace},
          {.names = "--with", .value = Value::Text("NEW"), .description = "What takes its place", .to = &options.with},
          {.names = "--count",
           .value = Value::Text("N"),
           .description = "How often OLD has to be there; all of them are replaced (1)",
           .to = &options.count},
          {.names = "--all", .description = "Replace OLD however often it is there", .to = &options.all},
          {.names = "--insert",
           .value = Value::Text("LINE"),
           .description = "Insert whole lines in front of this one; one behind the last appends",
           .to = &options.insert},
          {.names = "--text", .value = Value::Text("TEXT"), .description = "The lines to insert", .to = &options.text},
          {.names = "--edits",
           .value = Value::File("FILE|-"),
           .description = "Several edits as JSON, one after the other; - is stdin",
           .to = &options.edits},
          {.names = "--expect",
           .value = Value::Text("SHA256"),
           .description = "Fail unless the file has this digest",
           .to = &options.expected},
          JsonOption(options.target, "Print what was done as an object")};
}

}  // namespace

Command FsEditCommand(const Context& context) {
  auto options = std::make_shared<EditOptions>();
  return {
      .name = "edit",
      .description = "Replace text in a file, or insert lines; all of it or nothing",
      .footer =
          "Line ends and encoding of the file stay as they are.\n\n"
          "Examples:\n"
          "  skerry fs edit analysis main.py --replace 'x = 1' --with 'x = 2'\n"
          "  skerry fs edit analysis main.py --insert 1 --text 'import os'\n"
          "  echo '[{\"replace\": \"a\", \"with\": \"b\", \"count\": \"all\"}, {\"insert\": 3, \"text\": \"c\"}]' |\n"
          "    skerry fs edit analysis main.py --edits -",
      .arguments = {SessionArgument(options->target), PathArgument(options->target, "The file")},
      .options = OptionsInto(*options),
      .action = [=, &context] { return Edit(context, *options); },
      .errors_as_json = &options->target.json};
}

}  // namespace skerry::cli

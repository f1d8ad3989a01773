#include "cli/run_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/terminal.hpp"
#include "cli/terminal_filter.hpp"
#include "json/bytes.hpp"
#include "json/text.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

void NoteLimits(const Json& limits) {
  constexpr std::array<std::string_view, 3> kTold = {"disk", "files", "processes"};
  for (const Json& reached : limits) {
    const std::string name = TextIn(reached, "name");
    const std::string unit = TextIn(reached, "unit");
    if (std::ranges::find(kTold, name) != kTold.end())
      Note("limit reached: " + name + " (" + std::to_string(NumberIn(reached, "limit")) +
           (unit.empty() ? "" : " " + unit) + ")");
  }
}

}  // namespace

void ReportEnd(const Json& result, int write_error) {
  const std::string outcome = TextIn(result, "outcome");
  const bool cancelled = outcome == "cancelled";
  if (FlagIn(result, "output_truncated"))
    Note("output cut: the program wrote " + std::to_string(NumberIn(result, "output_bytes")) +
         " bytes; see --max-output");
  if (cancelled && write_error != 0 && write_error != EPIPE)
    Note("cannot write the output: " + os::ErrnoText(write_error));
  for (const Json& file : ListIn(result, "files_withheld"))
    Note("not carried over: " + TextIn(file, "path") + ": " + TextIn(file, "reason"));
  for (const Json& file : ListIn(result, "files_to_review"))
    Note("look at it before you use it: " + TextIn(file, "path") + ": " + TextIn(file, "reason"));
  NoteLimits(ListIn(result, "limits_reached"));
  const bool by_itself = outcome == "exited" || outcome == "signalled" || cancelled;
  if (!by_itself) Note(TextIn(result, "error"));
}

void ShowChanges(const Json& result) {
  std::size_t count = 0;
  const auto tell = [&](const char* what, const char* name) {
    for (const Json& path : ListIn(result, name)) {
      if (path.is_string()) Note(std::string(what) + path.get<std::string>());
      ++count;
    }
  };
  tell("would create: ", "files_created");
  tell("would change: ", "files_changed");
  tell("would delete: ", "files_deleted");
  if (count == 0) Note("would change nothing");
  (void)os::WriteAll(STDERR_FILENO, ForDescriptor(STDERR_FILENO, TextIn(result, "diff")));
}

std::string ResultWithOutput(const Json& result, const std::string& standard_output,
                             const std::string& standard_error) {
  Json object = {{"success", FlagIn(result, "success")}};
  json::AddBytes(object, "stdout", standard_output);
  json::AddBytes(object, "stderr", standard_error);
  for (const auto& [name, value] : result.items())
    if (!object.contains(name)) object[name] = value;
  return json::Text(object);
}

}  // namespace skerry::cli

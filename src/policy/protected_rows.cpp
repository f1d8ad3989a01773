#include "policy/protected_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/glob.hpp"
#include "policy/folded_name.hpp"

namespace skerry::policy {
namespace {

constexpr std::string_view kAnywhere = "anywhere";

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(Trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

base::Result<PathKind> KindOf(std::string_view word) {
  if (word == "runs") return PathKind::kRuns;
  if (word == "login") return PathKind::kLogin;
  if (word == "instructs") return PathKind::kInstructs;
  return base::Err(base::Code::kInvalidArgument, "the kind is runs, login or instructs");
}

// A malformed pattern matches nothing: its row would have no effect.
base::Status CheckPattern(const std::string& pattern) {
  const std::array patterns = {pattern};
  const auto made = base::PathPatterns::Make(patterns);
  return made ? base::Status{} : std::unexpected(made.error());
}

base::Result<std::string> WhereOf(std::string_view text) {
  if (text == kAnywhere) return "";
  std::string where = "**";
  for (const std::string_view name : Split(text, '/')) {
    const std::string folded = FoldName(name);
    if (folded.empty()) return base::Err(base::Code::kInvalidArgument, "where is \"anywhere\" or a directory");
    where += "/" + folded;
  }
  SKERRY_RETURN_IF_ERROR(CheckPattern(where));
  return where;
}

}  // namespace

base::Result<ProtectedRow> ParseProtectedRow(std::string_view row) {
  const std::vector<std::string_view> parts = Split(row, '|');
  if (parts.size() != 4) return base::Err(base::Code::kInvalidArgument, "a row is \"kind | where | names | reason\"");
  ProtectedRow parsed;
  SKERRY_ASSIGN_OR_RETURN(parsed.kind, KindOf(parts[0]));
  SKERRY_ASSIGN_OR_RETURN(parsed.where, WhereOf(parts[1]));
  for (const std::string_view name : Split(parts[2], ' ')) {
    if (name.empty()) continue;
    std::string folded = FoldName(name);
    if (folded.empty() || folded.contains('/'))
      return base::Err(base::Code::kInvalidArgument, "\"" + std::string(name) + "\" is no name");
    SKERRY_RETURN_IF_ERROR(CheckPattern(folded));
    parsed.names.push_back(std::move(folded));
  }
  const bool everything = parsed.where.empty() && std::ranges::find(parsed.names, "*") != parsed.names.end();
  if (parsed.names.empty() || everything)
    return base::Err(base::Code::kInvalidArgument, "names are those of files or directories");
  if (parts[3].empty()) return base::Err(base::Code::kInvalidArgument, "the reason is missing");
  parsed.reason = parts[3];
  return parsed;
}

base::Result<std::vector<ProtectedRow>> ParseProtectedRows(std::string_view text) {
  std::vector<ProtectedRow> rows;
  std::size_t line = 0;
  for (const std::string_view row : Split(text, '\n')) {
    ++line;
    if (row.empty() || row.starts_with('#')) continue;
    auto parsed = ParseProtectedRow(row);
    if (!parsed) return base::Err(parsed.error().code, "line " + std::to_string(line) + ": " + parsed.error().message);
    rows.push_back(std::move(*parsed));
  }
  return rows;
}

}  // namespace skerry::policy

// The table of names that a person's programs run, follow or log in by. It is src/policy/protected_paths.txt, which
// says how rows are written; a configuration adds rows of the same form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skerry::policy {

enum class PathKind {
  kRuns,       // something on the person's side runs it, or takes orders from it, by itself
  kLogin,      // holds a login or a key
  kInstructs,  // tells agents what to do
};

struct ProtectedRow {
  PathKind kind = PathKind::kRuns;
  std::string where;               // the directory around it, for base::GlobMatch; "" for every one
  std::vector<std::string> names;  // folded (policy/folded_name.hpp), for base::GlobMatch
  std::string reason;
};

// "kind | where | names | reason". kInvalidArgument says what is wrong with it.
base::Result<ProtectedRow> ParseProtectedRow(std::string_view row);

// The rows of a text; lines that are empty or begin with '#' are none. An error names the line.
base::Result<std::vector<ProtectedRow>> ParseProtectedRows(std::string_view text);

// The table that is built in.
std::string_view ProtectedRowsText();

}  // namespace skerry::policy

// The last resort for code that does not parse: its words, held against the table.
#pragma once

#include <cstdint>
#include <string_view>

#include "policy/names.hpp"
#include "policy/report.hpp"

namespace skerry::policy {

struct TokenTable {
  const Names& names;
  std::string_view own;  // the root of the language's own names
};

// Reports the dotted words in `text`, which stands at `begin` of the code, whose mention, import or call is a rule of
// the table. Words in quotes or comments count as well: they cannot be told apart here.
void ReportTokens(std::string_view text, std::uint32_t begin, const TokenTable& table, Report& report);

}  // namespace skerry::policy

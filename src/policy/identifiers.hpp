// Spellings of an identifier that a language reads as the same one.
#pragma once

#include <string>
#include <string_view>

namespace skerry::policy {

bool IsAscii(std::string_view text);

// Letters that Unicode's NFKC makes ASCII letters (full width, mathematical, superscript …), as Python reads them.
std::string FoldLookalikes(std::string_view identifier);

// `\u0065val` and `\u{65}val`, as JavaScript reads them.
std::string UnescapedIdentifier(std::string_view identifier);

}  // namespace skerry::policy

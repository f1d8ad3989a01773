// Foreign text that goes to a terminal or a log: it must not move the cursor, start a line or reverse the reading
// direction.
#pragma once

#include <string>
#include <string_view>

namespace skerry::base {

// Control characters, line separators and direction overrides as `\u001b`; broken UTF-8 as U+FFFD.
std::string Printable(std::string_view text);

// The first 80 bytes, with `…` when there is more. Not yet printable.
std::string Excerpt(std::string_view text);

}  // namespace skerry::base

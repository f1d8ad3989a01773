// File names as the most forgiving file system compares them: without case, without invisible characters, without what
// Windows cuts off.
#pragma once

#include <string>
#include <string_view>

namespace skerry::policy {

// One name, not a path. May be empty: for "..", say.
std::string FoldName(std::string_view name);

// Whether a folded name is NTFS's second name of a long one: six characters, a number, three of the extension.
// ".mcp.json" is "mcp~1.jso".
bool IsShortNameOf(std::string_view shortened, std::string_view name);

}  // namespace skerry::policy

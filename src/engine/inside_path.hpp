// Paths as programs in a sandbox write them, where the workspace is /workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/unique_fd.hpp"
#include "engine/lookup_budget.hpp"

namespace skerry::engine {

// The path from the workspace, without /workspace in front and without dots at the end; absolute paths elsewhere stay.
std::string_view WithoutRoot(std::string_view word);

// Gives in `inside` the path from the workspace; `path` begins in `directory`, or is absolute. "" is the workspace
// itself; false where the path leads elsewhere. Resolves "//", ".", "..", and ways through /proc.
bool TakeInside(std::string_view directory, std::string_view path, std::string& inside);

struct InsideFile {
  base::UniqueFd handle;  // O_PATH
  std::string path;       // from the workspace, with no link in it
};

// Opens a file as a program in the sandbox would, through links that name /workspace. Not valid where there is none,
// where it lies outside of the workspace, or when the budget is spent.
InsideFile OpenInside(int workspace, const std::string& path, LookupBudget& budget);

}  // namespace skerry::engine

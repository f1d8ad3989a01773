// Paths as programs in a sandbox write them, where the workspace is /workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/unique_fd.hpp"
#include "engine/lookup_budget.hpp"

namespace skerry::engine {

// From the workspace, without what stands in front of it and without dots at its end; absolute paths elsewhere stay.
std::string_view WithoutRoot(std::string_view word);

// The path of something below the workspace, from there: `path` begins in `directory`, or is absolute. "" is the
// workspace itself; false where it leads elsewhere. However it is written: "//", ".", "..", and by way of /proc.
bool TakeInside(std::string_view directory, std::string_view path, std::string& inside);

struct InsideFile {
  base::UniqueFd handle;  // O_PATH
  std::string path;       // from the workspace, with no link in it
};

// Opens what is there as a program in the sandbox would, through links that name /workspace. Not valid where there is
// nothing, or it lies elsewhere, or the budget ends.
InsideFile OpenInside(int workspace, const std::string& path, LookupBudget& budget);

}  // namespace skerry::engine

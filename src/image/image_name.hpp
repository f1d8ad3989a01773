// What images may be called, and the file that keeps a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::image {

// [a-z0-9][a-z0-9._:/-]{0,127}, for example `debian:12` or `team/tools:2024-05`.
base::Status CheckImageName(std::string_view name);

// `/` and `:` as %2F and %3A, then `.json`: one file name for each name, and no other directory. `name` is a good one.
std::string FileOfName(std::string_view name);

// The image name that a file of that name keeps; nothing for a file that keeps none.
std::optional<std::string> NameOfFile(std::string_view file);

}  // namespace skerry::image

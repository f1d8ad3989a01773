// Parts of a zip archive that its table of contents and the headers of its entries have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::archive::zip {

std::unexpected<base::Error> Damaged(const std::string& what);

// Exactly `count` bytes at `offset`.
base::Result<std::string> ReadAt(int fd, std::uint64_t offset, std::size_t count);

// The 64-bit numbers in the extra field of the entry `name`, or nothing when the field has none. Refused are a field
// that cannot be taken apart, two sets of numbers, and a second name.
base::Result<std::optional<std::string>> NumbersIn64(std::string_view extra, std::string_view name);

}  // namespace skerry::archive::zip

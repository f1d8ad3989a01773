// The records of a pax extended header: `27 path=a/very/long/name\n`.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::archive {

// The records that the reader uses. The rest (owners, extended attributes, capabilities, comments) is dropped.
struct PaxRecords {
  std::optional<std::string> path;
  std::optional<std::string> link_path;
  std::optional<std::uint64_t> size;
  std::optional<timespec> mtime;
};

// A record that does not end where it says, a name with a NUL, two names for one entry, or a sparse file: refused.
base::Result<PaxRecords> ParsePaxRecords(std::string_view text);

}  // namespace skerry::archive

// The version of a file's schema, and the steps from an older version to the present one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/database.hpp"

namespace skerry::store {

// Step N (from 0) leads from version N to N + 1. Version 0 is an empty file. A step that was released is never changed.
using Migrations = std::span<const std::string_view>;

// By this number a file says that it is a record of Skerry ("SkRy").
inline constexpr std::int64_t kApplicationId = 0x536b5279;

// Brings the file to the last version, each step in a transaction of its own; any number of processes may do so at
// once. A newer file, and one that is no record of Skerry, is refused with kUnavailable and not touched.
base::Status Migrate(Database& database, Migrations migrations);

}  // namespace skerry::store

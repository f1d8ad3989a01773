// The version of a file's schema, and the way from an older one to ours.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/database.hpp"

namespace skerry::store {

// Step N (from 0) leads from version N to N + 1. Version 0 is an empty file. A step that was released is never changed.
using Migrations = std::span<const std::string_view>;

// The file says that it is a record of Skerry ("SkRy").
inline constexpr std::int64_t kApplicationId = 0x536b5279;

// Brings the file to the last version, each step in a transaction of its own; any number of processes may do so at
// once. Refuses with kUnavailable, and does not touch, a newer file and one that is not ours.
base::Status Migrate(Database& database, Migrations migrations);

}  // namespace skerry::store

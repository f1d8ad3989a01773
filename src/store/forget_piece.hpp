// What is recorded of a session goes in pieces: a large history takes long, and others write in between.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "store/database.hpp"

namespace skerry::store {

inline constexpr std::int64_t kForgottenAtOnce = 2000;  // rows

// Removes so many rows at most of what belongs to the session with the key. False: nothing is left but the session.
base::Result<bool> ForgetPiece(Database& database, std::int64_t session);

}  // namespace skerry::store

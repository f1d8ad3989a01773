// The record of a session is removed in pieces: a large history takes long, and other connections write in between.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "store/database.hpp"

namespace skerry::store {

inline constexpr std::int64_t kForgottenAtOnce = 2000;  // rows

// Removes at most kForgottenAtOnce rows of the record of the session with the key `session`. False: nothing is left but
// the row of the session itself.
base::Result<bool> ForgetPiece(Database& database, std::int64_t session);

}  // namespace skerry::store

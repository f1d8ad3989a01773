// Giving room that a file does not use any more back to the disk.
#pragma once

#include "base/result.hpp"
#include "store/database.hpp"

namespace skerry::store {

// From now on the file can be made shorter a piece at a time. One that was made without that is written anew, once,
// which takes as much room again for a moment; where that cannot be done now the next one who opens it tries again.
void UseIncrementalVacuum(Database& database);

// One piece of what is not used. True: there is more of it.
base::Result<bool> GiveBackPages(Database& database);

}  // namespace skerry::store

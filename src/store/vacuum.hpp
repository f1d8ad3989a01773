// Giving the room that a file no longer uses back to the disk.
#pragma once

#include "base/result.hpp"
#include "store/database.hpp"

namespace skerry::store {

// Lets the file be made shorter piece by piece. A file that was made without that ability is written anew, once, which
// takes as much room again for a moment; where that cannot be done now, the next process that opens the file tries
// again.
void UseIncrementalVacuum(Database& database);

// Gives one piece of unused room back. True: there is more.
base::Result<bool> GiveBackPages(Database& database);

}  // namespace skerry::store

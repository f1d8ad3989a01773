// Names that tell which process made a thing, so that what a killed process left can be found and nothing else is
// touched.
#pragma once

#include <string>
#include <string_view>

namespace skerry::os {

// "<prefix><pid namespace>-<pid>-<start time>-<random>" of this process: letters, digits and '-'.
std::string OwnedName(std::string_view prefix);

enum class OwnerState {
  kUnknown,  // not such a name, or made in another pid namespace, whose processes cannot be seen: leave it alone
  kAlive,
  kDead,  // the process that made it has ended; no later process is taken for it: the start time is part of the name
};
OwnerState StateOfOwner(std::string_view name, std::string_view prefix);

// Removes the directories of such a name in `base` that belong to us and whose maker is dead; as root also those of
// others.
void SweepOwned(const std::string& base, std::string_view prefix);

}  // namespace skerry::os

// Paths below a directory that untrusted programs fill: no link is followed, no mount is crossed, nothing outside is
// reached.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::workspace {

// Opens `path` below `root` (borrowed; "" is the root itself), close-on-exec. A link and a mount point in the path are
// errors, a link at its end too, except with O_PATH, which opens the link itself. `flags` as for open(2), without
// creation.
base::Result<base::UniqueFd> OpenBeneath(int root, const std::string& path, int flags);

// Resolves `path` with its links as O_PATH, but never out of `root`. Not valid: errno says why, EXDEV for leading out.
base::UniqueFd FollowBeneath(int root, const std::string& path);

// Opens `path` below `root` ("" is the root itself) as O_PATH, through mounts but no link; a link at its end is opened
// itself. Not valid: errno says why, ELOOP for a link on the way.
base::UniqueFd WalkBeneath(int root, const std::string& path);

// Opens exactly the file or directory that `fd` holds, as O_PATH most often, whatever its path has become. Not valid:
// errno says why.
base::UniqueFd OpenAgain(int fd, int flags);

// What to do when the mode of a file or directory keeps its owner out.
enum class Locked {
  kLeave,   // an error
  kUnlock,  // give its owner the right; only for directories that Skerry will remove
};

// Opens a regular file for reading; anything else is kNotFound, and is not opened. A file that was unlocked has its
// mode back afterwards.
base::Result<base::UniqueFd> OpenFileBeneath(int root, const std::string& path, Locked locked);

// Opens a directory for listing. One that was unlocked stays so: what is in it is opened through it.
base::Result<base::UniqueFd> OpenDirectoryBeneath(int root, const std::string& path, Locked locked);

// Where a file, directory or link lies or will lie: its directory held open (O_PATH), its name there, and what is there
// now.
struct Place {
  base::UniqueFd parent;
  std::string name;
  std::optional<struct stat> entry;

  [[nodiscard]] bool HoldsDirectory() const { return entry.has_value() && S_ISDIR(entry->st_mode); }
  [[nodiscard]] bool HoldsFile() const { return entry.has_value() && S_ISREG(entry->st_mode); }
  [[nodiscard]] bool HoldsLink() const { return entry.has_value() && S_ISLNK(entry->st_mode); }
};
base::Result<Place> FindPlace(int root, const std::string& path);

// The names in a directory, without the dots, in no order. Takes the descriptor. More than `limit` are kTooLarge.
base::Result<std::vector<std::string>> NamesIn(base::UniqueFd directory, std::size_t limit);

// "a/b" and "c" make "a/b/c"; "" and "c" make "c".
std::string JoinPath(std::string_view directory, std::string_view name);
std::string_view ParentOf(std::string_view path);
std::string_view NameOf(std::string_view path);
std::size_t DepthOf(std::string_view path);  // 1 for what lies in the root

bool IsBelow(std::string_view path, std::string_view directory);

// Orders paths so that a directory comes right before all that is below it.
bool PathBefore(std::string_view left, std::string_view right);

}  // namespace skerry::workspace

#include "core/sandbox_files.hpp"

#include <utility>

namespace skerry::core {

FilesChanged Compare(const FileMark& before, FileMark now) {
  FilesChanged found;
  for (const auto& [path, state] : now) {
    const auto known = before.find(path);
    if (known == before.end() || known->second != state) found.changed.push_back(path);
  }
  for (const auto& [path, state] : before)
    if (!now.contains(path)) found.removed.push_back(path);
  found.now = std::move(now);
  return found;
}

base::Result<FilesChanged> SandboxFiles::ChangesSince(const FileMark& mark, base::Deadline deadline,
                                                      const std::stop_token& stop) {
  SKERRY_ASSIGN_OR_RETURN(FileMark now, Mark(deadline, stop));
  return Compare(mark, std::move(now));
}

}  // namespace skerry::core

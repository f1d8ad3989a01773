#include "workspace/commit_journal.hpp"

#include <unistd.h>

#include "os/errno_error.hpp"

namespace skerry::workspace {

base::Status CommitJournal::BeforePreparing(const std::string& /*path*/) {
  return {};
}

base::Status CommitJournal::BeforeMove(const std::string& /*path*/, const Place& /*place*/, const struct stat& /*made*/,
                                       const std::string& /*sha256*/) {
  return {};
}

base::Status CommitJournal::Remove(const std::string& /*path*/, const Place& place) {
  if (::unlinkat(place.parent.get(), place.name.c_str(), 0) < 0) return os::ErrnoErr("cannot be deleted");
  return {};
}

base::Status CommitJournal::BeforeDirectory(const std::string& /*path*/) {
  return {};
}

base::Status CommitJournal::BeforeRemoval(const std::string& /*path*/, const struct stat& /*directory*/) {
  return {};
}

base::Status CommitJournal::BeforeMode(const std::string& /*path*/, const struct stat& /*directory*/) {
  return {};
}

base::Status CommitJournal::BeforeTime(const std::string& /*path*/, const struct stat& /*file*/) {
  return {};
}

base::Status CommitJournal::Complete() {
  return {};
}

}  // namespace skerry::workspace

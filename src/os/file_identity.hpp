// Working on files as another user, for one thread and for a while.
#pragma once

#include <sys/types.h>

#include "base/result.hpp"

namespace skerry::os {

struct FileIdentity {
  uid_t user = static_cast<uid_t>(-1);  // nobody else
  gid_t group = static_cast<gid_t>(-1);
};

// The owner of an open file.
base::Result<FileIdentity> IdentityOf(int fd);

// As long as it lives, files are made and judged by that user's rights (setfsuid). Only root becomes somebody else; for
// others, and for the default identity, it does nothing. To be destroyed by the thread that made it.
class AsFileIdentity {
 public:
  explicit AsFileIdentity(const FileIdentity& identity);
  AsFileIdentity(const AsFileIdentity&) = delete;
  AsFileIdentity& operator=(const AsFileIdentity&) = delete;
  ~AsFileIdentity();

 private:
  bool active_;
};

}  // namespace skerry::os

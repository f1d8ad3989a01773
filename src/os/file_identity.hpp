// Working on files as another user, for one thread and for a while.
#pragma once

#include <sys/types.h>

#include "base/result.hpp"

namespace skerry::os {

struct FileIdentity {
  uid_t user = static_cast<uid_t>(-1);  // the default: this process's own
  gid_t group = static_cast<gid_t>(-1);
};

// The owner of an open file.
base::Result<FileIdentity> IdentityOf(int fd);

// While this object lives, its thread makes and opens files with that user's rights (setfsuid). Only root can do so;
// for other users, and with the default identity, it does nothing. Destroyed by the thread that made it.
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

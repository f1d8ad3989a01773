#include "os/file_identity.hpp"

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/errno_error.hpp"

namespace skerry::os {

base::Result<FileIdentity> IdentityOf(int fd) {
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return ErrnoErr("whose file it is");
  return FileIdentity{facts.st_uid, facts.st_gid};
}

AsFileIdentity::AsFileIdentity(const FileIdentity& identity)
    : active_(::geteuid() == 0 && identity.user != FileIdentity{}.user) {
  if (!active_) return;
  (void)::setfsgid(identity.group);
  (void)::setfsuid(identity.user);
}

AsFileIdentity::~AsFileIdentity() {
  if (!active_) return;
  (void)::setfsuid(::geteuid());
  (void)::setfsgid(::getegid());
}

}  // namespace skerry::os

#include "os/errno_error.hpp"

#include <system_error>

namespace skerry::os {
namespace {

base::Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return base::Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return base::Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return base::Code::kTooLarge;
    case ETIMEDOUT:
      return base::Code::kTimeout;
    default:
      return base::Code::kInternal;
  }
}

}  // namespace

std::string ErrnoText(int error_number) {
  return std::generic_category().message(error_number);
}

base::Error ErrnoError(const std::string& what, int error_number) {
  return {CodeOf(error_number), what + ": " + ErrnoText(error_number)};
}

}  // namespace skerry::os

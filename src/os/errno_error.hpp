// An Error from errno: `what: No such file or directory`.
#pragma once

#include <cerrno>
#include <string>

#include "base/result.hpp"

namespace skerry::os {

base::Error ErrnoError(const std::string& what, int error_number = errno);

inline std::unexpected<base::Error> ErrnoErr(const std::string& what, int error_number = errno) {
  return std::unexpected(ErrnoError(what, error_number));
}

// "No such file or directory"; thread-safe.
std::string ErrnoText(int error_number);

}  // namespace skerry::os

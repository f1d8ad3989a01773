// SQLite's result codes as errors for people: one line that says what is wrong with which file and what to do.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace skerry::store {

struct Failure {
  int code = 0;             // SQLite's, extended or not
  int system_errno = 0;     // of the call that failed, or 0
  std::string_view detail;  // SQLite's own words
};

// `path` is empty where the error must not name the file. kUnavailable for what is wrong with the file, its place or
// another process; kTooLarge for a value; kInternal for what only a mistake in Skerry can cause.
base::Error ErrorOf(const Failure& failure, const std::string& path, std::chrono::milliseconds busy_timeout);

// The error for a file whose content Skerry cannot have written.
base::Error DamagedError(const std::string& path, std::string_view detail);

}  // namespace skerry::store

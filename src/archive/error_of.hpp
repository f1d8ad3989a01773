// For tests: the message of an error, or that there is none; error() of a success would be undefined.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace skerry::archive {

template <class T>
std::optional<base::Code> CodeOf(const base::Result<T>& result) {
  if (result) return std::nullopt;
  return result.error().code;
}

template <class T>
std::string MessageOf(const base::Result<T>& result) {
  return result ? "" : result.error().message;
}

}  // namespace skerry::archive

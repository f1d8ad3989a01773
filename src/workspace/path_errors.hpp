// Errors about paths of a workspace: one line that a person or an agent can act on, and never a path of the host.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace skerry::workspace {

// What an error number says about a path: "is not there". EXDEV is a mount in its way.
base::Error PathError(int error_number);

inline std::unexpected<base::Error> PathErr(int error_number = errno) {
  return std::unexpected(PathError(error_number));
}

inline std::unexpected<base::Error> LeadsOut() {
  return base::Err(base::Code::kPathTraversal, "leads out of the workspace");
}

// "a/b: is not there", with the path as the caller was given it.
base::Error Named(std::string_view path, base::Error error);

template <class T>
base::Result<T> Named(std::string_view path, base::Result<T> result) {
  if (!result) return std::unexpected(Named(path, std::move(result).error()));
  return result;
}

inline std::unexpected<base::Error> NamedErr(std::string_view path, base::Code code, std::string_view what) {
  return std::unexpected(Named(path, base::Error{code, std::string(what)}));
}

}  // namespace skerry::workspace

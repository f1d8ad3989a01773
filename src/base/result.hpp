// Result: a value or an Error. We throw nothing; a library's exception is caught where the library is wrapped.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace skerry::base {

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> Err(Code code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace skerry::base

#define SKERRY_CONCAT_INNER(a, b) a##b
#define SKERRY_CONCAT(a, b) SKERRY_CONCAT_INNER(a, b)

// Leaves the function with the error of `expression`, or goes on.
#define SKERRY_RETURN_IF_ERROR(expression)                                                                           \
  do {                                                                                                               \
    if (auto skerry_status = (expression); !skerry_status) return std::unexpected(std::move(skerry_status).error()); \
  } while (false)

// SKERRY_ASSIGN_OR_RETURN(auto value, Compute()): the value, or leaves with the error.
#define SKERRY_ASSIGN_OR_RETURN(declaration, expression) \
  SKERRY_ASSIGN_OR_RETURN_IMPL(SKERRY_CONCAT(skerry_result_, __LINE__), declaration, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are a name and a declaration
#define SKERRY_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                         \
  if (!result) return std::unexpected(std::move(result).error());     \
  declaration = std::move(*result)
// NOLINTEND(bugprone-macro-parentheses)

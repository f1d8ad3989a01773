// What can go wrong, and the one table that says how each kind of failure looks to HTTP, JSON-RPC and the shell.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace skerry::base {

// The kinds of S11.3 (not started, disabled, execution failed, unsupported backend, path traversal, timeout) and the
// few that every service needs. How a program inside ended is not an error: that is core::Outcome.
enum class Code {
  kInvalidArgument,
  kUnauthenticated,
  kPermissionDenied,
  kRejected,
  kNotFound,
  kConflict,
  kTooLarge,
  kRateLimited,
  kTimeout,
  kPathTraversal,
  kUnsupportedBackend,
  kNotStarted,
  kDisabled,
  kExecutionFailed,
  kUnavailable,
  kInternal,
};

struct CodeRow {
  Code code;
  std::string_view name;  // the `code` of an error in JSON
  int http_status;
  int json_rpc_code;
  int exit_code;
};

// Every code once, in the order of the enumeration.
std::span<const CodeRow> CodeTable();
const CodeRow& RowOf(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message;  // one line; says what to do next where there is something to do

  bool operator==(const Error&) const = default;
};

}  // namespace skerry::base

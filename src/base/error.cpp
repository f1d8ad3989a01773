#include "base/error.hpp"

#include <array>
#include <cstddef>

namespace skerry::base {
namespace {

constexpr int kExitTimeout = 124;
constexpr int kExitFailed = 125;
constexpr int kExitRefused = 126;

// JSON-RPC reserves -32768..-32000; -32602 is its own "invalid params", -32603 "internal error".
constexpr std::array kRows = {
    CodeRow{Code::kInvalidArgument, "invalid_argument", 400, -32602, kExitFailed},
    CodeRow{Code::kUnauthenticated, "unauthenticated", 401, -32001, kExitFailed},
    CodeRow{Code::kPermissionDenied, "permission_denied", 403, -32002, kExitRefused},
    CodeRow{Code::kRejected, "rejected", 403, -32003, kExitRefused},
    CodeRow{Code::kNotFound, "not_found", 404, -32004, kExitFailed},
    CodeRow{Code::kConflict, "conflict", 409, -32005, kExitFailed},
    CodeRow{Code::kTooLarge, "too_large", 413, -32006, kExitFailed},
    CodeRow{Code::kRateLimited, "rate_limited", 429, -32014, kExitFailed},
    CodeRow{Code::kTimeout, "timeout", 504, -32007, kExitTimeout},
    CodeRow{Code::kPathTraversal, "path_escapes_workspace", 400, -32008, kExitRefused},
    CodeRow{Code::kUnsupportedBackend, "unsupported_backend", 400, -32009, kExitFailed},
    CodeRow{Code::kNotStarted, "not_started", 409, -32010, kExitFailed},
    CodeRow{Code::kDisabled, "disabled", 409, -32011, kExitFailed},
    CodeRow{Code::kExecutionFailed, "execution_failed", 500, -32012, kExitFailed},
    CodeRow{Code::kUnavailable, "unavailable", 503, -32013, kExitFailed},
    CodeRow{Code::kInternal, "internal", 500, -32603, kExitFailed},
};

}  // namespace

std::span<const CodeRow> CodeTable() {
  return kRows;
}

const CodeRow& RowOf(Code code) {
  return kRows[static_cast<std::size_t>(code)];
}

}  // namespace skerry::base

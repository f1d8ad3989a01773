// The JSON form of a result, with the names of SPEC S1.2. One form for the command line and for every protocol.
#pragma once

#include <string>

#include "base/error.hpp"
#include "core/execution.hpp"

namespace skerry::json {

// One line, valid JSON whatever the program wrote: bytes that are no UTF-8 become U+FFFD, and then the exact bytes are
// in `stdout_base64` or `stderr_base64`.
std::string ToJson(const core::ExecutionResult& result);

// The same shape for a run that never was: success false, the error's message and exit code.
std::string ToJson(const base::Error& error);

std::string Base64(std::string_view bytes);

}  // namespace skerry::json

// The JSON form of a result, with the names of SPEC S1.2. One form for the command line and for every protocol; the
// daemon never reads it back.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "core/execution.hpp"
#include "core/run_end.hpp"

namespace skerry::json {

// Whether the form has the program's output, or the client gets that elsewhere.
enum class Streams { kIncluded, kLeftOut };

// Valid JSON whatever the program wrote: bytes that are no UTF-8 become U+FFFD, and then the exact bytes are in
// `stdout_base64` or `stderr_base64`. Where a list of files does not have all of them, `files_total` says how many
// there are.
nlohmann::ordered_json ResultToJson(const core::ExecutionResult& result, Streams streams = Streams::kIncluded);
// The same as one line.
std::string ToJson(const core::ExecutionResult& result);

// The same shape for a run that could not begin: success false, the error's message and exit code.
std::string ToJson(const base::Error& error);

// The end of a daemon's run: its result or its error.
nlohmann::ordered_json EndToJson(const core::RunEnd& end, const std::string& execution,
                                 Streams streams = Streams::kIncluded);

}  // namespace skerry::json

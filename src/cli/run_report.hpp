// What a person reads on stderr when a run has ended. Stdout is the program's.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace skerry::cli {

// `result` is an ExecutionResult of the contract; `write_error` the errno of this process's stdout, or 0.
void ReportEnd(const nlohmann::ordered_json& result, int write_error);

// What a dry run would have changed.
void ShowChanges(const nlohmann::ordered_json& result);

// The result with these streams in it, as one line: bytes that are no UTF-8 are in `stdout_base64` too.
std::string ResultWithOutput(const nlohmann::ordered_json& result, const std::string& standard_output,
                             const std::string& standard_error);

}  // namespace skerry::cli

// The JSON forms of runs.
#pragma once

#include <string>

#include "engine/run.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// Without what was written, for lists.
Json ExecutionToJson(const engine::Access& access, const engine::Run& run);
// With it, when it is over, as one text.
base::Result<std::string> WholeExecution(const engine::Access& access, const engine::Run& run);
// The result as one text, with what was written. An error when nothing is to be had of the run.
base::Result<std::string> WholeResult(const engine::Run& run);
// How it ended, in a few words: the last event of a stream.
Json ExitToJson(const engine::RunEnd& end);

Json PieceToJson(const engine::OutputPiece& piece);

// What waits for a person on behalf of a run.
std::optional<Json> WaitingFor(const engine::Access& access, const engine::Run& run);

// Until nobody needs to answer it any more.
std::int64_t RemainingSeconds(core::TimePoint expires);

}  // namespace skerry::transport::v1

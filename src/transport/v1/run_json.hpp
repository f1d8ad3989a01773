// The JSON forms of runs.
#pragma once

#include <string>

#include "engine/run.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// The run without its output, for lists.
Json ExecutionToJson(const engine::Access& access, const engine::Run& run);
// The run, with its output when it is over, as one text.
base::Result<std::string> WholeExecution(const engine::Access& access, const engine::Run& run);
// The result as one text, with the output. An error when the run has no result.
base::Result<std::string> WholeResult(const engine::Run& run);
// How the run ended, in a few words: the last event of a stream.
Json ExitToJson(const engine::RunEnd& end);

Json PieceToJson(const engine::OutputPiece& piece);

// The approval that the run waits for.
std::optional<Json> WaitingFor(const engine::Access& access, const engine::Run& run);

// How long the approval can still be answered.
std::int64_t RemainingSeconds(core::TimePoint expires);

}  // namespace skerry::transport::v1

// A new run from the fields of a request; and the answer.
#pragma once

#include "engine/views/new_run.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// The fields of a piece of code.
void ReadCode(json::Fields& fields, engine::NewRun& run);
// The fields that code and commands have in common.
void ReadSurroundings(json::Fields& fields, engine::NewRun& run);
void ReadMaxOutput(json::Fields& fields, engine::NewRun& run);
// `approve`: the engine refuses it to callers that may not approve.
void ReadConsent(json::Fields& fields, engine::NewRun& run);
void ReadOnDisconnect(json::Fields& fields, engine::NewRun& run);

// Runs it and answers when the run is over, or with its events from the beginning.
base::Result<http::Response> Answer(Api& api, const engine::Access& access, const http::Request& request,
                                    engine::NewRun run);

// All that is known of a run, with its output.
base::Result<http::Response> WholeAnswer(const Api& api, const engine::Access& access, const http::Request& request,
                                         const engine::Run& run);

}  // namespace skerry::transport::v1

// The output of a run, piece by piece; and pages of runs.
#pragma once

#include "engine/run.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// `offset` of the query, or the header Last-Event-ID of a client that reconnects.
base::Result<std::uint64_t> OffsetOf(const http::Request& request);

// The pieces as JSON, or the bytes of both streams in order if the client accepts those.
base::Result<http::Response> OutputAnswer(const Api& api, const http::Request& request, const engine::Run& run);

// The newest first.
base::Result<http::Response> PageOfRuns(const engine::Access& access, const http::Request& request,
                                        core::RunFilter filter);

}  // namespace skerry::transport::v1

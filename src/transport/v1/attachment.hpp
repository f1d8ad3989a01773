// A WebSocket at a running command: its output, its input, its window.
#pragma once

#include <memory>

#include "engine/run.hpp"
#include "transport/http/message.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/run_stream.hpp"

namespace skerry::transport::v1 {

// Messages as api/openapi.yaml says. From an offset of the output on. With kCancel the command ends when nobody is
// attached any more. `api` is borrowed.
base::Result<http::Response> Attach(Api& api, const http::Request& request, std::shared_ptr<engine::Run> run,
                                    std::uint64_t offset, OnDisconnect on_disconnect);

}  // namespace skerry::transport::v1

// A run as server-sent events: what it writes, as it comes, and how it ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "engine/run.hpp"
#include "transport/http/message.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// What becomes of a run whose reader goes away.
enum class OnDisconnect { kContinue, kCancel };

// From an offset of its output on. `api` is borrowed.
base::Result<http::Response> EventsOf(Api& api, const http::Request& request, std::shared_ptr<engine::Run> run,
                                      std::uint64_t offset, OnDisconnect on_disconnect = OnDisconnect::kContinue);

}  // namespace skerry::transport::v1

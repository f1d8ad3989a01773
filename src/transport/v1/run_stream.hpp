// A run as server-sent events: its output as it comes, and how it ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "engine/run.hpp"
#include "transport/http/message.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// From an offset of the run's output on. The stream keeps the leash. `api` is borrowed.
base::Result<http::Response> EventsOf(Api& api, const http::Request& request, std::shared_ptr<const engine::Run> run,
                                      std::uint64_t offset, std::shared_ptr<void> leash = nullptr);

}  // namespace skerry::transport::v1

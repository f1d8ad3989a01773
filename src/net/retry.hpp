// PauseBeforeRetry: whether a request is sent again, and after which pause.
#pragma once

#include <chrono>
#include <optional>

#include "base/result.hpp"
#include "net/incoming.hpp"
#include "net/request.hpp"

namespace skerry::net {

// How far a request came that failed.
enum class Reach { kNotSent, kMaybeReceived };

// After the attempt of this number (the first is 1) came to `answer`: none when that is the last word.
std::optional<std::chrono::milliseconds> PauseBeforeRetry(const OutgoingRequest& request, int attempt, Reach reach,
                                                          const base::Result<Incoming>& answer);

}  // namespace skerry::net

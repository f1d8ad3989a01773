// Recorded: a handler whose requests are in the audit before it does anything.
#pragma once

#include "transport/v1/api.hpp"
#include "transport/v1/audited.hpp"

namespace skerry::transport::v1 {

// A handler that gives the answers of `act`. What is not the caller's leaves no record; what `act` refuses leaves a
// second one that says so.
ApiHandler Recorded(const Audited& audited, http::Handler act);

}  // namespace skerry::transport::v1

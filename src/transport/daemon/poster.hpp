// MakePoster: sends webhooks and spans to the servers that the configuration names.
#pragma once

#include <string>

#include "watch/post.hpp"

namespace skerry::transport::daemon {

// To http:// and https://, over a connection of its own each time. No redirects, and the answer's body is of no
// interest. `certificates` is a PEM file of whom to trust besides the system; "" for the system's.
watch::Post MakePoster(std::string certificates = "");

}  // namespace skerry::transport::daemon

// Something that is sent to another server; who sends it is somebody else's business.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace skerry::watch {

struct Posting {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{10'000};
};

// The status of the answer. An error when there was none. Blocks. Thread-safe.
using Post = std::function<base::Result<int>(const Posting&)>;

}  // namespace skerry::watch

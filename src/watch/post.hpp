// A message for another server. The program that wires the parts together says how it is sent.
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

// Sends a message and gives the status of the answer; an error when there was no answer. Blocks. Thread-safe.
using Post = std::function<base::Result<int>(const Posting&)>;

}  // namespace skerry::watch

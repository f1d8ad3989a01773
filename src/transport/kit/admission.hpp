// Admission: whether a client with an open stream may go on listening.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "engine/tokens.hpp"

namespace skerry::transport::kit {

// A token that is revoked or has expired ends the streams that were opened with it. Checked once a second at most.
class Admission {
 public:
  // `tokens` is borrowed; `caller` is http::Caller::id.
  Admission(const engine::Tokens& tokens, std::string caller) : tokens_(tokens), caller_(std::move(caller)) {}

  [[nodiscard]] bool Holds() {
    constexpr std::chrono::seconds kEvery{1};
    const auto now = std::chrono::steady_clock::now();
    if (caller_ == "local" || now - looked_ < kEvery) return true;
    looked_ = now;
    return tokens_.Holds(caller_);
  }

 private:
  const engine::Tokens& tokens_;
  std::string caller_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::transport::kit

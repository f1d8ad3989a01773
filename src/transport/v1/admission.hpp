// Whether whoever listens may go on listening.
#pragma once

#include <chrono>
#include <string>

#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// A token that is revoked, or has expired, ends the streams that were opened with it. Looked at now and then.
class Admission {
 public:
  Admission(const Api& api, const http::Request& request) : api_(api), caller_(request.caller.id) {}

  [[nodiscard]] bool Holds() {
    constexpr std::chrono::seconds kEvery{1};
    const auto now = std::chrono::steady_clock::now();
    if (caller_ == "local" || now - looked_ < kEvery) return true;
    looked_ = now;
    return api_.host.tokens().Holds(caller_);
  }

 private:
  const Api& api_;
  std::string caller_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::transport::v1

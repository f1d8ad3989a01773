// AccessCheck: whether the client of an open stream is still let in.
#pragma once

#include <chrono>

#include "engine/views/access.hpp"

namespace skerry::transport::kit {

// A token that is revoked or has expired ends the streams that were opened with it. Checked once a second at most.
class AccessCheck {
 public:
  // `access` is borrowed.
  explicit AccessCheck(const engine::Access& access) : access_(access) {}

  [[nodiscard]] bool Holds() {
    constexpr std::chrono::seconds kEvery{1};
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < kEvery) return true;
    looked_ = now;
    return access_.Holds();
  }

 private:
  const engine::Access& access_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::transport::kit

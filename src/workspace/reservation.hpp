// Room in a workspace that is reserved for a change. The destructor gives it back, unless Keep was called.
#pragma once

#include <memory>
#include <utility>

#include "base/result.hpp"
#include "workspace/usage.hpp"

namespace skerry::workspace {

class Reservation {
 public:
  explicit Reservation(std::shared_ptr<UsageCount> usage) : usage_(std::move(usage)) {}
  Reservation(Reservation&& other) noexcept : usage_(std::move(other.usage_)), held_(std::exchange(other.held_, {})) {}
  Reservation& operator=(Reservation&&) = delete;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    if (usage_ != nullptr) usage_->GiveBack(held_);
  }

  base::Status Add(Usage more);
  [[nodiscard]] base::Status AskDisk(std::uint64_t bytes) const { return usage_->AskDisk(bytes); }
  [[nodiscard]] Usage held() const { return held_; }

  // Says what the change came to: `taken` is what it put there, `freed` what was removed for it. Reserves what is
  // missing.
  base::Status Settle(Usage taken, Usage freed);
  // To be called after the last step that can fail.
  void Keep();

 private:
  std::shared_ptr<UsageCount> usage_;
  Usage held_;
  Usage surplus_;  // given back by Keep
};

}  // namespace skerry::workspace

#include "policy/budget.hpp"

#include <algorithm>

namespace skerry::policy {
namespace {

constexpr std::uint64_t kBetweenLooks = 64U << 10U;

// This part of the work is kept for the last look, by the letters of the code.
constexpr std::uint64_t kReservedPart = 16;

}  // namespace

BudgetLimits Budget::LimitsFor(std::size_t bytes) {
  constexpr std::uint64_t kFree = 64U << 20U;
  constexpr std::uint64_t kForAByte = 448;
  constexpr std::uint64_t kMost = 480U << 20U;
  constexpr std::size_t kFreeMemory = std::size_t{4} << 20U;
  constexpr std::size_t kMemoryForAByte = 512;
  constexpr std::size_t kMostMemory = std::size_t{160} << 20U;
  return {.work = std::min(kFree + kForAByte * bytes, kMost),
          .memory = std::min(kFreeMemory + kMemoryForAByte * bytes, kMostMemory)};
}

Budget::Budget(BudgetLimits limits, std::stop_token cancelled)
    : limits_(limits), stop_(std::move(cancelled)), reserve_(limits.work / kReservedPart) {
  look_at_ = std::min(limits_.work, kBetweenLooks);
}

bool Budget::Look() {
  if (over_ || spent_ >= limits_.work || stop_.stop_requested()) End();
  if (!over_) look_at_ = std::min(limits_.work, spent_ + kBetweenLooks);
  return !over_;
}

void Budget::End() {
  over_ = true;
  look_at_ = 0;
}

bool Budget::OpenReserve() {
  if (stop_.stop_requested() || reserve_ == 0) return false;
  limits_.work = spent_ + std::exchange(reserve_, 0);
  over_ = false;
  return Look();
}

void Budget::Hold(std::size_t bytes) {
  held_ += bytes;
  peak_ = std::max(peak_, held_);
  if (held_ > limits_.memory) End();
}

void Budget::NotePeak(std::size_t bytes) {
  peak_ = std::max(peak_, held_ + bytes);
}

}  // namespace skerry::policy

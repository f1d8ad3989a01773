// LookupBudget: what the search for the files of one assessment may cost. Counted, not timed, as the budget of an
// analysis is: the same files give the same answer under every load.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

namespace skerry::engine {

// For one thread. A unit is about one name that the kernel looks up in a directory.
class LookupBudget {
 public:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 19U;
  static constexpr std::uint64_t kWorkOfAUnit = 64;  // in units of policy::Budget

  explicit LookupBudget(std::stop_token stop, std::uint64_t most = kMost) : stop_(std::move(stop)), left_(most) {}

  // False when the budget is spent or a stop was asked for.
  bool Spend(std::uint64_t units) {
    if (units > left_ || stop_.stop_requested()) {
      over_ = true;
      return false;
    }
    left_ -= units;
    spent_ += units;
    return !over_;
  }
  [[nodiscard]] bool IsOver() const { return over_; }
  [[nodiscard]] bool IsCancelled() const { return stop_.stop_requested(); }
  // The units spent since the last call.
  std::uint64_t TakeSpent() { return std::exchange(spent_, 0); }

 private:
  std::stop_token stop_;
  std::uint64_t left_;
  std::uint64_t spent_ = 0;
  bool over_ = false;
};

}  // namespace skerry::engine

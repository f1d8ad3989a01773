// FlowLimiter: how long somebody has to wait so that what they do stays within a rate.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/company.hpp"

namespace skerry::base {

struct Flow {
  double per_second = 0;
  double beside_others = 0;  // the same for each of several who used something within the last second; 0: no less
  double at_once = 0;        // what may be used without waiting by somebody who used nothing for a while
  std::chrono::milliseconds longest_wait{10'000};
};

// For one thread. What was used is charged afterwards, so an account may go below zero: its owner then waits until that
// is paid, however many connections they use. Nobody waits longer than the longest wait: more debt than that
// is forgotten.
class FlowLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit FlowLimiter(Flow flow) : flow_(flow) {}

  // How long whoever used this has to wait before they may go on; zero: not at all.
  std::chrono::milliseconds Charge(const std::string& who, double amount, TimePoint now);

  [[nodiscard]] std::size_t size() const { return accounts_.size(); }

 private:
  struct Account {
    double left = 0;
    TimePoint at;
  };
  [[nodiscard]] double RateOf(const std::string& who, TimePoint now);
  [[nodiscard]] double LeftAt(const Account& account, double rate, TimePoint now) const;
  void ForgetFull(TimePoint now);

  Flow flow_;
  std::unordered_map<std::string, Account> accounts_;
  std::size_t forget_above_ = 1024;
  Company company_;
};

}  // namespace skerry::base

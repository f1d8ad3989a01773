// FlowLimiter: how long a party, such as a tenant, has to wait so that what it uses stays within a rate.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/company.hpp"

namespace skerry::base {

struct Flow {
  double per_second = 0;
  double beside_others = 0;  // the rate of each party while several used something within the last second; 0: no less
  double at_once = 0;        // what a party that used nothing for a while may use without waiting
  std::chrono::milliseconds longest_wait{10'000};
};

// For one thread. A party is charged after it used something, so its account may go below zero: then the party waits
// until that is paid, however many connections it has. No party waits longer than the longest wait: more debt than that
// is forgotten.
class FlowLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit FlowLimiter(Flow flow) : flow_(flow) {}

  // Charges `who` for `amount`, and says how long `who` has to wait before it may go on; zero: not at all.
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

#include "base/flow_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace skerry::base {

// Also notes that `who` uses the flow now.
double FlowLimiter::RateOf(const std::string& who, TimePoint now) {
  if (flow_.beside_others == 0) return flow_.per_second;
  return company_.Note(who, now) ? flow_.beside_others : flow_.per_second;
}

double FlowLimiter::LeftAt(const Account& account, double rate, TimePoint now) const {
  const double passed = std::chrono::duration<double>(now - account.at).count();
  return std::min(flow_.at_once, account.left + rate * std::max(0.0, passed));
}

std::chrono::milliseconds FlowLimiter::Charge(const std::string& who, double amount, TimePoint now) {
  if (accounts_.size() > forget_above_) ForgetFull(now);
  const double rate = RateOf(who, now);
  Account& account = accounts_.try_emplace(who, Account{.left = flow_.at_once, .at = now}).first->second;
  const double most_debt = rate * std::chrono::duration<double>(flow_.longest_wait).count();
  account.left = std::max(-most_debt, LeftAt(account, rate, now) - amount);
  account.at = now;
  if (account.left >= 0) return {};
  constexpr double kMilliseconds = 1000;
  return std::chrono::milliseconds(std::llround(std::ceil(-account.left / rate * kMilliseconds)));
}

// A full account need not be kept.
void FlowLimiter::ForgetFull(TimePoint now) {
  const auto is_full = [&](const auto& entry) { return LeftAt(entry.second, flow_.per_second, now) >= flow_.at_once; };
  std::erase_if(accounts_, is_full);
  forget_above_ = std::max<std::size_t>(1024, 2 * accounts_.size());
}

}  // namespace skerry::base

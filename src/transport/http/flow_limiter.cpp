#include "transport/http/flow_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace skerry::transport::http {

double FlowLimiter::LeftAt(const Account& account, TimePoint now) const {
  const double passed = std::chrono::duration<double>(now - account.at).count();
  return std::min(flow_.at_once, account.left + flow_.per_second * std::max(0.0, passed));
}

std::chrono::milliseconds FlowLimiter::Charge(const std::string& who, double amount, TimePoint now) {
  if (accounts_.size() > forget_above_) ForgetFull(now);
  Account& account = accounts_.try_emplace(who, Account{.left = flow_.at_once, .at = now}).first->second;
  const double most_debt = flow_.per_second * std::chrono::duration<double>(flow_.longest_wait).count();
  account.left = std::max(-most_debt, LeftAt(account, now) - amount);
  account.at = now;
  if (account.left >= 0) return {};
  constexpr double kMilliseconds = 1000;
  return std::chrono::milliseconds(std::llround(std::ceil(-account.left / flow_.per_second * kMilliseconds)));
}

// A full account is as good as none.
void FlowLimiter::ForgetFull(TimePoint now) {
  std::erase_if(accounts_, [&](const auto& entry) { return LeftAt(entry.second, now) >= flow_.at_once; });
  forget_above_ = std::max<std::size_t>(1024, 2 * accounts_.size());
}

}  // namespace skerry::transport::http

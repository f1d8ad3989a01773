#include "engine/audit_shares.hpp"

#include <algorithm>

namespace skerry::engine {
namespace {

constexpr double kSecondsOfADay = 24 * 60 * 60;

}  // namespace

AuditShares::Account& AuditShares::AccountOf(const std::string& tenant) {
  const auto now = now_();
  Account& account = accounts_.try_emplace(tenant, Account{.at = now}).first->second;
  const double passed = std::chrono::duration<double>(now - account.at).count();
  account.bytes = std::max(0.0, account.bytes - passed * a_day_ / kSecondsOfADay);
  account.at = now;
  return account;
}

std::chrono::seconds AuditShares::Wait(const std::string& tenant, Weight weight) {
  if (a_day_ == 0) return {};
  const double most = weight == Weight::kReading ? a_day_ / 2 : weight == Weight::kEnding ? a_day_ * 2 : a_day_;
  const std::scoped_lock lock(mutex_);
  const double over = AccountOf(tenant).bytes - most;
  if (over < 0) return {};
  return std::chrono::seconds(static_cast<std::int64_t>(over / a_day_ * kSecondsOfADay) + 1);
}

void AuditShares::Fill(const std::string& tenant, std::uint64_t bytes) {
  if (a_day_ == 0) return;
  const std::scoped_lock lock(mutex_);
  AccountOf(tenant).bytes += static_cast<double>(bytes);
}

}  // namespace skerry::engine

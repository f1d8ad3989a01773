// AuditShares: how much of the audit each tenant has filled lately, and how much it may still fill.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace skerry::engine {

// A tenant may fill `a_day` at once, and gets it back in the course of a day. Thread-safe.
class AuditShares {
 public:
  using Clock = std::chrono::steady_clock;
  explicit AuditShares(std::uint64_t a_day, std::function<Clock::time_point()> now = Clock::now)
      : a_day_(static_cast<double>(a_day)), now_(std::move(now)) {}

  // What a record is about.
  enum class Weight {
    kReading,  // may fill half of the share: reading keeps no tenant from working
    kUsual,
    kEnding,  // a stop or a removal: a tenant that has filled its share has as much again for these
  };
  // How long the tenant waits until it may have a record of this weight; 0 when it may now.
  [[nodiscard]] std::chrono::seconds Wait(const std::string& tenant, Weight weight);
  void Fill(const std::string& tenant, std::uint64_t bytes);

 private:
  struct Account {
    double bytes = 0;
    Clock::time_point at;
  };
  // Needs the lock. Brings the account up to now.
  Account& AccountOf(const std::string& tenant);

  const double a_day_;  // 0: any number
  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::map<std::string, Account> accounts_;
};

}  // namespace skerry::engine

// LoginTally: requests without a valid token, summed up by address so that reports of them are never a flood of their
// own. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skerry::watch {

// The requests of one address since its last report.
struct LoginReport {
  std::string address;          // "" for all addresses that have no report of their own
  std::uint64_t times = 0;      // requests without a token, or with a wrong one
  std::uint64_t throttled = 0;  // how many of these were answered late
};

// For one thread, or under a lock. The first report of an address comes after a second, the next after ten, from then
// on one each minute, while there is something to tell. Addresses beyond the most that are told apart share a report.
class LoginTally {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Pace { kInTime, kThrottled };
  static constexpr std::size_t kMostAddresses = 32;

  void Add(const std::string& address, Pace pace, TimePoint now);
  // When the next report is due; nothing when no request was noted.
  [[nodiscard]] std::optional<TimePoint> Next() const;
  // The reports that are due. Addresses that have been quiet for their whole interval are forgotten.
  std::vector<LoginReport> Take(TimePoint now);
  // All reports that are left, for the end of the daemon.
  std::vector<LoginReport> TakeAll() { return Take(TimePoint::max()); }

 private:
  struct Entry {
    LoginReport report;
    TimePoint due;
    std::chrono::seconds interval{1};
  };

  std::map<std::string, Entry> entries_;  // by address
};

}  // namespace skerry::watch

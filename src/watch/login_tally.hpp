// LoginTally: requests without a proper token, summed up so that telling of them is never a flood of its own. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skerry::watch {

// What came from one address since the last report of it.
struct LoginReport {
  std::string address;          // "" for all those that have no report of their own
  std::uint64_t times = 0;      // requests without a token, or with a wrong one
  std::uint64_t throttled = 0;  // of them those that were answered late
};

// For one thread, or under a lock. The first report of an address comes after a second, the next after ten, from then
// on one each minute, while there is something to tell. Addresses beyond the most that are told apart share a report.
class LoginTally {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Pace { kInTime, kThrottled };
  static constexpr std::size_t kMostAddresses = 32;

  void Add(const std::string& address, Pace pace, TimePoint now);
  // When the next report is due; nothing when there is nothing to tell.
  [[nodiscard]] std::optional<TimePoint> Next() const;
  // Those that are due. Addresses that have been quiet for their whole interval are forgotten.
  std::vector<LoginReport> Take(TimePoint now);
  // All that is left, at the end.
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

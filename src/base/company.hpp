// Company: whether several parties, such as tenants, are active at the same time.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace skerry::base {

// Of one thread at a time.
class Company {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kLately{1};

  // `who` is active now. True when another party was active within the last second.
  bool Note(const std::string& who, TimePoint now) {
    if (last_.who != who) before_ = std::exchange(last_, {.who = who});
    last_.at = now;
    return Has(who, now);
  }
  // The same question without noting that `who` is active.
  [[nodiscard]] bool Has(const std::string& who, TimePoint now) const {
    const Deed& others = last_.who != who ? last_ : before_;
    return !others.who.empty() && others.at + kLately > now;
  }

 private:
  struct Deed {
    std::string who;
    TimePoint at;
  };
  Deed last_;
  Deed before_;  // the latest one of another party than the last
};

}  // namespace skerry::base

#include "watch/login_tally.hpp"

namespace skerry::watch {
namespace {

using std::chrono_literals::operator""s;

std::chrono::seconds Longer(std::chrono::seconds interval) {
  return interval < 10s ? 10s : 60s;
}

}  // namespace

void LoginTally::Add(const std::string& address, Pace pace, TimePoint now) {
  const bool own = entries_.contains(address) || entries_.size() < kMostAddresses;
  const std::string name = own ? address : "";
  Entry& entry = entries_.try_emplace(name, Entry{.report = {.address = name}, .due = now + 1s}).first->second;
  ++entry.report.times;
  if (pace == Pace::kThrottled) ++entry.report.throttled;
}

std::optional<LoginTally::TimePoint> LoginTally::Next() const {
  std::optional<TimePoint> next;
  for (const auto& [address, entry] : entries_)
    if (!next || entry.due < *next) next = entry.due;
  return next;
}

std::vector<LoginReport> LoginTally::Take(TimePoint now) {
  std::vector<LoginReport> due;
  std::erase_if(entries_, [&](const auto& item) { return item.second.due <= now && item.second.report.times == 0; });
  for (auto& [address, entry] : entries_) {
    if (entry.due > now) continue;
    due.push_back(entry.report);
    entry.report = {.address = address};
    entry.interval = Longer(entry.interval);
    entry.due = now == TimePoint::max() ? now : now + entry.interval;
  }
  return due;
}

}  // namespace skerry::watch

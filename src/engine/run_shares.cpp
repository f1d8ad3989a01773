#include "engine/run_shares.hpp"

#include <limits>

namespace skerry::engine {

RunShares::Turn RunShares::Take(std::string tenant, const std::stop_token& stop) {
  const std::size_t number = Begin(tenant, stop);
  return {*this, std::move(tenant), number};
}

RunShares::Turn::~Turn() {
  if (shares_ != nullptr) shares_->End(tenant_, number_);
}

void RunShares::Turn::Renew(const std::stop_token& stop) {
  {
    const std::scoped_lock lock(shares_->mutex_);
    if (shares_->HasBegun(tenant_, number_)) return;
  }
  number_ = shares_->Begin(tenant_, stop);
}

std::size_t RunShares::Begin(const std::string& name, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Forget(Clock::now());
  Tenant& tenant = tenants_[name];
  const auto place = tenant.waiting.emplace(tenant.waiting.end());
  const auto may_begin = [&] {
    const auto now = Clock::now();
    std::erase_if(tenant.begun, [&](const auto& one) { return one.second <= now; });
    return place == tenant.waiting.begin() && tenant.begun.size() < ShareOf(name, now);
  };
  while (!may_begin() && !stop.stop_requested()) {
    const auto is_first = [&] { return place == tenant.waiting.begin(); };
    // A run that waits behind another is woken by that one.
    if (!is_first()) (void)place->wait(lock, stop, is_first);
    auto until = Clock::now() + options_.beginning;
    for (const auto& [number, end] : tenant.begun) until = std::min(until, end);
    (void)place->wait_until(lock, stop, until, may_begin);
  }
  tenant.waiting.erase(place);
  tenant.last = Clock::now();
  (void)output_.Charge(name, 0, tenant.last);  // the other tenants write beside this one now
  tenant.begun.emplace(next_number_, tenant.last + options_.beginning);
  if (!tenant.waiting.empty()) tenant.waiting.front().notify_one();
  return next_number_++;
}

void RunShares::End(const std::string& name, std::size_t number) {
  const std::scoped_lock lock(mutex_);
  const auto tenant = tenants_.find(name);
  if (tenant == tenants_.end()) return;
  tenant->second.begun.erase(number);
  if (!tenant->second.waiting.empty()) tenant->second.waiting.front().notify_one();
}

std::chrono::milliseconds RunShares::Write(const std::string& tenant, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  return output_.Charge(tenant, static_cast<double>(bytes), Clock::now());
}

core::SinkAnswer SharingSink::Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  const core::SinkAnswer answer = sink_.Write(stream, bytes, deadline);
  Pace(answer.accepted, deadline);
  return answer;
}

void SharingSink::Drop(std::size_t bytes, base::Deadline deadline) {
  sink_.Drop(bytes, deadline);
  Pace(bytes, deadline);
}

void SharingSink::Pace(std::size_t bytes, base::Deadline deadline) {
  const auto wait = std::min<std::chrono::nanoseconds>(shares_.Write(tenant_, bytes), deadline.Remaining());
  if (wait.count() <= 0) return;
  std::unique_lock lock(mutex_);
  (void)never_.wait_for(lock, stop_, wait, [] { return false; });
}

bool RunShares::HasBegun(const std::string& name, std::size_t number) {
  const auto tenant = tenants_.find(name);
  if (tenant == tenants_.end()) return false;
  const auto one = tenant->second.begun.find(number);
  return one != tenant->second.begun.end() && one->second > Clock::now();
}

std::size_t RunShares::ShareOf(const std::string& name, Clock::time_point now) const {
  const auto others = static_cast<std::size_t>(std::ranges::count_if(tenants_, [&](const auto& entry) {
    const Tenant& other = entry.second;
    return entry.first != name && (!other.waiting.empty() || other.last + options_.remembered > now);
  }));
  if (others == 0) return std::numeric_limits<std::size_t>::max();
  return std::max<std::size_t>(1, options_.at_once / (others + 1));
}

// Forgets tenants that have no run waiting or beginning, and that do not count any more.
void RunShares::Forget(Clock::time_point now) {
  std::erase_if(tenants_, [&](const auto& entry) {
    const Tenant& tenant = entry.second;
    return tenant.waiting.empty() && tenant.last + options_.remembered <= now &&
           std::ranges::all_of(tenant.begun, [&](const auto& one) { return one.second <= now; });
  });
}

}  // namespace skerry::engine

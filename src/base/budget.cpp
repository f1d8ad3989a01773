#include "base/budget.hpp"

#include <algorithm>
#include <limits>

namespace skerry::base {

std::optional<Shortage> Budget::Take(const std::string& tenant, std::uint64_t bytes, Reach reach) {
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t left = reach == Reach::kTenant && limits_.left ? limits_.left() : kAny;
  const std::scoped_lock lock(mutex_);
  const auto found = by_tenant_.find(tenant);
  const std::uint64_t own = found == by_tenant_.end() ? 0 : found->second;
  const auto exceeds = [&](std::uint64_t held, std::uint64_t limit) {
    return reach == Reach::kTenant && limit != 0 && (held >= limit || bytes > limit - held);
  };
  if (exceeds(own, limits_.each)) return Shortage::kOwn;
  if (left != kAny && (own >= (used_ + left) / 2 || bytes > (used_ + left) / 2 - own)) return Shortage::kHalf;
  if (exceeds(used_, limits_.all)) return Shortage::kAll;
  if (bytes > left) return Shortage::kDisk;
  by_tenant_[tenant] += bytes;
  used_ += bytes;
  return std::nullopt;
}

void Budget::GiveBack(const std::string& tenant, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_tenant_.find(tenant);
  if (found == by_tenant_.end()) return;
  bytes = std::min(bytes, found->second);
  found->second -= bytes;
  used_ -= bytes;
  if (found->second == 0) by_tenant_.erase(found);
}

std::uint64_t Budget::UsedBy(const std::string& tenant) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_tenant_.find(tenant);
  return found == by_tenant_.end() ? 0 : found->second;
}

std::uint64_t Budget::used() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

BudgetShare& BudgetShare::operator=(BudgetShare&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(tenant_, other.tenant_);
  std::swap(reach_, other.reach_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

BudgetShare::~BudgetShare() {
  if (budget_ && bytes_ != 0) budget_->GiveBack(tenant_, bytes_);
}

std::optional<Shortage> BudgetShare::Grow(std::uint64_t bytes) {
  if (budget_)
    if (const auto shortage = budget_->Take(tenant_, bytes, reach_)) return shortage;
  bytes_ += bytes;
  return std::nullopt;
}

}  // namespace skerry::base

// Budget: how many bytes each tenant may hold of something, and all of them together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace skerry::base {

struct BudgetLimits {
  std::uint64_t each = 0;  // bytes that one tenant may hold; 0: any number
  std::uint64_t all = 0;   // bytes of all tenants together; 0: any number
  // What the disk has left outside of what is kept in reserve. A tenant holds at most half of that and of what all hold
  // together, so that others find room whatever the limits are. None: any number.
  std::function<std::uint64_t()> left;
};

// Who takes.
enum class Reach {
  kTenant,   // within the limits
  kReserve,  // the owner, and bookkeeping: what they hold is counted and never refused
};

enum class Shortage {
  kOwn,   // the tenant holds as much as it may
  kHalf,  // the tenant holds half of what there is room for
  kAll,   // all together hold as much as they may
  kDisk,  // what is left is in reserve
};

// Thread-safe.
class Budget {
 public:
  explicit Budget(BudgetLimits limits) : limits_(std::move(limits)) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Nothing: they are taken.
  std::optional<Shortage> Take(const std::string& tenant, std::uint64_t bytes, Reach reach);
  void GiveBack(const std::string& tenant, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t UsedBy(const std::string& tenant) const;
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] const BudgetLimits& limits() const { return limits_; }

 private:
  const BudgetLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> by_tenant_;  // those who hold something
  std::uint64_t used_ = 0;
};

// What one thing holds of a budget; given back at its end. Of one thread at a time.
class BudgetShare {
 public:
  BudgetShare() = default;  // of no budget: it takes anything
  BudgetShare(std::shared_ptr<Budget> budget, std::string tenant, Reach reach)
      : budget_(std::move(budget)), tenant_(std::move(tenant)), reach_(reach) {}
  BudgetShare(BudgetShare&& other) noexcept
      : budget_(std::move(other.budget_)),
        tenant_(std::move(other.tenant_)),
        reach_(other.reach_),
        bytes_(std::exchange(other.bytes_, 0)) {}
  BudgetShare& operator=(BudgetShare&& other) noexcept;
  ~BudgetShare();

  // Nothing: it holds so many more.
  std::optional<Shortage> Grow(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const Budget* budget() const { return budget_.get(); }
  [[nodiscard]] Reach reach() const { return reach_; }

 private:
  std::shared_ptr<Budget> budget_;
  std::string tenant_;
  Reach reach_ = Reach::kTenant;
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::base

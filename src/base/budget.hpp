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
  // What the disk has left, without what is kept in reserve. A tenant holds at most half of that and of what all
  // tenants hold together, so that other tenants find room whatever the limits are. Empty: the disk sets no limit.
  std::function<std::uint64_t()> left;
};

// Who takes bytes of a budget.
enum class Reach {
  kTenant,   // within the limits
  kReserve,  // the daemon's owner, and bookkeeping: their bytes are counted and never refused
};

enum class Shortage {
  kOwn,   // the tenant holds as much as it may
  kHalf,  // the tenant holds half of what there is room for
  kAll,   // all tenants together hold as much as they may
  kDisk,  // what is left is in reserve
};

// Thread-safe.
class Budget {
 public:
  explicit Budget(BudgetLimits limits) : limits_(std::move(limits)) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Takes the bytes for the tenant. Nothing: they are taken; else why not, and none is taken.
  std::optional<Shortage> Take(const std::string& tenant, std::uint64_t bytes, Reach reach);
  void GiveBack(const std::string& tenant, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t UsedBy(const std::string& tenant) const;
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] const BudgetLimits& limits() const { return limits_; }

 private:
  const BudgetLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> by_tenant_;  // tenants that hold something
  std::uint64_t used_ = 0;
};

// The bytes that one thing, such as a file, holds of a budget. The destructor gives them back. Of one thread at a time.
class BudgetShare {
 public:
  BudgetShare() = default;  // of no budget: every Grow succeeds
  BudgetShare(std::shared_ptr<Budget> budget, std::string tenant, Reach reach)
      : budget_(std::move(budget)), tenant_(std::move(tenant)), reach_(reach) {}
  BudgetShare(BudgetShare&& other) noexcept
      : budget_(std::move(other.budget_)),
        tenant_(std::move(other.tenant_)),
        reach_(other.reach_),
        bytes_(std::exchange(other.bytes_, 0)) {}
  BudgetShare& operator=(BudgetShare&& other) noexcept;
  ~BudgetShare();

  // Takes so many bytes more. Nothing: the share holds them; else why not.
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

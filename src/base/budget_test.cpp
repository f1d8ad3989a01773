#include "base/budget.hpp"

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

TEST(BudgetTest, ATenantHoldsItsShareAndNoMore) {
  Budget budget({.each = 10, .all = 100});
  EXPECT_EQ(budget.Take("a", 10, Reach::kTenant), std::nullopt);
  EXPECT_EQ(budget.Take("a", 1, Reach::kTenant), Shortage::kOwn);
  EXPECT_EQ(budget.Take("b", 10, Reach::kTenant), std::nullopt);
  budget.GiveBack("a", 4);
  EXPECT_EQ(budget.Take("a", 5, Reach::kTenant), Shortage::kOwn);
  EXPECT_EQ(budget.Take("a", 4, Reach::kTenant), std::nullopt);
}

TEST(BudgetTest, AllTogetherHoldWhatThereIs) {
  Budget budget({.each = 10, .all = 15});
  EXPECT_EQ(budget.Take("a", 10, Reach::kTenant), std::nullopt);
  EXPECT_EQ(budget.Take("b", 6, Reach::kTenant), Shortage::kAll);
  EXPECT_EQ(budget.used(), 10);
}

TEST(BudgetTest, TheReserveIsForTheOwnerAndBookkeeping) {
  Budget budget({.each = 10, .all = 10, .left = [] { return std::uint64_t{0}; }});
  EXPECT_EQ(budget.Take("a", 1, Reach::kTenant), Shortage::kHalf);
  EXPECT_EQ(budget.Take("local", 50, Reach::kReserve), std::nullopt);
  EXPECT_EQ(budget.UsedBy("local"), 50);
}

TEST(BudgetTest, OneTenantTakesHalfOfASmallDisk) {
  std::uint64_t left = 100;
  Budget budget({.each = 1000, .all = 1000, .left = [&left] { return left; }});
  const auto take = [&](const char* tenant, std::uint64_t bytes) {
    const auto shortage = budget.Take(tenant, bytes, Reach::kTenant);
    if (!shortage) left -= bytes;
    return shortage;
  };
  EXPECT_EQ(take("a", 50), std::nullopt);
  EXPECT_EQ(take("a", 1), Shortage::kHalf);
  EXPECT_EQ(take("b", 40), std::nullopt);
  EXPECT_EQ(take("c", 11), Shortage::kDisk);
  EXPECT_EQ(take("c", 10), std::nullopt);
}

TEST(BudgetTest, ALargeNumberDoesNotWrapAround) {
  Budget budget({.each = 10, .all = 10});
  EXPECT_EQ(budget.Take("a", 5, Reach::kTenant), std::nullopt);
  EXPECT_EQ(budget.Take("a", UINT64_MAX, Reach::kTenant), Shortage::kOwn);
}

TEST(BudgetTest, AShareIsGivenBackAtItsEnd) {
  const auto budget = std::make_shared<Budget>(BudgetLimits{.each = 10});
  {
    BudgetShare share(budget, "a", Reach::kTenant);
    EXPECT_EQ(share.Grow(6), std::nullopt);
    EXPECT_EQ(share.Grow(6), Shortage::kOwn);
    BudgetShare other(std::move(share));
    EXPECT_EQ(budget->UsedBy("a"), 6);
  }
  EXPECT_EQ(budget->used(), 0);
}

TEST(BudgetTest, AShareOfNoBudgetTakesAnything) {
  BudgetShare share;
  EXPECT_EQ(share.Grow(UINT64_MAX), std::nullopt);
}

}  // namespace
}  // namespace skerry::base

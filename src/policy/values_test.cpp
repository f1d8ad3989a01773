#include "policy/values.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "policy/test_budget.hpp"

namespace skerry::policy {
namespace {

Value Name(NameId id) {
  return {Value::Kind::kName, id};
}

std::vector<Value> All(const ValuePool& pool, Value value) {
  std::vector<Value> all;
  pool.ForEach(value, [&](Value each) { all.push_back(each); });
  return all;
}

bool Has(const ValuePool& pool, Value set, Value value) {
  const std::vector<Value> all = All(pool, set);
  return std::ranges::find(all, value) != all.end();
}

TEST(ValuePoolTest, WhatIsNotKnownIsDropped) {
  ValuePool pool(NewBudget());
  EXPECT_EQ(pool.Either({}, Name(1)), Name(1));
  EXPECT_EQ(pool.Either(Name(1), {}), Name(1));
  EXPECT_EQ(pool.Either({}, {}), Value{});
}

TEST(ValuePoolTest, EitherIsBoth) {
  ValuePool pool(NewBudget());
  const Value both = pool.Either(Name(1), Name(2));
  EXPECT_EQ(All(pool, both), (std::vector{Name(1), Name(2)}));
  EXPECT_EQ(pool.Either(both, Name(2)), both);
}

TEST(ValuePoolTest, ManyTextsBecomeSomeText) {
  ValuePool pool(NewBudget());
  Value all;
  for (int i = 0; i < 100; ++i) all = pool.Either(all, pool.Text(std::to_string(i)));
  EXPECT_TRUE(Has(pool, all, ValuePool::kSomeText));
  EXPECT_LT(All(pool, all).size(), 20U);
  EXPECT_EQ(pool.TextAt(ValuePool::kSomeText.id), std::string(1, kHole));
}

TEST(ValuePoolTest, TextsDoNotPushNamesOut) {
  ValuePool pool(NewBudget());
  Value all;
  for (int i = 0; i < 100; ++i) all = pool.Either(all, pool.Text(std::to_string(i)));
  EXPECT_TRUE(Has(pool, pool.Either(all, Name(7)), Name(7)));
}

TEST(ValuePoolTest, ATextThatIsTooLongIsNotKnown) {
  ValuePool pool(NewBudget());
  EXPECT_EQ(pool.Text(std::string(100'000, 'x')).kind, Value::Kind::kUnknown);
}

TEST(ValuePoolTest, NamesOutliveTheExhaustionOfThePool) {
  ValuePool pool(NewBudget());
  for (NameId id = 1; id < 100'000; ++id) pool.Either(Name(id), Name(id + 1));
  EXPECT_EQ(pool.Either(pool.kSomeText, Name(7)), Name(7));
}

class BindingsTest : public ::testing::Test {
 protected:
  BindingsTest() { bindings_.AddScope(0, ScopeKind::kModule); }
  ValuePool pool_{NewBudget()};
  Bindings bindings_{pool_, NewBudget()};
};

TEST_F(BindingsTest, WhatIsBoundNowhereIsTheLanguagesOwn) {
  EXPECT_TRUE(bindings_.Lookup(0, "eval", 10).may_be_outer);
}

TEST_F(BindingsTest, InAModuleANameIsSureOnlyFromWhereItIsBound) {
  bindings_.Declare(0, "eval", 5);
  EXPECT_TRUE(bindings_.Lookup(0, "eval", 4).may_be_outer);
  EXPECT_FALSE(bindings_.Lookup(0, "eval", 5).may_be_outer);
}

TEST_F(BindingsTest, WhatIsDeletedMayBeTheOuterOneAgain) {
  bindings_.Declare(0, "eval", 5);
  bindings_.Undeclare(0, "eval");
  EXPECT_TRUE(bindings_.Lookup(0, "eval", 9).may_be_outer);
}

TEST_F(BindingsTest, InAFunctionANameIsSureEverywhere) {
  const Scope function = bindings_.AddScope(0, ScopeKind::kFunction);
  bindings_.Declare(function, "eval", Bindings::kNever);
  EXPECT_FALSE(bindings_.Lookup(function, "eval", 0).may_be_outer);
  EXPECT_TRUE(bindings_.Lookup(0, "eval", 0).may_be_outer);
}

TEST_F(BindingsTest, FunctionsDoNotSeeTheNamesOfTheirClass) {
  const Scope a_class = bindings_.AddScope(0, ScopeKind::kClass);
  const Scope method = bindings_.AddScope(a_class, ScopeKind::kFunction);
  bindings_.Declare(a_class, "eval", 0);
  EXPECT_FALSE(bindings_.Lookup(a_class, "eval", 1).may_be_outer);
  EXPECT_TRUE(bindings_.Lookup(method, "eval", 1).may_be_outer);
}

TEST_F(BindingsTest, AllThatWasAssignedIsPossible) {
  bindings_.Declare(0, "x", 0);
  bindings_.Assign(0, "x", Name(1));
  bindings_.Assign(0, "x", Name(2));
  const Value value = bindings_.Lookup(0, "x", 9).value;
  EXPECT_TRUE(Has(pool_, value, Name(1)));
  EXPECT_TRUE(Has(pool_, value, Name(2)));
}

TEST_F(BindingsTest, AnAssignmentBehindALookupIsNews) {
  bindings_.Declare(0, "x", 0);
  EXPECT_FALSE(bindings_.Assign(0, "x", Name(1)));
  (void)bindings_.Lookup(0, "x", 9);
  EXPECT_FALSE(bindings_.Assign(0, "x", Name(1)));
  EXPECT_TRUE(bindings_.Assign(0, "x", Name(2)));
}

TEST_F(BindingsTest, AGlobalStatementBindsOutside) {
  const Scope function = bindings_.AddScope(0, ScopeKind::kFunction);
  bindings_.Redirect(function, "x", 0);
  bindings_.Assign(function, "x", Name(1));
  EXPECT_EQ(bindings_.Lookup(0, "x", 9).value, Name(1));
}

}  // namespace
}  // namespace skerry::policy

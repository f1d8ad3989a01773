// Budgets for tests that are about something else.
#pragma once

#include <cstddef>
#include <deque>

#include "policy/budget.hpp"

namespace skerry::policy {

// A new budget, which lives until the program ends: trees and reports refer to it.
inline Budget& NewBudget(std::size_t bytes = std::size_t{4} << 20U) {
  static std::deque<Budget> all;
  return all.emplace_back(Budget::LimitsFor(bytes));
}

}  // namespace skerry::policy

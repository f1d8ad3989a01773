#include "base/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace skerry::base {
namespace {

constexpr std::size_t kNear = 2;

// Comparing lengths first keeps a key of a megabyte from costing a megabyte of work for each candidate.
bool IsNear(std::string_view a, std::string_view b) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > kNear) return false;
  const std::size_t distance = EditDistance(a, b);
  return distance <= kNear && distance < a.size();
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  std::string_view nearest;
  for (const std::string& candidate : candidates) {
    if (!IsNear(word, candidate)) continue;
    if (nearest.empty() || EditDistance(word, candidate) < EditDistance(word, nearest)) nearest = candidate;
  }
  return nearest.empty() ? std::string() : std::string(" (did you mean ").append(nearest).append("?)");
}

std::string Joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace skerry::base

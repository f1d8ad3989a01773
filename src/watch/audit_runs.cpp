#include "watch/audit_runs.hpp"

#include <algorithm>
#include <utility>

namespace skerry::watch {
namespace {

using Kind = AuditMisplacement::Kind;

bool Has(const AuditRun& run, std::optional<std::uint64_t> number) {
  return number && run.first <= *number && *number <= run.last;
}

// Whether the head is in the left run already, and the few records of the right run do not continue it.
bool LiesBehind(std::uint64_t head, const AuditRun& left, const AuditRun& right) {
  return Has(left, head) && right.first > left.last + 1 && right.last - right.first < left.last - left.first;
}

// The runs that are in order: the increasing ones with the most records.
std::vector<std::size_t> InOrder(const std::vector<AuditRun>& runs, std::optional<std::uint64_t> head) {
  std::vector<std::uint64_t> most(runs.size(), 0);  // records up to this run, including it
  std::vector<std::size_t> before(runs.size(), 0);
  for (std::size_t index = 1; index < runs.size(); ++index) {
    for (std::size_t other = 0; other < index; ++other) {
      if (runs[other].first >= runs[index].first || runs[other].last >= runs[index].last) continue;
      const std::uint64_t more = runs[index].last - std::max(runs[other].last, runs[index].first - 1);
      if (most[other] + more <= most[index]) continue;
      most[index] = most[other] + more;
      before[index] = other;
    }
  }
  std::size_t end = 0;
  for (std::size_t index = 1; index < runs.size(); ++index)
    if (std::pair(most[index], Has(runs[index], head)) > std::pair(most[end], Has(runs[end], head))) end = index;
  std::vector<std::size_t> order;
  for (; end != 0; end = before[end]) order.push_back(end);
  order.push_back(0);
  std::ranges::reverse(order);
  if (head && order.size() > 2 && LiesBehind(*head, runs[order[order.size() - 2]], runs[order.back()]))
    order.pop_back();
  return order;
}

// Adds the part of first…last that is in none of the stray runs.
void AddMissing(const std::vector<const AuditRun*>& strays, AuditMisplacement missing, AuditOrder& order) {
  std::uint64_t from = missing.first;
  for (const AuditRun* stray : strays) {
    if (stray->last < from || stray->first > missing.last) continue;
    AuditMisplacement piece = missing;
    piece.first = from;
    piece.last = stray->first - 1;
    if (stray->first > from) order.misplaced.push_back(piece);
    from = stray->last + 1;
  }
  missing.first = from;
  if (from <= missing.last) order.misplaced.push_back(missing);
}

void CompareNeighbours(const AuditRun& left, const AuditRun& right, const std::vector<const AuditRun*>& strays,
                       AuditOrder& order) {
  AuditMisplacement found{.behind = left.last, .place = right.place};
  if (right.first > left.last + 1) {
    found.first = left.last + 1;
    found.last = right.first - 1;
    AddMissing(strays, found, order);
    return;
  }
  if (right.first <= left.last) {
    found.kind = Kind::kTwice;
    found.first = right.first;
    found.last = left.last;
    order.misplaced.push_back(found);
    return;
  }
  if (!left.last_sound || !right.first_sound || left.last_hash == right.first_previous) return;
  found.kind = Kind::kReplaced;
  found.first = found.last = std::max<std::uint64_t>(left.last, 1);
  order.misplaced.push_back(found);
}

void AddStray(const std::vector<AuditRun>& runs, const std::vector<std::size_t>& in_order, std::size_t index,
              AuditOrder& order) {
  const AuditRun& stray = runs[index];
  const bool twice = std::ranges::any_of(
      in_order, [&](std::size_t other) { return runs[other].first <= stray.last && stray.first <= runs[other].last; });
  order.misplaced.push_back({.kind = twice ? Kind::kTwice : Kind::kMoved,
                             .first = stray.first,
                             .last = stray.last,
                             .behind = runs[index - 1].last,
                             .place = stray.place});
}

}  // namespace

AuditOrder OrderOf(const std::vector<AuditRun>& runs, std::optional<std::uint64_t> head) {
  const std::vector<std::size_t> in_order = InOrder(runs, head);
  AuditOrder order{.first_run = in_order.size() > 1 ? in_order[1] : 0, .last_run = in_order.back()};
  std::vector<const AuditRun*> strays;
  for (std::size_t index = 1; index < runs.size(); ++index) {
    if (std::ranges::binary_search(in_order, index)) continue;
    strays.push_back(&runs[index]);
    AddStray(runs, in_order, index, order);
  }
  std::ranges::sort(strays, {}, &AuditRun::first);
  for (std::size_t index = 1; index < in_order.size(); ++index)
    CompareNeighbours(runs[in_order[index - 1]], runs[in_order[index]], strays, order);
  const std::uint64_t last = runs[order.last_run].last;
  if (head && *head > last) AddMissing(strays, {.kind = Kind::kCutOff, .first = last + 1, .last = *head}, order);
  return order;
}

}  // namespace skerry::watch

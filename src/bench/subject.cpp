#include "bench/subject.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skerry::bench {
namespace {

// One subject during the rounds of its group.
class Lane {
 public:
  Lane(const Subject& subject, const Schedule& schedule) : subject_(&subject), schedule_(&schedule) {
    result_ = {.name = subject.name, .detail = subject.detail, .target = subject.target};
  }

  // A slow subject sits out most rounds; those it takes part in are spread evenly over all of them.
  [[nodiscard]] bool TakesPartIn(std::size_t round) const {
    if (!result_.failed.empty()) return false;
    if (!IsSlow()) return true;
    const auto fitting = static_cast<std::size_t>(schedule_->slow_time / best_);
    const std::size_t share = std::max<std::size_t>(std::min(schedule_->slow_rounds, fitting), 1);
    if (share >= schedule_->rounds) return true;
    return (round + 1) * share / schedule_->rounds > round * share / schedule_->rounds;
  }

  void WarmUp() {
    if (!IsSlow()) (void)RunOnce();
  }

  void Measure() {
    if (const auto sample = RunOnce()) result_.samples.Add(*sample);
  }

  [[nodiscard]] SubjectResult Finish() && { return std::move(result_); }

 private:
  [[nodiscard]] bool IsSlow() const { return best_ > schedule_->slow; }

  std::optional<Sample> RunOnce() {
    if (!result_.failed.empty()) return std::nullopt;
    if (subject_->settle) subject_->settle();
    auto sample = subject_->run();
    if (!sample) {
      result_.failure = std::move(sample.error().message);
      if (++result_.failures > schedule_->allowed_failures) result_.failed = result_.failure;
      return std::nullopt;
    }
    best_ = best_ == Duration{} ? sample->total : std::min(best_, sample->total);
    return std::move(*sample);
  }

  const Subject* subject_;
  const Schedule* schedule_;
  SubjectResult result_;
  Duration best_{};
};

// Rotated by one from round to round, and reversed after each full turn: no subject always comes first, and none always
// runs in the caches that the same neighbour left.
std::vector<std::size_t> OrderOf(std::size_t round, std::size_t count) {
  std::vector<std::size_t> order(count);
  if (count == 0) return order;
  for (std::size_t i = 0; i < count; ++i) order[i] = (i + round) % count;
  if (round / count % 2 == 1) std::ranges::reverse(order);
  return order;
}

void RunRounds(const Group& group, std::vector<Lane>& lanes, const Schedule& schedule, const OnProgress& on_progress,
               const std::stop_token& stop) {
  for (std::size_t i = 0; i < schedule.warmups; ++i)
    for (Lane& lane : lanes)
      if (!stop.stop_requested()) lane.WarmUp();
  for (std::size_t round = 0; round < schedule.rounds; ++round) {
    for (const std::size_t at : OrderOf(round, lanes.size())) {
      if (stop.stop_requested()) return;
      if (lanes[at].TakesPartIn(round)) lanes[at].Measure();
    }
    if (on_progress) on_progress({group.name, round + 1, schedule.rounds});
  }
}

GroupResult RunGroup(const Group& group, const Schedule& schedule, const OnProgress& on_progress,
                     const std::stop_token& stop) {
  GroupResult result{.name = group.name, .title = group.title, .baseline = group.baseline};
  std::vector<Lane> lanes;
  lanes.reserve(group.subjects.size());
  for (const Subject& subject : group.subjects) lanes.emplace_back(subject, schedule);
  if (!lanes.empty()) RunRounds(group, lanes, schedule, on_progress, stop);
  for (Lane& lane : lanes) result.subjects.push_back(std::move(lane).Finish());
  for (const LeftOut& left_out : group.left_out)
    result.subjects.push_back({.name = left_out.name, .skipped = left_out.reason});
  return result;
}

}  // namespace

void SettleTogether(std::vector<Subject>& subjects) {
  std::map<std::string, std::vector<std::function<void()>>> settles;
  for (const Subject& subject : subjects)
    if (subject.settle) settles[subject.group].push_back(subject.settle);
  for (Subject& subject : subjects)
    if (const auto found = settles.find(subject.group); found != settles.end())
      subject.settle = [all = found->second] {
        for (const auto& settle : all) settle();
      };
}

std::vector<GroupResult> RunInterleaved(const std::vector<Group>& groups, const Schedule& schedule,
                                        const OnProgress& on_progress, const std::stop_token& stop) {
  std::vector<GroupResult> results;
  results.reserve(groups.size());
  for (const Group& group : groups) results.push_back(RunGroup(group, schedule, on_progress, stop));
  return results;
}

}  // namespace skerry::bench

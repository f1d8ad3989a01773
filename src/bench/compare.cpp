#include "bench/compare.hpp"

#include <algorithm>

namespace skerry::bench {
namespace {

bool HasTarget(const SubjectFigures* subject) {
  return subject != nullptr && (subject->target.ratio || subject->target.p50);
}

std::string WhyNoRatio(const SubjectFigures& subject, const std::string& baseline) {
  if (!subject.failed.empty()) return "failed: " + subject.failed;
  if (!subject.skipped.empty()) return "not measured: " + subject.skipped;
  return subject.n == 0 ? "not measured" : "its baseline '" + baseline + "' was not measured";
}

// Both results have the subject; either may lack a ratio.
void Decide(Change& change, const SubjectFigures& before, const SubjectFigures& after, const std::string& baseline) {
  if (!after.failed.empty()) {
    change.verdict = before.failed.empty() ? Verdict::kWorse : Verdict::kSame;
    change.note = WhyNoRatio(after, baseline);
  } else if (!before.ratio || !after.ratio || *before.ratio <= 0) {
    change.note = before.ratio ? "after: " + WhyNoRatio(after, baseline) : "before: " + WhyNoRatio(before, baseline);
  } else if (*after.ratio >= *before.ratio * kWorseFactor) {
    change.verdict = Verdict::kWorse;
  } else {
    change.verdict = *before.ratio >= *after.ratio * kWorseFactor ? Verdict::kBetter : Verdict::kSame;
  }
}

Change ChangeOf(const GroupFigures& before, const GroupFigures& after, const SubjectFigures* old_figures,
                const SubjectFigures* new_figures) {
  Change change{.group = after.name, .subject = new_figures != nullptr ? new_figures->name : old_figures->name};
  if (old_figures != nullptr) {
    change.ratio_before = old_figures->ratio;
    change.p50_before = old_figures->p50;
    change.target = old_figures->target.ratio;
  }
  if (new_figures != nullptr) {
    change.ratio_after = new_figures->ratio;
    change.p50_after = new_figures->p50;
    change.target = new_figures->target.ratio;
  }
  if (old_figures == nullptr || new_figures == nullptr)
    change.note = old_figures == nullptr ? "not in the older result" : "not in the newer result";
  else if (before.baseline != after.baseline)
    change.note = "divided by '" + before.baseline + "' before and by '" + after.baseline + "' now";
  else
    Decide(change, *old_figures, *new_figures, after.baseline);
  return change;
}

void CompareGroups(Comparison& comparison, const GroupFigures& before, const GroupFigures& after) {
  std::vector<std::string> names;
  for (const GroupFigures* group : {&after, &before})
    for (const SubjectFigures& subject : group->subjects)
      if (std::ranges::find(names, subject.name) == names.end()) names.push_back(subject.name);
  for (const std::string& name : names) {
    const SubjectFigures* const old_figures = before.Find(name);
    const SubjectFigures* const new_figures = after.Find(name);
    if (HasTarget(old_figures) || HasTarget(new_figures))
      comparison.changes.push_back(ChangeOf(before, after, old_figures, new_figures));
    else if (old_figures == nullptr || new_figures == nullptr)
      comparison.remarks.push_back(after.name + " " + name + ": only in the " +
                                   (old_figures == nullptr ? "newer" : "older") + " result");
  }
}

void CompareMachines(Comparison& comparison, const Surroundings& before, const Surroundings& after) {
  const auto text = [](const Surroundings& machine) {
    return std::to_string(machine.cpus) + " CPUs, Linux " + machine.kernel + ", cgroup " + machine.cgroup;
  };
  if (text(before) != text(after))
    comparison.remarks.push_back("different machines: " + text(before) + "; then " + text(after));
}

}  // namespace

bool Comparison::AnyWorse() const {
  return std::ranges::find(changes, Verdict::kWorse, &Change::verdict) != changes.end();
}

Comparison Compare(const Report& before, const Report& after) {
  Comparison comparison{.before = before.release + ", " + before.date, .after = after.release + ", " + after.date};
  CompareMachines(comparison, before.machine, after.machine);
  for (const GroupFigures& group : after.groups) {
    // The subjects of a new group are all new: they are named one by one.
    const GroupFigures empty{.name = group.name, .baseline = group.baseline};
    const GroupFigures* const old_group = before.Find(group.name);
    CompareGroups(comparison, old_group == nullptr ? empty : *old_group, group);
  }
  for (const GroupFigures& group : before.groups)
    if (after.Find(group.name) == nullptr)
      CompareGroups(comparison, group, {.name = group.name, .baseline = group.baseline});
  return comparison;
}

}  // namespace skerry::bench

#include "bench/report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

#include "os/files.hpp"

namespace skerry::bench {
namespace {

std::string CgroupVersions() {
  constexpr std::size_t kEnough = 1U << 20U;
  const std::string mounts = os::ReadFile("/proc/self/mounts", kEnough).value_or("");
  const bool one = mounts.contains(" cgroup ");
  const bool two = mounts.contains(" cgroup2 ");
  if (one && two) return "hybrid";
  if (one) return "v1";
  return two ? "v2" : "none";
}

SubjectFigures FiguresOf(const SubjectResult& result) {
  return {.name = result.name,
          .detail = result.detail,
          .p50 = result.samples.P50(),
          .p99 = result.samples.P99(),
          .min = result.samples.Min(),
          .n = result.samples.count(),
          .failures = result.failures,
          .failure = result.failure,
          .target = result.target,
          .steps = result.samples.StepMedians(),
          .failed = result.failed,
          .skipped = result.skipped};
}

bool HasFigures(const SubjectFigures& subject) {
  return subject.n > 0 && subject.failed.empty() && subject.p50 > Duration{};
}

// A target is missed when its ratio or its time is missed, and met when each that is given is known to be met.
std::optional<bool> IsMet(const SubjectFigures& subject) {
  const Target& target = subject.target;
  if (!target.ratio && !target.p50) return std::nullopt;
  if (!subject.failed.empty()) return false;
  if (subject.n == 0) return std::nullopt;
  if (target.p50 && subject.p50 > *target.p50) return false;
  if (!target.ratio) return true;
  if (!subject.ratio) return std::nullopt;
  return *subject.ratio <= *target.ratio;
}

void Judge(GroupFigures& group) {
  const SubjectFigures* const baseline = group.Find(group.baseline);
  for (SubjectFigures& subject : group.subjects) {
    if (baseline != nullptr && HasFigures(*baseline) && HasFigures(subject))
      subject.ratio = static_cast<double>(subject.p50.count()) / static_cast<double>(baseline->p50.count());
    subject.met = IsMet(subject);
  }
}

}  // namespace

Surroundings Surroundings::Look() {
  utsname name{};
  ::uname(&name);
  return {.cpus = std::thread::hardware_concurrency(), .kernel = name.release, .cgroup = CgroupVersions()};
}

const SubjectFigures* GroupFigures::Find(std::string_view subject) const {
  const auto found = std::ranges::find(subjects, subject, &SubjectFigures::name);
  return found == subjects.end() ? nullptr : &*found;
}

const GroupFigures* Report::Find(std::string_view group) const {
  const auto found = std::ranges::find(groups, group, &GroupFigures::name);
  return found == groups.end() ? nullptr : &*found;
}

Report MakeReport(std::string release, Surroundings machine, const std::vector<GroupResult>& results) {
  Report report{.release = std::move(release), .machine = std::move(machine)};
  for (const GroupResult& result : results) {
    GroupFigures group{.name = result.name, .title = result.title, .baseline = result.baseline};
    for (const SubjectResult& subject : result.subjects) group.subjects.push_back(FiguresOf(subject));
    Judge(group);
    report.groups.push_back(std::move(group));
  }
  return report;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

}  // namespace skerry::bench

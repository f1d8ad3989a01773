#include "bench/workloads.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace skerry::bench {
namespace {

constexpr std::string_view kGroupBy =
    "import numpy as np, pandas as pd\n"
    "frame = pd.DataFrame({'a': np.arange(1000), 'g': np.arange(1000) % 7})\n"
    "print(int(frame.groupby('g').a.sum().iloc[0]))\n";

constexpr Target kAssessSmall{.p50 = std::chrono::milliseconds(2)};
constexpr Target kAssessLarge{.p50 = std::chrono::milliseconds(200)};

constexpr std::array kWorkloads = {
    Workload{"python", "python print(1)", "bare", "print(1)", "1\n", {.ratio = 0.10}},
    Workload{"pandas", "python pandas groupby", "bare", kGroupBy, "71071\n", {.ratio = 0.05}},
    Workload{"node", "node console.log(1)", "bare", "console.log(1)", "1\n", {.ratio = 0.10}},
    Workload{"shell", "shell echo 1", "bare", "echo 1", "1\n", {.ratio = 1.5}},
    Workload{"cold", "a full sandbox from nothing, with true in it", "bwrap", "true", "", {.ratio = 0.6}},
    Workload{"hundred",
             "100 at once, each with echo 1",
             "docker run",
             "echo 1",
             "1\n",
             {.ratio = 0.02, .p50 = std::chrono::milliseconds(300)}},
    Workload{"cell", "stateful python cell 1+1", "ipykernel", "1+1", "2", {.ratio = 0.05}},
    Workload{"policy-python-10k", "assess 10 KB of python", "ast.parse", "", "", kAssessSmall},
    Workload{"policy-python-1m", "assess 1 MB of python", "ast.parse", "", "", kAssessLarge},
    Workload{"policy-javascript-10k", "assess 10 KB of javascript", "vm.Script", "", "", kAssessSmall},
    Workload{"policy-javascript-1m", "assess 1 MB of javascript", "vm.Script", "", "", kAssessLarge},
    Workload{"policy-shell-10k", "assess 10 KB of shell", "bash -n", "", "", kAssessSmall},
    Workload{"policy-shell-1m", "assess 1 MB of shell", "bash -n", "", "", kAssessLarge},
    Workload{"workspace-read", "read a file of 4 KB", "open, read", "", "", {.p50 = std::chrono::microseconds(30)}},
    Workload{"workspace-commit", "carry 1,000 small files over", "cp -a", "", "", {.ratio = 3}},
    Workload{"workspace-nothing",
             "copy-on-write for a run that wrote nothing",
             "in place",
             "",
             "",
             {.p50 = std::chrono::microseconds(300)}},
    Workload{"monitor", "a second of watching 200 sandboxes", "one core", "", "", {.ratio = 0.02}},
};

constexpr std::string_view kOurs = "skerry";

}  // namespace

std::span<const Workload> Workloads() {
  return kWorkloads;
}

const Workload* FindWorkload(std::string_view group) {
  const auto* const found = std::ranges::find(kWorkloads, group, &Workload::group);
  return found == kWorkloads.end() ? nullptr : found;
}

bool IsGroupOf(std::string_view group, std::string_view name) {
  return group == name || (group.starts_with(name) && group.substr(name.size()).starts_with('-'));
}

std::vector<Group> Grouped(const std::vector<Subject>& subjects, const std::vector<LeftOut>& left_out) {
  std::vector<Group> groups;
  for (const Workload& workload : kWorkloads) {
    Group group{.name = std::string(workload.group),
                .title = std::string(workload.title),
                .baseline = std::string(workload.baseline)};
    std::ranges::copy_if(subjects, std::back_inserter(group.subjects),
                         [&](const Subject& subject) { return subject.group == workload.group; });
    std::ranges::copy_if(left_out, std::back_inserter(group.left_out),
                         [&](const LeftOut& row) { return row.group == workload.group; });
    for (Subject& subject : group.subjects)
      if (subject.name == kOurs && !subject.target.ratio && !subject.target.p50) subject.target = workload.target;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace skerry::bench

// The work that every subject of a group does, and Skerry's target for it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bench/subject.hpp"

namespace skerry::bench {

struct Workload {
  std::string_view group;
  std::string_view title;
  std::string_view baseline;
  std::string_view code;    // empty where the code is generated, as in policy_subjects.cpp
  std::string_view output;  // the whole output; with any other the run has failed
  Target target;            // of the subject named `skerry`
};

inline constexpr std::size_t kHundred = 100;

// In the order of the report.
std::span<const Workload> Workloads();

// nullptr for a group that is not in the table.
const Workload* FindWorkload(std::string_view group);

// Whether `name` means this group: it is the group's name, or the first of its words, which dashes separate. "policy"
// means six groups.
bool IsGroupOf(std::string_view group, std::string_view name);

// The groups of the table with these subjects; a subject of an unknown group is dropped. `skerry` gets the target of
// its group, unless it has one. Groups without subjects stay, with the subjects that were left out.
std::vector<Group> Grouped(const std::vector<Subject>& subjects, const std::vector<LeftOut>& left_out);

}  // namespace skerry::bench

// What every subject of a group is asked to do, so that all of them do the same; and what Skerry aims at there.
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
  std::string_view code;    // empty where it is made, as in policy_subjects.cpp
  std::string_view output;  // all of it; anything else is a failed run
  Target target;            // of the subject named `skerry`
};

inline constexpr std::size_t kHundred = 100;

// In the order in which they are reported.
std::span<const Workload> Workloads();

// nullptr for a group that is not in the table.
const Workload* FindWorkload(std::string_view group);

// Whether `name` means this group: it is its name, or the first of the words in it that dashes part. "policy" means
// six.
bool IsGroupOf(std::string_view group, std::string_view name);

// The groups of the table with these subjects; a subject of an unknown group is left out of all of them. `skerry` gets
// the target of its group, unless it has one. Groups without subjects stay, with what was left out.
std::vector<Group> Grouped(const std::vector<Subject>& subjects, const std::vector<LeftOut>& left_out);

}  // namespace skerry::bench

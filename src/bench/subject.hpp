// The subjects of the benchmark, and the loop that measures them: subjects of a group take turns, so that other load on
// the machine affects all of them alike and their ratio holds.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/samples.hpp"

namespace skerry::bench {

// The limits that a subject must not exceed. When both are given, both count.
struct Target {
  std::optional<double> ratio;  // of its p50 to the p50 of the group's baseline
  std::optional<Duration> p50;
};

struct Subject {
  std::string group;
  std::string name;    // stable: results of different releases are compared by name
  std::string detail;  // for people: the command line
  std::function<base::Result<Sample>()> run;
  std::function<void()> settle;  // may be empty; called before each run and not timed
  Target target;
};

// A subject that cannot be measured here, and why.
struct LeftOut {
  std::string group;
  std::string name;
  std::string reason;
};

struct Group {
  std::string name;
  std::string title;
  std::string baseline;  // the name of the subject that the others are compared with
  std::vector<Subject> subjects;
  std::vector<LeftOut> left_out;
};

struct Schedule {
  std::size_t rounds = 100;
  std::size_t warmups = 3;  // runs before the first round whose time does not count
  Duration slow = std::chrono::milliseconds(100);
  // A subject whose best run is slower than `slow` is warmed up once and takes part in at most `slow_rounds` rounds,
  // and in no more than fit into `slow_time`, but in one at least.
  std::size_t slow_rounds = 10;
  Duration slow_time = std::chrono::seconds(20);
  std::size_t allowed_failures = 2;
};

struct Progress {
  std::string group;
  std::size_t round = 0;  // finished rounds
  std::size_t rounds = 0;
};
using OnProgress = std::function<void(const Progress&)>;

struct SubjectResult {
  std::string name;
  std::string detail;
  Target target;
  Samples samples;  // of the runs that succeeded, without warm-ups
  std::size_t failures = 0;
  std::string failure;  // message of the last failure
  std::string failed;   // why the subject was dropped; empty when it was not
  std::string skipped;  // why the subject was not measured at all
};

struct GroupResult {
  std::string name;
  std::string title;
  std::string baseline;
  std::vector<SubjectResult> subjects;  // in the order of the group, then those left out
};

// Makes every subject's `settle` call those of the whole group: background work that one subject left must not be
// charged to the next.
void SettleTogether(std::vector<Subject>& subjects);

// Runs group after group. Within a group, every round runs each subject once, each time in another order. A subject
// that failed more often than allowed is dropped with its last error. When `stop` is requested the current run is
// finished and the results so far are returned. Runs everything on the calling thread.
std::vector<GroupResult> RunInterleaved(const std::vector<Group>& groups, const Schedule& schedule,
                                        const OnProgress& on_progress, const std::stop_token& stop);

}  // namespace skerry::bench

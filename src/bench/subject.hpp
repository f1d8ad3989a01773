// What is measured, and the one loop that measures it: subjects of a group take turns, so that other load on the
// machine meets all of them alike and their ratio stands.
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

// What a subject must not exceed. Both hold together where both are given.
struct Target {
  std::optional<double> ratio;  // of its p50 to the p50 of the group's baseline
  std::optional<Duration> p50;
};

struct Subject {
  std::string group;
  std::string name;    // stable: results of different releases are compared by it
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
  std::string baseline;  // the name of the subject the others are divided by
  std::vector<Subject> subjects;
  std::vector<LeftOut> left_out;
};

struct Schedule {
  std::size_t rounds = 100;
  std::size_t warmups = 3;  // runs before the first round whose time does not count
  Duration slow = std::chrono::milliseconds(100);
  // A subject whose best run is slower than `slow` is warmed up once and takes part in at most so many rounds, and in
  // no more than fit into `slow_time`, but in one at least.
  std::size_t slow_rounds = 10;
  Duration slow_time = std::chrono::seconds(20);
  std::size_t allowed_failures = 2;
};

struct Progress {
  std::string group;
  std::size_t round = 0;  // rounds that are over
  std::size_t rounds = 0;
};
using OnProgress = std::function<void(const Progress&)>;

struct SubjectResult {
  std::string name;
  std::string detail;
  Target target;
  Samples samples;  // of the runs that succeeded, warm-ups not among them
  std::size_t failures = 0;
  std::string failure;  // what the last of them said
  std::string failed;   // why it was dropped; empty when it was not
  std::string skipped;  // why it was not measured at all
};

struct GroupResult {
  std::string name;
  std::string title;
  std::string baseline;
  std::vector<SubjectResult> subjects;  // in the order of the group, then those left out
};

// Every subject of a group settles for all of the group: what one of them left to do in the background must not be
// charged to the next.
void SettleTogether(std::vector<Subject>& subjects);

// Group after group. Within one, every round asks each subject once, each time in another order. A subject that failed
// more often than allowed is dropped with its last error. When `stop` is requested the current run is finished and what
// was measured until then is returned. Runs everything on the calling thread.
std::vector<GroupResult> RunInterleaved(const std::vector<Group>& groups, const Schedule& schedule,
                                        const OnProgress& on_progress, const std::stop_token& stop);

}  // namespace skerry::bench

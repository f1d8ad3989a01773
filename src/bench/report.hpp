// The figures of one run of the benchmark: made from results, printed, written as JSON and read back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bench/samples.hpp"
#include "bench/subject.hpp"

namespace skerry::bench {

// The machine on which the figures were measured.
struct Surroundings {
  std::size_t cpus = 0;
  std::string kernel;
  std::string cgroup;  // "v1", "v2", "hybrid" or "none"

  static Surroundings Look();
};

struct SubjectFigures {
  std::string name;
  std::string detail;  // not in JSON: it names paths of the machine
  Duration p50{};
  Duration p99{};
  Duration min{};
  std::size_t n = 0;
  std::size_t failures = 0;
  std::string failure;          // message of the last failure
  std::optional<double> ratio;  // p50 to the baseline's p50; nothing when either is missing
  Target target;
  std::optional<bool> met;  // nothing without a target, or when that cannot be known
  Steps steps;
  std::string failed;
  std::string skipped;
};

struct GroupFigures {
  std::string name;
  std::string title;
  std::string baseline;
  std::vector<SubjectFigures> subjects;

  [[nodiscard]] const SubjectFigures* Find(std::string_view subject) const;
};

struct Report {
  std::string release;
  std::string date;  // UTC, "2026-01-31T12:00:00Z"
  Surroundings machine;
  std::vector<GroupFigures> groups;

  [[nodiscard]] const GroupFigures* Find(std::string_view group) const;
};

// `date` is left empty.
Report MakeReport(std::string release, Surroundings machine, const std::vector<GroupResult>& results);

std::string UtcNow();

// For people: a block for each group, where the time went, the command lines.
std::string ToTable(const Report& report);

// One object; times in microseconds. Names are stable.
std::string ToJson(const Report& report);

// Reads what ToJson wrote. kInvalidArgument names the place: `groups[2].subjects[0].p50_us: must be a number`.
base::Result<Report> ParseReport(std::string_view text);

// ParseReport of a file; the error begins with its path.
base::Result<Report> ReadReport(const std::string& path);

// "0.29 ms", "16.0 ms", "2.1 s": about three significant digits.
std::string HumanDuration(Duration duration);

// "0.018", "1.42", "120": for ratios.
std::string HumanRatio(double ratio);

}  // namespace skerry::bench

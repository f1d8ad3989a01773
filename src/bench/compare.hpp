// Compares two results. By ratio, because two machines, or two days on one machine, differ in everything else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/report.hpp"

namespace skerry::bench {

// A ratio that grew by this factor or more is worse; less is the noise of a busy machine.
inline constexpr double kWorseFactor = 1.25;

enum class Verdict { kSame, kBetter, kWorse, kUnknown };

// One subject that has a target in either result.
struct Change {
  std::string group;
  std::string subject;
  std::optional<double> ratio_before;
  std::optional<double> ratio_after;
  std::optional<double> target;  // of the newer result
  Duration p50_before{};
  Duration p50_after{};
  Verdict verdict = Verdict::kUnknown;
  std::string note;  // why the verdict is unknown, or how the subject failed
};

struct Comparison {
  std::string before;  // "0.1.0, 2026-01-31T12:00:00Z"
  std::string after;
  std::vector<Change> changes;
  std::vector<std::string> remarks;  // subjects that only one result has, and other differences

  // Whether the ratio of a subject with a target grew by kWorseFactor, or such a subject fails now and did not before.
  [[nodiscard]] bool AnyWorse() const;
};

Comparison Compare(const Report& before, const Report& after);

std::string ToTable(const Comparison& comparison);
std::string ToJson(const Comparison& comparison);

}  // namespace skerry::bench

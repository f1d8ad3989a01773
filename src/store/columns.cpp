#include "store/columns.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

namespace skerry::store {

using std::chrono::microseconds;

std::int64_t ToMicroseconds(core::TimePoint time) {
  return std::chrono::floor<microseconds>(time).time_since_epoch().count();
}

std::optional<std::int64_t> ToMicroseconds(const std::optional<core::TimePoint>& time) {
  return time.transform([](core::TimePoint value) { return ToMicroseconds(value); });
}

core::TimePoint FromMicroseconds(std::int64_t count) {
  // A count that does not fit the clock was not written by Skerry; it must not overflow either.
  using std::chrono::duration_cast;
  constexpr std::int64_t kLow = duration_cast<microseconds>(core::TimePoint::min().time_since_epoch()).count();
  constexpr std::int64_t kHigh = duration_cast<microseconds>(core::TimePoint::max().time_since_epoch()).count();
  return core::TimePoint(microseconds(std::clamp(count, kLow, kHigh)));
}

std::uint64_t NextUnsigned(Statement& statement) {
  return std::bit_cast<std::uint64_t>(statement.NextNumber());
}

core::TimePoint NextTime(Statement& statement) {
  return FromMicroseconds(statement.NextNumber());
}

std::optional<core::TimePoint> NextOptionalTime(Statement& statement) {
  return statement.NextOptionalNumber().transform(FromMicroseconds);
}

base::Result<std::map<std::string, std::uint64_t>> ReadSums(Statement& statement) {
  std::map<std::string, std::uint64_t> sums;
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const Statement::Row row, statement.Step());
    if (row == Statement::Row::kNoMore) return sums;
    std::string name = statement.NextText();
    sums[std::move(name)] = NextUnsigned(statement);
  }
}

}  // namespace skerry::store

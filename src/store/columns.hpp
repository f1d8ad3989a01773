// What every kind of row has in common: times, numbers, names of Skerry's enumerations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.hpp"
#include "store/database.hpp"
#include "store/sqlite_error.hpp"

namespace skerry::store {

std::int64_t ToMicroseconds(core::TimePoint time);
std::optional<std::int64_t> ToMicroseconds(const std::optional<core::TimePoint>& time);
core::TimePoint FromMicroseconds(std::int64_t microseconds);

// The next column of the row.
std::uint64_t NextUnsigned(Statement& statement);
core::TimePoint NextTime(Statement& statement);
std::optional<core::TimePoint> NextOptionalTime(Statement& statement);

// Reads rows that have a name and a number.
base::Result<std::map<std::string, std::uint64_t>> ReadSums(Statement& statement);

// The value of a name that Skerry wrote; any other name is the error of a damaged file.
template <class E>
base::Result<E> Parsed(Database& database, const std::string& name, std::optional<E> (*parse)(std::string_view)) {
  const std::optional<E> value = parse(name);
  if (!value) return std::unexpected(DamagedError(database.label(), "it says '" + name + "'"));
  return *value;
}

template <class E>
base::Status NextName(Database& database, Statement& statement, std::optional<E> (*parse)(std::string_view), E& value) {
  SKERRY_ASSIGN_OR_RETURN(value, Parsed(database, statement.NextText(), parse));
  return {};
}

// Reads the rest of the statement's rows, each by `next`.
template <class T>
base::Result<std::vector<T>> ReadAll(Database& database, Statement& statement,
                                     base::Result<T> (*next)(Database&, Statement&)) {
  std::vector<T> records;
  while (true) {
    SKERRY_ASSIGN_OR_RETURN(const Statement::Row row, statement.Step());
    if (row == Statement::Row::kNoMore) return records;
    SKERRY_ASSIGN_OR_RETURN(T record, next(database, statement));
    records.push_back(std::move(record));
  }
}

}  // namespace skerry::store

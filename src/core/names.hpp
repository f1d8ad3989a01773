// Tables of values and their names.
#pragma once

#include <optional>
#include <string_view>

namespace skerry::core {

// `table` has pairs of a value and its name. "" for a value that is not in the table.
template <class Table, class Value>
std::string_view NameIn(const Table& table, Value value) {
  for (const auto& [candidate, name] : table)
    if (candidate == value) return name;
  return "";
}

template <class Table>
auto ValueIn(const Table& table, std::string_view name) -> std::optional<typename Table::value_type::first_type> {
  for (const auto& [value, candidate] : table)
    if (candidate == name) return value;
  return std::nullopt;
}

}  // namespace skerry::core

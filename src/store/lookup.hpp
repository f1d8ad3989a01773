// What both stores ask of a table: whether a row is there, and the errors when it is not, or is there already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "store/database.hpp"
#include "store/statement.hpp"

namespace skerry::store {

std::string Select(std::string_view columns, std::string_view rest);

// The number for a LIMIT or a bound; a number that is too large for SQLite becomes the largest, which means all.
std::int64_t Saturated(std::uint64_t number);

std::unexpected<base::Error> NotThere(std::string_view noun, const std::string& id);
std::unexpected<base::Error> ThereAlready(std::string_view noun, const std::string& id);

// Run a statement that writes one row: kNotFound when that row is not there, kConflict when it is there already.
base::Status UpdateOne(const Database& database, Statement& update, std::string_view noun, const std::string& id);
base::Status InsertNew(const Database& database, Statement& insert, std::string_view noun, const std::string& id);

// The first of the records that were read, or kNotFound.
template <class T>
base::Result<T> FirstOf(base::Result<std::vector<T>> records, std::string_view noun, const std::string& id) {
  if (!records) return std::unexpected(std::move(records).error());
  if (records->empty()) return NotThere(noun, id);
  return std::move(records->front());
}

// The first column of the only row, or kNotFound. `statement` wants the id as its only parameter.
base::Result<std::int64_t> KeyOf(Statement statement, std::string_view noun, const std::string& id);
// kConflict when there is a key.
base::Status MustNotBeThere(const base::Result<std::int64_t>& key, std::string_view noun, const std::string& id);

}  // namespace skerry::store

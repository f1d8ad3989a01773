#include "store/lookup.hpp"

#include <algorithm>
#include <limits>

#include "base/printable.hpp"

namespace skerry::store {

using base::Code;
using base::Err;

std::string Select(std::string_view columns, std::string_view rest) {
  return "SELECT " + std::string(columns) + std::string(rest);
}

std::int64_t Saturated(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, std::numeric_limits<std::int64_t>::max()));
}

std::unexpected<base::Error> NotThere(std::string_view noun, const std::string& id) {
  return Err(Code::kNotFound, "the record has no " + std::string(noun) + " '" + base::Printable(id) + "'");
}

std::unexpected<base::Error> ThereAlready(std::string_view noun, const std::string& id) {
  return Err(Code::kConflict, "the " + std::string(noun) + " '" + base::Printable(id) + "' is there already");
}

base::Status UpdateOne(const Database& database, Statement& update, std::string_view noun, const std::string& id) {
  SKERRY_RETURN_IF_ERROR(update.Run());
  if (database.RowsWritten() == 0) return NotThere(noun, id);
  return {};
}

base::Status InsertNew(const Database& database, Statement& insert, std::string_view noun, const std::string& id) {
  SKERRY_RETURN_IF_ERROR(insert.Run());
  if (database.RowsWritten() == 0) return ThereAlready(noun, id);
  return {};
}

base::Result<std::int64_t> KeyOf(Statement statement, std::string_view noun, const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(const Statement::Row row, statement.Text(id).Step());
  if (row == Statement::Row::kNoMore) return NotThere(noun, id);
  return statement.NextNumber();
}

base::Status MustNotBeThere(const base::Result<std::int64_t>& key, std::string_view noun, const std::string& id) {
  if (key) return ThereAlready(noun, id);
  if (key.error().code != Code::kNotFound) return std::unexpected(key.error());
  return {};
}

}  // namespace skerry::store

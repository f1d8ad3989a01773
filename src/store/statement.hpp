// A prepared statement: parameters in order, then rows, whose columns are read in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3_stmt;

namespace skerry::store {

class Database;

// Lent by its Database, which must outlive the statement; the destructor gives it back. Of one thread.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Sets the next parameter. Bytes are borrowed until the statement has run to its end. Errors of a parameter are told
  // by Step.
  Statement& Number(std::int64_t value);
  Statement& OptionalNumber(std::optional<std::int64_t> value);
  Statement& Text(std::string_view text);
  Statement& OptionalText(const std::optional<std::string>& text);
  Statement& Bytes(std::string_view bytes);

  enum class Row { kThere, kNoMore };
  base::Result<Row> Step();
  // Runs the statement to its end, without its rows. Then it can be given parameters again.
  base::Status Run();

  // The next column of the present row.
  std::int64_t NextNumber();
  std::optional<std::int64_t> NextOptionalNumber();
  std::string NextText();  // text or bytes, all of them

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  Statement& Bound(int code);
  void Reset();

  Database* database_;
  sqlite3_stmt* statement_;
  int parameter_ = 0;
  int column_ = 0;
  int bind_code_ = 0;
};

}  // namespace skerry::store

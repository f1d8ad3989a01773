#include "store/statement.hpp"

#include <utility>

#include <sqlite3.h>

#include "store/database.hpp"

namespace skerry::store {
namespace {

// SQLite takes a null pointer for NULL, whatever the length.
const char* NotNull(std::string_view bytes) {
  return bytes.empty() ? "" : bytes.data();
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      parameter_(other.parameter_),
      column_(other.column_),
      bind_code_(other.bind_code_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  Reset();
  database_->GiveBack(statement_);
}

Statement& Statement::Bound(int code) {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
  return *this;
}

Statement& Statement::Number(std::int64_t value) {
  return Bound(sqlite3_bind_int64(statement_, ++parameter_, value));
}

Statement& Statement::OptionalNumber(std::optional<std::int64_t> value) {
  return value ? Number(*value) : Bound(sqlite3_bind_null(statement_, ++parameter_));
}

Statement& Statement::OptionalText(const std::optional<std::string>& text) {
  return text ? Text(*text) : Bound(sqlite3_bind_null(statement_, ++parameter_));
}

Statement& Statement::Text(std::string_view text) {
  return Bound(sqlite3_bind_text64(statement_, ++parameter_, NotNull(text), text.size(), nullptr, SQLITE_UTF8));
}

Statement& Statement::Bytes(std::string_view bytes) {
  return Bound(sqlite3_bind_blob64(statement_, ++parameter_, NotNull(bytes), bytes.size(), nullptr));
}

base::Result<Statement::Row> Statement::Step() {
  if (bind_code_ != SQLITE_OK) return std::unexpected(database_->ErrorWith(bind_code_));
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return Row::kThere;
  if (code == SQLITE_DONE) return Row::kNoMore;
  return std::unexpected(database_->ErrorWith(code));
}

base::Status Statement::Run() {
  while (true) {
    const auto row = Step();
    if (row && *row == Row::kThere) continue;
    Reset();
    if (!row) return std::unexpected(row.error());
    return {};
  }
}

std::int64_t Statement::NextNumber() {
  return sqlite3_column_int64(statement_, column_++);
}

std::optional<std::int64_t> Statement::NextOptionalNumber() {
  if (sqlite3_column_type(statement_, column_) != SQLITE_NULL) return NextNumber();
  ++column_;
  return std::nullopt;
}

std::string Statement::NextText() {
  const int column = column_++;
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

void Statement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  parameter_ = 0;
  bind_code_ = SQLITE_OK;
}

}  // namespace skerry::store

#include "store/forget_piece.hpp"

#include <array>
#include <string_view>

#include "store/statement.hpp"

namespace skerry::store {
namespace {

// An execution is removed when no row refers to it any more.
constexpr std::array<std::string_view, 4> kPieces = {
    "DELETE FROM file_versions WHERE number IN (SELECT number FROM file_versions WHERE session = ?1 LIMIT ?2)",
    "DELETE FROM file_uses WHERE number IN (SELECT u.number FROM executions e JOIN file_uses u "
    "ON u.execution = e.sequence WHERE e.session = ?1 LIMIT ?2)",
    "DELETE FROM file_notices WHERE number IN (SELECT n.number FROM executions e JOIN file_notices n "
    "ON n.execution = e.sequence WHERE e.session = ?1 LIMIT ?2)",
    "DELETE FROM executions WHERE sequence IN (SELECT sequence FROM executions WHERE session = ?1 LIMIT ?2)"};

}  // namespace

base::Result<bool> ForgetPiece(Database& database, std::int64_t session) {
  for (const std::string_view sql : kPieces) {
    SKERRY_ASSIGN_OR_RETURN(Statement remove, database.Prepare(sql));
    SKERRY_RETURN_IF_ERROR(remove.Number(session).Number(kForgottenAtOnce).Run());
    if (database.RowsWritten() > 0) return true;
  }
  return false;
}

}  // namespace skerry::store

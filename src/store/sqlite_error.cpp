#include "store/sqlite_error.hpp"

#include <cerrno>
#include <system_error>

#include <sqlite3.h>

#include "base/printable.hpp"

namespace skerry::store {
namespace {

using base::Code;
using base::Error;

std::string Record(const std::string& path) {
  return path.empty() ? "the record " : "the record " + base::Printable(path) + " ";
}

std::string Detail(const Failure& failure) {
  std::string detail = base::Printable(failure.detail);
  if (failure.system_errno != 0) detail += ": " + std::generic_category().message(failure.system_errno);
  return detail;
}

std::string Seconds(std::chrono::milliseconds time) {
  if (time < std::chrono::seconds(1)) return std::to_string(time.count()) + " ms";
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

bool IsNoSpace(int system_errno) {
  return system_errno == ENOSPC || system_errno == EDQUOT;
}

Error OfInputOutput(const Failure& failure, const std::string& path) {
  if (IsNoSpace(failure.system_errno))
    return {Code::kUnavailable, Record(path) + "cannot grow (" + Detail(failure) + "); free some space"};
  return {Code::kUnavailable, Record(path) + "cannot be read or written (" + Detail(failure) + "); check its disk"};
}

}  // namespace

Error DamagedError(const std::string& path, std::string_view detail) {
  return {Code::kUnavailable,
          Record(path) + "is damaged (" + base::Printable(detail) + "); move it away and Skerry starts a new one"};
}

Error ErrorOf(const Failure& failure, const std::string& path, std::chrono::milliseconds busy_timeout) {
  constexpr int kPrimaryCode = 0xFF;
  switch (failure.code & kPrimaryCode) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // the statements are right, so the tables are wrong
      return DamagedError(path, failure.detail);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {Code::kUnavailable,
              Record(path) + "cannot be written (" + Detail(failure) + "); make it and its directory writable for you"};
    case SQLITE_CANTOPEN:
      return {Code::kUnavailable,
              Record(path) + "cannot be opened (" + Detail(failure) + "); make it and its directory writable for you"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::kUnavailable, Record(path) + "has been locked by another process for " + Seconds(busy_timeout) +
                                      "; try again when that has ended"};
    case SQLITE_FULL:
      return {Code::kUnavailable, Record(path) + "cannot grow (" + Detail(failure) + "); free some space"};
    case SQLITE_IOERR:
      return OfInputOutput(failure, path);
    case SQLITE_NOMEM:
      return {Code::kUnavailable, Record(path) + "cannot be used (out of memory)"};
    case SQLITE_TOOBIG:
      return {Code::kTooLarge, "a value is too large for " + Record(path) + "(" + Detail(failure) + ")"};
    default:
      return {Code::kInternal, Record(path) + "refused a statement (" + Detail(failure) + ")"};
  }
}

}  // namespace skerry::store

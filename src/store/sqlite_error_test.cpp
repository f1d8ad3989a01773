#include "store/sqlite_error.hpp"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace skerry::store {
namespace {

using base::Code;
using testing::HasSubstr;

base::Error Of(int code, int system_errno = 0) {
  return ErrorOf({.code = code, .system_errno = system_errno, .detail = "words"}, "/d/r", std::chrono::seconds(5));
}

TEST(SqliteErrorTest, SaysWhichFileAndWhatToDo) {
  EXPECT_EQ(Of(SQLITE_CORRUPT).message, "the record /d/r is damaged (words); move it away and Skerry starts a new one");
  EXPECT_THAT(Of(SQLITE_NOTADB).message, HasSubstr("damaged"));
  EXPECT_THAT(Of(SQLITE_READONLY_DIRECTORY).message, HasSubstr("writable"));
  EXPECT_THAT(Of(SQLITE_CANTOPEN, EACCES).message, HasSubstr("Permission denied"));
  EXPECT_EQ(Of(SQLITE_BUSY).message,
            "the record /d/r has been locked by another process for 5 s; try again when that has ended");
  EXPECT_THAT(Of(SQLITE_FULL).message, HasSubstr("free some space"));
  EXPECT_THAT(Of(SQLITE_IOERR_WRITE, EDQUOT).message, HasSubstr("free some space"));
  EXPECT_THAT(Of(SQLITE_IOERR_READ, EIO).message, HasSubstr("disk"));
}

TEST(SqliteErrorTest, WhatTheFileOrItsPlaceCausesIsUnavailable) {
  for (const int code : {SQLITE_CORRUPT_INDEX, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_CANTOPEN_ISDIR, SQLITE_PERM,
                         SQLITE_BUSY_SNAPSHOT, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_NOMEM})
    EXPECT_EQ(Of(code).code, Code::kUnavailable) << code;
  EXPECT_EQ(Of(SQLITE_TOOBIG).code, Code::kTooLarge);
  EXPECT_EQ(Of(SQLITE_MISUSE).code, Code::kInternal);
}

TEST(SqliteErrorTest, IsOneLineWhateverTheFileIsCalled) {
  const auto error = ErrorOf({.code = SQLITE_CORRUPT, .detail = "a\nb"}, "/d/\n\x1b[2J", std::chrono::seconds(5));
  EXPECT_EQ(error.message.find_first_of("\n\x1b"), std::string::npos);
}

}  // namespace
}  // namespace skerry::store

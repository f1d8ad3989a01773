#include "store/record_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/record_fixture.hpp"

namespace skerry::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kAnotherUser = 54'321;

class RecordFileTest : public RecordTest {
 protected:
  // The message of the refusal; "" when the file is accepted.
  std::string Refusal(const std::string& path) {
    const auto file = PrepareRecordFile(path);
    if (file) return "";
    EXPECT_EQ(file.error().code, base::Code::kUnavailable);
    return file.error().message;
  }
};

TEST_F(RecordFileTest, IsMadeForItsOwnerOnlyWithItsCompanions) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(Open()->AddSession({.id = "s"}));
  ::umask(before);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    struct stat status{};
    ASSERT_EQ(::stat((Path() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 07777U, 0600U) << suffix;
  }
}

TEST_F(RecordFileTest, ASymbolicLinkIsRefused) {
  std::ofstream(directory_ / "target");
  fs::create_symlink("target", Path());
  EXPECT_THAT(Refusal(Path()), HasSubstr("is a symbolic link"));
  fs::remove(directory_ / "target");
  EXPECT_THAT(Refusal(Path()), HasSubstr("is a symbolic link"));
  EXPECT_FALSE(fs::exists(directory_ / "target"));
}

TEST_F(RecordFileTest, ALinkInTheWayToItIsFollowed) {
  fs::create_directory(directory_ / "real");
  fs::create_directory_symlink("real", directory_ / "link");
  const auto file = PrepareRecordFile((directory_ / "link" / "r").string());
  EXPECT_EQ(file.value(), (directory_ / "real" / "r").string());
  EXPECT_TRUE(SqliteRecordStore::Open((directory_ / "link" / "r").string(), {}));
}

TEST_F(RecordFileTest, WhatIsNoFileIsRefused) {
  fs::create_directory(Path());
  EXPECT_THAT(Refusal(Path()), HasSubstr("is not a file"));
  fs::remove(Path());
  ASSERT_EQ(::mkfifo(Path().c_str(), 0600), 0);
  EXPECT_THAT(Refusal(Path()), HasSubstr("is not a file"));
}

TEST_F(RecordFileTest, ASecondNameIsRefused) {
  std::ofstream(directory_ / "other");
  fs::create_hard_link(directory_ / "other", Path());
  EXPECT_THAT(Refusal(Path()), HasSubstr("second name"));
}

TEST_F(RecordFileTest, WhatOthersMayWriteIsRefused) {
  std::ofstream{Path()};
  fs::permissions(Path(), fs::perms(0620));
  EXPECT_THAT(Refusal(Path()), HasSubstr("chmod 600"));
  fs::permissions(Path(), fs::perms(0600));
  fs::permissions(directory_, fs::perms(01777));
  EXPECT_THAT(Refusal(Path()), HasSubstr("everybody may write"));
}

TEST_F(RecordFileTest, WhatBelongsToAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  std::ofstream{Path()};
  ASSERT_EQ(::chown(Path().c_str(), kAnotherUser, kAnotherUser), 0);
  EXPECT_THAT(Refusal(Path()), HasSubstr("belongs to another user"));
  ASSERT_EQ(::chown(directory_.c_str(), kAnotherUser, kAnotherUser), 0);
  EXPECT_THAT(Refusal(Path()), HasSubstr("directory of another user"));
}

TEST_F(RecordFileTest, TheDirectoryMustBeThere) {
  EXPECT_THAT(Refusal((directory_ / "none" / "r").string()), HasSubstr("No such file or directory"));
  EXPECT_FALSE(PrepareRecordFile(""));
  EXPECT_FALSE(PrepareRecordFile(directory_.string() + "/"));
  EXPECT_FALSE(PrepareRecordFile(Path() + std::string("\0x", 2)));
}

TEST_F(RecordFileTest, WithoutTheRightToWriteItIsUnavailable) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  ASSERT_EQ(::chown(directory_.c_str(), kAnotherUser, kAnotherUser), 0);
  const auto message_has = [this](const std::string& expected) {
    const auto store = SqliteRecordStore::Open(Path(), {});
    if (!Expect(!store, "it was opened")) return false;
    const bool as_expected = store.error().message.find(expected) != std::string::npos;
    return Expect(as_expected && store.error().code == base::Code::kUnavailable, store.error().message);
  };
  const pid_t child = StartChild([&] {
    if (!Expect(::setgid(kAnotherUser) == 0 && ::setuid(kAnotherUser) == 0, "setuid")) return false;
    fs::permissions(directory_, fs::perms(0500));
    if (!message_has("cannot be made (Permission denied)")) return false;
    fs::permissions(directory_, fs::perms(0700));
    if (!Expect(SqliteRecordStore::Open(Path(), {}).has_value(), "cannot be opened at all")) return false;
    fs::permissions(Path(), fs::perms(0400));
    if (!message_has("writable for you")) return false;
    fs::permissions(Path(), fs::perms(0600));
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(Path() + suffix);
    fs::permissions(directory_, fs::perms(0500));
    return message_has("writable for you");
  });
  EXPECT_TRUE(EndedWell(child));
  ASSERT_EQ(::chown(directory_.c_str(), ::geteuid(), ::getegid()), 0);
}

}  // namespace
}  // namespace skerry::store

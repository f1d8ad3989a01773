// What a hostile program, a full host and a busy person can do to a commit.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "workspace/commit.hpp"
#include "workspace/overlay_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class HostileCommitTest : public OverlayTest {
 protected:
  [[nodiscard]] std::string Target(const std::string& path) const { return fs::read_symlink(lower_ / path); }
};

TEST_F(HostileCommitTest, LinksThatStayInsideAreMade) {
  const CommitReport report = CommitOf(
      "mkdir -p venv/bin venv/lib; ln -s lib venv/lib64; ln -s ../../file venv/bin/up; ln -s missing dangling;"
      "ln -s /usr/bin/env venv/bin/python; ln -s python venv/bin/python3; echo > file");
  EXPECT_EQ(Lines(report.withheld), "");
  EXPECT_EQ(report.created,
            (Paths{"dangling", "file", "venv/bin/python", "venv/bin/python3", "venv/bin/up", "venv/lib64"}));
  EXPECT_EQ(Target("venv/bin/up"), "../../file");
}

TEST_F(HostileCommitTest, LinksThatLeadOutAreWithheld) {
  fs::create_directory_symlink("/etc", lower_ / "persons");
  const CommitReport report = CommitOf(
      "mkdir d; ln -s /etc/shadow a; ln -s ../x b; ln -s d/../../x c; ln -s ../../x d/e; ln -s persons/passwd f;"
      "ln -s g g");
  EXPECT_EQ(Lines(report.withheld),
            "a: leads out of the workspace\nb: leads out of the workspace\nc: leads out of the workspace\n"
            "d/e: leads out of the workspace\nf: leads out of the workspace\ng: is a link that leads to itself\n");
  EXPECT_TRUE(report.created.empty());
  EXPECT_FALSE(Exists("f"));
}

TEST_F(HostileCommitTest, ALinkThatLeadsOutByALaterOneIsTakenBack) {
  fs::create_directory_symlink("/etc", lower_ / "persons");
  const CommitReport report = CommitOf("ln -s later/persons/passwd early; ln -s . later");
  EXPECT_EQ(Lines(report.withheld), "early: leads out of the workspace\n");
  EXPECT_EQ(report.created, Paths{"later"});
  EXPECT_FALSE(Exists("early"));
}

TEST_F(HostileCommitTest, AWithheldLinkLeavesWhatItWouldReplace) {
  Put("f", "old");
  CommitOf("rm f; ln -s /etc/passwd f");
  EXPECT_EQ(Get("f"), "old");
}

TEST_F(HostileCommitTest, FifosSocketsAndTheirLikeAreWithheld) {
  ASSERT_EQ(Work([] {
              sockaddr_un address{.sun_family = AF_UNIX, .sun_path = "socket"};
              const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
              if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) return 1;
              return ::mkfifo("fifo", 0666);
            }),
            "");
  EXPECT_EQ(Lines(Commit().withheld), "fifo: is a fifo\nsocket: is a socket\n");
  EXPECT_TRUE(fs::is_empty(lower_));
}

TEST_F(HostileCommitTest, AFifoInThePersonsDirectoryDoesNotBlock) {
  ASSERT_EQ(::mkfifo((lower_ / "f").c_str(), 0666), 0);
  EXPECT_EQ(CommitOf("rm f; : > f").changed, Paths{"f"});
  EXPECT_TRUE(S_ISREG(Facts("f").st_mode));
}

TEST_F(HostileCommitTest, WhatIsLockedIsCarriedWithItsMode) {
  const CommitReport report = CommitOf("mkdir d; echo x > d/f; chmod 0 d/f; chmod 0 d");
  EXPECT_EQ(report.created, Paths{"d/f"});
  EXPECT_EQ(Mode("d/f"), 0U);
  EXPECT_EQ(Mode("d"), 0700U);
  EXPECT_EQ(Facts("d/f").st_size, 2);
}

TEST_F(HostileCommitTest, ASparseFileStaysSparse) {
  const CommitReport report = CommitOf("truncate -s 1G f; printf x | dd of=f bs=1 seek=500M conv=notrunc 2>/dev/null");
  EXPECT_EQ(report.created, Paths{"f"});
  EXPECT_EQ(Facts("f").st_size, 1 << 30);
  EXPECT_LT(Facts("f").st_blocks * 512, 1 << 20);
  EXPECT_LT(report.bytes, 1U << 20U);
}

TEST_F(HostileCommitTest, AHugeFileOfHolesIsWithheldAtOnce) {
  ASSERT_EQ(Work([] {
              const int fd = ::open("f", O_CREAT | O_WRONLY, 0666);
              return ::ftruncate(fd, INT64_MAX) < 0 && ::ftruncate(fd, INT64_MAX - 4096) < 0 ? 1 : 0;
            }),
            "");
  limits_.max_file_bytes = 1000;
  EXPECT_EQ(Lines(Commit().withheld), "f: larger than 1000 bytes\n");
  EXPECT_FALSE(Exists("f"));
}

TEST_F(HostileCommitTest, AllFilesTogetherHaveALimit) {
  limits_.max_total_bytes = 10'000;
  const CommitReport report = CommitOf("head -c 8000 /dev/zero | tr '\\0' x > a; cp a b; printf x > c");
  EXPECT_EQ(report.created, (Paths{"a", "c"}));
  EXPECT_EQ(Lines(report.withheld), "b: all changes together are too large\n");
}

TEST_F(HostileCommitTest, NamesAreBytes) {
  const CommitReport report =
      CommitOf("echo > \"$(printf 'new\\nline')\"; echo > \"$(printf '\\377\\033[2J')\"; echo > ' -rf'");
  EXPECT_EQ(report.created, (Paths{" -rf", "new\nline", "\xff\033[2J"}));
  EXPECT_TRUE(Exists("\xff\033[2J"));
}

TEST_F(HostileCommitTest, ATreeDeeperThanAnyPathIsCutAndTheRestGoesOn) {
  ASSERT_EQ(Work([] {
              if (::mkdir("deep", 0755) < 0 || ::chdir("deep") < 0) return 1;
              for (int depth = 0; depth < 2000; ++depth)
                if (::mkdir("nested", 0755) < 0 || ::chdir("nested") < 0) return 2;
              const int fd = ::open("file", O_CREAT | O_WRONLY, 0666);
              return fd < 0 ? 3 : 0;
            }),
            "");
  const CommitReport report = Commit();
  ASSERT_EQ(report.withheld.size(), 1U);
  EXPECT_EQ(report.withheld[0].reason, "too deep");
  EXPECT_TRUE(Exists("deep/nested/nested"));
}

TEST_F(HostileCommitTest, MoreThanCanBeListedIsSaidAndDeletesNothing) {
  Put("d/old", "x");
  Put("gone", "x");
  limits_.walk.max_entries = 4;
  const CommitReport report = CommitOf("rm -rf d gone; mkdir d; for i in 1 2 3 4 5 6; do echo > d/$i; done");
  EXPECT_TRUE(Lines(report.withheld).starts_with(".: holds more changes than can be listed")) << Lines(report.withheld);
  EXPECT_TRUE(Exists("d/old"));
  EXPECT_TRUE(Exists("gone"));
}

TEST_F(HostileCommitTest, NothingIsDeletedWhileItsNewPlaceCouldNotBeWritten) {
  Put("before", std::string(2000, 'x'));
  limits_.max_file_bytes = 1000;
  const CommitReport report = CommitOf("mv before after");
  EXPECT_EQ(Lines(report.withheld),
            "after: larger than 1000 bytes\nbefore: was kept, because not everything new could be written\n");
  EXPECT_EQ(Get("before").size(), 2000U);
}

// The whole commit runs in the child, where the full file system is mounted.
TEST_F(HostileCommitTest, AFullHostLosesNothingAndLeavesNoTemporary) {
  Put("../upper/a", "small");
  Put("../upper/big", std::string(200'000, 'x'));
  Put("../upper/z", "small");
  const InChild child = InChild::Run(stage_, [&](int) -> std::string {
    if (os::MountTmpfs(lower_.c_str(), "mode=755,size=64k", os::Execute::kForbidden) != 0) return "mount";
    Put("big", "old");
    Put("gone", "old");
    if (::mknod((base_ / "upper/gone").c_str(), S_IFCHR, 0) < 0) return "mknod";
    upper_.Reset(::open((base_ / "upper").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const CommitReport report = Commit();
    if (Get("big") != "old" || Get("z") != "small" || !Leftovers().empty()) return "what is there is wrong";
    return "got " + Lines(report.withheld);
  });
  EXPECT_EQ(child.failure,
            "got big: cannot be written: No space left on device\n"
            "gone: was kept, because not everything new could be written\n");
}

TEST_F(HostileCommitTest, AMountInThePersonsDirectoryIsNotCrossed) {
  Put("../upper/mounted/file", "x");
  fs::create_directory(lower_ / "mounted");
  const InChild child = InChild::Run(stage_, [&](int) -> std::string {
    if (os::MountTmpfs((lower_ / "mounted").c_str(), "mode=755,size=64k", os::Execute::kForbidden) != 0) return "mount";
    upper_.Reset(::open((base_ / "upper").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return "got " + Lines(Commit().withheld);
  });
  EXPECT_EQ(child.failure, "got mounted/file: another file system is mounted there\n");
}

TEST_F(HostileCommitTest, AReaderSeesTheOldOrTheNewFileAndNeverHalf) {
  const std::string old_text(4'000'000, 'a');
  Put("f", old_text);
  Shell("tr a b < f > g; cat g > f; rm g");
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::string wrong;
  std::thread reader([&] {
    while (!done) {
      const std::string text = Get("f");
      const bool whole = text.size() == old_text.size() && text.find_first_not_of(text[0]) == std::string::npos;
      if (!whole) wrong = std::to_string(text.size()) + " bytes";
      ++reads;
    }
  });
  while (reads < 2) std::this_thread::yield();
  EXPECT_EQ(Commit().changed, Paths{"f"});
  const int after = reads;
  while (reads < after + 2) std::this_thread::yield();
  done = true;
  reader.join();
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(Get("f")[0], 'b');
}

class BusyPersonTest : public HostileCommitTest {
 protected:
  // From here on changes in the directory are the person's.
  void StartWork() {
    limits_.since = std::chrono::system_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
};

TEST_F(BusyPersonTest, WhatThePersonChangedMeanwhileIsNotReplacedOrDeleted) {
  Put("both", "old");
  Put("tree/edited", "old");
  Put("tree/other", "old");
  Put("quiet", "old");
  StartWork();
  Shell("echo program > both; rm -rf tree; echo program > quiet; mkdir out; echo program > out/result");
  Put("both", "person");
  Put("tree/edited", "person");
  Put("out/notes", "person");
  const CommitReport report = Commit();
  EXPECT_EQ(Get("both"), "person");
  EXPECT_EQ(Get("tree/edited"), "person");
  EXPECT_EQ(Get("out/notes"), "person");
  EXPECT_EQ(Get("quiet"), "program\n");
  EXPECT_EQ(Get("out/result"), "program\n");
  EXPECT_TRUE(Lines(report.withheld).starts_with("both: was changed in the directory meanwhile\n"));
}

TEST_F(BusyPersonTest, TheSameContentFromBothIsNoConflict) {
  Put("both", "old");
  Put("gone", "old");
  StartWork();
  Shell("printf new > both; rm gone");
  Put("both", "new");
  const CommitReport report = Commit();
  EXPECT_EQ(Lines(report.withheld), "");
  EXPECT_EQ(report.deleted, Paths{"gone"});
}

TEST_F(BusyPersonTest, ALinkThatThePersonPutInPlaceOfADirectoryIsNotFollowed) {
  Put("d/f", "old");
  Shell("echo program > d/f");
  fs::rename(lower_ / "d", base_ / "outside");
  fs::create_directory_symlink(base_ / "outside", lower_ / "d");
  EXPECT_EQ(Lines(Commit().withheld), "d: was changed in the directory meanwhile (with 1 file)\n");
  EXPECT_EQ(Get("../outside/f"), "old");
}

}  // namespace
}  // namespace skerry::workspace

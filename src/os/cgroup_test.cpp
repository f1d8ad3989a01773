#include "os/cgroup.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "os/files.hpp"
#include "os/owned_name.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::os {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""s;

// A made-up cgroup2 tree: plain files take the place of the kernel's and show what is written where.
class FakeVersion2Test : public testing::Test {
 protected:
  FakeVersion2Test() {
    hierarchy_.mounts.push_back({CgroupVersion::kTwo, root_.string(), root_.string(), {"memory", "pids", "cpu"}});
  }
  support::TemporaryDirectory directory_;
  fs::path root_ = directory_.path();
  CgroupHierarchy hierarchy_;
};

TEST_F(FakeVersion2Test, WithoutControlFilesTheLimitIsAnErrorAndNothingIsLeft) {
  const auto cgroup = Cgroup::Create(hierarchy_, "g", {.memory_bytes = 1 << 20});
  ASSERT_FALSE(cgroup.has_value());
  EXPECT_NE(cgroup.error().message.find("memory.max"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(FakeVersion2Test, AGroupThatExistsIsNotTakenOver) {
  fs::create_directory(root_ / "g");
  EXPECT_FALSE(Cgroup::Create(hierarchy_, "g", {}).has_value());
  EXPECT_TRUE(fs::exists(root_ / "g"));
}

pid_t ForkSleeper() {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::pause();
  ::_exit(0);
}

// Where the kernel cannot kill all at once, the killer may be killed in the middle: one process has to be the last.
TEST_F(FakeVersion2Test, TheSparedMemberIsNotKilledWithTheOthers) {
  hierarchy_.mounts.front().controllers.clear();
  const auto cgroup = Cgroup::Create(hierarchy_, "g", {});
  ASSERT_TRUE(cgroup.has_value()) << cgroup.error().message;
  const std::string root = root_;
  const pid_t spared = ForkSleeper();
  const pid_t other = ForkSleeper();
  std::ofstream(root + "/g/cgroup.procs") << spared << "\n" << other << "\n";
  cgroup->Kill(spared);
  int status = 0;
  EXPECT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::waitpid(spared, &status, WNOHANG), 0);
  cgroup->Kill();
  EXPECT_EQ(::waitpid(spared, &status, 0), spared);
  fs::remove(root + "/g/cgroup.procs");
}

TEST(ShareProcessorsTest, EachVersionHasItsFigures) {
  const support::TemporaryDirectory directory;
  const std::string root = directory.path();
  const auto written = [&](const std::string& name) {
    std::ifstream file(root + name);
    return std::string(std::istreambuf_iterator(file), {});
  };
  const GroupPlace first{CgroupVersion::kOne, root};
  const GroupPlace second{CgroupVersion::kTwo, root};
  for (const char* name : {"/cpu.shares", "/cpu.weight"}) std::ofstream(root + name) << "";
  for (const auto& [parts, shares, weight] : {std::tuple{1U, "1024", "100"}, {8U, "128", "12"}, {4096U, "2", "1"}}) {
    for (const char* name : {"/cpu.shares", "/cpu.weight"}) fs::resize_file(root + name, 0);
    ASSERT_TRUE(ShareProcessors(first, parts));
    ASSERT_TRUE(ShareProcessors(second, parts));
    EXPECT_EQ(written("/cpu.shares"), shares);
    EXPECT_EQ(written("/cpu.weight"), weight);
  }
}

class RealCgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    hierarchy_ = CgroupHierarchy::Detect();
    if (hierarchy_.Find("memory") == nullptr) GTEST_SKIP() << "no writable memory controller for this user";
  }
  CgroupHierarchy hierarchy_;
  std::string name_ = base::RandomId("skerry-test-");
};

pid_t ForkMember(const Cgroup& cgroup) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  for (const int fd : cgroup.JoinFds())
    if (::write(fd, "0", 1) != 1) ::_exit(1);
  ::pause();
  ::_exit(0);
}

TEST_F(RealCgroupTest, LimitsAreWritten) {
  const auto cgroup = Cgroup::Create(hierarchy_, name_, {.memory_bytes = 64 << 20, .pids = 7, .cpu_percent = 50});
  ASSERT_TRUE(cgroup.has_value()) << cgroup.error().message;
  EXPECT_TRUE(cgroup->LimitsMemory());
  const CgroupMount* memory = hierarchy_.Find("memory");
  const std::string file = memory->version == CgroupVersion::kOne ? "/memory.limit_in_bytes" : "/memory.max";
  EXPECT_EQ(ReadFile(memory->directory + "/" + name_ + file, 100).value(), "67108864\n");
}

TEST_F(RealCgroupTest, DestroyKillsEveryMemberAndRemovesTheGroup) {
  if (hierarchy_.Find("memory")->version == CgroupVersion::kTwo) GTEST_SKIP() << "members join by clone3 on version 2";
  pid_t pid = 0;
  {
    const auto cgroup = Cgroup::Create(hierarchy_, name_, {});
    ASSERT_TRUE(cgroup.has_value()) << cgroup.error().message;
    pid = ForkMember(*cgroup);
    while (cgroup->WaitEmpty(base::Deadline::After(0s))) ::usleep(1000);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const CgroupMount& mount : hierarchy_.mounts) EXPECT_FALSE(fs::exists(mount.directory + "/" + name_));
}

TEST_F(RealCgroupTest, ANewGroupHasNoKillsAndNoRefusedForks) {
  const auto cgroup = Cgroup::Create(hierarchy_, name_, {});
  ASSERT_TRUE(cgroup.has_value()) << cgroup.error().message;
  EXPECT_EQ(cgroup->Usage().out_of_memory_kills, 0U);
  EXPECT_EQ(cgroup->Usage().forks_refused, 0U);
}

// Forks a process that makes groups named after itself, puts a child in and ends without removing them.
void LeaveGroupBehind(const CgroupHierarchy& hierarchy) {
  const pid_t pid = ::fork();
  if (pid != 0) {
    ::waitpid(pid, nullptr, 0);
    return;
  }
  const auto cgroup = Cgroup::Create(hierarchy, OwnedName("skerry-test-"), {});
  if (cgroup) (void)ForkMember(*cgroup);
  ::_exit(0);
}

std::size_t CountGroups(const CgroupHierarchy& hierarchy) {
  std::size_t count = 0;
  for (const CgroupMount& mount : hierarchy.mounts)
    for (const auto& entry : fs::directory_iterator(mount.directory))
      count += entry.path().filename().string().starts_with("skerry-test-") ? 1U : 0U;
  return count;
}

TEST_F(RealCgroupTest, TheSweepTakesTheGroupsOfTheDeadAndNoOthers) {
  const std::size_t before = CountGroups(hierarchy_);
  LeaveGroupBehind(hierarchy_);
  ASSERT_EQ(CountGroups(hierarchy_), before + hierarchy_.mounts.size());
  {
    const auto mine = Cgroup::Create(hierarchy_, OwnedName("skerry-test-"), {});
    const auto foreign = Cgroup::Create(hierarchy_, name_, {});
    ASSERT_TRUE(mine.has_value() && foreign.has_value());
    SweepCgroups(hierarchy_, "skerry-test-");
    EXPECT_EQ(CountGroups(hierarchy_), before + 2 * hierarchy_.mounts.size());
  }
  EXPECT_EQ(CountGroups(hierarchy_), before);
}

}  // namespace
}  // namespace skerry::os

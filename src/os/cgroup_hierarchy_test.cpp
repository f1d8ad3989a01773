#include "os/cgroup_hierarchy.hpp"

#include <gtest/gtest.h>

namespace skerry::os {
namespace {

constexpr std::string_view kHybrid =
    "25 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "31 25 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "32 25 0:28 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "33 25 0:29 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
    "34 25 0:30 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

TEST(CgroupHierarchyTest, HybridHasControllersInVersionOneAndAVersionTwoBesides) {
  const auto hierarchy = CgroupHierarchy::Parse(kHybrid, "3:memory:/\n2:pids:/\n1:cpu:/\n0::/\n");
  ASSERT_NE(hierarchy.Find("memory"), nullptr);
  EXPECT_EQ(hierarchy.Find("memory")->directory, "/sys/fs/cgroup/memory");
  EXPECT_EQ(hierarchy.Find("pids")->version, CgroupVersion::kOne);
  ASSERT_NE(hierarchy.Version2(), nullptr);
  EXPECT_EQ(hierarchy.Version2()->directory, "/sys/fs/cgroup/unified");
}

TEST(CgroupHierarchyTest, GroupsAreMadeBelowOurOwn) {
  const auto hierarchy = CgroupHierarchy::Parse(kHybrid, "3:memory:/jobs/7\n0::/user.slice\n");
  EXPECT_EQ(hierarchy.Find("memory")->directory, "/sys/fs/cgroup/memory/jobs/7");
  EXPECT_EQ(hierarchy.Version2()->directory, "/sys/fs/cgroup/unified/user.slice");
}

TEST(CgroupHierarchyTest, AMountOfPartOfTheHierarchyIsTakenRelativeToItsRoot) {
  const auto hierarchy =
      CgroupHierarchy::Parse("31 25 0:27 /docker/ab /cg rw - cgroup cgroup rw,memory\n", "3:memory:/docker/ab/inner\n");
  EXPECT_EQ(hierarchy.Find("memory")->directory, "/cg/inner");
}

TEST(CgroupHierarchyTest, JointControllersShareOneMount) {
  const auto hierarchy =
      CgroupHierarchy::Parse("31 25 0:27 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n", "3:cpu,cpuacct:/x\n");
  EXPECT_EQ(hierarchy.Find("cpu")->directory, "/cg/cpu,cpuacct/x");
}

TEST(CgroupHierarchyTest, ACounterOfTimeMayHaveAMountOfItsOwn) {
  const auto hierarchy =
      CgroupHierarchy::Parse("31 25 0:27 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n", "2:cpuacct:/x\n");
  ASSERT_NE(hierarchy.Find("cpuacct"), nullptr);
  EXPECT_EQ(hierarchy.Find("cpuacct")->directory, "/cg/cpuacct/x");
  EXPECT_EQ(hierarchy.Find("cpu"), nullptr);
}

TEST(CgroupHierarchyTest, NoMountMeansNowhere) {
  const auto hierarchy = CgroupHierarchy::Parse("25 1 254:0 / / rw - ext4 /dev/vda rw\nnonsense\n", "garbage");
  EXPECT_TRUE(hierarchy.mounts.empty());
  EXPECT_EQ(hierarchy.Find("memory"), nullptr);
  EXPECT_EQ(hierarchy.Version2(), nullptr);
}

}  // namespace
}  // namespace skerry::os

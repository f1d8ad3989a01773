#include "os/machine.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

namespace skerry::os {
namespace {

TEST(MachineTest, KernelReleasesAreRead) {
  EXPECT_EQ(ParseKernelVersion("6.18.44-fc"), (KernelVersion{6, 18}));
  EXPECT_EQ(ParseKernelVersion("5.15.0-91-generic"), (KernelVersion{5, 15}));
  EXPECT_EQ(ParseKernelVersion("nonsense"), (KernelVersion{0, 0}));
  EXPECT_GE((KernelVersion{6, 1}), (KernelVersion{5, 15}));
}

TEST(MachineTest, ProbingTellsWhoWeAreAndLeavesTheProcessAsItWas) {
  const uid_t before = ::geteuid();
  const Machine machine = Machine::Probe();
  EXPECT_EQ(machine.is_root, before == 0);
  EXPECT_FALSE(machine.kernel_release.empty());
  EXPECT_EQ(::geteuid(), before);
}

}  // namespace
}  // namespace skerry::os

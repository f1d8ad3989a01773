#include "launcher/mount_plan.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace skerry::launcher {
namespace {

TEST(MountPlanTest, EveryTargetIsRelativeAndStaysInside) {
  for (const MountStep& step : PlanRoot({.tmp_bytes = 1 << 20})) {
    EXPECT_FALSE(step.target.empty());
    EXPECT_NE(step.target.front(), '/') << step.target;
    EXPECT_EQ(step.target.find(".."), std::string::npos) << step.target;
  }
}

TEST(MountPlanTest, WhatComesFromTheHostIsReadOnlyButForTheDevices) {
  for (const MountStep& step : PlanRoot({.tmp_bytes = 1 << 20})) {
    if (step.kind != StepKind::kBind) continue;
    const bool device = step.source.starts_with("/dev/");
    EXPECT_EQ(step.options.devices, device) << step.source;
    if (!device) {
      EXPECT_EQ(step.options.access, os::Access::kReadOnly) << step.source;
    }
  }
}

TEST(MountPlanTest, NothingPrivateOfTheHostIsBound) {
  for (const MountStep& step : PlanRoot({.tmp_bytes = 1 << 20})) {
    if (step.kind != StepKind::kBind) continue;
    for (const char* secret : {"/home", "/root", "/etc/shadow", "/etc/ssl/private", "/var", "/run", "/sys", "/proc"})
      EXPECT_FALSE(step.source.starts_with(secret)) << step.source;
    EXPECT_NE(step.source, "/etc");
    EXPECT_NE(step.source, "/");
  }
}

TEST(MountPlanTest, TheWorkspaceComesOnce) {
  const auto steps = PlanRoot({.tmp_bytes = 1 << 20});
  EXPECT_EQ(std::ranges::count(steps, StepKind::kWorkspace, &MountStep::kind), 1);
}

}  // namespace
}  // namespace skerry::launcher

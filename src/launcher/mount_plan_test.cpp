#include "launcher/mount_plan.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace skerry::launcher {
namespace {

StartRequest Request() {
  StartRequest request;
  request.tmp_bytes = 1 << 20;
  request.disk_bytes = 1 << 20;
  request.disk_inodes = 100;
  return request;
}

std::vector<MountStep> Plan(const StartRequest& request, const std::vector<RootEntry>& root = {}) {
  auto plan = PlanRoot(request, root);
  EXPECT_TRUE(plan.has_value());
  if (!plan) return {};
  std::vector<MountStep> steps = plan->shared;
  steps.insert(steps.end(), plan->fixed.begin(), plan->fixed.end());
  steps.insert(steps.end(), plan->own.begin(), plan->own.end());
  return steps;
}

TEST(MountPlanTest, EveryTargetIsRelativeAndStaysInside) {
  for (const MountStep& step : Plan(Request())) {
    EXPECT_FALSE(step.target.empty());
    EXPECT_NE(step.target.front(), '/') << step.target;
    EXPECT_EQ(step.target.find(".."), std::string::npos) << step.target;
  }
}

TEST(MountPlanTest, WhatComesFromTheHostIsReadOnlyButForTheDevices) {
  for (const MountStep& step : Plan(Request())) {
    if (step.kind != StepKind::kBind) continue;
    const bool device = step.source.starts_with("/dev/");
    EXPECT_EQ(step.options.devices, device) << step.source;
    if (!device) {
      EXPECT_EQ(step.options.access, os::Access::kReadOnly) << step.source;
    }
  }
}

TEST(MountPlanTest, NothingPrivateOfTheHostIsBound) {
  for (const MountStep& step : Plan(Request())) {
    if (step.kind != StepKind::kBind) continue;
    for (const char* secret : {"/home", "/root", "/etc/shadow", "/etc/ssl/private", "/var", "/run", "/sys", "/proc"})
      EXPECT_FALSE(step.source.starts_with(secret)) << step.source;
    EXPECT_NE(step.source, "/etc");
    EXPECT_NE(step.source, "/");
  }
}

const MountStep* StepAt(const std::vector<MountStep>& steps, std::string_view target) {
  const auto found =
      std::ranges::find_if(steps.rbegin(), steps.rend(), [&](const MountStep& step) { return step.target == target; });
  return found == steps.rend() ? nullptr : &*found;
}

TEST(MountPlanTest, TheWorkspaceIsWhatWasAskedForAndLast) {
  StartRequest request = Request();
  EXPECT_EQ(Plan(request).back().kind, StepKind::kEmptyWorkspace);
  request.workspace = WorkspaceKind::kLayered;
  EXPECT_EQ(Plan(request).back().kind, StepKind::kLayeredWorkspace);
  EXPECT_NE(Plan(request).back().data.find("size=1048576,nr_inodes=100"), std::string::npos);
  request.workspace = WorkspaceKind::kDirect;
  EXPECT_EQ(Plan(request).back().options.access, os::Access::kReadWrite);
}

TEST(MountPlanTest, TreesAreNumberedInTheOrderOfTheDescriptors) {
  StartRequest request = Request();
  request.workspace = WorkspaceKind::kLayered;
  request.root_path = "/images/x";
  request.binds = {{"/data", "/data", os::Access::kReadOnly}, {"/cache", "/a/b/cache", os::Access::kReadWrite}};
  const auto steps = Plan(request, {{"usr", ""}, {"bin", "usr/bin"}});
  EXPECT_EQ(StepAt(steps, "workspace")->tree, 0);
  EXPECT_EQ(StepAt(steps, "data")->tree, 2);
  EXPECT_EQ(StepAt(steps, "a/b/cache")->tree, 3);
  EXPECT_EQ(StepAt(steps, "a/b/cache")->options.access, os::Access::kReadWrite);
  EXPECT_EQ(StepAt(steps, "a/b")->kind, StepKind::kDirectory);
}

TEST(MountPlanTest, ARootFileSystemBringsNothingOfTheHostAndNotItsOwnDevices) {
  StartRequest request = Request();
  request.root_path = "/images/x";
  const auto steps = Plan(request, {{"usr", ""}, {"bin", "usr/bin"}, {"dev", ""}, {"proc", ""}, {"tmp", "/etc"}});
  for (const MountStep& step : steps)
    if (step.kind == StepKind::kBind) {
      EXPECT_TRUE(step.source.starts_with("mnt/") || step.source.starts_with("/dev/")) << step.source;
      EXPECT_NE(step.source, "mnt/dev");
    }
  EXPECT_EQ(StepAt(steps, "bin")->kind, StepKind::kLink);
  EXPECT_EQ(StepAt(steps, "tmp")->kind, StepKind::kTmpfs);
}

}  // namespace
}  // namespace skerry::launcher

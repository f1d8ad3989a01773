#include "engine/views/ceilings.hpp"

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

const Principal kRunner{.scopes = {core::TokenScope::kRun}};
const Principal kAdmin{.scopes = {core::TokenScope::kAdmin}};
constexpr core::SandboxLimits kMost{.memory_mb = 512, .pids = 64, .cpu_percent = 100, .disk_mb = 1024};

TEST(CeilingsTest, EveryLimitOfASessionHasOne) {
  EXPECT_TRUE(CheckLimits(kRunner, kMost, kMost));
  for (const auto member : {&core::SandboxLimits::memory_mb, &core::SandboxLimits::pids,
                            &core::SandboxLimits::cpu_percent, &core::SandboxLimits::disk_mb}) {
    core::SandboxLimits wanted = kMost;
    wanted.*member += 1;
    EXPECT_EQ(CheckLimits(kRunner, kMost, wanted).error().code, base::Code::kInvalidArgument);
    EXPECT_TRUE(CheckLimits(kAdmin, kMost, wanted));
  }
}

TEST(CeilingsTest, AnyShareOfTheProcessorsIsMoreThanSome) {
  core::SandboxLimits wanted = kMost;
  wanted.cpu_percent = 0;
  EXPECT_FALSE(CheckLimits(kRunner, kMost, wanted));
  core::SandboxLimits most = kMost;
  most.cpu_percent = 0;
  EXPECT_TRUE(CheckLimits(kRunner, most, kMost));
  EXPECT_TRUE(CheckLimits(kRunner, most, wanted));
}

TEST(CeilingsTest, MemoryIsRefusedAndOutputIsCut) {
  EXPECT_TRUE(CheckMemory(kRunner, 512, 512));
  EXPECT_EQ(CheckMemory(kRunner, 512, 513).error().message, "max_memory_mb is at most 512 for this token");
  EXPECT_TRUE(CheckMemory(kAdmin, 512, 513));
  EXPECT_EQ(OutputWithin(kRunner, 10, 100), 10U);
  EXPECT_EQ(OutputWithin(kRunner, 10, 5), 5U);
  EXPECT_EQ(OutputWithin(kAdmin, 10, 100), 100U);
  EXPECT_EQ(OutputWithin(kAdmin, 10, 100'000), 1024U);
}

}  // namespace
}  // namespace skerry::engine

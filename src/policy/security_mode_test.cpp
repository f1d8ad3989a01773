#include "policy/security_mode.hpp"

#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

TEST(SecurityModeTest, StrictAllowsOnlyFullIsolation) {
  EXPECT_TRUE(Allows(SecurityMode::kStrict, core::Strength::kNamespaces));
  EXPECT_FALSE(Allows(SecurityMode::kStrict, core::Strength::kProcess));
  EXPECT_FALSE(Allows(SecurityMode::kStrict, core::Strength::kNone));
  EXPECT_TRUE(Allows(SecurityMode::kStrict, core::Strength::kUserKernel));
  EXPECT_TRUE(Allows(SecurityMode::kStrict, core::Strength::kVirtualMachine));
}

TEST(SecurityModeTest, PermissiveAllowsWhatWasAskedFor) {
  EXPECT_TRUE(Allows(SecurityMode::kPermissive, core::Strength::kProcess));
}

}  // namespace
}  // namespace skerry::policy

#include "policy/security_mode.hpp"

#include <gtest/gtest.h>

namespace skerry::policy {
namespace {

TEST(SecurityModeTest, StrictAllowsOnlyFullIsolation) {
  EXPECT_TRUE(Allows(SecurityMode::kStrict, core::IsolationLevel::kNamespaces));
  EXPECT_FALSE(Allows(SecurityMode::kStrict, core::IsolationLevel::kProcess));
  EXPECT_FALSE(Allows(SecurityMode::kStrict, core::IsolationLevel::kNone));
}

TEST(SecurityModeTest, PermissiveAllowsWhatWasAskedFor) {
  EXPECT_TRUE(Allows(SecurityMode::kPermissive, core::IsolationLevel::kProcess));
}

}  // namespace
}  // namespace skerry::policy

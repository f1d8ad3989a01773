#include "engine/context_sandbox.hpp"

#include <gtest/gtest.h>

#include "backends/fake/fake_backend.hpp"

namespace skerry::engine {
namespace {

using backends::fake::FakeBackend;

class ContextSandboxTest : public testing::Test {
 protected:
  FakeBackend& Add(core::Strength isolation, std::string_view name) {
    auto backend = std::make_unique<FakeBackend>(isolation, name);
    FakeBackend& added = *backend;
    EXPECT_TRUE(registry_.Add(std::move(backend)).has_value());
    return added;
  }

  base::Result<ContextPlace> Start(ManagerOptions options) {
    return StartContextSandbox(SandboxManager(registry_, std::move(options)));
  }

  core::BackendRegistry registry_;
};

TEST_F(ContextSandboxTest, ItIsStartedAndEndsWithItsOwner) {
  const FakeBackend& backend = Add(core::Strength::kNamespaces, "strong");
  {
    const auto sandbox = Start({.default_backend = "strong"});
    ASSERT_TRUE(sandbox.has_value()) << sandbox.error().message;
    EXPECT_TRUE(sandbox->sandbox->IsRunning());
    EXPECT_EQ(backend.Running(), 1);
  }
  EXPECT_EQ(backend.Running(), 0);
}

TEST_F(ContextSandboxTest, StrictModeTakesTheStrongerOne) {
  Add(core::Strength::kProcess, "weak");
  const FakeBackend& strong = Add(core::Strength::kNamespaces, "strong");
  const auto sandbox = Start({.default_backend = "weak"});
  ASSERT_TRUE(sandbox.has_value()) << sandbox.error().message;
  EXPECT_EQ(strong.Created(), 1);
}

TEST_F(ContextSandboxTest, AWeakOneIsRefusedInPermissiveModeToo) {
  const FakeBackend& weak = Add(core::Strength::kProcess, "weak");
  const auto sandbox = Start({.mode = policy::SecurityMode::kPermissive, .default_backend = "weak"});
  ASSERT_FALSE(sandbox.has_value());
  EXPECT_EQ(sandbox.error().code, base::Code::kUnavailable);
  EXPECT_EQ(weak.Created(), 0);
}

TEST_F(ContextSandboxTest, WhatASettingCannotKeepIsSaid) {
  Add(core::Strength::kNamespaces, "strong");
  const auto sandbox = Start({.default_backend = "strong", .filesystem = {.allow_read = {"/nowhere/to/be/found"}}});
  ASSERT_TRUE(sandbox.has_value()) << sandbox.error().message;
  EXPECT_EQ(sandbox->notes.size(), 1U);
}

}  // namespace
}  // namespace skerry::engine

#include "core/backend_registry.hpp"

#include <gtest/gtest.h>

namespace skerry::core {
namespace {

class NamedBackend : public Backend {
 public:
  explicit NamedBackend(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string_view Name() const override { return name_; }
  [[nodiscard]] Abilities Can() const override { return {}; }
  [[nodiscard]] Availability Probe(base::Deadline) override { return {}; }
  base::Result<std::unique_ptr<Sandbox>> Create(const SandboxSpec&) override {
    return base::Err(base::Code::kUnavailable, "makes nothing");
  }

 private:
  std::string name_;
};

TEST(BackendRegistryTest, FindsByName) {
  BackendRegistry registry;
  ASSERT_TRUE(registry.Add(std::make_unique<NamedBackend>("one")).has_value());
  ASSERT_TRUE(registry.Add(std::make_unique<NamedBackend>("two")).has_value());
  EXPECT_EQ(registry.Find("two").value()->Name(), "two");
  EXPECT_EQ(registry.All().size(), 2U);
}

TEST(BackendRegistryTest, AnUnknownNameSaysWhichAreKnown) {
  BackendRegistry registry;
  ASSERT_TRUE(registry.Add(std::make_unique<NamedBackend>("one")).has_value());
  const auto found = registry.Find("three");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, base::Code::kUnsupportedBackend);
  EXPECT_NE(found.error().message.find("one"), std::string::npos);
}

TEST(BackendRegistryTest, ANameIsTakenOnce) {
  BackendRegistry registry;
  ASSERT_TRUE(registry.Add(std::make_unique<NamedBackend>("one")).has_value());
  EXPECT_FALSE(registry.Add(std::make_unique<NamedBackend>("one")).has_value());
}

}  // namespace
}  // namespace skerry::core

#include "engine/watched.hpp"

#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

class SharingSandbox : public core::Sandbox {
 public:
  base::Status Start(base::Deadline, const std::stop_token&) override { return {}; }
  base::Result<std::unique_ptr<core::Process>> Launch(core::Command, core::OutputSink&,
                                                      const std::stop_token&) override {
    return base::Err(base::Code::kUnavailable, "runs nothing");
  }
  [[nodiscard]] core::SandboxFiles& files() override { std::abort(); }
  bool ShareProcessors(std::uint32_t parts) override {
    if (!reachable) return false;
    told.push_back(parts);
    return true;
  }
  base::Status Stop(base::Deadline) override { return {}; }
  [[nodiscard]] bool IsRunning() const override { return true; }
  [[nodiscard]] std::vector<std::string> Degraded() const override { return {}; }

  [[nodiscard]] std::uint32_t parts() const { return told.empty() ? 1 : told.back(); }
  std::vector<std::uint32_t> told;
  bool reachable = true;
};

class WatchedTest : public testing::Test {
 protected:
  struct One {
    std::unique_ptr<SharingSandbox> sandbox = std::make_unique<SharingSandbox>();
    Watched::Registration registration;
  };
  void Enter(const std::string& tenant) {
    auto& one = all_[tenant].emplace_back();
    one.registration = watched_.Enter({.tenant = tenant, .sandbox = one.sandbox.get()});
  }
  [[nodiscard]] std::set<std::uint32_t> PartsOf(const std::string& tenant) {
    std::set<std::uint32_t> parts;
    for (const One& one : all_[tenant]) parts.insert(one.sandbox->parts());
    return parts;
  }

  Watched watched_;
  std::map<std::string, std::vector<One>> all_;
};

TEST_F(WatchedTest, ASandboxAloneHasAllOfItsTenants) {
  Enter("a");
  Enter("b");
  EXPECT_TRUE(all_["a"][0].sandbox->told.empty());
  EXPECT_TRUE(all_["b"][0].sandbox->told.empty());
}

TEST_F(WatchedTest, ThoseOfATenantShareWhatOneWouldHave) {
  Enter("b");
  for (int at = 0; at < 9; ++at) Enter("a");
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{16});
  EXPECT_EQ(PartsOf("b"), std::set<std::uint32_t>{1});
  EXPECT_LE(all_["a"][0].sandbox->told.size(), 4U);  // 2, 4, 8, 16
  all_["a"].resize(2);
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{2});
}

TEST_F(WatchedTest, VeryManyAreToldWhatTheKernelKnows) {
  for (int at = 0; at < 100; ++at) Enter("a");
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{64});
}

TEST_F(WatchedTest, ThoseThatDoNothingForAWhileTakeNothing) {
  using std::chrono_literals::operator""s;
  for (int at = 0; at < 8; ++at) Enter("a");
  std::chrono::nanoseconds used{0};
  const auto look = [&](const WatchedSandbox& one) {
    return std::optional(one.sandbox == all_["a"][0].sandbox.get() ? used += 1s : 0s);
  };
  for (int looks = 0; looks < 5; ++looks) watched_.ForEach(look);
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{8}) << "one that rests now and then is none that rests";
  watched_.ForEach(look);
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{1});
  watched_.ForEach([](const WatchedSandbox&) { return std::nullopt; });
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{8}) << "nobody knows";
}

TEST_F(WatchedTest, WhoCouldNotBeToldIsToldLater) {
  Enter("a");
  all_["a"][0].sandbox->reachable = false;
  Enter("a");
  EXPECT_EQ(PartsOf("a"), (std::set<std::uint32_t>{1, 2}));
  all_["a"][0].sandbox->reachable = true;
  watched_.ForEach([](const WatchedSandbox&) { return std::nullopt; });
  EXPECT_EQ(PartsOf("a"), std::set<std::uint32_t>{2});
}

}  // namespace
}  // namespace skerry::engine

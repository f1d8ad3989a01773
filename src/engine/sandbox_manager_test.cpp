#include "engine/sandbox_manager.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "backends/fake/fake_backend.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using backends::fake::FakeBackend;

class SandboxManagerTest : public testing::Test {
 protected:
  SandboxManagerTest() {
    auto weak = std::make_unique<FakeBackend>(core::IsolationLevel::kProcess, "weak");
    auto strong = std::make_unique<FakeBackend>(core::IsolationLevel::kNamespaces, "native");
    strong_ = strong.get();
    (void)registry_.Add(std::move(weak));
    (void)registry_.Add(std::move(strong));
  }
  [[nodiscard]] SandboxManager Manager(policy::SecurityMode mode = policy::SecurityMode::kStrict) const {
    return SandboxManager(registry_, {.mode = mode});
  }

  base::Result<core::ExecutionResult> Run(std::string code) {
    core::ExecutionRequest request;
    request.code = std::move(code);
    return Manager().Execute(request, {}, {});
  }

  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
  core::BackendRegistry registry_;
  FakeBackend* strong_ = nullptr;
};

TEST_F(SandboxManagerTest, CollectsOutputAndNamesTheSandbox) {
  const auto result = Run("echo hello");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->standard_output, "hello\n");
  EXPECT_EQ(result->sandbox_type, "native");
  EXPECT_TRUE(result->Success());
}

TEST_F(SandboxManagerTest, AFailedProgramIsAResultAndNotAnError) {
  const auto result = Run("false");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->outcome.exit_code, 1);
  EXPECT_FALSE(result->Success());
}

TEST_F(SandboxManagerTest, ListsTheFilesThatWereCreated) {
  EXPECT_EQ(Run("touch made.txt")->files_created, std::vector<std::string>{"made.txt"});
}

TEST_F(SandboxManagerTest, LeavesNoSandbox) {
  (void)Run("touch made.txt");
  (void)Run("nonsense");
  EXPECT_EQ(strong_->Created(), 2);
  EXPECT_EQ(strong_->Running(), 0);
}

TEST_F(SandboxManagerTest, APersonsDirectoryIsUsedAndKept) {
  fs::create_directory(base_ / "project");
  core::ExecutionRequest request;
  request.code = "touch made.txt";
  request.workspace = (base_ / "project").string();
  ASSERT_TRUE(Manager().Execute(request, {}, {}).has_value());
  EXPECT_TRUE(fs::exists(base_ / "project/made.txt"));
}

TEST_F(SandboxManagerTest, ABadRequestReachesNoBackend) {
  EXPECT_FALSE(Run("").has_value());
  EXPECT_EQ(strong_->Created(), 0);
}

TEST_F(SandboxManagerTest, StrictModeGivesTheStrongerSandbox) {
  EXPECT_EQ(Manager().Choose("weak").value()->Name(), "native");
  EXPECT_EQ(Manager(policy::SecurityMode::kPermissive).Choose("weak").value()->Name(), "weak");
  EXPECT_EQ(Manager().Choose("auto").value()->Name(), "native");
}

TEST_F(SandboxManagerTest, AnUnknownSandboxIsUnsupported) {
  const auto chosen = Manager().Choose("moon");
  ASSERT_FALSE(chosen.has_value());
  EXPECT_EQ(chosen.error().code, base::Code::kUnsupportedBackend);
}

}  // namespace
}  // namespace skerry::engine

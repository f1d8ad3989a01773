#include "engine/sandbox_manager.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
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
    auto weak = std::make_unique<FakeBackend>(core::Strength::kProcess, "weak");
    auto strong = std::make_unique<FakeBackend>(core::Strength::kNamespaces, "native");
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

// A backend whose sandboxes call a function with themselves when they end.
class PartingBackend : public FakeBackend {
 public:
  using OnEnd = std::function<void(const core::Sandbox&)>;
  explicit PartingBackend(OnEnd on_end)
      : FakeBackend(core::Strength::kNamespaces, "native"), on_end_(std::move(on_end)) {}

  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override {
    SKERRY_ASSIGN_OR_RETURN(auto sandbox, FakeBackend::Create(spec));
    return std::make_unique<Parting>(std::move(sandbox), on_end_);
  }

 private:
  class Parting : public core::Sandbox {
   public:
    Parting(std::unique_ptr<core::Sandbox> sandbox, OnEnd on_end)
        : sandbox_(std::move(sandbox)), on_end_(std::move(on_end)) {}
    ~Parting() override { on_end_(*this); }
    base::Status Start(base::Deadline deadline, const std::stop_token& stop) override {
      return sandbox_->Start(deadline, stop);
    }
    base::Result<std::unique_ptr<core::Process>> Launch(core::Command command, core::OutputSink& sink,
                                                        const std::stop_token& stop) override {
      return sandbox_->Launch(std::move(command), sink, stop);
    }
    [[nodiscard]] core::SandboxFiles& files() override { return sandbox_->files(); }
    base::Status Stop(base::Deadline deadline) override { return sandbox_->Stop(deadline); }
    [[nodiscard]] bool IsRunning() const override { return sandbox_->IsRunning(); }
    [[nodiscard]] std::vector<std::string> Degraded() const override { return sandbox_->Degraded(); }

   private:
    std::unique_ptr<core::Sandbox> sandbox_;
    OnEnd on_end_;
  };

  OnEnd on_end_;
};

TEST(WarmSandboxTest, NobodyLooksAtOneThatIsGone) {
  std::atomic<SandboxManager*> manager = nullptr;
  std::atomic<int> ended = 0;
  std::atomic<int> looked_at = 0;
  core::BackendRegistry registry;
  ASSERT_TRUE(registry.Add(std::make_unique<PartingBackend>([&](const core::Sandbox& sandbox) {
    ++ended;
    if (SandboxManager* one = manager)
      one->watched().ForEach([&](const WatchedSandbox& watched) {
        if (watched.sandbox == &sandbox) ++looked_at;
        return std::nullopt;
      });
  })));
  SandboxManager own(registry, {.pool = PoolOptions{.min_instances = 2}});
  manager = &own;
  core::ExecutionRequest request{.code = "echo hello"};
  for (int at = 0; at < 200; ++at) {
    own.warm()->AwaitWarm(core::Preload::kPython, base::Deadline::After(std::chrono::seconds(10)));
    ASSERT_TRUE(own.Execute(request, {}, {}).has_value());
  }
  manager = nullptr;
  EXPECT_GT(ended, 100);
  EXPECT_EQ(looked_at, 0);
}

}  // namespace
}  // namespace skerry::engine

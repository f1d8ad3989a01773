#include "workspace/temporary_workspace.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class TemporaryWorkspaceTest : public testing::Test {
 protected:
  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
};

TEST_F(TemporaryWorkspaceTest, IsPrivateAndBurnedWithItsOwner) {
  std::string path;
  {
    const auto workspace = TemporaryWorkspace::Create((base_ / "a/b").string());
    ASSERT_TRUE(workspace.has_value()) << workspace.error().message;
    path = workspace->path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    std::ofstream(path + "/file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_empty(base_ / "a/b"));
}

TEST_F(TemporaryWorkspaceTest, TwoAreNeverTheSame) {
  const auto one = TemporaryWorkspace::Create(base_.string());
  const auto two = TemporaryWorkspace::Create(base_.string());
  EXPECT_NE(one->path(), two->path());
}

TEST_F(TemporaryWorkspaceTest, ABaseThatOthersCanExchangeIsRefused) {
  fs::create_directory(base_ / "open");
  fs::permissions(base_ / "open", fs::perms::all);
  const auto workspace = TemporaryWorkspace::Create((base_ / "open/runs").string());
  ASSERT_FALSE(workspace.has_value());
  EXPECT_EQ(workspace.error().code, base::Code::kPermissionDenied);
  fs::permissions(base_ / "open", fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_TRUE(TemporaryWorkspace::Create((base_ / "open/runs").string()).has_value());
}

TEST_F(TemporaryWorkspaceTest, ABaseThatIsNotAbsoluteIsRefused) {
  EXPECT_FALSE(TemporaryWorkspace::Create("~/somewhere").has_value());
}

TEST_F(TemporaryWorkspaceTest, ABaseThatIsAFileIsAnErrorThatNamesIt) {
  std::ofstream(base_ / "file") << "x";
  const auto workspace = TemporaryWorkspace::Create((base_ / "file/x").string());
  ASSERT_FALSE(workspace.has_value());
  EXPECT_NE(workspace.error().message.find("file"), std::string::npos);
}

}  // namespace
}  // namespace skerry::workspace

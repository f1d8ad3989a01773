#include "engine/filesystem_rules.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FilesystemRulesTest : public testing::Test {
 protected:
  FilesystemRulesTest() {
    for (const char* name : {"work/sub", "home/cache/fixed", "home/data", "own"}) fs::create_directories(base_ / name);
    for (const char* name : {"work/.env", "work/sub/.env", "work/sub/a.key", "home/data/secret"})
      std::ofstream(base_ / name) << "x";
    options_.home = (base_ / "home").string();
    options_.own_directories = {(base_ / "own").string()};
    fd_.Reset(::open((base_ / "work").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  base::Result<core::SandboxSpec> Spec() {
    auto rules = FilesystemRules::Make(options_, (base_ / "work").string(), fd_.get());
    if (!rules) return std::unexpected(rules.error());
    core::SandboxSpec spec;
    rules->ApplyTo(spec);
    notes_ = rules->notes();
    deny_write_ = rules->deny_write();
    return spec;
  }
  [[nodiscard]] std::string At(const char* name) const { return (base_ / name).string(); }

  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
  base::UniqueFd fd_;
  FilesystemOptions options_;
  std::vector<std::string> notes_;
  base::PathPatterns deny_write_;
};

TEST_F(FilesystemRulesTest, NothingAskedForIsNothingShown) {
  const auto spec = Spec().value();
  EXPECT_THAT(spec.binds, IsEmpty());
  EXPECT_THAT(spec.hidden, IsEmpty());
}

TEST_F(FilesystemRulesTest, AllowedPathsAppearWhereTheyAre) {
  options_.allow_read = {"~/data"};
  options_.allow_write = {At("home/cache"), "relative/means/the/workspace"};
  const auto spec = Spec().value();
  ASSERT_EQ(spec.binds.size(), 2U);
  EXPECT_EQ(spec.binds[0].target, At("home/data"));
  EXPECT_EQ(spec.binds[0].access, core::BindAccess::kReadOnly);
  EXPECT_EQ(spec.binds[1].access, core::BindAccess::kReadWrite);
}

TEST_F(FilesystemRulesTest, ARowThatIsNotUnderstoodIsNamed) {
  options_.protect = {"runs | anywhere | .acme | acme start-up file"};
  EXPECT_TRUE(Spec());
  options_.protect.emplace_back("everything");
  EXPECT_THAT(Spec().error().message, HasSubstr("filesystem.protect: \"everything\""));
}

TEST_F(FilesystemRulesTest, WhatIsNotThereIsNoted) {
  options_.allow_read = {At("nowhere"), At("home/*.none")};
  EXPECT_THAT(Spec().value().binds, IsEmpty());
  EXPECT_EQ(notes_.size(), 2U);
}

TEST_F(FilesystemRulesTest, DangerousPathsMustBeNamedAsSuch) {
  for (const std::string& path : {std::string("/"), std::string("/proc"), std::string("/etc"), At("own")}) {
    options_.allow_read = {path};
    const auto refused = Spec();
    ASSERT_FALSE(refused.has_value()) << path;
    EXPECT_THAT(refused.error().message, HasSubstr("dangerouslyAllow")) << path;
  }
  options_.allow_read = {At("own")};
  options_.dangerously_allow = {At("own")};
  EXPECT_EQ(Spec().value().binds.size(), 1U);
}

TEST_F(FilesystemRulesTest, ASocketIsAWayOut) {
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = At("s");
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  options_.allow_write = {path};
  EXPECT_FALSE(Spec().has_value());
}

TEST_F(FilesystemRulesTest, DeniedReadsAreFoundInTheWorkspaceAndInWhatIsShown) {
  options_.allow_read = {"~/data"};
  options_.deny_read = {".env", "~/data/sec*", "/usr/share/doc", "/nowhere/at/all", At("work/sub/*.key")};
  EXPECT_THAT(Spec().value().hidden,
              UnorderedElementsAre("/workspace/.env", "/workspace/sub/.env", At("home/data/secret"), "/usr/share/doc",
                                   "/workspace/sub/a.key"));
}

TEST_F(FilesystemRulesTest, DeniedWritesAreKeptAtTheCommitOrByTheKernel) {
  options_.allow_write = {"~/cache"};
  options_.deny_write = {"*.key", At("work/sub"), "~/cache/fixed"};
  const auto spec = Spec().value();
  EXPECT_TRUE(deny_write_.Matches("deep/x.key"));
  EXPECT_TRUE(deny_write_.Matches("sub/any"));
  EXPECT_FALSE(deny_write_.Matches("other"));
  ASSERT_EQ(spec.binds.size(), 2U);
  EXPECT_EQ(spec.binds[1].target, At("home/cache/fixed"));
  EXPECT_EQ(spec.binds[1].access, core::BindAccess::kReadOnly);
}

}  // namespace
}  // namespace skerry::engine

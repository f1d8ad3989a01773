#include "workspace/persons_directory.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class PersonsDirectoryTest : public testing::Test {
 protected:
  support::TemporaryDirectory directory_;
  fs::path base_ = directory_.path();
};

TEST_F(PersonsDirectoryTest, IsResolvedToItsRealPath) {
  fs::create_directory(base_ / "project");
  fs::create_directory_symlink(base_ / "project", base_ / "link");
  EXPECT_EQ(OpenPersonsDirectory((base_ / "link/../project/.").string(), {}).value().path,
            (base_ / "project").string());
}

TEST_F(PersonsDirectoryTest, StaysTheSameDirectoryWhateverHappensToItsName) {
  fs::create_directory(base_ / "project");
  const auto opened = OpenPersonsDirectory((base_ / "project").string(), {});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  struct stat before{};
  ASSERT_EQ(::stat((base_ / "project").c_str(), &before), 0);
  fs::rename(base_ / "project", base_ / "moved");
  fs::create_directory_symlink("/etc", base_ / "project");
  struct stat held{};
  ASSERT_EQ(::fstat(opened->fd.get(), &held), 0);
  EXPECT_EQ(held.st_ino, before.st_ino);
}

TEST_F(PersonsDirectoryTest, ALinkToAForbiddenPlaceIsForbiddenToo) {
  fs::create_directory_symlink("/", base_ / "root");
  EXPECT_FALSE(OpenPersonsDirectory((base_ / "root").string(), {}).has_value());
}

TEST_F(PersonsDirectoryTest, TheSystemAndTheTopsAreRefused) {
  for (const char* path : {"/", "/etc", "/usr/local", "/proc/self", "/sys", "/dev/shm", "/home", "/tmp", "/root",
                           "/var/lib", "/var/lib/dpkg", "/var/tmp"}) {
    if (!fs::exists(path)) continue;
    EXPECT_FALSE(OpenPersonsDirectory(path, {}).has_value()) << path;
  }
}

TEST_F(PersonsDirectoryTest, WhatIsSkerrysOwnIsRefusedWithAllAroundIt) {
  fs::create_directories(base_ / "a/own/runs");
  const std::vector<std::string> own = {(base_ / "a/own").string()};
  for (const char* name : {"a", "a/own", "a/own/runs"})
    EXPECT_FALSE(OpenPersonsDirectory((base_ / name).string(), own).has_value()) << name;
  fs::create_directories(base_ / "a/own-not");
  EXPECT_TRUE(OpenPersonsDirectory((base_ / "a/own-not").string(), own).has_value());
}

TEST_F(PersonsDirectoryTest, AFileOrNothingIsRefused) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_FALSE(OpenPersonsDirectory((base_ / "file").string(), {}).has_value());
  EXPECT_FALSE(OpenPersonsDirectory((base_ / "none").string(), {}).has_value());
  EXPECT_FALSE(OpenPersonsDirectory("", {}).has_value());
}

}  // namespace
}  // namespace skerry::workspace

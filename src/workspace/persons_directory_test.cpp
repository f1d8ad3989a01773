#include "workspace/persons_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class PersonsDirectoryTest : public testing::Test {
 protected:
  PersonsDirectoryTest() {
    std::string name = (fs::temp_directory_path() / "skerry-persons-XXXXXX").string();
    base_ = fs::canonical(::mkdtemp(name.data()));
  }
  ~PersonsDirectoryTest() override { fs::remove_all(base_); }
  fs::path base_;
};

TEST_F(PersonsDirectoryTest, IsResolvedToItsRealPath) {
  fs::create_directory(base_ / "project");
  fs::create_directory_symlink(base_ / "project", base_ / "link");
  EXPECT_EQ(ResolvePersonsDirectory((base_ / "link/../project/.").string()).value(), (base_ / "project").string());
}

TEST_F(PersonsDirectoryTest, ALinkToAForbiddenPlaceIsForbiddenToo) {
  fs::create_directory_symlink("/", base_ / "root");
  EXPECT_FALSE(ResolvePersonsDirectory((base_ / "root").string()).has_value());
}

TEST_F(PersonsDirectoryTest, TheSystemAndTheTopsAreRefused) {
  for (const char* path : {"/", "/etc", "/usr/local", "/proc/self", "/sys", "/dev/shm", "/home", "/tmp", "/root"})
    if (fs::exists(path)) {
      EXPECT_FALSE(ResolvePersonsDirectory(path).has_value()) << path;
    }
}

TEST_F(PersonsDirectoryTest, AFileOrNothingIsRefused) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_FALSE(ResolvePersonsDirectory((base_ / "file").string()).has_value());
  EXPECT_FALSE(ResolvePersonsDirectory((base_ / "none").string()).has_value());
  EXPECT_FALSE(ResolvePersonsDirectory("").has_value());
}

}  // namespace
}  // namespace skerry::workspace

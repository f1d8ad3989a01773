#include "config/config_file.hpp"

#include <sys/stat.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/scratch_home.hpp"

namespace skerry::config {
namespace {

using testing::HasSubstr;

TEST(ConfigFileTest, ReadsEveryByte) {
  const ScratchHome home;
  const std::string text("a\0b\n", 4);
  home.Write(text);
  EXPECT_EQ(ReadConfigFile(home.config_path()).value(), text);
}

TEST(ConfigFileTest, MissingFileIsNothing) {
  const ScratchHome home;
  EXPECT_EQ(ReadConfigFile(home.config_path()).value(), std::nullopt);
}

TEST(ConfigFileTest, DirectoryIsRefused) {
  const ScratchHome home;
  EXPECT_THAT(ReadConfigFile(home.path()).error().message, HasSubstr(home.path() + ": is a directory"));
}

TEST(ConfigFileTest, FifoIsRefusedWithoutWaiting) {
  const ScratchHome home;
  ASSERT_EQ(::mkfifo(home.config_path().c_str(), 0600), 0);
  EXPECT_THAT(ReadConfigFile(home.config_path()).error().message, HasSubstr("is not a regular file"));
}

TEST(ConfigFileTest, DeviceIsRefused) {
  EXPECT_THAT(ReadConfigFile("/dev/zero").error().message, HasSubstr("is not a regular file"));
}

TEST(ConfigFileTest, PathThroughAFileIsRefused) {
  const ScratchHome home;
  home.Write("{}");
  EXPECT_THAT(ReadConfigFile(home.config_path() + "/x").error().message, HasSubstr("cannot be read: "));
}

TEST(ConfigFileTest, SizeIsLimitedToTheByte) {
  const ScratchHome home;
  home.Write(std::string(kMaxFileBytes, ' '));
  EXPECT_TRUE(ReadConfigFile(home.config_path()).has_value());
  home.Write(std::string(kMaxFileBytes + 1, ' '));
  EXPECT_THAT(ReadConfigFile(home.config_path()).error().message, HasSubstr("too large, allowed are 1048576 bytes"));
}

}  // namespace
}  // namespace skerry::config

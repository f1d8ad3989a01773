#include "os/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace skerry::os {
namespace {

TEST(FilesTest, ReadsFilesOfTheKernelWhoseSizeIsZero) {
  const auto text = ReadFile("/proc/self/status", 1 << 16);
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find("Pid:"), std::string::npos);
}

TEST(FilesTest, RefusesMoreThanTheLimit) {
  const auto text = ReadFile("/dev/zero", 1000);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, base::Code::kTooLarge);
}

TEST(FilesTest, NamesTheFileThatIsNotThere) {
  const auto text = ReadFile("/nowhere/at/all", 10);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, base::Code::kNotFound);
  EXPECT_NE(text.error().message.find("/nowhere/at/all"), std::string::npos);
}

TEST(FilesTest, ALinkIsReadAndWhatIsNoneIsToldFromWhatIsNotThere) {
  EXPECT_EQ(ReadLink(AT_FDCWD, "/proc/self/cwd").value_or(""), std::filesystem::current_path());
  EXPECT_EQ(ReadLink(AT_FDCWD, "/proc/self/status").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(ReadLink(AT_FDCWD, "/nowhere/at/all").error().code, base::Code::kNotFound);
}

TEST(FilesTest, SealedMemoryHoldsItsBytesAndCannotBeChanged) {
  const std::string bytes("print(1)\0x", 10);
  const auto fd = SealedMemory(bytes);
  ASSERT_TRUE(fd.has_value());
  EXPECT_LT(::pwrite(fd->get(), "X", 1, 0), 0);
  EXPECT_LT(::ftruncate(fd->get(), 0), 0);
  const auto read = ReadAll(fd->get(), 100);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, bytes);
}

}  // namespace
}  // namespace skerry::os

#include "bench/docker_image.hpp"

#include <unistd.h>

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LibrariesInTest, AreThePathsThatLddNames) {
  EXPECT_THAT(LibrariesIn("\tlinux-vdso.so.1 (0x00007ffd)\n"
                          "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1e)\n"
                          "\tlibgone.so => not found\n"
                          "\t/lib64/ld-linux-x86-64.so.2 (0x00007f1f)\n"),
              ElementsAre("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"));
  EXPECT_THAT(LibrariesIn("\tnot a dynamic executable\n"), IsEmpty());
  EXPECT_THAT(LibrariesIn(""), IsEmpty());
}

TEST(ImageFilesTest, AllExistAndNoneIsThereTwice) {
  auto files = ImageFiles(std::nullopt);
  EXPECT_THAT(files, Contains("/bin/sh"));
  for (const std::string& file : files) EXPECT_EQ(::access(file.c_str(), R_OK), 0) << file;
  EXPECT_EQ(std::ranges::adjacent_find(files), files.end());
}

}  // namespace
}  // namespace skerry::bench

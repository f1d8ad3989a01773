#include "os/file_writers.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"

namespace skerry::os {
namespace {

class FileWritersTest : public testing::Test {
 protected:
  FileWritersTest() : writer_(::mkstemp(name_.data())), reader_(::open(name_.c_str(), O_RDONLY | O_CLOEXEC)) {
    ::unlink(name_.c_str());
    EXPECT_EQ(::ftruncate(writer_.get(), 4096), 0);
  }

  std::string name_ = "/tmp/skerry-test-XXXXXX";
  base::UniqueFd writer_;
  base::UniqueFd reader_;
};

TEST_F(FileWritersTest, WhoHasItOpenForWritingIsSeen) {
  EXPECT_TRUE(MayHaveWriters(reader_.get()));
  writer_.Reset();
  EXPECT_FALSE(MayHaveWriters(reader_.get()));
}

TEST_F(FileWritersTest, AMappingIsSeenWithoutItsDescriptor) {
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer_.get(), 0);
  ASSERT_NE(shared, MAP_FAILED);
  writer_.Reset();
  EXPECT_TRUE(MayHaveWriters(reader_.get()));
  ASSERT_EQ(::munmap(shared, 4096), 0);
  EXPECT_FALSE(MayHaveWriters(reader_.get()));
}

TEST_F(FileWritersTest, ReadersAreNoWriters) {
  const base::UniqueFd second(::fcntl(reader_.get(), F_DUPFD_CLOEXEC, 0));
  writer_.Reset();
  EXPECT_FALSE(MayHaveWriters(reader_.get()));
}

TEST_F(FileWritersTest, WhatIsNotKnownCountsAsOne) {
  EXPECT_TRUE(MayHaveWriters(-1));
}

}  // namespace
}  // namespace skerry::os

#include "base/unique_fd.hpp"

#include <fcntl.h>

#include <utility>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

bool IsOpen(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

UniqueFd OpenNull() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFdTest, ClosesAtTheEndOfItsScope) {
  int fd = -1;
  {
    UniqueFd owner = OpenNull();
    fd = owner.get();
    ASSERT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(UniqueFdTest, MovingHandsOverOwnership) {
  UniqueFd first = OpenNull();
  const int fd = first.get();
  UniqueFd second = std::move(first);
  EXPECT_EQ(second.get(), fd);
  EXPECT_TRUE(IsOpen(fd));
}

TEST(UniqueFdTest, MoveAssignmentClosesWhatWasOwned) {
  UniqueFd first = OpenNull();
  const int fd = first.get();
  first = OpenNull();
  EXPECT_NE(first.get(), fd);
  EXPECT_FALSE(IsOpen(fd));
}

TEST(UniqueFdTest, ReleaseKeepsTheDescriptorOpen) {
  UniqueFd owner = OpenNull();
  const int fd = owner.Release();
  EXPECT_FALSE(owner.valid());
  EXPECT_TRUE(IsOpen(fd));
  ::close(fd);
}

}  // namespace
}  // namespace skerry::base

#include "os/owned_name.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::os {
namespace {

constexpr char kPrefix[] = "skerry-";

TEST(OwnedNameTest, IsAliveAsLongAsItsMaker) {
  const std::string name = OwnedName(kPrefix);
  EXPECT_TRUE(name.starts_with(kPrefix));
  EXPECT_EQ(StateOfOwner(name, kPrefix), OwnerState::kAlive);
}

TEST(OwnedNameTest, TwoAreNeverTheSame) {
  EXPECT_NE(OwnedName(kPrefix), OwnedName(kPrefix));
}

TEST(OwnedNameTest, IsDeadWithItsMakerEvenBeforeThatIsReaped) {
  auto pipe = Pipe::Create().value();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string name = OwnedName(kPrefix);
    (void)!::write(pipe.write_end.get(), name.data(), name.size());
    ::_exit(0);
  }
  siginfo_t information{};
  ::waitid(P_PID, static_cast<id_t>(child), &information, WEXITED | WNOWAIT);
  std::array<char, 256> buffer{};
  const ssize_t size = ::read(pipe.read_end.get(), buffer.data(), buffer.size());
  ASSERT_GT(size, 0);
  const std::string name(buffer.data(), static_cast<std::size_t>(size));
  EXPECT_EQ(StateOfOwner(name, kPrefix), OwnerState::kDead);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(StateOfOwner(name, kPrefix), OwnerState::kDead);
}

TEST(OwnedNameTest, APidThatWasGivenAgainIsNoOwner) {
  const std::string name = OwnedName(kPrefix);
  const auto start = name.rfind('-', name.rfind('-') - 1);
  EXPECT_EQ(StateOfOwner(name.substr(0, start + 1) + "1-abc", kPrefix), OwnerState::kDead);
}

TEST(OwnedNameTest, WhatSomebodyElseNamedIsLeftAlone) {
  for (const char* name : {"skerry-abc", "skerry-", "skerry-1-2", "skerry-1-2-3", "skerry-1-2-3-", "other-1-2-3-x",
                           "skerry-99-1-7-x", "skerry-x-1-2-3"})
    EXPECT_EQ(StateOfOwner(name, kPrefix), OwnerState::kUnknown) << name;
}

}  // namespace
}  // namespace skerry::os

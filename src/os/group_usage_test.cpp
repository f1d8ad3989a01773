#include "os/group_usage.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "os/pipe.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::os {
namespace {

using std::chrono_literals::operator""ms;

// Plain files take the place of the kernel's.
class GroupUsageTest : public testing::Test {
 protected:
  void Write(const std::string& name, std::string_view text) { std::ofstream(directory_.path() / name) << text; }
  [[nodiscard]] GroupPlace Place(CgroupVersion version) const { return {version, directory_.path().string()}; }

  support::TemporaryDirectory directory_;
  const GroupPlace first_ = Place(CgroupVersion::kOne);
  const GroupPlace second_ = Place(CgroupVersion::kTwo);
};

TEST_F(GroupUsageTest, MemoryIsReadWithTheNamesOfEachVersion) {
  Write("memory.usage_in_bytes", "4096\n");
  Write("memory.current", "8192\n");
  EXPECT_EQ(MemoryOf(first_), 4096U);
  EXPECT_EQ(MemoryOf(second_), 8192U);
}

TEST_F(GroupUsageTest, WhatCanBeDroppedIsThatOfTheWholeGroup) {
  Write("memory.stat", "inactive_anon 1\ninactive_file 7\nactive_file 2\ntotal_inactive_file 4096\n");
  EXPECT_EQ(DroppableMemoryOf(first_), 4096U);  // version 1 counts the groups below apart
  EXPECT_EQ(DroppableMemoryOf(second_), 7U);
}

TEST_F(GroupUsageTest, AFigureFarBehindInItsFileIsFound) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "something_else_" + std::to_string(i) + " 18446744073709551615\n";
  Write("memory.stat", text + "inactive_file 12\n");
  EXPECT_EQ(DroppableMemoryOf(second_), 12U);
}

TEST_F(GroupUsageTest, TimeIsInNanosecondsWhicheverVersionCountsIt) {
  Write("cpuacct.usage", "1500000\n");
  Write("cpu.stat", "usage_usec 2500\nuser_usec 2000\nsystem_usec 500\nnr_periods 0\n");
  EXPECT_EQ(CpuTimeOf(first_), std::chrono::microseconds(1'500));
  EXPECT_EQ(CpuTimeOf(second_), std::chrono::microseconds(2'500));
}

TEST_F(GroupUsageTest, ProcessesAndThreadsAreReadWithOneName) {
  Write("pids.current", "23\n");
  EXPECT_EQ(TasksOf(first_), 23U);
  EXPECT_EQ(TasksOf(second_), 23U);
}

TEST_F(GroupUsageTest, AGroupThatIsGoneHasNoFigures) {
  for (const GroupPlace& place : {first_, second_}) {
    EXPECT_FALSE(MemoryOf(place).has_value());
    EXPECT_FALSE(DroppableMemoryOf(place).has_value());
    EXPECT_FALSE(CpuTimeOf(place).has_value());
    EXPECT_FALSE(TasksOf(place).has_value());
  }
}

TEST_F(GroupUsageTest, WhatIsNoFigureIsNone) {
  Write("memory.current", "max\n");
  Write("pids.current", "");
  Write("cpu.stat", "usage_usecs 1\nnr_periods 2\n");
  EXPECT_FALSE(MemoryOf(second_).has_value());
  EXPECT_FALSE(TasksOf(second_).has_value());
  EXPECT_FALSE(CpuTimeOf(second_).has_value());
}

TEST(KeyedNumberTest, AKeyIsAWholeWordAtTheStartOfItsLine) {
  EXPECT_EQ(KeyedNumber("oom_kill_disable 0\nunder_oom 1\noom_kill 3\n", "oom_kill"), 3U);
  EXPECT_EQ(KeyedNumber("max 5", "max"), 5U);
  EXPECT_FALSE(KeyedNumber("max\nmaximum 5\n", "max").has_value());
  EXPECT_FALSE(KeyedNumber("", "max").has_value());
}

TEST(NetworkUseTest, AllInterfacesButTheLoopbackAreAddedUp) {
  const NetworkUse use = ParseNetworkUse(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
      "compressed\n"
      "    lo: 9000 9 0 0 0 0 0 0 9000 9 0 0 0 0 0 0\n"
      "  eth0: 100 1 0 0 0 0 0 0 20 2 0 0 0 0 0 0\n"
      "veth12:7 1 0 0 0 0 0 0 8 2 0 0 0 0 0 0\n");
  EXPECT_EQ(use.received_bytes, 107U);
  EXPECT_EQ(use.sent_bytes, 28U);
  EXPECT_EQ(use.interfaces, 2U);
}

TEST(NetworkUseTest, OneOfThisProcessCanBeReadAndOneOfNobodyCannot) {
  EXPECT_TRUE(NetworkUseOf(::getpid()).has_value());
  EXPECT_FALSE(NetworkUseOf(0).has_value());
}

// A child that does its work and reports that, then waits to be killed.
class Child {
 public:
  template <class Work>
  explicit Child(Work work) {
    Pipe pipe = Pipe::Create().value();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);
      work();
      (void)!::write(pipe.write_end.get(), "!", 1);
      for (;;) ::pause();
    }
    pipe.write_end.Reset();
    char word = 0;
    EXPECT_EQ(::read(pipe.read_end.get(), &word, 1), 1);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 1) return;
    ::kill(-pid_, SIGKILL);  // with the processes that it started
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] ProcessesUse Use() const { return UseOfProcesses(std::array{pid_}); }

 private:
  pid_t pid_ = 0;
};

void TakeMemory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
}

// The time of this process, in user and system mode.
std::chrono::nanoseconds OwnTime() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void Burn(std::chrono::nanoseconds duration) {
  for (const auto end = OwnTime() + duration; OwnTime() < end;) {
  }
}

TEST(ProcessesUseTest, MemoryIsWhatProcessesHaveForThemselves) {
  if (support::kHasThreadSanitizer) GTEST_SKIP() << "the thread sanitizer keeps a shadow of the memory";
  constexpr std::size_t kBytes = 64U << 20U;
  const Child idle([] {});
  const Child large([] { TakeMemory(kBytes); });
  const std::uint64_t more = large.Use().memory_bytes - idle.Use().memory_bytes;
  EXPECT_NEAR(static_cast<double>(more), static_cast<double>(kBytes), kBytes / 10.0);
}

TEST(ProcessesUseTest, TheTimeOfChildrenThatHaveEndedStaysWithTheirParent) {
  const Child parent([] {
    const pid_t child = ::fork();
    if (child == 0) {
      Burn(150ms);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  });
  EXPECT_GE(parent.Use().cpu_time, 130ms);
}

TEST(ProcessesUseTest, DescendantsAndThreadsCount) {
  if (support::kHasThreadSanitizer) GTEST_SKIP() << "the thread sanitizer starts threads of its own";
  const Child parent([] {
    for (int i = 0; i < 3; ++i)
      if (::fork() == 0)
        for (;;) ::pause();
    for (int i = 0; i < 2; ++i) std::thread([] { ::pause(); }).detach();
  });
  EXPECT_EQ(parent.Use().tasks, 1U + 3U + 2U);
}

TEST(ProcessesUseTest, OneThatIsGoneUsesNothing) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  const ProcessesUse use = UseOfProcesses(std::array{pid});
  EXPECT_EQ(use.tasks, 0U);
  EXPECT_EQ(use.memory_bytes, 0U);
}

}  // namespace
}  // namespace skerry::os

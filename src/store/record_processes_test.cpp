// One record, used by several threads and processes at once, and by some that are killed.
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "store/record_fixture.hpp"

namespace skerry::store {
namespace {

constexpr int kWriters = 4;
constexpr int kEach = 50;

class RecordProcessesTest : public RecordTest {
 protected:
  void SetUp() override { ASSERT_TRUE(Open()->AddSession({.id = "s"})); }

  static bool WriteMany(core::RecordStore& store, int writer) {
    for (int i = 0; i < kEach; ++i) {
      const std::string id = std::to_string(writer) + "-" + std::to_string(i);
      const auto status = Record(store, AnExecution(id), AnEnd({AChange("own-" + id), AChange("shared")}));
      if (!Expect(status.has_value(), status ? "" : status.error().message)) return false;
      if (!Expect(store.ChangesOf(id)->size() == 2, "changes of " + id)) return false;
    }
    return true;
  }

  void ExpectAllThere() {
    const auto store = Open();
    EXPECT_EQ(store->Executions("s", 0, 10'000)->size(), std::size_t{kWriters * kEach});
    EXPECT_TRUE(store->Unfinished("s")->empty());
    EXPECT_EQ(store->VersionsOf("s", "shared")->size(), std::size_t{kWriters * kEach});
    EXPECT_EQ(store->CurrentFiles("s")->size(), std::size_t{kWriters * kEach + 1});
    EXPECT_TRUE(store->Check());
  }
};

TEST_F(RecordProcessesTest, ThreadsShareAStore) {
  const auto store = Open();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < kWriters; ++writer)
      threads.emplace_back([&store, &good, writer] { good += WriteMany(*store, writer) ? 1 : 0; });
  }
  EXPECT_EQ(good, kWriters);
  ExpectAllThere();
}

TEST_F(RecordProcessesTest, StoresOfOneProcessShareAFile) {
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < kWriters; ++writer)
      threads.emplace_back([this, &good, writer] { good += WriteMany(*Open(), writer) ? 1 : 0; });
  }
  EXPECT_EQ(good, kWriters);
  ExpectAllThere();
}

TEST_F(RecordProcessesTest, ProcessesShareAFile) {
  std::array<pid_t, kWriters> children{};
  for (int writer = 0; writer < kWriters; ++writer)
    children[static_cast<std::size_t>(writer)] = StartChild([this, writer] { return WriteMany(*Open(), writer); });
  for (const pid_t child : children) EXPECT_TRUE(EndedWell(child));
  ExpectAllThere();
}

// Commands come and go: a process that closes the record as the last one meets one that opens it.
TEST_F(RecordProcessesTest, ProcessesOpenAndCloseAllTheTime) {
  std::array<pid_t, kWriters> children{};
  for (int writer = 0; writer < kWriters; ++writer)
    children[static_cast<std::size_t>(writer)] = StartChild([this, writer] {
      for (int i = 0; i < kEach; ++i) {
        const std::string id = std::to_string(writer) + "-" + std::to_string(i);
        const auto store = SqliteRecordStore::Open(Path(), {.busy_timeout = std::chrono::seconds(20)});
        if (!Expect(store.has_value(), store ? "" : store.error().message)) return false;
        const auto status = Record(**store, AnExecution(id), AnEnd({AChange("own-" + id), AChange("shared")}));
        if (!Expect(status.has_value(), status ? "" : status.error().message)) return false;
      }
      return true;
    });
  for (const pid_t child : children) EXPECT_TRUE(EndedWell(child));
  ExpectAllThere();
}

TEST_F(RecordProcessesTest, WhatWasAcknowledgedOutlivesAKill) {
  void* memory = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* acknowledged = new (memory) std::atomic<int>(0);
  std::mt19937 random(std::random_device{}());
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    const int before = *acknowledged;
    const pid_t child = StartChild([&] {
      const auto store = Open();
      for (int i = before;; ++i) {
        const std::string id = std::to_string(round) + "-" + std::to_string(i);
        if (!Record(*store, AnExecution(id), AnEnd({AChange(id), AChange("shared")}))) return false;
        *acknowledged = i + 1;
      }
    });
    int status = 0;
    while (*acknowledged == before) ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "the writer failed by itself";
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    const auto store = Open();
    ASSERT_TRUE(store->Check());
    for (int i = before; i < *acknowledged; ++i) {
      const auto found = store->FindExecution(std::to_string(round) + "-" + std::to_string(i));
      ASSERT_TRUE(found && found->state == core::ExecutionState::kDone) << i;
      ASSERT_EQ(store->VersionsOf("s", found->id)->size(), 1U);
    }
  }
  // Of the last execution of each round, all is recorded or nothing.
  for (const auto& execution : Open()->Unfinished("s").value()) EXPECT_TRUE(Open()->ChangesOf(execution.id)->empty());
  EXPECT_GT(*acknowledged, kRounds);
  ::munmap(memory, sizeof(std::atomic<int>));
}

}  // namespace
}  // namespace skerry::store

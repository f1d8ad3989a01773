// The file of the record: used by a daemon and other processes at once, made by an older version, and used by a daemon
// that is killed.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/migrations.hpp"
#include "store/record_schema.hpp"
#include "store/service_fixture.hpp"

namespace skerry::store {
namespace {

using base::Code;
using core::RunState;

constexpr int kThreads = 4;
constexpr int kEach = 50;

class ServiceProcessesTest : public ServiceTest {
 protected:
  // All threads claim `key` at once, each for a run of its own. Gives how many succeeded.
  static int Race(const std::array<core::ServiceStore*, kThreads>& stores, const std::string& key) {
    std::atomic<int> won = 0;
    std::atomic<int> lost = 0;
    std::latch ready(kThreads);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
          const auto run = ARun(key + "-" + std::to_string(i));
          ready.arrive_and_wait();
          const auto begun = stores.at(static_cast<std::size_t>(i))->BeginRun(run, AClaim(key));
          won += begun ? 1 : 0;
          lost += !begun && begun.error().code == Code::kConflict ? 1 : 0;
        });
    }
    EXPECT_EQ(won + lost, kThreads);
    return won;
  }
};

TEST_F(ServiceProcessesTest, OfThreadsWithOneKeyExactlyOneWins) {
  const auto store = OpenService();
  for (int round = 0; round < 20; ++round) {
    std::array<core::ServiceStore*, kThreads> stores{};
    stores.fill(store.get());
    EXPECT_EQ(Race(stores, std::to_string(round)), 1);
  }
  EXPECT_EQ(store->Runs({})->size(), 20U);
}

TEST_F(ServiceProcessesTest, OfConnectionsWithOneKeyExactlyOneWins) {
  std::array<std::unique_ptr<SqliteServiceStore>, kThreads> open;
  std::array<core::ServiceStore*, kThreads> stores{};
  for (std::size_t i = 0; i < kThreads; ++i) stores.at(i) = (open.at(i) = OpenService()).get();
  for (int round = 0; round < 20; ++round) EXPECT_EQ(Race(stores, std::to_string(round)), 1);
  EXPECT_EQ(open[0]->Runs({})->size(), 20U);
}

TEST_F(ServiceProcessesTest, TheRecordAndTheServiceShareAFile) {
  const auto service = OpenService();
  const auto record = Open();
  ASSERT_TRUE(record->AddSession({.id = "s"}));
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < kThreads; ++writer)
      threads.emplace_back([&, writer] {
        for (int i = 0; i < kEach; ++i) {
          const std::string id = std::to_string(writer) + "-" + std::to_string(i);
          if (!service->BeginRun(ARun(id), AClaim(id))) ++failed;
          if (!Record(*record, AnExecution(id), AnEnd({AChange(id)}))) ++failed;
          if (!service->EndRun(id, {.result = {.diff = std::string(3000, 'r')}}, At(1))) ++failed;
        }
      });
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(service->Runs({.state = RunState::kDone, .limit = 1000})->size(), std::size_t{kThreads * kEach});
  EXPECT_EQ(record->Executions("s", 0, 1000)->size(), std::size_t{kThreads * kEach});
  EXPECT_TRUE(service->UnfinishedRuns()->empty());
  EXPECT_TRUE(record->Check());
}

TEST_F(ServiceProcessesTest, AFileOfTheFirstVersionKeepsWhatItHas) {
  {
    std::ofstream{Path()};
    std::filesystem::permissions(Path(), std::filesystem::perms(0600));
    const auto database = Database::Open(Path(), {}).value();
    ASSERT_TRUE(Migrate(*database, RecordMigrations().first(1)));
    ASSERT_TRUE(database->Execute("INSERT INTO sessions(id, created_by, created_at, used_at) VALUES('s', 'me', 5, 6)"));
    ASSERT_TRUE(database->Execute(
        "INSERT INTO executions(id, session, kind, language, asked_by, sandbox, risk, approval, timeout_seconds, "
        "memory_mb, started_at, what_bytes, what_sha256, what) "
        "VALUES('e', 1, 'run', 'python', 'me', 'x', 'low', '', 1, 2, 3, 1, 'h', x'41')"));
  }
  const auto service = OpenService();
  EXPECT_EQ(Database::Open(Path(), {}).value()->Ask("PRAGMA user_version").value(),
            static_cast<std::int64_t>(RecordMigrations().size()));
  ASSERT_TRUE(service->BeginRun(ARun("r"), std::nullopt));
  const auto record = Open();
  EXPECT_EQ(record->FindSession("s")->created_by, "me");
  EXPECT_EQ(record->FindExecution("e")->what, "A");
  EXPECT_TRUE(record->EndExecution("e", AnEnd({AChange("f")})));
  EXPECT_TRUE(record->Check());
}

TEST_F(ServiceProcessesTest, AKilledProcessLeavesItsRunUnfinished) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = StartChild([&] {
    const auto store = OpenService();
    if (!Expect(store->BeginRun(ARun("ended"), AClaim("first")).has_value(), "BeginRun")) return false;
    if (!Expect(store->EndRun("ended", {.result = {.diff = "r"}}, At(1)).has_value(), "EndRun")) return false;
    if (!Expect(store->BeginRun(ARun("running"), AClaim("second")).has_value(), "BeginRun")) return false;
    if (!Expect(::write(ends[1], "x", 1) == 1, "write")) return false;
    while (true) ::pause();
  });
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::close(ends[0]);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));

  const auto store = OpenService();
  const auto unfinished = store->UnfinishedRuns().value();
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished[0].id, "running");
  EXPECT_EQ(unfinished[0].state, RunState::kRunning);
  EXPECT_EQ(store->FindRun("ended")->state, RunState::kDone);
  EXPECT_EQ(store->FindClaim("t", "second")->made, "running");
  ASSERT_TRUE(store->EndRun("running", {.state = RunState::kLost}, At(2)));
  EXPECT_TRUE(store->UnfinishedRuns()->empty());
}

// Killed at any moment, also in the middle of a write: each run that was begun is recorded, with its key, in one state.
TEST_F(ServiceProcessesTest, KillsAtAnyMomentLeaveWholeRuns) {
  for (int round = 0; round < 10; ++round) {
    const pid_t child = StartChild([this, round] {
      const auto store = OpenService();
      for (int i = 0;; ++i) {
        const std::string id = std::to_string(round) + "-" + std::to_string(i);
        if (!Expect(store->BeginRun(ARun(id), AClaim(id)).has_value(), "BeginRun")) return false;
        if (!Expect(store->EndRun(id, {.result = {.diff = "r"}}, At(1)).has_value(), "EndRun")) return false;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + 3 * round));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
    const auto store = OpenService();
    const auto unfinished = store->UnfinishedRuns().value();
    ASSERT_LE(unfinished.size(), 1U);
    for (const auto& run : unfinished) ASSERT_TRUE(store->EndRun(run.id, {.state = RunState::kLost}, At(2)));
  }
  const auto database = Database::Open(Path(), {}).value();
  EXPECT_EQ(database->Ask("SELECT count(*) FROM runs WHERE id NOT IN (SELECT made FROM claims)").value(), 0);
  EXPECT_EQ(database->Ask("SELECT count(*) FROM claims WHERE made NOT IN (SELECT id FROM runs)").value(), 0);
  EXPECT_EQ(
      database->Ask("SELECT count(*) FROM runs WHERE state = 'done' AND json_extract(result, '$.diff') IS NOT 'r'")
          .value(),
      0);
  EXPECT_GT(database->Ask("SELECT count(*) FROM runs").value(), 0);
  EXPECT_TRUE(Open()->Check());
}

}  // namespace
}  // namespace skerry::store

#include "store/sqlite_record_store.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "store/record_fixture.hpp"

namespace skerry::store {
namespace {

using base::Code;
using core::FileAction;
using testing::ElementsAre;
using Which = core::RecordStore::Which;

class SqliteRecordStoreTest : public RecordTest {
 protected:
  void SetUp() override {
    store_ = Open();
    ASSERT_TRUE(store_->AddSession({.id = "s", .created_by = "me", .created_at = At(0), .used_at = At(0)}));
  }

  std::vector<std::string> Ids(std::uint64_t after, std::size_t limit) {
    std::vector<std::string> ids;
    for (const auto& execution : store_->Executions("s", after, limit).value()) ids.push_back(execution.id);
    return ids;
  }

  std::vector<std::string> CurrentPaths() {
    std::vector<std::string> paths;
    for (const auto& file : store_->CurrentFiles("s").value()) paths.push_back(file.change.path);
    return paths;
  }

  std::unique_ptr<SqliteRecordStore> store_;
};

const std::string kAllBytes = [] {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}();

TEST_F(SqliteRecordStoreTest, ASessionComesBackAsItWas) {
  const core::SessionRecord session{
      .id = "other", .created_by = kAllBytes, .created_at = At(5) + std::chrono::microseconds(1), .used_at = At(-9)};
  ASSERT_TRUE(store_->AddSession(session));
  auto found = store_->FindSession("other").value();
  found.unique_id = "";
  EXPECT_EQ(found, session);
}

TEST_F(SqliteRecordStoreTest, TimesAreKeptToTheMicrosecondAlsoBeforeTheEpoch) {
  const core::TimePoint time = core::TimePoint() - std::chrono::nanoseconds(1);
  ASSERT_TRUE(store_->AddSession({.id = "old", .created_at = time, .used_at = core::TimePoint::max()}));
  const auto session = store_->FindSession("old").value();
  EXPECT_EQ(session.created_at, core::TimePoint() - std::chrono::microseconds(1));
  EXPECT_LT(core::TimePoint::max() - session.used_at, std::chrono::microseconds(1));
}

TEST_F(SqliteRecordStoreTest, ASessionThatIsThereIsAConflict) {
  EXPECT_EQ(store_->AddSession({.id = "s"}).error().code, Code::kConflict);
}

TEST_F(SqliteRecordStoreTest, TheLaterUseOfASessionCounts) {
  ASSERT_TRUE(store_->TouchSession("s", At(10)));
  ASSERT_TRUE(store_->TouchSession("s", At(5)));
  EXPECT_EQ(store_->FindSession("s")->used_at, At(10));
}

TEST_F(SqliteRecordStoreTest, SessionsAreListedInTheOrderOfTheirCreation) {
  ASSERT_TRUE(store_->AddSession({.id = "b"}));
  ASSERT_TRUE(store_->AddSession({.id = "a"}));
  ASSERT_TRUE(store_->EndSession("b", At(3)));
  const auto living = store_->Sessions(Which::kLiving).value();
  ASSERT_EQ(living.size(), 2U);
  EXPECT_EQ(living[0].id, "s");
  EXPECT_EQ(living[1].id, "a");
  const auto all = store_->Sessions(Which::kAll).value();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].id, "b");
  EXPECT_EQ(all[1].deleted_at, At(3));
}

TEST_F(SqliteRecordStoreTest, ADeletedSessionKeepsItsHistoryButTakesNothingNew) {
  ASSERT_TRUE(store_->BeginExecution(AnExecution("e1")));
  ASSERT_TRUE(store_->EndSession("s", At(3)));
  EXPECT_TRUE(store_->EndExecution("e1", AnEnd({AChange("f")})));
  EXPECT_THAT(Ids(0, 10), ElementsAre("e1"));
  EXPECT_EQ(store_->FindSession("s")->deleted_at, At(3));
  EXPECT_EQ(store_->BeginExecution(AnExecution("e2")).error().code, Code::kNotFound);
  EXPECT_EQ(store_->TouchSession("s", At(4)).error().code, Code::kNotFound);
  EXPECT_EQ(store_->EndSession("s", At(4)).error().code, Code::kNotFound);
}

TEST_F(SqliteRecordStoreTest, AnIdIsUsedAgainAndTheHistoryOfBothStays) {
  ASSERT_TRUE(store_->SetTenant("s", "a"));
  auto end = AnEnd({AChange("f")});
  end.uses = {{.path = "f"}};
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), end));
  const std::string first = store_->FindSession("s")->unique_id;
  ASSERT_TRUE(store_->EndSession("s", At(3)));
  ASSERT_TRUE(store_->AddSession({.id = "s", .tenant = "b"}));
  EXPECT_EQ(store_->FindSession("s")->deleted_at, std::nullopt);
  EXPECT_EQ(store_->FindSession("s")->tenant, "b");
  EXPECT_THAT(Ids(0, 10), ElementsAre());
  EXPECT_TRUE(CurrentPaths().empty());
  EXPECT_TRUE(store_->VersionsOf("s", "f")->empty());
  // The first session keeps its unique id.
  EXPECT_NE(store_->FindSession("s")->unique_id, first);
  EXPECT_EQ(store_->FindSession(first)->tenant, "a");
  EXPECT_EQ(store_->FindSession(first)->deleted_at, At(3));
  EXPECT_EQ(store_->Executions(first, 0, 10)->size(), 1U);
  EXPECT_EQ(store_->VersionsOf(first, "f")->size(), 1U);
  EXPECT_TRUE(store_->FindExecution("e1"));
  EXPECT_TRUE(store_->Check());
}

TEST_F(SqliteRecordStoreTest, ASessionIsFoundByTheIdThatIsUniqueForEver) {
  const std::string unique = store_->FindSession("s")->unique_id;
  ASSERT_TRUE(store_->BeginExecution(AnExecution("e1")));
  EXPECT_NE(unique, "s");
  EXPECT_EQ(store_->Executions(unique, 0, 10)->size(), 1U);
  EXPECT_EQ(store_->FindSession("s~999").error().code, Code::kNotFound);
  EXPECT_EQ(store_->FindSession("~1").error().code, Code::kNotFound);
}

TEST_F(SqliteRecordStoreTest, SessionsOfANameAreThoseOfATenantOrOfAll) {
  ASSERT_TRUE(store_->AddSession({.id = "s~x1", .tenant = "a"}));
  ASSERT_TRUE(store_->AddSession({.id = "s2", .tenant = "a"}));
  ASSERT_TRUE(store_->AddSession({.id = "s2~x", .tenant = "a"}));
  ASSERT_TRUE(store_->EndSession("s", At(1)));
  ASSERT_TRUE(store_->AddSession({.id = "s", .tenant = "b"}));
  std::vector<std::string> tenants;
  for (const auto& session : store_->SessionsNamed("s", std::nullopt).value()) tenants.push_back(session.tenant);
  EXPECT_THAT(tenants, ElementsAre("b", "a", ""));
  // However often another tenant has taken the name since.
  for (int at = 0; at < 1001; ++at) {
    ASSERT_TRUE(store_->EndSession("s", At(2)));
    ASSERT_TRUE(store_->AddSession({.id = "s", .tenant = "b"}));
  }
  EXPECT_EQ(store_->SessionsNamed("s", "a")->size(), 1U);
  EXPECT_EQ(store_->SessionsNamed("s", "")->size(), 1U);
}

TEST_F(SqliteRecordStoreTest, AnExecutionComesBackAsItBegan) {
  core::ExecutionRecord execution = AnExecution("e1");
  execution.kind = execution.language = execution.by = execution.sandbox = kAllBytes;
  execution.risk = "high";
  execution.approval = "person";
  execution.what = kAllBytes;
  execution.timeout_seconds = std::numeric_limits<std::uint64_t>::max();
  execution.memory_mb = 512;
  execution.caused_by = "e0";
  execution.started_at = At(7) + std::chrono::microseconds(123'456);
  execution.sequence = store_->BeginExecution(execution).value();
  execution.what_bytes = kAllBytes.size();
  execution.what_sha256 = base::Sha256Hex(kAllBytes);
  EXPECT_EQ(store_->FindExecution("e1").value(), execution);
}

TEST_F(SqliteRecordStoreTest, EmptyValuesAreKept) {
  core::ExecutionRecord execution;
  execution.id = "";
  execution.session = "s";
  ASSERT_TRUE(Record(*store_, execution, AnEnd({AChange("")})));
  const auto found = store_->FindExecution("").value();
  EXPECT_EQ(found.what, "");
  EXPECT_FALSE(found.WhatIsCut());
  EXPECT_EQ(store_->ChangesOf("")->front().path, "");
}

TEST_F(SqliteRecordStoreTest, WhatIsTooLongIsCutAndSaysSo) {
  auto execution = AnExecution("e1");
  execution.what = std::string(core::kMaxRecordedWhat - 1, 'x') + "\xC3\xA9" + std::string(5000, 'y');
  ASSERT_TRUE(store_->BeginExecution(execution));
  const auto found = store_->FindExecution("e1").value();
  EXPECT_TRUE(found.WhatIsCut());
  EXPECT_EQ(found.what, std::string(core::kMaxRecordedWhat - 1, 'x')) << "half a character is not kept";
  EXPECT_EQ(found.what_bytes, execution.what.size());
  EXPECT_EQ(found.what_sha256, base::Sha256Hex(execution.what));
}

TEST_F(SqliteRecordStoreTest, WhatIsJustLongEnoughIsWhole) {
  auto execution = AnExecution("e1");
  execution.what = std::string(core::kMaxRecordedWhat, '\xFF');
  ASSERT_TRUE(store_->BeginExecution(execution));
  EXPECT_EQ(store_->FindExecution("e1")->what, execution.what);
}

TEST_F(SqliteRecordStoreTest, TheBeginningTakesNothingOfTheEnd) {
  auto execution = AnExecution("e1");
  execution.state = core::ExecutionState::kDone;
  execution.outcome = "exited";
  execution.ended_at = At(9);
  ASSERT_TRUE(store_->BeginExecution(execution));
  const auto found = store_->FindExecution("e1").value();
  EXPECT_EQ(found.state, core::ExecutionState::kRunning);
  EXPECT_EQ(found.outcome, "");
  EXPECT_EQ(found.ended_at, std::nullopt);
}

TEST_F(SqliteRecordStoreTest, TheEndComesBackAsItWas) {
  ASSERT_TRUE(store_->BeginExecution(AnExecution("e1")));
  core::ExecutionEnd end = AnEnd();
  end.state = core::ExecutionState::kLost;
  end.sandbox = "native";
  end.exit_code = -7;
  end.reason = kAllBytes;
  end.obtain = std::chrono::nanoseconds(1);
  end.run = std::chrono::nanoseconds(2);
  end.finish = std::chrono::nanoseconds::max();
  ASSERT_TRUE(store_->EndExecution("e1", end));
  const auto found = store_->FindExecution("e1").value();
  EXPECT_EQ(found.state, end.state);
  EXPECT_EQ(found.sandbox, "native");
  EXPECT_EQ(found.exit_code, -7);
  EXPECT_EQ(found.reason, kAllBytes);
  EXPECT_EQ(found.ended_at, At(1));
  EXPECT_EQ(found.obtain, end.obtain);
  EXPECT_EQ(found.run, end.run);
  EXPECT_EQ(found.finish, end.finish);
}

TEST_F(SqliteRecordStoreTest, WhatTheEndDoesNotKnowStays) {
  auto execution = AnExecution("e1");
  execution.sandbox = "native";
  execution.risk = "low";
  execution.approval = "policy";
  core::ExecutionEnd end = AnEnd();
  end.risk = "high";
  ASSERT_TRUE(Record(*store_, execution, end));
  const auto found = store_->FindExecution("e1").value();
  EXPECT_EQ(found.sandbox, "native");
  EXPECT_EQ(found.risk, "high");
  EXPECT_EQ(found.approval, "policy");
}

TEST_F(SqliteRecordStoreTest, AnExecutionBeginsAndEndsOnce) {
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), AnEnd({AChange("f")})));
  EXPECT_EQ(store_->BeginExecution(AnExecution("e1")).error().code, Code::kConflict);
  EXPECT_EQ(store_->EndExecution("e1", AnEnd({AChange("g")})).error().code, Code::kConflict);
  EXPECT_THAT(CurrentPaths(), ElementsAre("f"));
  EXPECT_EQ(store_->EndExecution("none", AnEnd()).error().code, Code::kNotFound);
}

TEST_F(SqliteRecordStoreTest, AnEndThatIsNoneIsRefused) {
  ASSERT_TRUE(store_->BeginExecution(AnExecution("e1")));
  core::ExecutionEnd end;
  end.state = core::ExecutionState::kRunning;
  EXPECT_EQ(store_->EndExecution("e1", end).error().code, Code::kInvalidArgument);
}

TEST_F(SqliteRecordStoreTest, SequencesGrowAndAreNeverUsedAgain) {
  const auto first = store_->BeginExecution(AnExecution("e1")).value();
  const auto second = store_->BeginExecution(AnExecution("e2")).value();
  EXPECT_GT(second, first);
  ASSERT_TRUE(store_->EndSession("s", At(1)));
  ASSERT_TRUE(store_->AddSession({.id = "s"}));
  EXPECT_GT(store_->BeginExecution(AnExecution("e3")).value(), second);
}

TEST_F(SqliteRecordStoreTest, ExecutionsComeInPagesAndOfTheirSessionOnly) {
  ASSERT_TRUE(store_->AddSession({.id = "other"}));
  std::vector<std::uint64_t> sequences;
  for (int i = 0; i < 5; ++i) {
    sequences.push_back(store_->BeginExecution(AnExecution("e" + std::to_string(i))).value());
    ASSERT_TRUE(store_->BeginExecution(AnExecution("o" + std::to_string(i), "other")));
  }
  EXPECT_THAT(Ids(0, 2), ElementsAre("e0", "e1"));
  EXPECT_THAT(Ids(sequences[1], 2), ElementsAre("e2", "e3"));
  EXPECT_THAT(Ids(sequences[3], 2), ElementsAre("e4"));
  EXPECT_THAT(Ids(sequences[4], 2), ElementsAre());
  EXPECT_THAT(Ids(0, 0), ElementsAre());
  EXPECT_EQ(Ids(0, std::numeric_limits<std::size_t>::max()).size(), 5U);
  EXPECT_THAT(Ids(std::numeric_limits<std::uint64_t>::max(), 9), ElementsAre());
}

TEST_F(SqliteRecordStoreTest, UnfinishedAreThoseThatRun) {
  ASSERT_TRUE(store_->BeginExecution(AnExecution("e1")));
  ASSERT_TRUE(Record(*store_, AnExecution("e2"), AnEnd()));
  const auto unfinished = store_->Unfinished("s").value();
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished[0].id, "e1");
}

TEST_F(SqliteRecordStoreTest, ChangesAndUsesComeBackAsTheyWere) {
  core::ExecutionEnd end = AnEnd({
      {.path = "z", .action = FileAction::kChanged, .size = std::numeric_limits<std::uint64_t>::max(), .sha256 = "h"},
      {.path = kAllBytes, .kind = core::FileKind::kLink, .mode = 0xFFFFFFFF},
      {.path = "a", .action = FileAction::kRemoved},
  });
  end.uses = {{.path = kAllBytes, .how = core::FileUse::How::kNamed, .sha256 = "x"}, {.path = "b"}};
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), end));
  EXPECT_EQ(store_->ChangesOf("e1").value(), end.changes);
  EXPECT_EQ(store_->UsesOf("e1").value(), end.uses);
}

TEST_F(SqliteRecordStoreTest, CurrentFilesAreTheLastStatesThatAreNotRemoved) {
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), AnEnd({AChange("b"), AChange("a"), AChange("c")})));
  ASSERT_TRUE(Record(*store_, AnExecution("e2"),
                     AnEnd({AChange("b", FileAction::kChanged), AChange("c", FileAction::kRemoved)})));
  EXPECT_THAT(CurrentPaths(), ElementsAre("a", "b"));
  const auto files = store_->CurrentFiles("s").value();
  EXPECT_EQ(files[0].execution, "e1");
  EXPECT_EQ(files[1].execution, "e2");
  EXPECT_EQ(files[1].at, At(1));
  EXPECT_EQ(files[1].change, AChange("b", FileAction::kChanged));
  ASSERT_TRUE(Record(*store_, AnExecution("e3"), AnEnd({AChange("c")})));
  EXPECT_THAT(CurrentPaths(), ElementsAre("a", "b", "c"));
}

TEST_F(SqliteRecordStoreTest, PathsAreSortedByTheirBytes) {
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), AnEnd({AChange("\xFF"), AChange("B"), AChange("a"), AChange("")})));
  EXPECT_THAT(CurrentPaths(), ElementsAre("", "B", "a", "\xFF"));
}

TEST_F(SqliteRecordStoreTest, OfExecutionsThatOverlapTheLastToEndWroteLast) {
  ASSERT_TRUE(store_->BeginExecution(AnExecution("early")));
  ASSERT_TRUE(store_->BeginExecution(AnExecution("late")));
  ASSERT_TRUE(store_->EndExecution("late", AnEnd({AChange("f")})));
  ASSERT_TRUE(store_->EndExecution("early", AnEnd({AChange("f", FileAction::kChanged)})));
  EXPECT_EQ(store_->CurrentFiles("s")->front().execution, "early");
  const auto versions = store_->VersionsOf("s", "f").value();
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0].execution, "late");
  EXPECT_LT(versions[1].sequence, versions[0].sequence);
}

TEST_F(SqliteRecordStoreTest, VersionsAreOfOnePathOfOneSession) {
  ASSERT_TRUE(store_->AddSession({.id = "other"}));
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), AnEnd({AChange("f"), AChange("ff")})));
  ASSERT_TRUE(Record(*store_, AnExecution("e2", "other"), AnEnd({AChange("f")})));
  const auto versions = store_->VersionsOf("s", "f").value();
  ASSERT_EQ(versions.size(), 1U);
  EXPECT_EQ(versions[0].change, AChange("f"));
  EXPECT_TRUE(store_->VersionsOf("s", "nothing")->empty());
}

TEST_F(SqliteRecordStoreTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(store_->FindSession("x").error().code, Code::kNotFound);
  EXPECT_EQ(store_->Executions("x", 0, 1).error().code, Code::kNotFound);
  EXPECT_EQ(store_->FindExecution("x").error().code, Code::kNotFound);
  EXPECT_EQ(store_->Unfinished("x").error().code, Code::kNotFound);
  EXPECT_EQ(store_->ChangesOf("x").error().code, Code::kNotFound);
  EXPECT_EQ(store_->UsesOf("x").error().code, Code::kNotFound);
  EXPECT_EQ(store_->VersionsOf("x", "f").error().code, Code::kNotFound);
  EXPECT_EQ(store_->CurrentFiles("x").error().code, Code::kNotFound);
  EXPECT_EQ(store_->BeginExecution(AnExecution("e", "x")).error().code, Code::kNotFound);
}

TEST_F(SqliteRecordStoreTest, EverythingIsThereAfterOpeningAgain) {
  ASSERT_TRUE(Record(*store_, AnExecution("e1"), AnEnd({AChange("f")})));
  store_.reset();
  store_ = Open();
  EXPECT_THAT(Ids(0, 9), ElementsAre("e1"));
  EXPECT_THAT(CurrentPaths(), ElementsAre("f"));
  EXPECT_TRUE(store_->Check());
}

}  // namespace
}  // namespace skerry::store

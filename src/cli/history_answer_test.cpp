#include "cli/history_answer.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/history_json.hpp"

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""s;

core::ExecutionRecord AnExecution() {
  return {.id = "e1",
          .sequence = 7,
          .session = "s",
          .kind = "run",
          .what = "print(\xff)",
          .what_bytes = 8,
          .what_sha256 = "ab",
          .language = "python",
          .by = "somebody",
          .sandbox = "native",
          .risk = "low",
          .approval = "a person",
          .caused_by = "e0",
          .state = core::ExecutionState::kDone,
          .outcome = "exited",
          .exit_code = 3,
          .reason = "why",
          .started_at = core::TimePoint(1'700'000'000s),
          .ended_at = core::TimePoint(1'700'000'002s) + std::chrono::milliseconds(345)};
}

core::FileChange AChange(const std::string& path, core::FileAction action) {
  if (action == core::FileAction::kRemoved) return {.path = path, .action = action};
  return {.path = path, .action = action, .size = 5, .mode = 0640, .sha256 = "cd"};
}

TEST(HistoryAnswerTest, WhatTheDaemonTellsOfAnExecutionIsWhatItHas) {
  core::HistoryEntry entry{.execution = AnExecution()};
  entry.changes = {AChange("new\n\xfe", core::FileAction::kCreated), AChange("b", core::FileAction::kChanged),
                   AChange("c", core::FileAction::kRemoved)};
  entry.uses = {{.path = "in", .how = core::FileUse::How::kNamed, .sha256 = "ef"}};
  EXPECT_EQ(HistoryEntryFrom(json::HistoryToJson(std::span(&entry, 1))[0]), entry);
}

TEST(HistoryAnswerTest, WhatRunsHasNoEnd) {
  core::HistoryEntry entry{.execution = AnExecution()};
  entry.execution.state = core::ExecutionState::kRunning;
  entry.execution.ended_at.reset();
  entry.execution.outcome.clear();
  entry.execution.exit_code = 0;
  EXPECT_EQ(HistoryEntryFrom(json::HistoryToJson(std::span(&entry, 1))[0]), entry);
}

TEST(HistoryAnswerTest, ASourceOfAFileHasTheNumberOfWhatMadeIt) {
  core::FileVersion source{.execution = "e0", .sequence = 6, .at = core::TimePoint(1'700'000'000s)};
  source.change = AChange("in", core::FileAction::kCreated);
  core::FileVersion made{.execution = "e1", .sequence = 7, .at = core::TimePoint(1'700'000'001s)};
  made.change = AChange("out", core::FileAction::kCreated);
  core::FileHistory history{.path = "out", .cut = true};
  history.versions.push_back({.version = made,
                              .execution = AnExecution(),
                              .sources = {{.use = {.path = "in"}, .made = source}, {.use = {.path = "other"}}}});
  history.origins.push_back({.version = source, .execution = AnExecution()});
  const core::FileHistory told = FileHistoryFrom(json::FileHistoryToJson(history));
  EXPECT_EQ(told.path, "out");
  EXPECT_TRUE(told.cut);
  EXPECT_EQ(told.origins, history.origins);
  ASSERT_EQ(told.versions.size(), 1U);
  EXPECT_EQ(told.versions[0].version, made);
  ASSERT_EQ(told.versions[0].sources.size(), 2U);
  ASSERT_TRUE(told.versions[0].sources[0].made);
  EXPECT_EQ(told.versions[0].sources[0].made->sequence, 6U);
  EXPECT_FALSE(told.versions[0].sources[1].made);
}

TEST(HistoryAnswerTest, WhatIsNoRecordAtAllIsEmpty) {
  EXPECT_TRUE(HistoryEntryFrom(nlohmann::ordered_json("x")).changes.empty());
  EXPECT_TRUE(FileHistoryFrom(nlohmann::ordered_json::array()).versions.empty());
}

}  // namespace
}  // namespace skerry::cli

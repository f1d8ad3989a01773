#include "json/history_json.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::json {
namespace {

using std::chrono::milliseconds;

core::HistoryEntry Entry() {
  core::HistoryEntry entry;
  core::ExecutionRecord& execution = entry.execution;
  execution.id = "x-1";
  execution.sequence = 7;
  execution.session = "s";
  execution.kind = "run";
  execution.what = "print 1";
  execution.what_bytes = 7;
  execution.what_sha256 = "d";
  execution.language = "python";
  execution.by = "me";
  execution.sandbox = "native";
  execution.risk = "low";
  execution.timeout_seconds = 30;
  execution.memory_mb = 512;
  execution.caused_by = "x-0";
  execution.state = core::ExecutionState::kDone;
  execution.outcome = "exited";
  execution.exit_code = 3;
  execution.started_at = core::TimePoint(milliseconds(1'700'000'000'123));
  execution.ended_at = core::TimePoint(milliseconds(1'700'000'001'000));
  execution.obtain = std::chrono::microseconds(1500);
  execution.run = milliseconds(20);
  entry.changes = {
      {.path = "new", .size = 3, .mode = 0644, .sha256 = "a"},
      {.path = "link", .action = core::FileAction::kChanged, .kind = core::FileKind::kLink, .sha256 = "b"},
      {.path = "gone", .action = core::FileAction::kRemoved},
  };
  entry.uses = {{.path = "in", .how = core::FileUse::How::kNamed, .sha256 = "c"}};
  return entry;
}

nlohmann::ordered_json JsonOf(const core::HistoryEntry& entry) {
  return HistoryToJson(std::span(&entry, 1)).at(0);
}

TEST(HistoryJsonTest, AnEntryHasTheseNames) {
  EXPECT_EQ(
      JsonOf(Entry()).dump(),
      R"({"id":"x-1","sequence":7,"session":"s","kind":"run","what":"print 1","what_bytes":7,"what_sha256":"d",)"
      R"("what_truncated":false,"language":"python","by":"me","sandbox":"native","risk":"low","approval":null,)"
      R"("limits":{"timeout_s":30,"memory_mb":512},"caused_by":"x-0","state":"done","outcome":"exited",)"
      R"("exit_code":3,"reason":null,"started_at":"2023-11-14T22:13:20.123Z","ended_at":"2023-11-14T22:13:21.000Z",)"
      R"("timings_ms":{"obtain":1.5,"run":20.0,"finish":0.0},)"
      R"("files":{"created":[{"path":"new","kind":"file","size":3,"sha256":"a","mode":"0644"}],)"
      R"("changed":[{"path":"link","kind":"link","size":0,"sha256":"b","mode":"0000"}],)"
      R"("removed":[{"path":"gone","kind":"file"}]},"uses":[{"path":"in","how":"named","sha256":"c"}]})");
}

TEST(HistoryJsonTest, WhatRunsHasNoEnd) {
  core::HistoryEntry entry;
  const auto object = JsonOf(entry);
  EXPECT_EQ(object["state"], "running");
  for (const char* name : {"outcome", "exit_code", "reason", "ended_at", "caused_by"})
    EXPECT_TRUE(object[name].is_null()) << name;
  EXPECT_TRUE(object["files"]["created"].empty() && object["files"]["created"].is_array());
}

TEST(HistoryJsonTest, NamesThatAreNoTextStayDistinguishable) {
  core::HistoryEntry entry = Entry();
  entry.changes = {{.path = "a\xFF"}, {.path = "a\xFE"}, {.path = "a\n\"\xC3\xA9"}};
  entry.uses = {{.path = "\xC0"}};
  entry.execution.what = "\x80";
  entry.execution.reason = entry.execution.by = entry.execution.id = "\xFF";
  const auto object = nlohmann::json::parse(JsonOf(entry).dump());
  const auto& created = object["files"]["created"];
  EXPECT_EQ(created[0]["path"], created[1]["path"]);
  EXPECT_EQ(created[0]["path_base64"], "Yf8=");
  EXPECT_EQ(created[1]["path_base64"], "Yf4=");
  EXPECT_EQ(created[2]["path"], "a\n\"\xC3\xA9");
  EXPECT_FALSE(created[2].contains("path_base64"));
  EXPECT_EQ(object["uses"][0]["path_base64"], "wA==");
  EXPECT_EQ(object["what_base64"], "gA==");
}

TEST(HistoryJsonTest, CodeThatWasCutSaysSo) {
  core::HistoryEntry entry = Entry();
  entry.execution.what_bytes = 1000;
  EXPECT_EQ(JsonOf(entry)["what_truncated"], true);
}

TEST(HistoryJsonTest, Sessions) {
  const core::SessionRecord session{.id = "s", .created_by = "me", .created_at = core::TimePoint(milliseconds(1))};
  EXPECT_EQ(SessionsToJson(std::span(&session, 1)).dump(),
            R"([{"id":"s","created_by":"me","created_at":"1970-01-01T00:00:00.001Z",)"
            R"("used_at":"1970-01-01T00:00:00.000Z","deleted_at":null}])");
  EXPECT_EQ(SessionsToJson({}).dump(), "[]");
}

TEST(HistoryJsonTest, AFileTellsWhatItWasMadeFrom) {
  core::FileStep step;
  step.version = {.execution = "x-2", .sequence = 2, .change = {.path = "out"}};
  step.execution.id = "x-2";
  step.sources = {{.use = {.path = "in"}, .made = core::FileVersion{.execution = "x-1"}}, {.use = {.path = "other"}}};
  const core::FileHistory history{.path = "out", .versions = {step}, .cut = true};
  const auto object = FileHistoryToJson(history);
  EXPECT_EQ(object["path"], "out");
  EXPECT_EQ(object["versions"][0]["execution"], "x-2");
  EXPECT_EQ(object["versions"][0]["action"], "created");
  EXPECT_EQ(object["versions"][0]["made_by"]["id"], "x-2");
  EXPECT_EQ(object["versions"][0]["from"][0]["execution"], "x-1");
  EXPECT_TRUE(object["versions"][0]["from"][1]["execution"].is_null());
  EXPECT_EQ(object["origins"].dump(), "[]");
  EXPECT_EQ(object["origins_truncated"], true);
}

TEST(HistoryJsonTest, FilesThatAreThere) {
  const core::FileVersion file{.execution = "x", .sequence = 4, .change = {.path = "f", .size = 1}};
  EXPECT_EQ(FilesToJson(std::span(&file, 1))[0]["sequence"], 4);
}

TEST(Rfc3339Test, KnownValues) {
  EXPECT_EQ(Rfc3339(core::TimePoint()), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(Rfc3339(core::TimePoint(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(Rfc3339(core::TimePoint(std::chrono::microseconds(951'782'400'999'999))), "2000-02-29T00:00:00.999Z");
  EXPECT_EQ(Rfc3339(core::TimePoint::max()).size(), 24U);
}

}  // namespace
}  // namespace skerry::json

#include "json/history_json.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "json/bytes.hpp"
#include "json/execution_json.hpp"

namespace skerry::json {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(base::ToValidUtf8(text));
}

Json TimeOrNull(const std::optional<core::TimePoint>& time) {
  return time ? Json(Rfc3339(*time)) : Json(nullptr);
}

// Rounded to the microsecond.
double Milliseconds(std::chrono::nanoseconds time) {
  constexpr double kNanosecondsInMicrosecond = 1000;
  constexpr double kMicrosecondsInMillisecond = 1000;
  return std::round(static_cast<double>(time.count()) / kNanosecondsInMicrosecond) / kMicrosecondsInMillisecond;
}

std::string Octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%04o", mode))};
}

Json ChangeToJson(const core::FileChange& change) {
  Json object;
  AddBytes(object, "path", change.path);
  object["kind"] = core::NameOf(change.kind);
  if (change.action == core::FileAction::kRemoved) return object;
  object["size"] = change.size;
  object["sha256"] = TextOrNull(change.sha256);
  object["mode"] = Octal(change.mode);
  return object;
}

Json ChangesToJson(const std::vector<core::FileChange>& changes) {
  Json object;
  for (const auto action : {core::FileAction::kCreated, core::FileAction::kChanged, core::FileAction::kRemoved}) {
    Json array = Json::array();
    for (const core::FileChange& change : changes)
      if (change.action == action) array.push_back(ChangeToJson(change));
    object[std::string(core::NameOf(action))] = std::move(array);
  }
  return object;
}

Json UseToJson(const core::FileUse& use) {
  Json object;
  AddBytes(object, "path", use.path);
  object["how"] = core::NameOf(use.how);
  object["sha256"] = TextOrNull(use.sha256);
  return object;
}

Json VersionToJson(const core::FileVersion& version) {
  Json object = ChangeToJson(version.change);
  object["action"] = core::NameOf(version.change.action);
  object["execution"] = base::ToValidUtf8(version.execution);
  object["sequence"] = version.sequence;
  object["at"] = Rfc3339(version.at);
  return object;
}

Json SourceToJson(const core::FileSource& source) {
  Json object = UseToJson(source.use);
  object["execution"] = source.made ? Json(base::ToValidUtf8(source.made->execution)) : Json(nullptr);
  return object;
}

Json StepsToJson(const std::vector<core::FileStep>& steps) {
  Json array = Json::array();
  for (const core::FileStep& step : steps) {
    Json object = VersionToJson(step.version);
    object["made_by"] = ExecutionToJson(step.execution);
    object["from"] = Json::array();
    for (const core::FileSource& source : step.sources) object["from"].push_back(SourceToJson(source));
    array.push_back(std::move(object));
  }
  return array;
}

void AddEnd(Json& object, const core::ExecutionRecord& execution) {
  const bool done = execution.state == core::ExecutionState::kDone;
  object["state"] = core::NameOf(execution.state);
  object["outcome"] = TextOrNull(execution.outcome);
  object["exit_code"] = done ? Json(execution.exit_code) : Json(nullptr);
  object["reason"] = TextOrNull(execution.reason);
  object["started_at"] = Rfc3339(execution.started_at);
  object["ended_at"] = TimeOrNull(execution.ended_at);
  object["timings_ms"] = {{"obtain", Milliseconds(execution.obtain)},
                          {"run", Milliseconds(execution.run)},
                          {"finish", Milliseconds(execution.finish)}};
}

}  // namespace

std::string Rfc3339(core::TimePoint time) {
  using std::chrono::floor;
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(floor<std::chrono::milliseconds>(time - day));
  std::array<char, 64> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

Json SessionsToJson(std::span<const core::SessionRecord> sessions) {
  Json array = Json::array();
  for (const core::SessionRecord& session : sessions) {
    Json object;
    object["id"] = base::ToValidUtf8(session.id);
    object["created_by"] = TextOrNull(session.created_by);
    object["created_at"] = Rfc3339(session.created_at);
    object["used_at"] = Rfc3339(session.used_at);
    object["deleted_at"] = TimeOrNull(session.deleted_at);
    array.push_back(std::move(object));
  }
  return array;
}

Json ExecutionToJson(const core::ExecutionRecord& execution) {
  Json object;
  object["id"] = base::ToValidUtf8(execution.id);
  object["sequence"] = execution.sequence;
  object["session"] = base::ToValidUtf8(core::NameOfSession(execution.session));
  object["kind"] = base::ToValidUtf8(execution.kind);
  AddBytes(object, "what", execution.what);
  object["what_bytes"] = execution.what_bytes;
  object["what_sha256"] = TextOrNull(execution.what_sha256);
  object["what_truncated"] = execution.WhatIsCut();
  object["language"] = TextOrNull(execution.language);
  object["by"] = TextOrNull(execution.by);
  object["sandbox"] = TextOrNull(execution.sandbox);
  object["risk"] = TextOrNull(execution.risk);
  if (!execution.digest.empty()) object["digest"] = execution.digest;
  object["approval"] = TextOrNull(execution.approval);
  object["limits"] = {{"timeout_s", execution.timeout_seconds}, {"memory_mb", execution.memory_mb}};
  object["caused_by"] = TextOrNull(execution.caused_by);
  AddEnd(object, execution);
  return object;
}

Json HistoryToJson(std::span<const core::HistoryEntry> entries) {
  Json array = Json::array();
  for (const core::HistoryEntry& entry : entries) {
    Json object = ExecutionToJson(entry.execution);
    object["files"] = ChangesToJson(entry.changes);
    if (entry.changes_total > entry.changes.size()) object["files_total"] = entry.changes_total;
    if (entry.execution.left_out != 0) object["files_left_out"] = entry.execution.left_out;
    object["uses"] = Json::array();
    for (const core::FileUse& use : entry.uses) object["uses"].push_back(UseToJson(use));
    array.push_back(std::move(object));
  }
  return array;
}

Json FileHistoryToJson(const core::FileHistory& history) {
  Json object;
  AddBytes(object, "path", history.path);
  object["versions"] = StepsToJson(history.versions);
  object["origins"] = StepsToJson(history.origins);
  object["origins_truncated"] = history.cut;
  return object;
}

Json FilesToJson(std::span<const core::FileVersion> files) {
  Json array = Json::array();
  for (const core::FileVersion& file : files) array.push_back(VersionToJson(file));
  return array;
}

}  // namespace skerry::json

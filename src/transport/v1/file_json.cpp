#include "transport/v1/file_json.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/utf8.hpp"
#include "json/bytes.hpp"
#include "json/history_json.hpp"

namespace skerry::transport::v1 {
namespace {

// Each text as an object, which has a place for its exact bytes.
Json BytesToJson(const std::string& name, std::span<const std::string> texts) {
  Json array = Json::array();
  for (const std::string& text : texts) {
    Json object;
    json::AddBytes(object, name, text);
    array.push_back(std::move(object));
  }
  return array;
}

Json MatchToJson(const workspace::SearchMatch& match) {
  Json object;
  json::AddBytes(object, "path", match.path);
  if (match.line == 0) return object;
  object["line"] = match.line;
  object["column"] = match.column;
  json::AddBytes(object, "text", match.text);
  object["text_column"] = match.text_column;
  object["before"] = BytesToJson("text", match.before);
  object["behind"] = BytesToJson("text", match.behind);
  return object;
}

}  // namespace

std::string Octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%04o", mode))};
}

Json EntryToJson(const workspace::Entry& entry) {
  Json object;
  json::AddBytes(object, "path", entry.path);
  object["kind"] = workspace::NameOf(entry.kind);
  object["size"] = entry.kind == workspace::EntryKind::kFile ? Json(entry.size) : Json(nullptr);
  object["mode"] = Octal(entry.mode);
  object["changed_at"] = json::Rfc3339(entry.changed_at);
  object["target"] = nullptr;
  if (entry.kind == workspace::EntryKind::kLink) json::AddBytes(object, "target", entry.target);
  return object;
}

Json ChangeToJson(const core::FileChange& change) {
  const bool removed = change.action == core::FileAction::kRemoved;
  Json object;
  json::AddBytes(object, "path", change.path);
  object["action"] = core::NameOf(change.action);
  object["kind"] = core::NameOf(change.kind);
  object["size"] = removed ? Json(nullptr) : Json(change.size);
  object["mode"] = removed ? Json(nullptr) : Json(Octal(change.mode));
  object["sha256"] = change.sha256.empty() ? Json(nullptr) : Json(change.sha256);
  return object;
}

Json ChangesToJson(std::span<const core::FileChange> changes) {
  Json array = Json::array();
  for (const core::FileChange& change : changes) array.push_back(ChangeToJson(change));
  return array;
}

void AddFirstChanges(Json& object, const std::string& name, std::span<const core::FileChange> changes) {
  object[name] = ChangesToJson(changes.first(std::min(changes.size(), kMostNamed)));
  if (changes.size() > kMostNamed) object[name + "_total"] = changes.size();
}

Json NoticeToJson(const core::FileNotice& notice) {
  Json object;
  json::AddBytes(object, "path", notice.path);
  object["reason"] = base::ToValidUtf8(notice.reason);
  return object;
}

Json LinesToJson(const workspace::Lines& lines) {
  Json object;
  json::AddBytes(object, "text", lines.text);
  object["first"] = lines.first;
  object["count"] = lines.count;
  object["more"] = lines.more;
  return object;
}

Json EditedToJson(const workspace::AgentWorkspace::Edited& edited) {
  return {{"replacements", edited.report.replacements},
          {"insertions", edited.report.insertions},
          {"change", edited.change ? ChangeToJson(*edited.change) : Json(nullptr)}};
}

Json SearchToJson(const workspace::SearchResult& result, const std::optional<std::string>& next_cursor) {
  Json matches = Json::array();
  for (const workspace::SearchMatch& match : result.matches) matches.push_back(MatchToJson(match));
  return {{"matches", std::move(matches)},
          {"files_searched", result.files_searched},
          {"binary_files", result.binary_files},
          {"large_files", result.large_files},
          {"closed", result.closed},
          {"complete", result.complete()},
          {"end", workspace::TextOf(result.end)},
          {"next_cursor", next_cursor ? Json(*next_cursor) : Json(nullptr)}};
}

Json ImportToJson(const workspace::ImportReport& report) {
  const std::span skipped = std::span(report.skipped).first(std::min(report.skipped.size(), kMostNamed));
  Json object = {{"entries", report.entries}, {"bytes", report.bytes}};
  AddFirstChanges(object, "changes", report.changes);
  object["skipped"] = BytesToJson("path", skipped);
  if (skipped.size() < report.skipped.size()) object["skipped_total"] = report.skipped.size();
  return object;
}

}  // namespace skerry::transport::v1

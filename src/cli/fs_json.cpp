#include "cli/fs_json.hpp"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "json/execution_json.hpp"
#include "json/history_json.hpp"

namespace skerry::cli {

using Json = nlohmann::ordered_json;

void AddBytes(Json& object, const std::string& name, const std::string& bytes) {
  object[name] = base::ToValidUtf8(bytes);
  if (!base::IsValidUtf8(bytes)) object[name + "_base64"] = json::Base64(bytes);
}

std::string Octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%04o", mode))};
}

Json EntryToJson(const workspace::Entry& entry) {
  Json object;
  AddBytes(object, "path", entry.path);
  object["kind"] = workspace::NameOf(entry.kind);
  object["size"] = entry.kind == workspace::EntryKind::kFile ? Json(entry.size) : Json(nullptr);
  object["mode"] = Octal(entry.mode);
  object["changed_at"] = json::Rfc3339(entry.changed_at);
  object["target"] = nullptr;
  if (entry.kind == workspace::EntryKind::kLink) AddBytes(object, "target", entry.target);
  return object;
}

Json ChangeToJson(const core::FileChange& change) {
  const bool removed = change.action == core::FileAction::kRemoved;
  Json object;
  AddBytes(object, "path", change.path);
  object["action"] = core::NameOf(change.action);
  object["kind"] = core::NameOf(change.kind);
  object["size"] = removed ? Json(nullptr) : Json(change.size);
  object["mode"] = removed ? Json(nullptr) : Json(Octal(change.mode));
  object["sha256"] = change.sha256.empty() ? Json(nullptr) : Json(change.sha256);
  return object;
}

Json ChangesToJson(const std::vector<core::FileChange>& changes) {
  Json array = Json::array();
  for (const core::FileChange& change : changes) array.push_back(ChangeToJson(change));
  return array;
}

}  // namespace skerry::cli

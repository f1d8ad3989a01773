// The JSON forms of the file routes' answers, with the names of json/history_json for the same things.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "transport/v1/api.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/archive_import.hpp"
#include "workspace/search.hpp"

namespace skerry::transport::v1 {

// "0644"
std::string Octal(std::uint32_t mode);

Json EntryToJson(const workspace::Entry& entry);
Json ChangeToJson(const core::FileChange& change);
Json ChangesToJson(std::span<const core::FileChange> changes);
// Adds the first changes; an answer that does not have all says how many there are.
inline constexpr std::size_t kMostNamed = 1000;
void AddFirstChanges(Json& object, const std::string& name, std::span<const core::FileChange> changes);
Json NoticeToJson(const core::FileNotice& notice);
Json LinesToJson(const workspace::Lines& lines);
Json EditedToJson(const workspace::AgentWorkspace::Edited& edited);
Json SearchToJson(const workspace::SearchResult& result, const std::optional<std::string>& next_cursor);
Json ImportToJson(const workspace::ImportReport& report);

}  // namespace skerry::transport::v1

// The JSON form of what `skerry fs` tells about files, with the names of json/history_json.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/record.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::cli {

// Bytes that are no UTF-8 become U+FFFD, and then the exact ones are in `<name>_base64`.
void AddBytes(nlohmann::ordered_json& object, const std::string& name, const std::string& bytes);

nlohmann::ordered_json EntryToJson(const workspace::Entry& entry);
nlohmann::ordered_json ChangeToJson(const core::FileChange& change);
nlohmann::ordered_json ChangesToJson(const std::vector<core::FileChange>& changes);

// "0644"
std::string Octal(std::uint32_t mode);

}  // namespace skerry::cli

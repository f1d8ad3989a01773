// The JSON form of the record: what was done in a session, where a file comes from.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/history.hpp"

namespace skerry::json {

// 2026-11-16T11:37:52.123Z: UTC, to the millisecond.
std::string Rfc3339(core::TimePoint time);

// Valid JSON whatever files are called and code holds: bytes that are no UTF-8 become U+FFFD, and then the exact bytes
// are in `path_base64` or `what_base64`. Unknown values are null.
nlohmann::ordered_json SessionsToJson(std::span<const core::SessionRecord> sessions);
nlohmann::ordered_json HistoryToJson(std::span<const core::HistoryEntry> entries);
nlohmann::ordered_json ExecutionToJson(const core::ExecutionRecord& execution);
// The states of the file, each with the execution that made it and from what; then the origins in the same form.
nlohmann::ordered_json FileHistoryToJson(const core::FileHistory& history);
// The existing files, each with the execution that made its present state.
nlohmann::ordered_json FilesToJson(std::span<const core::FileVersion> files);

}  // namespace skerry::json

// Reading answers of the daemon. A field that is missing, or of another kind, counts as empty: a newer daemon may send
// more, and an older one less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/record.hpp"

namespace skerry::cli {

std::string TextIn(const nlohmann::ordered_json& object, const char* name);
// The exact bytes of a name or a piece of output: `name_base64` where there is one.
std::string BytesIn(const nlohmann::ordered_json& object, const char* name);
std::uint64_t NumberIn(const nlohmann::ordered_json& object, const char* name);
bool FlagIn(const nlohmann::ordered_json& object, const char* name);
// An array; empty when there is none.
const nlohmann::ordered_json& ListIn(const nlohmann::ordered_json& object, const char* name);
// Another object; empty when there is none.
const nlohmann::ordered_json& ObjectIn(const nlohmann::ordered_json& object, const char* name);

// 2026-11-16T11:37:52.123Z
std::optional<core::TimePoint> TimeIn(const nlohmann::ordered_json& object, const char* name);

// A FileChange of the contract.
core::FileChange ChangeFrom(const nlohmann::ordered_json& object);
std::vector<core::FileChange> ChangesFrom(const nlohmann::ordered_json& array);

}  // namespace skerry::cli

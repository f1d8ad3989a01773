// The record of a session, from the daemon's JSON to the types of core.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/history.hpp"

namespace skerry::cli {

// A HistoryEntry of the contract. Missing fields count as unknown.
core::HistoryEntry HistoryEntryFrom(const nlohmann::ordered_json& object);

// A FileHistory of the contract. A source that an execution made has its number if the answer has that execution too.
core::FileHistory FileHistoryFrom(const nlohmann::ordered_json& object);

}  // namespace skerry::cli

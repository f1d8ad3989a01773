// The record of a session as the daemon tells it, in the words of core.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/history.hpp"

namespace skerry::cli {

// A HistoryEntry of the contract. What is missing is as if nobody knew.
core::HistoryEntry HistoryEntryFrom(const nlohmann::ordered_json& object);

// A FileHistory of the contract. A source that an execution made has its number where that execution is told too.
core::FileHistory FileHistoryFrom(const nlohmann::ordered_json& object);

}  // namespace skerry::cli

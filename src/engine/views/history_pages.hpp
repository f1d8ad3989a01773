// Parts of a session's record that fit into an answer: each execution may hold a megabyte of code and name any number
// of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/history.hpp"

namespace skerry::engine {

struct HistoryPage {
  std::vector<core::HistoryEntry> entries;
  std::optional<std::uint64_t> next;  // for `after`; nothing on the last page
};

// Up to `range.limit` executions, fewer when they are large: the page ends with the one that exceeds `most_bytes`.
base::Result<HistoryPage> LoadHistoryPage(core::RecordStore& store, const std::string& session,
                                          const core::HistoryRange& range,
                                          std::size_t most_bytes = std::size_t{2} << 20U);

// For a drawing: with the beginning of the code only. kTooLarge when there are more than `most_parts` executions and
// files together.
base::Result<std::vector<core::HistoryEntry>> LoadHistoryOutline(core::RecordStore& store, const std::string& session,
                                                                 const core::HistoryRange& range,
                                                                 std::size_t most_parts = 100'000);

// kTooLarge for a file with more than `most_versions` states. Code beyond `most_code` bytes in all is cut.
base::Result<core::FileHistory> LoadFileHistoryPart(core::RecordStore& store, const std::string& session,
                                                    const std::string& path, std::size_t most_versions = 1000,
                                                    std::size_t most_code = std::size_t{8} << 20U);

}  // namespace skerry::engine

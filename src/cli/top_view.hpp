// What skerry top shows: samples in, rows out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/sparkline.hpp"
#include "confirm/code_view.hpp"
#include "core/backend.hpp"
#include "core/record.hpp"

namespace skerry::cli {

// A Sandbox of the contract.
struct SandboxReading {
  std::string session;    // "" for a run of its own
  std::string execution;  // of a run of its own
  std::string tenant;
  std::string state;
  std::string what;
  std::optional<core::TimePoint> started;
  double cpu_percent = 0;
  std::uint64_t cpu_limit_percent = 0;  // 0: none, as for all limits
  std::uint64_t memory = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t pids = 0;
  std::uint64_t pids_limit = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  std::uint64_t disk = 0;
  std::uint64_t disk_limit = 0;
  std::vector<double> recent_cpu;
  std::vector<double> recent_memory;
  std::vector<std::string> alerts;

  // The id of the session, else of the run.
  [[nodiscard]] const std::string& id() const { return session.empty() ? execution : session; }
};
std::vector<SandboxReading> ReadingsFrom(const nlohmann::ordered_json& items);

enum class TopSort { kCpu, kMemory, kPids, kDisk, kNetwork, kAge };
// "cpu", "memory", "pids", "disk", "network" or "age".
std::optional<TopSort> ParseTopSort(std::string_view name);
// The largest first, the oldest for kAge; equal ones by name.
void SortReadings(std::vector<SandboxReading>& readings, TopSort sort);

struct TopPage {
  enum class Kind { kTable, kDetails, kHelp };
  Kind kind = Kind::kTable;
  TopSort sort = TopSort::kCpu;
  std::string selected = {};                  // the id of a sandbox
  std::optional<std::uint64_t> waiting = {};  // approvals; nothing when the number is not known
  std::string notice = {};                    // in the last row
  core::TimePoint now = {};
  core::TerminalSize size = {};  // 0 rows: as many as needed
  confirm::Colour colour = confirm::Colour::kNone;
  GraphLetters letters = GraphLetters::kAscii;
};
// At most size.rows rows, none wider than size.columns, without newlines. `readings` are sorted.
std::vector<std::string> TopRows(const std::vector<SandboxReading>& readings, const TopPage& page);

}  // namespace skerry::cli

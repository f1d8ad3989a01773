// The form of the audit: how a line is made from an entry, and read back. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace skerry::watch {

inline constexpr std::size_t kHashDigits = 64;
// What stands in the first line for the hash of a line before it.
inline constexpr std::string_view kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";
// Record numbers stay below this, so that every reader of JSON has them exactly.
inline constexpr std::uint64_t kNumbersEnd = std::uint64_t{1} << 53U;

struct AuditEntry {
  std::uint64_t number = 0;
  std::chrono::system_clock::time_point at;
  std::string event;
};

// The number and hash of the last record: the next record follows it.
struct AuditHead {
  std::uint64_t number = 0;
  std::string hash = std::string(kNoHash);
  bool operator==(const AuditHead&) const = default;
};

struct AuditText {
  std::string line;  // with its newline
  std::string hash;
};

// Printable ASCII whatever is in `details`, so that a line is a record for every reader and moves no cursor. Names of
// details that the common fields have already get a `_` behind them.
AuditText MakeAuditLine(const AuditEntry& entry, const nlohmann::ordered_json& details, std::string_view previous);

// The fields of a line, which is given without its newline. Borrows the text.
struct AuditLine {
  std::uint64_t number = 0;
  std::string_view event;  // as it is written: with JSON's escapes
  std::string_view previous;
  std::string_view hash;
  bool holds = false;  // the hash is that of the text
};
// Nothing for a line that has not the form of a record.
std::optional<AuditLine> ReadAuditLine(std::string_view line);

// The text of the head file. All have the same length, so that one write replaces another whole.
std::string HeadText(const AuditHead& head);
std::optional<AuditHead> ReadHeadText(std::string_view text);

// "00000007.jsonl"
std::string AuditFileName(std::uint64_t number);
std::optional<std::uint64_t> AuditFileNumber(std::string_view name);

}  // namespace skerry::watch

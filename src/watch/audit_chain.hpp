// The form of the audit: how a line is made and what a line says. Pure.
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
// What the first line has for the hash of the one before.
inline constexpr std::string_view kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";
// Numbers stay below it, so that every reader of JSON has them exactly.
inline constexpr std::uint64_t kNumbersEnd = std::uint64_t{1} << 53U;

struct AuditEntry {
  std::uint64_t number = 0;
  std::chrono::system_clock::time_point at;
  std::string event;
};

// The last record: where the chain goes on.
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

// What a line says of itself, without its newline. Borrows the text.
struct AuditLine {
  std::uint64_t number = 0;
  std::string_view event;  // as it is written: with JSON's escapes
  std::string_view previous;
  std::string_view hash;
  bool holds = false;  // the hash is that of the text
};
// Nothing for what has not the form of a record.
std::optional<AuditLine> ReadAuditLine(std::string_view line);

// Always as long as any other, so that one write replaces the other.
std::string HeadText(const AuditHead& head);
std::optional<AuditHead> ReadHeadText(std::string_view text);

// "00000007.jsonl"
std::string AuditFileName(std::uint64_t number);
std::optional<std::uint64_t> AuditFileNumber(std::string_view name);

}  // namespace skerry::watch

#include "watch/audit_chain.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"

namespace skerry::watch {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBegin = R"({"number":)";
constexpr std::string_view kAt = R"(,"at":")";
constexpr std::string_view kEvent = R"(","event":")";
constexpr std::string_view kPrevious = R"(,"previous":")";
constexpr std::string_view kHash = R"(,"hash":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kNumberDigits = 20;  // of the number in the head
constexpr int kFileDigits = 8;
constexpr std::string_view kFileEnd = ".jsonl";

// 2026-11-16T11:37:52.123456Z
std::string Rfc3339Microseconds(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - whole).count();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%06dZ", static_cast<int>(rest));
  return std::string(day.data()) + fraction.data();
}

void AddDetails(Json& record, const Json& details) {
  for (const auto& [name, value] : details.items()) {
    std::string free = name;
    while (free == "previous" || free == "hash" || record.contains(free)) free += '_';
    record[free] = value;
  }
}

bool IsPrintableAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return byte >= ' ' && byte <= '~'; });
}

// Reads a number as MakeAuditLine writes it: no sign, no leading zero.
std::optional<std::uint64_t> ReadNumber(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (number >= kNumbersEnd || std::to_string(number) != digits) return std::nullopt;
  return number;
}

// Takes `fixed` off the front of `text`; false when `text` begins otherwise.
bool TakeFront(std::string_view& text, std::string_view fixed) {
  if (!text.starts_with(fixed)) return false;
  text.remove_prefix(fixed.size());
  return true;
}

// Takes `begin`, a hash and `end` off the back of `text`. Gives the hash, or "" when `text` ends otherwise.
std::string_view TakeHash(std::string_view& text, std::string_view begin, std::string_view end) {
  const std::size_t length = begin.size() + kHashDigits + end.size();
  if (text.size() < length || !text.ends_with(end)) return {};
  const std::string_view part = text.substr(text.size() - length);
  const std::string_view hash = part.substr(begin.size(), kHashDigits);
  if (!part.starts_with(begin) || !base::IsSha256Hex(hash)) return {};
  text.remove_suffix(length);
  return hash;
}

}  // namespace

AuditText MakeAuditLine(const AuditEntry& entry, const Json& details, std::string_view previous) {
  Json record = {{"number", entry.number}, {"at", Rfc3339Microseconds(entry.at)}, {"event", entry.event}};
  AddDetails(record, details);
  record["previous"] = previous;
  AuditText made{.line = record.dump(-1, ' ', true, Json::error_handler_t::replace)};
  made.line.pop_back();
  made.hash = base::Sha256Hex(made.line);
  made.line.append(kHash).append(made.hash).append(kEnd).append("\n");
  return made;
}

std::optional<AuditLine> ReadAuditLine(std::string_view line) {
  std::string_view rest = line;
  if (!IsPrintableAscii(line) || !TakeFront(rest, kBegin)) return std::nullopt;
  AuditLine read;
  read.hash = TakeHash(rest, kHash, kEnd);
  read.previous = TakeHash(rest, kPrevious, "\"");
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const auto number = ReadNumber(rest.substr(0, comma));
  if (read.hash.empty() || read.previous.empty() || number.value_or(0) == 0) return std::nullopt;
  read.number = *number;
  rest.remove_prefix(comma);
  const std::size_t event = rest.find(kEvent);
  if (!rest.starts_with(kAt) || event == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(event + kEvent.size());
  read.event = rest.substr(0, rest.find('"'));
  read.holds = base::Sha256Hex(line.substr(0, line.size() - kHash.size() - kHashDigits - kEnd.size())) == read.hash;
  return read;
}

std::string HeadText(const AuditHead& head) {
  std::string number = std::to_string(head.number);
  number.insert(0, kNumberDigits - std::min(kNumberDigits, number.size()), '0');
  return number + " " + head.hash + "\n";
}

std::optional<AuditHead> ReadHeadText(std::string_view text) {
  if (text.size() != kNumberDigits + 1 + kHashDigits + 1 || text[kNumberDigits] != ' ' || !text.ends_with('\n'))
    return std::nullopt;
  std::string_view digits = text.substr(0, kNumberDigits);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), kNumberDigits - 1));
  const auto number = ReadNumber(digits);
  const std::string_view hash = text.substr(kNumberDigits + 1, kHashDigits);
  if (!number || !base::IsSha256Hex(hash)) return std::nullopt;
  return AuditHead{*number, std::string(hash)};
}

std::string AuditFileName(std::uint64_t number) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%0*llu", kFileDigits, static_cast<unsigned long long>(number));
  return std::string(name.data()).append(kFileEnd);
}

std::optional<std::uint64_t> AuditFileNumber(std::string_view name) {
  if (name.size() != kFileDigits + kFileEnd.size() || !name.ends_with(kFileEnd)) return std::nullopt;
  name.remove_suffix(kFileEnd.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace skerry::watch

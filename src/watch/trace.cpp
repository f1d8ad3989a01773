#include "watch/trace.hpp"

#include <algorithm>
#include <cstddef>

#include "base/ids.hpp"

namespace skerry::watch {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kTraceparentBytes = 55;  // of version 00
constexpr std::size_t kTracestateBytes = 512;

bool IsHexadecimal(std::string_view text) {
  return text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool IsId(std::string_view text) {
  return IsHexadecimal(text) && text.find_first_not_of('0') != std::string_view::npos;
}

// Version 00 ends after the flags; a later version may go on, behind a dash.
bool HasTheLengthOf(std::string_view version, std::string_view text) {
  if (text.size() == kTraceparentBytes) return true;
  return version != "00" && text.size() > kTraceparentBytes && text[kTraceparentBytes] == '-';
}

// 16 digits, not all zero: zero means that there is no id.
std::string RandomDigits() {
  std::uint64_t random = 0;
  while (random == 0) random = base::RandomU64();
  std::string digits;
  for (std::size_t i = 0; i < kSpanDigits; ++i, random >>= 4U) digits += kDigits[random & 0xFU];
  return digits;
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(std::string_view text) {
  if (text.size() < kTraceparentBytes) return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, kTraceDigits);
  const std::string_view span = text.substr(36, kSpanDigits);
  const std::string_view flags = text.substr(53, 2);
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  if (!IsHexadecimal(version) || version == "ff" || !HasTheLengthOf(version, text)) return std::nullopt;
  if (!IsId(trace) || !IsId(span) || !IsHexadecimal(flags)) return std::nullopt;
  const bool sampled = kDigits.find(flags.back()) % 2 == 1;
  return TraceContext{.trace_id = std::string(trace), .span_id = std::string(span), .sampled = sampled, .state = {}};
}

std::string FormatTraceparent(const TraceContext& context) {
  if (!context.valid()) return "";
  return "00-" + context.trace_id + "-" + context.span_id + (context.sampled ? "-01" : "-00");
}

std::string CleanTracestate(std::string_view text) {
  const auto printable = [](char byte) { return byte >= ' ' && byte <= '~'; };
  return text.size() <= kTracestateBytes && std::ranges::all_of(text, printable) ? std::string(text) : "";
}

TraceContext NewTrace() {
  return {.trace_id = RandomDigits() + RandomDigits(), .span_id = RandomDigits(), .sampled = true, .state = {}};
}

TraceContext ChildOf(const TraceContext& parent) {
  if (!parent.valid()) return NewTrace();
  TraceContext child = parent;
  while (child.span_id == parent.span_id) child.span_id = RandomDigits();
  return child;
}

}  // namespace skerry::watch

// Traces by the W3C's trace context: which request caused what, and what took how long.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::watch {

// The place of a request, or of a part of one, in its trace.
struct TraceContext {
  std::string trace_id;  // 32 hexadecimal digits, not all zero; empty: none
  std::string span_id;   // 16
  bool sampled = true;
  std::string state;  // `tracestate` as it came; empty for none

  [[nodiscard]] bool valid() const { return !trace_id.empty(); }
};

// Reads the header `traceparent`. Nothing for a text that is not well-formed; then a new trace begins. A later version
// than 00 is read as version 00 is.
std::optional<TraceContext> ParseTraceparent(std::string_view text);
// The header `traceparent`, in version 00; "" where there is no trace.
std::string FormatTraceparent(const TraceContext& context);
// The header `tracestate` if it is harmless (printable, up to 512 bytes), else "".
std::string CleanTracestate(std::string_view text);
// A new trace.
TraceContext NewTrace();
// A part of the parent: the same trace, another span. Without a parent trace a new trace.
TraceContext ChildOf(const TraceContext& parent);

struct Span {
  std::string name;
  TraceContext context;
  std::string parent_id;  // empty for a root
  enum class Kind { kInternal, kServer } kind = Kind::kInternal;
  std::chrono::system_clock::time_point begin;
  std::chrono::system_clock::time_point end;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string error;  // empty when it went well
};

}  // namespace skerry::watch

// Traces by the W3C's trace context: who asked for what, and what took how long.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::watch {

// Of a request or a part of one.
struct TraceContext {
  std::string trace_id;  // 32 hexadecimal digits, not all zero; empty: none
  std::string span_id;   // 16
  bool sampled = true;
  std::string state;  // `tracestate` as it came; empty for none

  [[nodiscard]] bool valid() const { return !trace_id.empty(); }
};

// Of the header `traceparent`. Nothing for what is not well-formed (then a trace of its own begins). A later version
// than 00 is read as that one reads it.
std::optional<TraceContext> ParseTraceparent(std::string_view text);
// Version 00; "" where there is no trace.
std::string FormatTraceparent(const TraceContext& context);
// The header `tracestate` if it is harmless (printable, up to 512 bytes), else "".
std::string CleanTracestate(std::string_view text);
// A trace of its own.
TraceContext NewTrace();
// A part of it: the same trace, another span. Of none: a trace of its own.
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

// SpanExporter: sends spans to a tracing system (OTLP over HTTP, JSON).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "watch/background.hpp"
#include "watch/post.hpp"
#include "watch/trace.hpp"

namespace skerry::watch {

struct SpanExporterOptions {
  std::string endpoint;  // "http://collector:4318"; "/v1/traces" is added unless it ends in that
  std::vector<std::pair<std::string, std::string>> headers;
  std::string service = "skerry";
  std::string version;
  std::size_t max_waiting = 4'096;  // further spans are dropped, and counted
  std::size_t batch = 256;
  std::chrono::milliseconds pause{1'000};  // between batches that are not full
  std::chrono::milliseconds timeout{10'000};
};

// The body of an ExportTraceServiceRequest.
std::string EncodeSpans(std::span<const Span> spans, const std::string& service, const std::string& version);

struct SpanStatistics {
  std::uint64_t exported = 0;
  std::uint64_t dropped = 0;
};

// Thread-safe. Spans that cannot be sent are tried again three times, with growing pauses, on the exporter's own
// thread, and then dropped. Spans that the server refuses for good are dropped at once.
class SpanExporter {
 public:
  // `said` is told when spans begin to be dropped; may be empty.
  SpanExporter(SpanExporterOptions options, Post post, std::function<void(const std::string&)> said);
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;
  // Sends what is left, for two seconds at most. `said` is not called afterwards.
  ~SpanExporter();

  // Returns at once. A span that is not sampled is not sent.
  void Add(Span span);
  [[nodiscard]] SpanStatistics Statistics() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
  Background thread_;
};

}  // namespace skerry::watch

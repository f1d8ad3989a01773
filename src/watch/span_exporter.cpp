#include "watch/span_exporter.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <string_view>

#include <nlohmann/json.hpp>

#include "json/text.hpp"

namespace skerry::watch {
namespace {

using Json = nlohmann::ordered_json;
using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kAttempts = 4;

// The numbers of opentelemetry.proto.trace.v1.
constexpr int kInternalKind = 1;
constexpr int kServerKind = 2;
constexpr int kErrorStatus = 2;

Json AttributeOf(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

// Numbers of 64 bits are strings in the JSON of Protocol Buffers.
std::string NanosecondsOf(std::chrono::system_clock::time_point at) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

// By OTLP's own rule these ids are hexadecimal, while other bytes are base64.
Json SpanToJson(const Span& span) {
  Json json = {{"traceId", span.context.trace_id}, {"spanId", span.context.span_id}};
  if (!span.context.state.empty()) json["traceState"] = span.context.state;
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  json["name"] = span.name;
  json["kind"] = span.kind == Span::Kind::kServer ? kServerKind : kInternalKind;
  json["startTimeUnixNano"] = NanosecondsOf(span.begin);
  json["endTimeUnixNano"] = NanosecondsOf(std::max(span.begin, span.end));
  Json attributes = Json::array();
  for (const auto& [key, value] : span.attributes) attributes.push_back(AttributeOf(key, value));
  if (!attributes.empty()) json["attributes"] = std::move(attributes);
  if (!span.error.empty()) json["status"] = {{"message", span.error}, {"code", kErrorStatus}};
  return json;
}

std::string TracesUrlOf(std::string endpoint) {
  constexpr std::string_view kPath = "/v1/traces";
  if (endpoint.ends_with(kPath)) return endpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint.append(kPath);
}

bool IsTaken(const base::Result<int>& answer) {
  return answer && *answer >= 200 && *answer < 300;
}

// The answers after which OTLP lets a client send again: none, or the server is busy for the moment.
bool MayBeRepeated(const base::Result<int>& answer) {
  if (!answer) return answer.error().code != base::Code::kInvalidArgument;
  return *answer == 429 || *answer == 502 || *answer == 503 || *answer == 504;
}

std::string ProblemOf(const base::Result<int>& answer) {
  return answer ? "the server answered " + std::to_string(*answer) : answer.error().message;
}

}  // namespace

std::string EncodeSpans(std::span<const Span> spans, const std::string& service, const std::string& version) {
  Json resource = Json::array({AttributeOf("service.name", service)});
  Json scope = {{"name", "skerry"}};
  if (!version.empty()) {
    resource.push_back(AttributeOf("service.version", version));
    scope["version"] = version;
  }
  Json encoded = Json::array();
  for (const Span& span : spans) encoded.push_back(SpanToJson(span));
  const Json scope_spans = {{"scope", std::move(scope)}, {"spans", std::move(encoded)}};
  const Json resource_spans = {{"resource", {{"attributes", std::move(resource)}}},
                               {"scopeSpans", Json::array({scope_spans})}};
  const Json whole = {{"resourceSpans", Json::array({resource_spans})}};
  return json::Text(whole);
}

struct SpanExporter::State {
  const SpanExporterOptions options;
  const std::string url;
  const Post post;

  std::mutex said_mutex;
  std::function<void(const std::string&)> said;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Span> waiting;
  SpanStatistics statistics;
  Steady::time_point end_by;  // set before the thread is asked to stop
  bool dropping = false;      // spans were dropped since the last batch was sent

  State(SpanExporterOptions given, Post sender, std::function<void(const std::string&)> listener)
      : options(std::move(given)),
        url(TracesUrlOf(options.endpoint)),
        post(std::move(sender)),
        said(std::move(listener)) {}

  void Say(const std::string& text) {
    const std::scoped_lock lock(said_mutex);
    if (said) said(text);
  }

  // The next batch: when it is full, after the pause, or at the end; empty when nothing is left.
  std::vector<Span> Take(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    (void)changed.wait(lock, stop, [&] { return !waiting.empty(); });
    (void)changed.wait_for(lock, stop, options.pause, [&] { return waiting.size() >= options.batch; });
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(std::min(waiting.size(), options.batch));
    std::vector<Span> batch(std::make_move_iterator(waiting.begin()), std::make_move_iterator(end));
    waiting.erase(waiting.begin(), end);
    return batch;
  }

  milliseconds TimeFor(const std::stop_token& stop) const {
    if (!stop.stop_requested()) return options.timeout;
    const std::scoped_lock lock(mutex);
    const auto left = std::chrono::ceil<milliseconds>(end_by - Steady::now());
    return std::clamp(left, milliseconds(0), options.timeout);
  }

  // When a stop is requested, only one more attempt is made.
  base::Result<int> Send(const std::string& body, const std::stop_token& stop) {
    Posting posting{.url = url, .headers = options.headers, .body = body};
    posting.headers.emplace_back("Content-Type", "application/json");
    milliseconds pause = options.pause;
    for (int attempt = 1;; ++attempt) {
      const bool last = attempt == kAttempts || stop.stop_requested();
      posting.timeout = TimeFor(stop);
      if (posting.timeout.count() == 0)
        return base::Err(base::Code::kTimeout, "the daemon ended before they were sent");
      auto answer = post(posting);
      if (IsTaken(answer) || last || !MayBeRepeated(answer)) return answer;
      std::unique_lock lock(mutex);
      (void)changed.wait_for(lock, stop, pause, [] { return false; });
      pause *= 2;
    }
  }

  void Account(std::size_t spans, const base::Result<int>& answer) {
    bool begins = false;
    {
      const std::scoped_lock lock(mutex);
      (IsTaken(answer) ? statistics.exported : statistics.dropped) += spans;
      begins = !IsTaken(answer) && !dropping;
      dropping = !IsTaken(answer);
    }
    if (begins) Say("spans cannot be sent to sandbox.telemetry.otlpEndpoint and are dropped: " + ProblemOf(answer));
  }

  void Work(const std::stop_token& stop) {
    for (;;) {
      const std::vector<Span> batch = Take(stop);
      if (batch.empty()) return;
      Account(batch.size(), Send(EncodeSpans(batch, options.service, options.version), stop));
    }
  }
};

SpanExporter::SpanExporter(SpanExporterOptions options, Post post, std::function<void(const std::string&)> said)
    : state_(std::make_shared<State>(std::move(options), std::move(post), std::move(said))),
      thread_([state = state_](const std::stop_token& stop) { state->Work(stop); }) {}

SpanExporter::~SpanExporter() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->end_by = Steady::now() + Background::kPatience;
  }
  thread_.End();
  const std::scoped_lock lock(state_->said_mutex);
  state_->said = nullptr;
}

void SpanExporter::Add(Span span) {
  if (!span.context.sampled) return;
  const std::scoped_lock lock(state_->mutex);
  if (state_->waiting.size() >= state_->options.max_waiting) {
    ++state_->statistics.dropped;
    return;
  }
  state_->waiting.push_back(std::move(span));
  // The thread waits for the first span, and then for a whole batch.
  const std::size_t count = state_->waiting.size();
  if (count == 1 || count == state_->options.batch) state_->changed.notify_one();
}

SpanStatistics SpanExporter::Statistics() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->statistics;
}

}  // namespace skerry::watch

#include "watch/span_exporter.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "watch/fake_post.hpp"

namespace skerry::watch {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::TestWithParam;
using testing::Values;

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";

Span Named(const std::string& name) {
  return {.name = name, .context = {.trace_id = kTrace, .span_id = "b7ad6b7169203331"}};
}

SpanExporterOptions Eager() {
  return {.endpoint = "http://collector.test:4318", .version = "1.2", .pause = 0ms};
}

// With these options nothing is sent before a batch is full.
SpanExporterOptions Batched(std::size_t batch) {
  return {.endpoint = "http://collector.test:4318", .batch = batch, .pause = 1h};
}

std::vector<std::string> NamesIn(const Posting& posting) {
  std::vector<std::string> names;
  for (const auto& span : json::parse(posting.body)["resourceSpans"][0]["scopeSpans"][0]["spans"])
    names.push_back(span["name"]);
  return names;
}

json SpanIn(const std::string& body) {
  return json::parse(body)["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
}

TEST(EncodeSpansTest, IsAnExportRequestInTheJsonOfOtlp) {
  Span span = Named("POST /v1/execute");
  span.parent_id = "00f067aa0ba902b7";
  span.context.state = "vendor=1";
  span.kind = Span::Kind::kServer;
  span.begin = std::chrono::system_clock::time_point(1'700'000'000s + 1ns);
  span.end = std::chrono::system_clock::time_point(1'700'000'001s);
  span.attributes = {{"http.route", "/v1/execute"}};
  span.error = "it went wrong";
  EXPECT_EQ(json::parse(EncodeSpans({&span, 1}, "skerry", "1.2")), json::parse(R"({
    "resourceSpans": [{
      "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "skerry"}},
                                  {"key": "service.version", "value": {"stringValue": "1.2"}}]},
      "scopeSpans": [{
        "scope": {"name": "skerry", "version": "1.2"},
        "spans": [{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331",
                   "parentSpanId": "00f067aa0ba902b7", "traceState": "vendor=1", "name": "POST /v1/execute", "kind": 2,
                   "startTimeUnixNano": "1700000000000000001", "endTimeUnixNano": "1700000001000000000",
                   "attributes": [{"key": "http.route", "value": {"stringValue": "/v1/execute"}}],
                   "status": {"code": 2, "message": "it went wrong"}}]}]}]})"));
}

TEST(EncodeSpansTest, ARootThatWentWellHasNoParentAndNoStatus) {
  const Span span = Named("skerry.run");
  const json encoded = SpanIn(EncodeSpans({&span, 1}, "skerry", ""));
  EXPECT_FALSE(encoded.contains("parentSpanId"));
  EXPECT_FALSE(encoded.contains("status"));
  EXPECT_EQ(encoded["kind"], 1);
}

TEST(EncodeSpansTest, NothingEndsBeforeItBegins) {
  Span span = Named("skerry.run");
  span.begin = std::chrono::system_clock::time_point(2s);
  span.end = std::chrono::system_clock::time_point(1s);
  const json encoded = SpanIn(EncodeSpans({&span, 1}, "skerry", ""));
  EXPECT_EQ(encoded["endTimeUnixNano"], encoded["startTimeUnixNano"]);
}

TEST(EncodeSpansTest, BytesThatAreNoTextAreMadeText) {
  Span span = Named("a\xFF");
  span.attributes = {{"k", "\xC3\x28\n"}};
  const json encoded = SpanIn(EncodeSpans({&span, 1}, "skerry", ""));
  EXPECT_EQ(encoded["name"], "a\uFFFD");
  EXPECT_EQ(encoded["attributes"][0]["value"]["stringValue"], "\uFFFD(\n");
}

struct UrlCase {
  std::string endpoint;
  std::string url;
};
class UrlTest : public TestWithParam<UrlCase> {};

TEST_P(UrlTest, IsThatOfTraces) {
  const FakePost server({200});
  SpanExporterOptions options = Eager();
  options.endpoint = GetParam().endpoint;
  SpanExporter exporter(options, server.post(), {});
  exporter.Add(Named("a"));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(sent[0].url, GetParam().url);
}

INSTANTIATE_TEST_SUITE_P(Endpoints, UrlTest,
                         Values(UrlCase{"http://c:4318", "http://c:4318/v1/traces"},
                                UrlCase{"http://c:4318/", "http://c:4318/v1/traces"},
                                UrlCase{"https://c/otlp", "https://c/otlp/v1/traces"},
                                UrlCase{"https://c/v1/traces", "https://c/v1/traces"}));

TEST(SpanExporterTest, SendsWhatWasAskedForAlong) {
  const FakePost server({200});
  SpanExporterOptions options = Eager();
  options.headers = {{"x-api-key", "k"}};
  SpanExporter exporter(options, server.post(), {});
  exporter.Add(Named("a"));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(sent[0].headers, (std::vector<std::pair<std::string, std::string>>{{"x-api-key", "k"},
                                                                               {"Content-Type", "application/json"}}));
}

TEST(SpanExporterTest, AFullBatchIsSentAtOnce) {
  const FakePost server({200});
  SpanExporter exporter(Batched(3), server.post(), {});
  for (const char* name : {"a", "b", "c"}) exporter.Add(Named(name));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(NamesIn(sent[0]), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(Eventually([&] { return exporter.Statistics().exported == 3; }));
}

TEST(SpanExporterTest, WhatIsNoFullBatchIsSentAfterThePause) {
  const FakePost server({200});
  SpanExporterOptions options = Batched(1'000);
  options.pause = 5ms;
  SpanExporter exporter(options, server.post(), {});
  exporter.Add(Named("a"));
  EXPECT_TRUE(Eventually([&] { return exporter.Statistics().exported == 1; }));
}

TEST(SpanExporterTest, OneThatIsNotSampledIsNotSent) {
  const FakePost server({200});
  SpanExporter exporter(Batched(1), server.post(), {});
  Span unwanted = Named("unwanted");
  unwanted.context.sampled = false;
  exporter.Add(unwanted);
  exporter.Add(Named("wanted"));
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(NamesIn(sent[0]), std::vector<std::string>{"wanted"});
  EXPECT_EQ(exporter.Statistics().dropped, 0);
}

TEST(SpanExporterTest, WhatIsLeftAtTheEndIsSent) {
  const FakePost server({200});
  {
    SpanExporter exporter(Batched(2), server.post(), {});
    for (const char* name : {"a", "b", "c"}) exporter.Add(Named(name));
  }
  const auto sent = server.Await(2);
  ASSERT_EQ(sent.size(), 2);
  EXPECT_EQ(NamesIn(sent[1]), std::vector<std::string>{"c"});
}

TEST(SpanExporterTest, AtTheEndOneAttemptIsMadeWithTheTimeThatIsLeft) {
  const FakePost server({503});
  {
    SpanExporter exporter(Batched(2), server.post(), {});
    exporter.Add(Named("a"));
  }
  const auto sent = server.Await(1);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_LE(sent[0].timeout, 2s);
}

class BusyTest : public TestWithParam<base::Result<int>> {};

TEST_P(BusyTest, AServerThatIsBusyIsAskedAgain) {
  const FakePost server({GetParam(), GetParam(), GetParam(), 200});
  SpanExporter exporter(Eager(), server.post(), {});
  exporter.Add(Named("a"));
  EXPECT_TRUE(Eventually([&] { return exporter.Statistics().exported == 1; }));
  const auto sent = server.Await(4);
  ASSERT_EQ(sent.size(), 4);
  EXPECT_EQ(sent[3].body, sent[0].body);
}

INSTANTIATE_TEST_SUITE_P(Answers, BusyTest,
                         Values(base::Result<int>(429), base::Result<int>(502), base::Result<int>(503),
                                base::Result<int>(504), base::Result<int>(base::Err(base::Code::kTimeout, "slow")),
                                base::Result<int>(base::Err(base::Code::kUnavailable, "nobody there"))));

TEST(SpanExporterTest, AfterThreeMoreAttemptsSpansAreDropped) {
  const FakePost server({503});
  SpanExporter exporter(Eager(), server.post(), {});
  exporter.Add(Named("a"));
  EXPECT_TRUE(Eventually([&] { return exporter.Statistics().dropped == 1; }));
  EXPECT_EQ(server.Await(4).size(), 4);
}

class RefusedTest : public TestWithParam<base::Result<int>> {};

TEST_P(RefusedTest, WhatIsRefusedForGoodIsDroppedAtOnce) {
  const FakePost server({GetParam()});
  SpanExporter exporter(Eager(), server.post(), {});
  exporter.Add(Named("a"));
  EXPECT_TRUE(Eventually([&] { return exporter.Statistics().dropped == 1; }));
  EXPECT_EQ(server.Await(1).size(), 1);
}

INSTANTIATE_TEST_SUITE_P(Answers, RefusedTest,
                         Values(base::Result<int>(307), base::Result<int>(400), base::Result<int>(401),
                                base::Result<int>(404), base::Result<int>(500),
                                base::Result<int>(base::Err(base::Code::kInvalidArgument, "no url"))));

TEST(SpanExporterTest, PausesGrow) {
  const FakePost server({503, 503, 503, 200});
  SpanExporterOptions options = Eager();
  options.pause = 5ms;
  SpanExporter exporter(options, server.post(), {});
  const auto begin = std::chrono::steady_clock::now();
  exporter.Add(Named("a"));
  ASSERT_EQ(server.Await(4).size(), 4);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms + 5ms + 10ms + 20ms);
}

TEST(SpanExporterTest, MoreThanTheMostAreDroppedAndNobodyWaits) {
  const FakePost server({200});
  server.Hold();
  SpanExporterOptions options = Batched(1);
  options.max_waiting = 2;
  SpanExporter exporter(options, server.post(), {});
  exporter.Add(Named("under way"));
  ASSERT_EQ(server.Await(1).size(), 1);
  for (const char* name : {"a", "b", "c", "d"}) exporter.Add(Named(name));
  EXPECT_EQ(exporter.Statistics().dropped, 2);
  server.Resume();
  EXPECT_TRUE(Eventually([&] { return exporter.Statistics().exported == 3; }));
}

TEST(SpanExporterTest, SaysOnceThatSpansAreDroppedUntilOneIsSentAgain) {
  const FakePost server({401, 404, 200, 403});
  Sayings sayings;
  SpanExporter exporter(Batched(1), server.post(), sayings.listener());
  for (std::size_t count = 1; count <= 4; ++count) {
    exporter.Add(Named("a"));
    ASSERT_TRUE(Eventually([&] {
      const SpanStatistics now = exporter.Statistics();
      return now.dropped + now.exported == count;
    }));
  }
  ASSERT_TRUE(Eventually([&] { return sayings.texts().size() == 2; }));
  EXPECT_TRUE(sayings.texts()[0].contains("401")) << sayings.texts()[0];
  EXPECT_TRUE(sayings.texts()[1].contains("403")) << sayings.texts()[1];
}

}  // namespace
}  // namespace skerry::watch

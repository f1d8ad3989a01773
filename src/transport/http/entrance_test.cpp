// The parts of the entrance: heads, routes, rates, credentials, bodies.
#include "transport/http/entrance.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "transport/http/body_collector.hpp"

namespace skerry::transport::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HostNameTest, IsInLowerCaseWithoutItsPort) {
  EXPECT_EQ(HostNameOf("LocalHost:80"), "localhost");
  EXPECT_EQ(HostNameOf("[::1]:80"), "[::1]");
  EXPECT_EQ(HostNameOf("[FE80::1]"), "[fe80::1]");
  EXPECT_EQ(HostNameOf("127.0.0.1"), "127.0.0.1");
  for (const char* text : {"", ":80", "a:", "a:b", "a:123456", "a.", "a.:80", "a b", "a@b", "a/b", "[::1", "[]",
                           "[::1]x", "[g]", "::1", "a,b", "a:80:80"})
    EXPECT_FALSE(HostNameOf(text)) << text;
}

TEST(TargetTest, IsAPathOrAWholeAddress) {
  EXPECT_EQ(ParseTarget("/a?b=c?d")->path, "/a");
  EXPECT_EQ(ParseTarget("/a?b=c?d")->query, "b=c?d");
  EXPECT_EQ(ParseTarget("HTTP://host:80/a")->authority, "host:80");
  EXPECT_EQ(ParseTarget("https://host")->path, "/");
  EXPECT_EQ(ParseTarget("https://host?q")->query, "q");
  for (const char* text : {"", "*", "a", "host:80", "ftp://host/", "http://", "http:///a", "http://u@host/", "/a#b"})
    EXPECT_FALSE(ParseTarget(text)) << text;
}

int StatusOf(const std::string& host, Transport transport) {
  RequestHead head{.method = "GET", .target = "/", .headers = {{"Host", host}}};
  head.peer.transport = transport;
  const HeadRules rules{.hosts = {"box.example"}};
  const std::vector<std::string> local = {"192.0.2.1"};
  const auto refusal = CheckHead(head, Version::kHttp11, rules, local);
  return refusal ? refusal->status : 200;
}

TEST(CheckHeadTest, HostsAreThoseOfTheSocketAndTheSettings) {
  for (const char* host : {"localhost", "127.0.0.1:1", "[::1]", "192.0.2.1", "BOX.example"})
    EXPECT_EQ(StatusOf(host, Transport::kPlain), 200) << host;
  for (const char* host : {"192.0.2.2", "skerry", "", "box.example.", "sub.box.example", "localhost.evil.com"})
    EXPECT_EQ(StatusOf(host, Transport::kPlain), 403) << host;
  for (const char* host : {"", "localhost", "skerry", "box.example"})
    EXPECT_EQ(StatusOf(host, Transport::kUnix), 200) << host;
  EXPECT_EQ(StatusOf("192.0.2.1", Transport::kUnix), 403);
}

TEST(RouterTest, FindsTheMostExactPatternAndItsParameters) {
  const std::vector<Route> routes = {{.method = "GET", .pattern = "/a/{x}/c"},
                                     {.method = "GET", .pattern = "/a/b/{y}"},
                                     {.method = "GET", .pattern = "/"},
                                     {.method = "POST", .pattern = "/a/{x}/c"}};
  const Router router(routes);
  const auto match = router.Find("GET", {"a", "b", "c"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->pattern, "/a/b/{y}");
  EXPECT_EQ(match.parameters.at("y"), "c");
  EXPECT_EQ(router.Find("HEAD", {}).route, &routes[2]);
  EXPECT_EQ(router.Find("POST", {"a", "{x}", "c"}).parameters.at("x"), "{x}");
  EXPECT_EQ(router.Find("PUT", {"a", "z", "c"}).allowed, (std::vector<std::string>{"GET", "POST", "HEAD"}));
  EXPECT_TRUE(router.Find("GET", {"a"}).allowed.empty());
  EXPECT_EQ(router.Find("get", {}).route, nullptr);
}

TEST(RouterTest, WhatTakesEverythingGoesLast) {
  const std::vector<Route> routes = {{.method = "*", .pattern = "/{...}"},   {.method = "GET", .pattern = "/a/{...}"},
                                     {.method = "*", .pattern = "/a/b"},     {.method = "GET", .pattern = "/a/b"},
                                     {.method = "GET", .pattern = "/a/{x}"}, {.method = "GET", .pattern = "/"}};
  const Router router(routes);
  EXPECT_EQ(router.Find("GET", {}).route, &routes[5]);
  EXPECT_EQ(router.Find("POST", {}).route, &routes[0]);
  EXPECT_EQ(router.Find("GET", {"b"}).route, &routes[0]);
  EXPECT_EQ(router.Find("GET", {"a"}).route, &routes[1]);
  EXPECT_EQ(router.Find("GET", {"a", "b"}).route, &routes[3]);
  EXPECT_EQ(router.Find("HEAD", {"a", "b"}).route, &routes[3]);
  EXPECT_EQ(router.Find("POST", {"a", "b"}).route, &routes[2]);
  EXPECT_EQ(router.Find("GET", {"a", "c"}).parameters.at("x"), "c");
  EXPECT_EQ(router.Find("GET", {"a", "c", "d"}).route, &routes[1]);
  EXPECT_EQ(router.Find("DELETE", {"a", "c", "d"}).route, &routes[0]);
}

TEST(RouterTest, APathThatIsNoneIsForProgramsOnly) {
  const std::vector<Route> routes = {{.method = "GET", .pattern = "/files/{...}"},
                                     {.method = "*", .pattern = "/ports/{port}/{...}", .body = BodyRule::kTunnel}};
  const Router router(routes);
  EXPECT_EQ(router.FindTunnel("GET", {"files", ""}).route, nullptr);
  EXPECT_EQ(router.FindTunnel("GET", {"ports", "80", "", "x"}).route, &routes[1]);
  EXPECT_EQ(router.FindTunnel("GET", {"ports", "80", "", "x"}).parameters.at("port"), "80");
  EXPECT_EQ(router.FindTunnel("GET", {"ports", "", "x"}).route, nullptr)
      << "what leads to the program is a proper path";
  EXPECT_EQ(router.FindTunnel("GET", {"", "ports", "80"}).route, nullptr);
}

TEST(RateLimiterTest, ABucketFillsAgain) {
  RateLimiter limiter;
  const RateLimiter::TimePoint start{};
  for (int at = 0; at < 20; ++at) EXPECT_FALSE(limiter.Take("a", 10, start));
  EXPECT_EQ(limiter.Take("a", 10, start), seconds(1));
  EXPECT_FALSE(limiter.Take("b", 10, start));
  EXPECT_FALSE(limiter.Take("a", 10, start + milliseconds(100)));
  EXPECT_TRUE(limiter.Take("a", 10, start + milliseconds(100)));
  for (int at = 0; at < 20; ++at) EXPECT_FALSE(limiter.Take("a", 10, start + seconds(60)));
  EXPECT_TRUE(limiter.Take("a", 10, start + seconds(60))) << "no more than a bucket";
}

TEST(RateLimiterTest, ZeroIsNoLimitAndSmallRatesHaveTen) {
  RateLimiter limiter;
  const RateLimiter::TimePoint start{};
  for (int at = 0; at < 1000; ++at) EXPECT_FALSE(limiter.Take("free", 0, start));
  for (int at = 0; at < 10; ++at) EXPECT_FALSE(limiter.Take("slow", 1, start));
  EXPECT_TRUE(limiter.Take("slow", 1, start));
}

TEST(RateLimiterTest, ForgetsThoseWhoWereNotSeenForLong) {
  RateLimiter limiter;
  RateLimiter::TimePoint now{};
  for (int at = 0; at < 10'000; ++at) (void)limiter.Take(std::to_string(at), 100, now += milliseconds(10));
  EXPECT_LT(limiter.size(), 2000U);
}

base::Result<std::optional<std::string>> Credential(const Headers& headers, std::string_view query = "") {
  return BearerCredential({.query = *Query::Parse(query), .headers = headers});
}

TEST(BearerCredentialTest, IsOneTokenInOneHeader) {
  EXPECT_EQ(*Credential({}), std::nullopt);
  EXPECT_EQ(*Credential({{"authorization", "bearer  aZ0-._~+/=="}}), "aZ0-._~+/==");
  for (const char* value : {"", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer a,b", "Bearer =", "Bearer ä"})
    EXPECT_EQ(Credential({{"Authorization", value}}).error().code, base::Code::kUnauthenticated) << value;
  EXPECT_FALSE(Credential({{"Authorization", "Bearer a"}, {"Authorization", "Bearer a"}}));
}

TEST(BearerCredentialTest, ATokenInTheAddressIsRefusedEvenBesideTheRightOne) {
  for (const char* query : {"token=a", "access_token=a", "api_key=a", "ApiKey=a", "x=1&key=a", "%74oken=a"})
    EXPECT_EQ(Credential({{"Authorization", "Bearer a"}}, query).error().code, base::Code::kInvalidArgument) << query;
  EXPECT_TRUE(Credential({{"Authorization", "Bearer a"}}, "tokens=1"));
}

TEST(BodyCollectorTest, GoesToAFileWithoutANameWhenMemoryIsFull) {
  const support::TemporaryDirectory directory;
  BodyCollector collector({.most = 10, .in_memory = 4, .spool = directory.path()});
  EXPECT_FALSE(collector.Append("abc"));
  EXPECT_FALSE(collector.Append("def"));
  EXPECT_EQ(collector.Append("ghijk")->status, 413);
  const auto body = collector.Finish();
  std::string text(10, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(body->file.get(), text.data(), text.size()))));
  EXPECT_EQ(text, "abcdef");
  EXPECT_TRUE(body->bytes.empty());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

// What is made of a body counts too: its text is a quarter of the counted bytes.
TEST(BodyCollectorTest, WhatStaysInMemoryIsTakenFromABudget) {
  constexpr std::size_t kBody = std::size_t{1} << 20U;
  auto budget = std::make_shared<base::Budget>(base::BudgetLimits{.each = 4 * kBody, .all = 6 * kBody});
  const auto collect = [&](const char* tenant, std::size_t bytes) {
    BodyCollector collector({.keeping = Keeping::kMemory, .most = 8 * kBody}, {budget, tenant, base::Reach::kTenant});
    const auto refusal = collector.Append(std::string(bytes, 'x'));
    return std::pair(refusal ? refusal->status : 200, *collector.Finish());
  };
  {
    const auto first = collect("one", kBody);
    EXPECT_EQ(first.first, 200);
    EXPECT_EQ(first.second.bytes.size(), kBody);
    EXPECT_EQ(collect("one", kBody).first, 429);
    EXPECT_EQ(collect("other", kBody).first, 503);
    EXPECT_EQ(collect("one", 1000).first, 200) << "small ones are not counted";
  }
  EXPECT_EQ(budget->used(), 0U);
  EXPECT_EQ(collect("one", kBody).first, 200);
}

TEST(BodyCollectorTest, WithoutItsDirectoryItFails) {
  BodyCollector collector({.most = 100, .in_memory = 0, .spool = "/nowhere"});
  EXPECT_EQ(collector.Append("a")->status, 500);
}

}  // namespace
}  // namespace skerry::transport::http

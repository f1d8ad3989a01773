#include "transport/http/mount_table.hpp"

#include <gtest/gtest.h>

namespace skerry::transport::http {
namespace {

const std::vector<std::string> kListeners = {"", "tcp", "aio"};

Dialect Named(std::string name, std::vector<Mount> mounts, std::vector<Route> routes = {}) {
  return {.name = std::move(name), .mounts = std::move(mounts), .routes = std::move(routes)};
}

struct Asked {
  std::string path = "/";
  std::string host = "localhost";
  Headers headers;
  std::string listener = "tcp";
};

// The name of the dialect that a request belongs to; "-" for none, the status of a refusal.
std::string Found(const std::vector<Dialect>& dialects, Asked asked) {
  const auto table = MountTable::Make(dialects, kListeners);
  EXPECT_TRUE(table) << table.error().message;
  RequestHead head{.method = "GET", .target = asked.path, .headers = std::move(asked.headers)};
  if (auto path = SplitPath(asked.path)) head.path = *path;
  head.headers.Add("Host", asked.host);
  head.peer.listener = asked.listener;
  const auto found = table->Find(head, asked.path);
  if (!found) return std::to_string(found.error().status);
  return found->dialect ? dialects[*found->dialect].name : "-";
}

TEST(MountTableTest, APrefixIsAPathAndWhatIsBelowIt) {
  const std::vector<Dialect> dialects = {Named("v1", {{.prefix = "/v1"}}), Named("deep", {{.prefix = "/v1/deep"}})};
  EXPECT_EQ(Found(dialects, {.path = "/v1"}), "v1");
  EXPECT_EQ(Found(dialects, {.path = "/v1/x"}), "v1");
  EXPECT_EQ(Found(dialects, {.path = "/%76%31/x"}), "v1");
  EXPECT_EQ(Found(dialects, {.path = "/v1/deep/er"}), "deep");
  for (const char* path : {"/", "/v11", "/v", "/x/v1", "//v1", "/../v1", "/V1"})
    EXPECT_EQ(Found(dialects, {.path = path}), "-") << path;
}

TEST(MountTableTest, APathThatIsNoneIsRefusedByWhoHasItsBeginning) {
  const std::vector<Dialect> dialects = {Named("v1", {{.prefix = "/v1"}})};
  for (const char* path : {"/v1/", "/v1/%zz", "/v1/../x", "/v1//x"})
    EXPECT_EQ(Found(dialects, {.path = path}), "v1") << path;
}

TEST(MountTableTest, TheListenerGoesBeforeTheHostBeforeTheHeaderBeforeThePath) {
  const std::vector<Dialect> dialects = {Named("path", {{.prefix = "/v1/long/er"}}),
                                         Named("header", {{.header = "X-Id"}}),
                                         Named("value", {{.header = "X-Id", .value = "7"}}),
                                         Named("pattern", {{.host = "*.example.test"}}),
                                         Named("form", {{.host = "{port}-{id}.example.test"}}),
                                         Named("host", {{.host = "80-a.example.test"}}),
                                         Named("listener", {{.listener = "aio"}})};
  const Asked everything{
      .path = "/v1/long/er", .host = "80-a.example.test", .headers = {{"x-id", "7"}}, .listener = "aio"};
  Asked asked = everything;
  EXPECT_EQ(Found(dialects, asked), "listener");
  asked.listener = "tcp";
  EXPECT_EQ(Found(dialects, asked), "host");
  asked.host = "81-a.example.test";
  EXPECT_EQ(Found(dialects, asked), "form");
  asked.host = "a.example.test";
  EXPECT_EQ(Found(dialects, asked), "pattern");
  asked.host = "localhost";
  EXPECT_EQ(Found(dialects, asked), "value");
  asked.headers = {{"X-ID", "8"}};
  EXPECT_EQ(Found(dialects, asked), "header");
  asked.headers = {};
  EXPECT_EQ(Found(dialects, asked), "path");
  asked.path = "/v1/long";
  EXPECT_EQ(Found(dialects, asked), "-");
}

TEST(MountTableTest, EverythingThatAMountNamesHasToBeSo) {
  const std::vector<Dialect> dialects = {
      Named("all", {{.listener = "aio", .host = "a.test", .header = "X-Id", .value = "7", .prefix = "/p"}})};
  const Asked right{.path = "/p/q", .host = "A.test:80", .headers = {{"X-Id", "7"}}, .listener = "aio"};
  EXPECT_EQ(Found(dialects, right), "all");
  Asked wrong = right;
  wrong.path = "/q";
  EXPECT_EQ(Found(dialects, wrong), "-");
  wrong = right;
  wrong.host = "b.test";
  EXPECT_EQ(Found(dialects, wrong), "-");
  wrong = right;
  wrong.headers = {{"X-Id", "70"}};
  EXPECT_EQ(Found(dialects, wrong), "-");
  wrong = right;
  wrong.listener = "tcp";
  EXPECT_EQ(Found(dialects, wrong), "-");
}

TEST(MountTableTest, ADialectMayBeMountedTwice) {
  const std::vector<Dialect> dialects = {Named("one", {{.prefix = "/a"}, {.header = "X-A"}, {.header = "X-B"}})};
  EXPECT_EQ(Found(dialects, {.path = "/a"}), "one");
  EXPECT_EQ(Found(dialects, {.headers = {{"X-A", ""}, {"X-B", ""}}}), "one");
}

TEST(MountTableTest, HeadersThatContradictAreRefused) {
  const std::vector<Dialect> dialects = {Named("a", {{.header = "X-A"}}), Named("b", {{.header = "X-B"}}),
                                         Named("c", {{.prefix = "/c"}})};
  EXPECT_EQ(Found(dialects, {.headers = {{"X-A", "1"}, {"X-B", "1"}}}), "400");
  EXPECT_EQ(Found(dialects, {.headers = {{"X-A", "1"}, {"x-a", "2"}}}), "400");
  EXPECT_EQ(Found(dialects, {.path = "/c", .headers = {{"X-C", "1"}, {"X-C", "2"}}}), "c");
}

TEST(MountTableTest, GivesOutThePartsOfAHost) {
  const std::vector<Dialect> dialects = {Named("ports", {{.host = "{port}-{id}.example.test"}})};
  const auto table = MountTable::Make(dialects, kListeners);
  RequestHead head{.headers = {{"Host", "8080-Abc.example.test:443"}}};
  const auto found = table->Find(head, "/");
  ASSERT_TRUE(found && found->dialect);
  EXPECT_TRUE(found->by_host);
  EXPECT_EQ(found->parts, (HostPattern::Parts{{"port", "8080"}, {"id", "abc"}}));
  head.headers.Add("Host", "8080-x.example.test");
  EXPECT_FALSE(table->Find(head, "/")->dialect) << "two hosts are none";
}

TEST(MountTableTest, WhatIsUnclearIsRefusedAtTheStart) {
  const auto refused = [](const std::vector<Mount>& one, const std::vector<Mount>& other) {
    const std::vector<Dialect> dialects = {Named("one", one), Named("other", other)};
    return !MountTable::Make(dialects, kListeners);
  };
  EXPECT_TRUE(refused({{}}, {{}}));
  EXPECT_TRUE(refused({{.prefix = "/v1"}}, {{.prefix = "/%76%31"}}));
  EXPECT_TRUE(refused({{.header = "X-A"}}, {{.header = "x-a"}}));
  EXPECT_TRUE(refused({{.host = "*.test"}}, {{.host = "{id}.test"}}));
  EXPECT_TRUE(refused({{.listener = "aio"}}, {{.listener = "aio"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}, {.prefix = "/b"}}, {{.prefix = "/b"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {{.listener = "nowhere"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {{.prefix = "b"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {{.prefix = "/b/"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {{.header = "X A"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {{.value = "x"}}));
  EXPECT_TRUE(refused({{.prefix = "/a"}}, {{.host = "*"}}));
  EXPECT_FALSE(refused({{}}, {{.prefix = "/a"}}));
  EXPECT_FALSE(refused({{.prefix = "/a"}}, {{.prefix = "/b"}}));
  EXPECT_FALSE(refused({{.header = "X-A", .value = "1"}}, {{.header = "X-A", .value = "2"}}));
  EXPECT_FALSE(refused({{.listener = "aio", .prefix = "/v1"}}, {{.listener = "tcp", .prefix = "/v1"}}));
  EXPECT_FALSE(refused({{.host = "a-*.test"}}, {{.host = "b-*.test"}}));
}

TEST(MountTableTest, APrefixWithoutARouteBelowItIsRefused) {
  const auto made = [](const char* prefix, const char* pattern) {
    return MountTable::Make(std::vector{Named("a", {{.prefix = prefix}}, {{.method = "GET", .pattern = pattern}})},
                            kListeners)
        .has_value();
  };
  EXPECT_TRUE(made("/mini", "/mini/run/{id}"));
  EXPECT_TRUE(made("/mini/run", "/mini/{what}/{id}"));
  EXPECT_TRUE(made("/mini/deep", "/mini/{...}"));
  EXPECT_TRUE(made("/mini", "/mini"));
  EXPECT_FALSE(made("/v1/sessions", "/mini/run/{id}"));
  EXPECT_FALSE(made("/mini/run", "/mini"));
}

TEST(MountTableTest, TheSameNameInAHostAndInAPathIsRefused) {
  std::vector<Dialect> dialects = {Named("ports", {{.host = "{id}.test"}}, {{.method = "GET", .pattern = "/a/{id}"}})};
  EXPECT_FALSE(MountTable::Make(dialects, kListeners));
  dialects[0].routes[0].pattern = "/a/{idea}";
  EXPECT_TRUE(MountTable::Make(dialects, kListeners));
}

}  // namespace
}  // namespace skerry::transport::http

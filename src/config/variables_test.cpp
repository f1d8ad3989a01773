#include "config/variables.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

base::Result<Loaded> LoadWith(std::vector<std::string> environment) {
  return Load({.config_path = {}, .home = "", .environment = std::move(environment), .overrides = {}});
}

base::Result<Loaded> LoadWithFlag(std::string path, std::string value) {
  return Load(
      {.config_path = {}, .home = "", .environment = {}, .overrides = {{std::move(path), std::move(value), "--x"}}});
}

std::string ProblemOf(const base::Result<Loaded>& loaded) {
  return loaded ? "" : loaded.error().message;
}

TEST(VariablesTest, ValuesAreTypedByTheSchema) {
  const Sandbox sandbox = LoadWith({"SKERRY_SANDBOX__LIMITS__MAX_MEMORY_MB=64", "SKERRY_SANDBOX__ENABLED=0",
                                    "SKERRY_SANDBOX__RUNTIME__CLEANUP_ON_EXIT=false", "SKERRY_SANDBOX__BACKEND=srt",
                                    "SKERRY_SANDBOX__MODE=shared", "SKERRY_SANDBOX__WORKSPACE__BASE_DIR=/a=b"})
                              .value()
                              .config.sandbox;
  EXPECT_EQ(sandbox.limits.max_memory_mb, 64);
  EXPECT_FALSE(sandbox.enabled);
  EXPECT_FALSE(sandbox.runtime.cleanup_on_exit);
  EXPECT_EQ(sandbox.backend, "srt");
  EXPECT_EQ(sandbox.mode, LifeMode::kShared);
  EXPECT_EQ(sandbox.workspace.base_dir, "/a=b");
}

TEST(VariablesTest, ListsTakeCommasOrJson) {
  struct Row {
    const char* text;
    std::vector<std::string> items;
  };
  for (const Row& row : {Row{"a.org", {"a.org"}}, Row{"a.org, b.org ,", {"a.org", "b.org"}}, Row{"", {}}, Row{"  ", {}},
                         Row{R"(["a.org", "b.org"])", {"a.org", "b.org"}}, Row{"[]", {}}}) {
    const auto loaded = LoadWith({std::string("SKERRY_SANDBOX__NETWORK__ALLOWED_DOMAINS=") + row.text});
    ASSERT_TRUE(loaded.has_value()) << row.text;
    EXPECT_EQ(loaded->config.sandbox.network.allowed_domains, row.items) << row.text;
  }
}

TEST(VariablesTest, OlderNamesAreRead) {
  const auto config =
      LoadWith({"SKERRY_SANDBOX__OPENSANDBOX__VKE__API_KEY=k1", "NANOBOT_SANDBOX__BACKEND=opensandbox",
                "NANOBOT_SANDBOX__OPENSANDBOX__MODE=vke", "SKERRY_SANDBOX__BACKENDS__OPENSANDBOX__LOCAL__API_KEY=k2"})
          .value()
          .config;
  EXPECT_EQ(config.sandbox.backends.opensandbox.vke.server.api_key, "k1");
  EXPECT_EQ(config.sandbox.backends.opensandbox.local.api_key, "k2");
  EXPECT_EQ(config.sandbox.backends.opensandbox.mode, OpenSandboxMode::kVke);
  EXPECT_EQ(config.sandbox.backend, "opensandbox");
}

TEST(VariablesTest, OwnPrefixWinsInAnyOrder) {
  const std::string own = "SKERRY_SANDBOX__LIMITS__TIMEOUT=7";
  const std::string older = "NANOBOT_SANDBOX__LIMITS__TIMEOUT=8";
  for (const auto& environment : {std::vector{own, older}, std::vector{older, own}})
    EXPECT_EQ(LoadWith(environment).value().config.sandbox.limits.timeout.count(), 7);
}

TEST(VariablesTest, WhatIsNotOursIsIgnored) {
  EXPECT_EQ(ProblemOf(LoadWith({"SKERRY_URL=x", "SKERRY_SANDBOX=x", "NANOBOT_AGENTS__DEFAULTS__MODEL=x", "NANOBOT_X=1",
                                "skerry_sandbox__limitz=1", "XSKERRY_SANDBOX__Y=1", "PATH=/bin", "", "=", "SKERRY_"})),
            "");
}

TEST(VariablesTest, ProblemsNameTheVariable) {
  struct Row {
    const char* entry;
    const char* problem;
  };
  for (const Row& row :
       {Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT=301",
            "variable SKERRY_SANDBOX__LIMITS__TIMEOUT: sandbox.limits.timeout: 301 is out of range, allowed is 1 to "
            "300"},
        Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT=99999999999999999999", "99999999999999999999 is out of range"},
        Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT=", "\"\" is not an integer"},
        Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT=30.0", "\"30.0\" is not an integer"},
        Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT= 30", "\" 30\" is not an integer"},
        Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT=0x10", "\"0x10\" is not an integer"},
        Row{"SKERRY_SANDBOX__ENABLED=yes", "\"yes\" is not a boolean, allowed are: true, false, 1, 0"},
        Row{"SKERRY_SANDBOX__LIMITS=1", "sandbox.limits: a section, not a value, allowed are its keys: max"},
        Row{"SKERRY_SANDBOX__LIMITS__TIMEOUT__X=1", "sandbox.limits.timeout: a value, it has no key x"},
        Row{"SKERRY_SANDBOX__LIMITZ__TIMEOUT=1", "sandbox.limitz: unknown key (did you mean limits?)"},
        Row{"SKERRY_SANDBOX__LIMITS__MAXPIDS=1", "sandbox.limits.maxpids: unknown key"},
        Row{"SKERRY_SANDBX__ENABLED=1", "sandbx: unknown key (did you mean sandbox?)"},
        Row{"SKERRY___=1", "\"\": unknown key"},
        Row{"NANOBOT_SANDBOX__LIMITZ=1", "variable NANOBOT_SANDBOX__LIMITZ: sandbox.limitz: unknown key"},
        Row{"SKERRY_SANDBOX__BACKEND=\xFF", "sandbox.backend: not valid UTF-8"},
        Row{"SKERRY_SANDBOX__FILESYSTEM__DENY_READ=[\"a\"", "sandbox.filesystem.denyRead: line 1, column "},
        Row{"SKERRY_SANDBOX__FILESYSTEM__DENY_READ=a,,b", "sandbox.filesystem.denyRead[1]: \"\" has 0 characters"}}) {
    const std::string problem = ProblemOf(LoadWith({row.entry}));
    EXPECT_THAT(problem, StartsWith("variable ")) << row.entry;
    EXPECT_THAT(problem, HasSubstr(row.problem)) << row.entry;
  }
}

TEST(VariablesTest, SameKeyByTwoNamesIsRefused) {
  EXPECT_EQ(
      ProblemOf(LoadWith({"SKERRY_SANDBOX__AIO__API_KEY=a", "SKERRY_SANDBOX__BACKENDS__AIO__API_KEY=b"})),
      "variable SKERRY_SANDBOX__BACKENDS__AIO__API_KEY: sandbox.backends.aio.apiKey: given twice, also by variable "
      "SKERRY_SANDBOX__AIO__API_KEY");
}

TEST(VariablesTest, SecretIsNotQuoted) {
  EXPECT_THAT(ProblemOf(LoadWith({"SKERRY_SANDBOX__AIO__API_KEY=hush hush"})), Not(HasSubstr("hush")));
}

TEST(OverridesTest, BothSpellingsOfThePathAreRead) {
  for (const char* path : {"sandbox.limits.maxPids", "sandbox.limits.max_pids"})
    EXPECT_EQ(LoadWithFlag(path, "9").value().config.sandbox.limits.max_pids, 9);
}

TEST(OverridesTest, LastFlagWins) {
  const Sources sources{
      .config_path = {},
      .home = "",
      .environment = {},
      .overrides = {{"sandbox.limits.timeout", "5", "-t"}, {"sandbox.limits.timeout", "6", "--timeout"}}};
  EXPECT_EQ(Load(sources).value().config.sandbox.limits.timeout.count(), 6);
}

TEST(OverridesTest, ProblemsNameTheFlag) {
  EXPECT_EQ(ProblemOf(LoadWithFlag("sandbox.limits.timeout", "0")),
            "flag --x: sandbox.limits.timeout: 0 is out of range, allowed is 1 to 300");
  EXPECT_THAT(ProblemOf(LoadWithFlag("sandbox.nothing", "0")), StartsWith("flag --x: sandbox.nothing: unknown key"));
  EXPECT_THAT(ProblemOf(LoadWithFlag("", "0")), StartsWith("flag --x: a section, not a value"));
}

}  // namespace
}  // namespace skerry::config

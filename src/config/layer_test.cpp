// What a file may say, and how it is told what it may not.
#include "config/layer.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/scratch_home.hpp"

namespace skerry::config {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Row {
  std::string text;
  std::string problem;  // empty: accepted
};

std::string Limits(const std::string& member) {
  return R"({"sandbox": {"limits": {)" + member + "}}}";
}

std::string InSandbox(const std::string& member) {
  return R"({"sandbox": {)" + member + "}}";
}

void ExpectProblems(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(ProblemWith(row.text), row.problem) << row.text;
}

TEST(FileTest, IntegersAreCheckedToTheLastOne) {
  const std::string range = " is out of range, allowed is 1 to 300";
  const std::string type = " is not an integer, allowed is 1 to 300";
  const std::string path = "sandbox.limits.timeout: ";
  ExpectProblems({{Limits(R"("timeout": 1)"), ""},
                  {Limits(R"("timeout": 300)"), ""},
                  {Limits(R"("timeout": 0)"), path + "0" + range},
                  {Limits(R"("timeout": 301)"), path + "301" + range},
                  {Limits(R"("timeout": -1)"), path + "-1" + range},
                  {Limits(R"("timeout": 1e18)"), path + "1e+18" + range},
                  {Limits(R"("timeout": -1e300)"), path + "-1e+300" + range},
                  {Limits(R"("timeout": 18446744073709551615)"), path + "18446744073709551615" + range},
                  {Limits(R"("timeout": 9223372036854775808)"), path + "9223372036854775808" + range},
                  {Limits(R"("timeout": 30.5)"), path + "30.5" + type},
                  {Limits(R"("timeout": "30")"), path + "\"30\"" + type},
                  {Limits(R"("timeout": true)"), path + "true" + type},
                  {Limits(R"("timeout": null)"), path + "null" + type},
                  {Limits(R"("timeout": [1])"), path + "a list" + type},
                  {Limits(R"("timeout": {"a": 1})"), path + "an object" + type}});
}

TEST(FileTest, WholeNumberWithAFractionIsAnIntegerAsInJsonSchema) {
  ExpectProblems({{Limits(R"("timeout": 30.0)"), ""}, {Limits(R"("timeout": 3e1)"), ""}});
}

TEST(FileTest, BooleansAreNotNumbersOrWords) {
  const std::string problem = " is not a boolean, allowed are: true, false";
  ExpectProblems({{InSandbox(R"("enabled": false)"), ""},
                  {InSandbox(R"("enabled": 1)"), "sandbox.enabled: 1" + problem},
                  {InSandbox(R"("enabled": "true")"), "sandbox.enabled: \"true\"" + problem},
                  {InSandbox(R"("enabled": null)"), "sandbox.enabled: null" + problem}});
}

TEST(FileTest, ChoicesAreListed) {
  ExpectProblems(
      {{InSandbox(R"("mode": "shared")"), ""},
       {InSandbox(R"("mode": "loud")"),
        "sandbox.mode: \"loud\" is not allowed, allowed are: per-session, shared, disabled"},
       {InSandbox(R"("security": "strikt")"),
        "sandbox.security: \"strikt\" is not allowed (did you mean strict?), allowed are: strict, permissive"},
       {InSandbox(R"("mode": 1)"), "sandbox.mode: 1 is not a string"}});
}

TEST(FileTest, TextsMatchTheirPattern) {
  for (const char* member : {R"("backend": "my_backend-2")", R"("workspace": {"baseDir": "/データ/x y"})",
                             R"("network": {"allowedDomains": ["*.example.com", "localhost", "10.0.0.1"]})",
                             R"("backends": {"aio": {"apiKey": ""}})",
                             R"("backends": {"opensandbox": {"runtime": {"cpu": "0.5", "memory": "512Mi"}}})"})
    EXPECT_EQ(ProblemWith(InSandbox(member)), "") << member;
  for (const char* member :
       {R"("backend": "")", R"("backend": "Native")", R"("backend": "native\n")", R"("backend": "../x")",
        R"("workspace": {"baseDir": "/a\u0000b"})", R"("network": {"allowedDomains": ["http://x.org"]})",
        R"("network": {"allowedDomains": [""]})", R"("network": {"allowedDomains": ["*"]})",
        R"("backends": {"aio": {"baseUrl": "ftp://x"}})",
        R"("backends": {"aio": {"baseUrl": "http://user:password@x"}})",
        R"("backends": {"aio": {"baseUrl": "http://x\u000by"}})",
        R"("backends": {"docker": {"image": "--privileged"}})", R"("backends": {"aio": {"apiKey": "a\r\nHost: b"}})"})
    EXPECT_THAT(ProblemWith(InSandbox(member)), HasSubstr("is not allowed, allowed is what ")) << member;
}

TEST(FileTest, ListsHoldStringsOnlyAndNameTheItem) {
  ExpectProblems(
      {{InSandbox(R"("filesystem": {"denyRead": ["~/.ssh", "b"]})"), ""},
       {InSandbox(R"("filesystem": {"denyRead": ["a", 7]})"), "sandbox.filesystem.denyRead[1]: 7 is not a string"},
       {InSandbox(R"("filesystem": {"denyRead": "a"})"), "sandbox.filesystem.denyRead: \"a\" is not a list of strings"},
       {InSandbox(R"("filesystem": {"denyRead": [["a"]]})"),
        "sandbox.filesystem.denyRead[0]: a list is not a string"}});
}

TEST(FileTest, LengthsAreLimited) {
  EXPECT_EQ(ProblemWith(InSandbox(R"("workspace": {"baseDir": ""})")),
            "sandbox.workspace.baseDir: \"\" has 0 characters, allowed are 1 to 4096");
  const auto path_of = [](std::size_t length) {
    return InSandbox(R"("workspace": {"baseDir": ")" + std::string(length, 'x') + "\"}");
  };
  ExpectProblems({{path_of(4096), ""},
                  {path_of(4097), "sandbox.workspace.baseDir: \"" + std::string(79, 'x') +
                                      "… has 4097 characters, allowed are 1 to 4096"}});
  std::string items = "\"a\"";
  for (int i = 0; i < 1000; ++i) items += ",\"a\"";
  EXPECT_EQ(ProblemWith(InSandbox(R"("filesystem": {"denyRead": [)" + items + "]}")),
            "sandbox.filesystem.denyRead: too long, allowed are 1000 items");
}

TEST(FileTest, UnknownKeyNamesWhatIsAllowed) {
  ExpectProblems(
      {{R"({"sandbx": {}})", "sandbx: unknown key (did you mean sandbox?), allowed are: $schema, sandbox"},
       {R"({"agents": {}})", "agents: unknown key, allowed are: $schema, sandbox"},
       {InSandbox(R"("limitz": {})"),
        "sandbox.limitz: unknown key (did you mean limits?), allowed are: approvals, backend, backends, budgets, "
        "confirm, "
        "confirmTimeout, daemon, enabled, environment, filesystem, limits, log, mode, monitor, network, policy, pool, "
        "record, "
        "rejectAsConfirmation, runtime, secrets, security, telemetry, workspace"},
       {InSandbox(R"("runtime": {"": 1})"), "sandbox.runtime.\"\": unknown key, allowed are: cleanupOnExit, timeout"}});
}

TEST(FileTest, HostileKeyDoesNotReachTheTerminal) {
  const std::string problem = ProblemWith("{\"\\u001b]0;x\\u0007\\n\": 1}");
  EXPECT_THAT(problem, HasSubstr("\\u001b]0;x\\u0007\\u000a: unknown key"));
  EXPECT_LT(ProblemWith("{\"" + std::string(500'000, 'k') + "\": 1}").size(), 200U);
}

TEST(FileTest, SecretIsNotQuoted) {
  for (const char* value : {"12345678", "\"1234\\u00005678\"", "[\"12345678\"]", "{\"12345678\": 1}"})
    EXPECT_THAT(ProblemWith(InSandbox(std::string(R"("backends": {"aio": {"apiKey": )") + value + "}}")),
                testing::AllOf(Not(testing::IsEmpty()), Not(HasSubstr("1234"))));
}

TEST(FileTest, SectionMustBeAnObject) {
  ExpectProblems({{"[]", "array instead of an object, allowed are the keys: $schema, sandbox"},
                  {"1", "number instead of an object, allowed are the keys: $schema, sandbox"},
                  {InSandbox(R"("runtime": null)"),
                   "sandbox.runtime: null instead of an object, allowed are the keys: cleanupOnExit, timeout"},
                  {R"({"sandbox": {}})", ""},
                  {"{}", ""}});
}

TEST(FileTest, SchemaAddressIsCheckedAndForgotten) {
  ExpectProblems({{R"({"$schema": "./config.schema.json"})", ""}, {R"({"$schema": 1})", "$schema: 1 is not a string"}});
}

TEST(FileTest, SameKeyTwiceIsRefusedInAnySpelling) {
  ExpectProblems(
      {{Limits(R"("timeout": 1, "timeout": 1)"), "sandbox.limits.timeout: given twice"},
       {Limits(R"("maxPids": 1, "max_pids": 1)"), "sandbox.limits.maxPids: given twice, as maxPids and as max_pids"},
       {InSandbox(R"("aio": {"apiKey": "a"}, "backends": {"aio": {"apiKey": "b"}})"),
        "sandbox.backends.aio.apiKey: given twice, once under the older name of its section"},
       {InSandbox(R"("aio": {"apiKey": "a"}, "backends": {"aio": {"baseUrl": "http://b"}})"), ""}});
}

}  // namespace
}  // namespace skerry::config

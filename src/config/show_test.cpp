#include "config/show.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::config {
namespace {

using testing::HasSubstr;
using testing::Not;

Loaded LoadedWith(std::string path, std::string value) {
  return Load({.config_path = {},
               .home = "/home/a",
               .environment = {},
               .overrides = {{std::move(path), std::move(value), "--x"}}})
      .value();
}

TEST(ShowTest, LinesAreAligned) {
  Loaded loaded;
  loaded.entries = {{"a.b", "30", "default", false}, {"a.long", "\"text\"", "flag --x", false}};
  EXPECT_EQ(ShowText(loaded), "a.b    = 30      (default)\na.long = \"text\"  (flag --x)\n");
}

TEST(ShowTest, HomeIsShownAsItWasWritten) {
  EXPECT_THAT(ShowText(LoadedWith("sandbox.enabled", "1")), HasSubstr("\"~/.skerry/workspaces\""));
}

TEST(ShowTest, SecretsAreMaskedEverywhere) {
  for (const char* path :
       {"sandbox.aio.apiKey", "sandbox.opensandbox.local.apiKey", "sandbox.opensandbox.vke.apiKey"}) {
    const Loaded loaded = LoadedWith(path, "hush");
    for (const std::string& shown : {ShowText(loaded), ShowJson(loaded)}) {
      EXPECT_THAT(shown, Not(HasSubstr("hush"))) << path;
      EXPECT_THAT(shown, HasSubstr("\"********\"")) << path;
    }
  }
}

TEST(ShowTest, SecretThatIsNotSetIsShownEmpty) {
  EXPECT_THAT(ShowText(Load({}).value()), Not(HasSubstr("****")));
}

TEST(ShowTest, JsonHoldsNestedValuesAndFlatOrigins) {
  const auto shown = nlohmann::json::parse(ShowJson(LoadedWith("sandbox.limits.timeout", "5")));
  EXPECT_EQ(shown["values"]["sandbox"]["limits"]["timeout"], 5);
  EXPECT_EQ(shown["values"]["sandbox"]["network"]["allowedDomains"], nlohmann::json::array());
  EXPECT_EQ(shown["origins"]["sandbox.limits.timeout"], "flag --x");
  EXPECT_EQ(shown["origins"]["sandbox.mode"], "default");
}

TEST(ShowTest, HostileValueDoesNotReachTheTerminal) {
  const Loaded loaded = LoadedWith("sandbox.workspace.baseDir", "/\u009b2J\u202e");
  EXPECT_THAT(ShowText(loaded), HasSubstr("\"/\\u009b2J\\u202e\""));
  EXPECT_THAT(ShowJson(loaded), HasSubstr("\"/\\u009b2J\\u202e\""));
}

}  // namespace
}  // namespace skerry::config

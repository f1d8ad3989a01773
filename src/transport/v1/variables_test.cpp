#include "transport/v1/variables.hpp"

#include <gtest/gtest.h>

#include "engine/views/sessions_view.hpp"

namespace skerry::transport::v1 {
namespace {

bool Takes(const nlohmann::json& environment) {
  const nlohmann::json body = {{"environment", environment}};
  json::Fields fields(body);
  std::map<std::string, std::string> variables;
  std::set<std::string> secrets;
  ReadEnvironment(fields, variables, secrets);
  return fields.Finish().has_value();
}

nlohmann::json Many(std::size_t count, std::size_t length) {
  nlohmann::json variables = nlohmann::json::object();
  for (std::size_t at = 0; at < count; ++at) variables["V" + std::to_string(at)] = std::string(length, 'x');
  return variables;
}

TEST(VariablesTest, HaveTheLimitsOfTheContract) {
  EXPECT_TRUE(Takes(Many(256, 10)));
  EXPECT_FALSE(Takes(Many(257, 10)));
  EXPECT_TRUE(Takes(Many(1, 32'768)));
  EXPECT_FALSE(Takes(Many(1, 32'769)));
  EXPECT_TRUE(Takes({{std::string(256, 'N'), ""}}));
  EXPECT_FALSE(Takes({{std::string(257, 'N'), ""}}));
  EXPECT_FALSE(Takes({{"", "x"}}));
  EXPECT_TRUE(Takes(Many(97, 1000)));
  EXPECT_FALSE(Takes(Many(99, 1000))) << "too much in all";
}

TEST(VariablesTest, ASecretIsAVariableThatIsNamedOnce) {
  const nlohmann::json body = {{"environment", {{"A", "1"}}}, {"secrets", {{"B", "2"}}}};
  json::Fields fields(body);
  std::map<std::string, std::string> variables = {{"OLD", "x"}};
  std::set<std::string> secrets;
  ReadEnvironment(fields, variables, secrets);
  EXPECT_TRUE(fields.Finish());
  EXPECT_EQ(variables, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(secrets, std::set<std::string>{"B"});

  const nlohmann::json both = {{"environment", {{"A", "1"}}}, {"secrets", {{"A", "2"}}}};
  json::Fields refused(both);
  ReadEnvironment(refused, variables, secrets);
  EXPECT_FALSE(refused.Finish());
}

TEST(VariablesTest, ValuesAreForThoseWhoMayRun) {
  http::Request request;
  request.caller.scopes = 1U << static_cast<unsigned>(core::TokenScope::kRead);
  const engine::SessionSettings settings{.environment = {{"KEY", "value"}, {"TOKEN", "hidden"}}, .secrets = {"TOKEN"}};
  const auto shown = [&] { return engine::ShownVariables(settings, PrincipalOf(request)); };
  EXPECT_EQ(VariablesToJson(shown()).dump(), R"({"KEY":null,"TOKEN":null})");
  request.caller.scopes = 1U << static_cast<unsigned>(core::TokenScope::kRun);
  EXPECT_EQ(VariablesToJson(shown()).dump(), R"({"KEY":"value","TOKEN":null})");
}

}  // namespace
}  // namespace skerry::transport::v1

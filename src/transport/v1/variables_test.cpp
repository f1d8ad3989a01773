#include "transport/v1/variables.hpp"

#include <gtest/gtest.h>

#include "engine/views/sessions_view.hpp"

namespace skerry::transport::v1 {
namespace {

bool Takes(const nlohmann::json& environment) {
  const nlohmann::json body = {{"environment", environment}};
  json::Fields fields(body);
  (void)ReadVariables(fields);
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

TEST(VariablesTest, ValuesAreForThoseWhoMayRun) {
  http::Request request;
  request.caller.scopes = 1U << static_cast<unsigned>(core::TokenScope::kRead);
  const auto shown = [&] { return engine::ShownVariables({{"KEY", "secret"}}, PrincipalOf(request)); };
  EXPECT_EQ(VariablesToJson(shown()).dump(), R"({"KEY":null})");
  request.caller.scopes = 1U << static_cast<unsigned>(core::TokenScope::kRun);
  EXPECT_EQ(VariablesToJson(shown()).dump(), R"({"KEY":"secret"})");
}

}  // namespace
}  // namespace skerry::transport::v1

#include "bench/ordinary_code.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/risk_policy.hpp"

namespace skerry::bench {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using enum core::Language;

class OrdinaryCodeTest : public ::testing::TestWithParam<core::Language> {};

TEST_P(OrdinaryCodeTest, IsAsLongAsAskedForToOnePart) {
  for (const std::size_t bytes : {std::size_t{10'000}, std::size_t{1'000'000}}) {
    const std::string code = OrdinaryCode(GetParam(), bytes);
    EXPECT_LE(code.size(), bytes);
    EXPECT_GT(code.size() + 1500, bytes);
  }
}

TEST_P(OrdinaryCodeTest, IsTheSameEachTimeAndTheShortOneBeginsTheLongOne) {
  EXPECT_EQ(OrdinaryCode(GetParam(), 100'000), OrdinaryCode(GetParam(), 100'000));
  EXPECT_THAT(OrdinaryCode(GetParam(), 100'000), StartsWith(OrdinaryCode(GetParam(), 10'000)));
}

TEST_P(OrdinaryCodeTest, HasNoPlaceholderLeft) {
  EXPECT_THAT(OrdinaryCode(GetParam(), 100'000),
              AllOf(Not(HasSubstr("__NOUN")), Not(HasSubstr("__OTHER")), Not(HasSubstr("__VERB")),
                    Not(HasSubstr("__NUMBER")), Not(HasSubstr("__INDEX"))));
}

TEST_P(OrdinaryCodeTest, IsNotOneLineAgainAndAgain) {
  std::istringstream lines(OrdinaryCode(GetParam(), 1'000'000));
  std::set<std::string> different;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) different.insert(line);
  EXPECT_GT(different.size(), count / 10);
}

TEST_P(OrdinaryCodeTest, IsParsedAndAnalysedAsAWhole) {
  const core::RiskAssessment assessment = policy::RiskPolicy().Assess(GetParam(), OrdinaryCode(GetParam(), 1'000'000));
  EXPECT_THAT(assessment.findings, Each(Field("rule", &core::Finding::rule, Not(StartsWith("code.")))));
}

INSTANTIATE_TEST_SUITE_P(Languages, OrdinaryCodeTest, ::testing::Values(kPython, kJavaScript, kShell),
                         [](const auto& each) { return std::string(core::NameOf(each.param)); });

}  // namespace
}  // namespace skerry::bench

#include "base/company.hpp"

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(CompanyTest, WhoIsAloneHasNone) {
  const Company::TimePoint now{};
  Company company;
  EXPECT_FALSE(company.Has("a", now));
  EXPECT_FALSE(company.Note("a", now));
  EXPECT_FALSE(company.Note("a", now + 10ms));
  EXPECT_TRUE(company.Has("b", now + 10ms));
}

TEST(CompanyTest, OthersAreForgottenAfterASecond) {
  const Company::TimePoint now{};
  Company company;
  (void)company.Note("a", now);
  EXPECT_TRUE(company.Note("b", now + 500ms));
  EXPECT_TRUE(company.Note("b", now + 999ms));
  EXPECT_FALSE(company.Note("b", now + 1s));
  EXPECT_TRUE(company.Note("a", now + 1s));
  EXPECT_TRUE(company.Note("c", now + 1s));
  EXPECT_TRUE(company.Note("a", now + 1s));
}

}  // namespace
}  // namespace skerry::base

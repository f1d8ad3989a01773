#include "engine/scopes.hpp"

#include <gtest/gtest.h>

#include "engine/principal.hpp"

namespace skerry::engine {
namespace {

using core::TokenScope;

TEST(ScopesTest, WhoRunsReadsAndWhoAdministersMayEverything) {
  EXPECT_TRUE(Scopes({TokenScope::kRun}).May(kToRead));
  EXPECT_FALSE(Scopes({TokenScope::kRead}).May(kToRun));
  for (const Need need : {kToRead, kToRun, kToApprove, kToAdminister, kToMeasure, kToFollow})
    EXPECT_TRUE(Scopes({TokenScope::kAdmin}).May(need)) << NamesOf(need);
}

TEST(ScopesTest, NoScopeMayNothing) {
  for (const Need need : {kToRead, kToRun, kToApprove, kToAdminister, kToMeasure, kToFollow})
    EXPECT_FALSE(Scopes().May(need)) << NamesOf(need);
}

TEST(ScopesTest, ApprovingAndMeasuringAreNoReading) {
  EXPECT_FALSE(Scopes({TokenScope::kApprove, TokenScope::kMetrics}).May(kToRead));
  EXPECT_TRUE(Scopes({TokenScope::kApprove}).May(kToFollow));
  EXPECT_FALSE(Scopes({TokenScope::kMetrics}).May(kToFollow));
}

TEST(ScopesTest, AreNamedForPeople) {
  EXPECT_EQ(NamesOf(kToRead), "read or run or admin");
  EXPECT_EQ(NamesOf(kToMeasure), "metrics or admin");
}

TEST(PrincipalTest, SeesOnlyItsTenantUnlessItAdministers) {
  const Principal alice{.tenant = "a", .scopes = {TokenScope::kRead, TokenScope::kRun, TokenScope::kApprove}};
  EXPECT_TRUE(alice.Sees("a"));
  EXPECT_FALSE(alice.Sees("b"));
  EXPECT_TRUE((Principal{.tenant = "a", .scopes = {TokenScope::kAdmin}}.Sees("b")));
}

}  // namespace
}  // namespace skerry::engine

#include "confirm/confirmation.hpp"

#include <gtest/gtest.h>

#include "confirm/auto_approve.hpp"

namespace skerry::confirm {
namespace {

TEST(ConfirmationTest, EveryDecisionHasItsName) {
  EXPECT_EQ(NameOf(Decision::kApproved), "approved");
  EXPECT_EQ(NameOf(Decision::kRejected), "rejected");
  EXPECT_EQ(NameOf(Decision::kExpired), "expired");
  EXPECT_EQ(NameOf(Decision::kCancelled), "cancelled");
}

TEST(ConfirmationTest, AnAnswerThatNobodyFilledInIsARejection) {
  EXPECT_EQ(Answer{}.decision, Decision::kRejected);
}

TEST(AutoApproveTest, ApprovesOnceAndSaysWhoAnswersForIt) {
  AutoApprove service("--yes");
  const Answer answer = service.Ask({}, base::Deadline::Never(), {});
  EXPECT_EQ(answer.decision, Decision::kApproved);
  EXPECT_EQ(answer.scope, Scope::kOnce);
  EXPECT_EQ(answer.by, "--yes");
}

}  // namespace
}  // namespace skerry::confirm

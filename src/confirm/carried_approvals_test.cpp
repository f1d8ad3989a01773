#include "confirm/carried_approvals.hpp"

#include <gtest/gtest.h>

namespace skerry::confirm {
namespace {

Question About(const std::string& session, const std::string& digest) {
  return {.session = session, .digest = digest};
}

class CarriedApprovalsTest : public testing::Test {
 protected:
  Decision Asked(const std::string& session, const std::string& digest) {
    return approvals_.Ask(About(session, digest), base::Deadline::Never(), {}).decision;
  }
  CarriedApprovals approvals_;
};

TEST_F(CarriedApprovalsTest, WhatNobodyExpectsIsRejected) {
  EXPECT_EQ(Asked("s", "d"), Decision::kRejected);
}

TEST_F(CarriedApprovalsTest, AnApprovalIsUsedOnce) {
  approvals_.Expect("s", "d", {.decision = Decision::kApproved});
  EXPECT_EQ(Asked("s", "d"), Decision::kApproved);
  EXPECT_EQ(Asked("s", "d"), Decision::kRejected);
}

TEST_F(CarriedApprovalsTest, AnApprovalIsForItsSessionAndDigest) {
  approvals_.Expect("s", "d", {.decision = Decision::kApproved});
  EXPECT_EQ(Asked("other", "d"), Decision::kRejected);
  EXPECT_EQ(Asked("s", "other"), Decision::kRejected);
  EXPECT_EQ(Asked("s", "d"), Decision::kApproved);
}

TEST_F(CarriedApprovalsTest, WhatIsWithdrawnIsGone) {
  approvals_.Expect("s", "d", {.decision = Decision::kApproved});
  approvals_.Withdraw("s", "d");
  EXPECT_EQ(Asked("s", "d"), Decision::kRejected);
}

}  // namespace
}  // namespace skerry::confirm

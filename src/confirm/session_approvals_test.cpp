#include "confirm/session_approvals.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "base/sha256.hpp"

namespace skerry::confirm {
namespace {

// Gives the same answer to every question and counts the questions.
class FakeService : public ConfirmationService {
 public:
  Answer Ask(const Question& /*question*/, base::Deadline /*deadline*/, std::stop_token /*stop*/) override {
    ++asked;
    if (during) during();
    return answer;
  }

  Answer answer{.decision = Decision::kApproved, .scope = Scope::kSession, .by = "ada"};
  std::function<void()> during;
  int asked = 0;
};

class SessionApprovalsTest : public ::testing::Test {
 protected:
  Answer Ask(const std::string& session, const std::string& code) {
    Question question{.session = session, .code = code, .digest = base::Sha256Hex(code)};
    return approvals_.Ask(question, base::Deadline::Never(), {});
  }

  FakeService person_;
  SessionApprovals approvals_{person_, 3};
};

TEST_F(SessionApprovalsTest, WhatWasApprovedForTheSessionIsNotAskedAgainInIt) {
  EXPECT_EQ(Ask("s", "x").by, "ada");
  const Answer again = Ask("s", "x");
  EXPECT_EQ(again.decision, Decision::kApproved);
  EXPECT_EQ(again.by, "session");
  EXPECT_EQ(person_.asked, 1);
}

TEST_F(SessionApprovalsTest, AnotherDigestOrAnotherSessionIsAsked) {
  Ask("s", "x");
  Ask("s", "x ");
  Ask("t", "x");
  EXPECT_EQ(person_.asked, 3);
}

TEST_F(SessionApprovalsTest, WhatWasApprovedOnceIsAskedAgain) {
  person_.answer.scope = Scope::kOnce;
  Ask("s", "x");
  Ask("s", "x");
  EXPECT_EQ(person_.asked, 2);
}

TEST_F(SessionApprovalsTest, WhatHoldsOnceIsNeverRemembered) {
  const Question question{.session = "s",
                          .code = "make",
                          .digest = base::Sha256Hex("make"),
                          .content = base::Sha256Hex("m"),
                          .once_only = true};
  for (const Scope scope : {Scope::kSession, Scope::kContent}) {
    person_.answer.scope = scope;
    (void)approvals_.Ask(question, base::Deadline::Never(), {});
    EXPECT_FALSE(approvals_.Remembers("s", question.digest));
    EXPECT_FALSE(approvals_.RemembersContent("", question.content));
  }
  EXPECT_EQ(person_.asked, 2);
}

TEST_F(SessionApprovalsTest, WhatWasNotApprovedIsNeverRemembered) {
  for (const auto decision : {Decision::kRejected, Decision::kExpired, Decision::kCancelled}) {
    person_.answer.decision = decision;
    EXPECT_EQ(Ask("s", "x").decision, decision);
  }
  EXPECT_EQ(person_.asked, 3);
}

TEST_F(SessionApprovalsTest, WithoutASessionNothingIsRemembered) {
  Ask("", "x");
  Ask("", "x");
  EXPECT_EQ(person_.asked, 2);
}

TEST_F(SessionApprovalsTest, WithoutADigestNothingIsRemembered) {
  for (const char* digest : {"", "", "abc", "abc"})
    approvals_.Ask({.session = "s", .code = "x", .digest = digest}, base::Deadline::Never(), {});
  EXPECT_EQ(person_.asked, 4);
}

TEST_F(SessionApprovalsTest, AForgottenSessionIsAskedAgainAndTheOthersAreNot) {
  Ask("s", "x");
  Ask("t", "x");
  approvals_.Forget("s");
  EXPECT_EQ(Ask("s", "x").by, "ada");
  EXPECT_EQ(Ask("t", "x").by, "session");
}

TEST_F(SessionApprovalsTest, ASessionForgottenWhileItIsAskedIsNotRemembered) {
  person_.during = [this] { approvals_.Forget("s"); };
  Ask("s", "x");
  person_.during = [this] { approvals_.Forget("t"); };
  Ask("s", "x");
  EXPECT_EQ(person_.asked, 2);
  Ask("s", "x");
  EXPECT_EQ(person_.asked, 2);
}

TEST_F(SessionApprovalsTest, TheOldestIsForgottenWhenThereAreTooMany) {
  for (const char* code : {"1", "2", "3", "4"}) Ask("s", code);
  for (const char* code : {"2", "3", "4"}) EXPECT_EQ(Ask("s", code).by, "session") << code;
  EXPECT_EQ(Ask("s", "1").by, "ada");
}

}  // namespace
}  // namespace skerry::confirm

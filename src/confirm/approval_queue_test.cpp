#include "confirm/approval_queue.hpp"

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/sha256.hpp"

namespace skerry::confirm {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;

const base::Deadline kNever = base::Deadline::Never();

Question QuestionOf(std::string code, std::string session = "") {
  Question question{.session = std::move(session), .content_type = "python", .code = std::move(code)};
  question.digest = base::Sha256Hex(question.code);
  return question;
}

// Calls Ask on a thread of its own.
std::future<Answer> AskAside(ApprovalQueue& queue, Question question, base::Deadline deadline = kNever,
                             const std::stop_token& stop = {}) {
  return std::async(std::launch::async, [&queue, question = std::move(question), deadline, stop] {
    return queue.Ask(question, deadline, stop);
  });
}

std::vector<std::shared_ptr<const Approval>> WaitForWaiting(const ApprovalQueue& queue, std::size_t count) {
  const base::Deadline deadline = base::Deadline::After(1min);
  auto waiting = queue.List();
  for (; waiting.size() != count && !deadline.Expired(); waiting = queue.List()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(waiting.size(), count);
  return waiting;
}

std::shared_ptr<const Approval> WaitForOne(const ApprovalQueue& queue) {
  return WaitForWaiting(queue, 1).at(0);
}

base::Code CodeOf(const base::Status& status) {
  EXPECT_FALSE(status.has_value());
  return status.has_value() ? base::Code::kInternal : status.error().code;
}

const Verdict kYes{.approve = true, .by = "ada"};
const Verdict kNo{.approve = false, .by = "ada", .reason = "too risky"};

TEST(ApprovalQueueTest, AnApprovalReachesItsAsker) {
  ApprovalQueue queue;
  auto asked = AskAside(queue, QuestionOf("eval(x)", "s1"));
  const auto approval = WaitForOne(queue);
  EXPECT_EQ(approval->question.code, "eval(x)");
  EXPECT_TRUE(approval->id.starts_with("apr_"));
  ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest,
                           {.approve = true, .scope = Scope::kSession, .by = "ada", .reason = "fine"}));
  const Answer answer = asked.get();
  EXPECT_EQ(answer.decision, Decision::kApproved);
  EXPECT_EQ(answer.scope, Scope::kSession);
  EXPECT_EQ(answer.by, "ada");
  EXPECT_EQ(answer.reason, "fine");
  EXPECT_TRUE(queue.List().empty());
}

TEST(ApprovalQueueTest, ARejectionReachesItsAskerWithTheReason) {
  ApprovalQueue queue;
  auto asked = AskAside(queue, QuestionOf("x"));
  const auto approval = WaitForOne(queue);
  ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest, kNo));
  const Answer answer = asked.get();
  EXPECT_EQ(answer.decision, Decision::kRejected);
  EXPECT_EQ(answer.reason, "too risky");
}

TEST(ApprovalQueueTest, AnAnswerServesOnlyTheQuestionThatItNames) {
  ApprovalQueue queue;
  auto first = AskAside(queue, QuestionOf("same"));
  WaitForWaiting(queue, 1);
  auto second = AskAside(queue, QuestionOf("same"));
  const auto waiting = WaitForWaiting(queue, 2);
  ASSERT_TRUE(queue.Decide(waiting[0]->id, waiting[0]->question.digest, kYes));
  EXPECT_EQ(first.get().decision, Decision::kApproved);
  EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
  ASSERT_TRUE(queue.Decide(waiting[1]->id, waiting[1]->question.digest, kNo));
  EXPECT_EQ(second.get().decision, Decision::kRejected);
}

TEST(ApprovalQueueTest, AReplayedAnswerIsAConflict) {
  ApprovalQueue queue;
  auto asked = AskAside(queue, QuestionOf("x"));
  const auto approval = WaitForOne(queue);
  ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest, kNo));
  EXPECT_EQ(asked.get().decision, Decision::kRejected);
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, approval->question.digest, kYes)), base::Code::kConflict);
  EXPECT_EQ(queue.Find(approval->id).error().code, base::Code::kConflict);
}

TEST(ApprovalQueueTest, AnAnsweredIdDoesNotAnswerTheSameQuestionAskedAgain) {
  ApprovalQueue queue;
  auto first = AskAside(queue, QuestionOf("x"));
  const auto approval = WaitForOne(queue);
  ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest, kYes));
  first.get();
  std::stop_source stop;
  auto second = AskAside(queue, QuestionOf("x"), kNever, stop.get_token());
  EXPECT_NE(WaitForOne(queue)->id, approval->id);
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, approval->question.digest, kYes)), base::Code::kConflict);
  EXPECT_EQ(queue.List().size(), 1U);
  stop.request_stop();
  EXPECT_EQ(second.get().decision, Decision::kCancelled);
}

TEST(ApprovalQueueTest, AWrongDigestIsAConflictAndTheQuestionGoesOnWaiting) {
  ApprovalQueue queue;
  auto asked = AskAside(queue, QuestionOf("bash x.sh"));
  const auto approval = WaitForOne(queue);
  for (const std::string& digest : {std::string(), base::Sha256Hex("other"), approval->question.digest + "0",
                                    approval->question.digest.substr(0, 63)})
    EXPECT_EQ(CodeOf(queue.Decide(approval->id, digest, kYes)), base::Code::kConflict) << digest;
  EXPECT_EQ(asked.wait_for(20ms), std::future_status::timeout);
  ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest, kYes));
  EXPECT_EQ(asked.get().decision, Decision::kApproved);
}

TEST(ApprovalQueueTest, AnIdThatNeverWasIsNotFound) {
  ApprovalQueue queue;
  for (const char* id : {"", "apr_", "apr_aaaaaaaaaaaaaaaa", "../../x"}) {
    EXPECT_EQ(CodeOf(queue.Decide(id, base::Sha256Hex("x"), kYes)), base::Code::kNotFound);
    EXPECT_EQ(queue.Find(id).error().code, base::Code::kNotFound);
  }
}

TEST(ApprovalQueueTest, AnotherSessionCannotTellAQuestionFromOneThatNeverWas) {
  ApprovalQueue queue;
  auto asked = AskAside(queue, QuestionOf("x", "mine"));
  const auto approval = WaitForOne(queue);
  const auto& digest = approval->question.digest;
  const base::Error unknown = queue.Find("apr_never").error();
  for (const char* session : {"other", ""}) {
    const base::Status refused = queue.Decide(approval->id, digest, kYes, session);
    EXPECT_EQ(CodeOf(refused), base::Code::kNotFound);
    EXPECT_EQ(refused.error().message, unknown.message);
    EXPECT_FALSE(queue.Find(approval->id, session));
  }
  EXPECT_TRUE(queue.Find(approval->id, "mine"));
  ASSERT_TRUE(queue.Decide(approval->id, digest, kYes, "mine"));
  EXPECT_EQ(asked.get().decision, Decision::kApproved);
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, digest, kYes, "other")), base::Code::kNotFound);
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, digest, kYes, "mine")), base::Code::kConflict);
}

TEST(ApprovalQueueTest, AQuestionExpiresAtItsDeadlineAndCannotBeAnsweredAfterwards) {
  ApprovalQueue queue;
  std::promise<std::shared_ptr<const Approval>> told;
  const Subscription subscription = queue.Subscribe([&](const Event& event) {
    if (event.kind == EventKind::kExpired) told.set_value(event.approval);
  });
  EXPECT_EQ(queue.Ask(QuestionOf("x"), base::Deadline::After(20ms), {}).decision, Decision::kExpired);
  EXPECT_TRUE(queue.List().empty());
  const auto approval = told.get_future().get();
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, approval->question.digest, kYes)), base::Code::kRejected);
  EXPECT_EQ(queue.Find(approval->id).error().code, base::Code::kRejected);
}

TEST(ApprovalQueueTest, AfterTheDeadlineNothingIsApprovedThoughTheAskerHasNotNoticedYet) {
  ApprovalQueue queue;
  for (int round = 0; round < 50; ++round) {
    const base::Deadline deadline = base::Deadline::After(1ms);
    std::promise<base::Status> decided;
    const Subscription subscription = queue.Subscribe([&](const Event& event) {
      if (event.kind != EventKind::kAsked) return;
      while (!deadline.Expired()) continue;
      decided.set_value(queue.Decide(event.approval->id, event.approval->question.digest, kYes));
    });
    EXPECT_EQ(queue.Ask(QuestionOf("x"), deadline, {}).decision, Decision::kExpired);
    EXPECT_EQ(CodeOf(decided.get_future().get()), base::Code::kRejected);
  }
}

TEST(ApprovalQueueTest, AnAnswerAtTheDeadlineCountsForBothSidesOrForNeither) {
  ApprovalQueue queue;
  std::promise<base::Status> decided;
  std::atomic<int> delay_us = 0;
  const Subscription subscription = queue.Subscribe([&](const Event& event) {
    if (event.kind != EventKind::kAsked) return;
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    decided.set_value(queue.Decide(event.approval->id, event.approval->question.digest, kYes));
  });
  for (int round = 0; round < 200; ++round) {
    decided = {};
    delay_us = round % 20 * 100;
    const Answer answer = queue.Ask(QuestionOf("x"), base::Deadline::After(1ms), {});
    const base::Status status = decided.get_future().get();
    EXPECT_EQ(answer.decision, status ? Decision::kApproved : Decision::kExpired);
  }
}

TEST(ApprovalQueueTest, AQuestionExpiresAtTheLimitOfTheQueueWhenThatIsEarlier) {
  ApprovalQueue queue({.limit = 30ms});
  EXPECT_EQ(queue.Ask(QuestionOf("x"), base::Deadline::After(1h), {}).decision, Decision::kExpired);
  EXPECT_EQ(queue.Ask(QuestionOf("x"), kNever, {}).decision, Decision::kExpired);
}

TEST(ApprovalQueueTest, ShowsWhenAQuestionExpires) {
  ApprovalQueue queue({.limit = std::chrono::milliseconds::max()});
  std::stop_source stop;
  auto asked = AskAside(queue, QuestionOf("x"), base::Deadline::After(1h), stop.get_token());
  const auto approval = WaitForOne(queue);
  const auto lifetime = approval->expires - approval->created;
  EXPECT_LE(lifetime, 1h);
  EXPECT_GT(lifetime, 59min);
  stop.request_stop();
  asked.get();
  auto endless = AskAside(queue, QuestionOf("y"));
  EXPECT_GT(WaitForOne(queue)->expires, std::chrono::system_clock::now() + 24h);
  queue.Decide(WaitForOne(queue)->id, base::Sha256Hex("y"), kNo).value();
  endless.get();
}

TEST(ApprovalQueueTest, AnAskerWhoGoesAwayTakesTheQuestionAlong) {
  ApprovalQueue queue;
  std::stop_source stop;
  auto asked = AskAside(queue, QuestionOf("x"), kNever, stop.get_token());
  const auto approval = WaitForOne(queue);
  stop.request_stop();
  EXPECT_EQ(asked.get().decision, Decision::kCancelled);
  EXPECT_TRUE(queue.List().empty());
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, approval->question.digest, kYes)), base::Code::kRejected);
}

TEST(ApprovalQueueTest, OfTwoWhoDecideAtOnceExactlyOneWins) {
  ApprovalQueue queue;
  for (int round = 0; round < 200; ++round) {
    auto asked = AskAside(queue, QuestionOf("x"));
    const auto approval = WaitForOne(queue);
    std::atomic<int> ready = 0;
    const auto decide = [&](const Verdict& verdict) {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      return queue.Decide(approval->id, approval->question.digest, verdict);
    };
    auto yes = std::async(std::launch::async, decide, kYes);
    const base::Status no = decide(kNo);
    const base::Status approved = yes.get();
    ASSERT_NE(approved.has_value(), no.has_value());
    EXPECT_EQ(CodeOf(approved ? no : approved), base::Code::kConflict);
    EXPECT_EQ(asked.get().decision, approved ? Decision::kApproved : Decision::kRejected);
  }
}

TEST(ApprovalQueueTest, AFullQueueRejectsAtOnceAndHasRoomAgainAfterAnAnswer) {
  ApprovalQueue queue({.max_waiting = 1});
  auto first = AskAside(queue, QuestionOf("x"));
  const auto approval = WaitForOne(queue);
  const Answer refused = queue.Ask(QuestionOf("y"), base::Deadline::After(1s), {});
  EXPECT_EQ(refused.decision, Decision::kRejected);
  EXPECT_NE(refused.reason.find("waiting"), std::string::npos);
  ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest, kYes));
  EXPECT_EQ(first.get().decision, Decision::kApproved);
  EXPECT_EQ(queue.Ask(QuestionOf("y"), base::Deadline::After(1ms), {}).decision, Decision::kExpired);
}

TEST(ApprovalQueueTest, OneTenantTakesNoMoreThanItsShare) {
  for (const ApprovalQueueOptions& options :
       {ApprovalQueueOptions{.max_of_tenant = 1}, ApprovalQueueOptions{.max_code_of_tenant = 100}}) {
    ApprovalQueue queue(options);
    const auto question = [](const char* tenant) {
      Question asked = QuestionOf(std::string(80, 'x'));
      asked.tenant = tenant;
      return asked;
    };
    auto first = AskAside(queue, question("much"));
    const auto approval = WaitForOne(queue);
    EXPECT_EQ(queue.Ask(question("much"), base::Deadline::After(1s), {}).decision, Decision::kRejected);
    EXPECT_EQ(queue.Ask(question("other"), base::Deadline::After(1ms), {}).decision, Decision::kExpired);
    ASSERT_TRUE(queue.Decide(approval->id, approval->question.digest, kYes));
    EXPECT_EQ(first.get().decision, Decision::kApproved);
  }
}

TEST(ApprovalQueueTest, RemembersTheLastOnesThatAreDone) {
  ApprovalQueue queue({.max_remembered = 2});
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    auto asked = AskAside(queue, QuestionOf("x"));
    ids.push_back(WaitForOne(queue)->id);
    ASSERT_TRUE(queue.Decide(ids.back(), base::Sha256Hex("x"), kNo));
    asked.get();
  }
  EXPECT_EQ(queue.Find(ids[0]).error().code, base::Code::kNotFound);
  EXPECT_EQ(queue.Find(ids[1]).error().code, base::Code::kConflict);
  EXPECT_EQ(queue.Find(ids[2]).error().code, base::Code::kConflict);
}

TEST(ApprovalQueueTest, AQuestionWithoutADigestIsRejected) {
  ApprovalQueue queue;
  Question question = QuestionOf("x");
  for (const char* digest : {"", "abc"}) {
    question.digest = digest;
    EXPECT_EQ(queue.Ask(question, base::Deadline::After(1s), {}).decision, Decision::kRejected);
  }
}

TEST(ApprovalQueueTest, AnApprovalForTheSessionNeedsASession) {
  ApprovalQueue queue;
  auto asked = AskAside(queue, QuestionOf("x", ""));
  const auto approval = WaitForOne(queue);
  const auto& digest = approval->question.digest;
  EXPECT_EQ(CodeOf(queue.Decide(approval->id, digest, {.approve = true, .scope = Scope::kSession})),
            base::Code::kInvalidArgument);
  ASSERT_TRUE(queue.Decide(approval->id, digest, kYes));
  EXPECT_EQ(asked.get().decision, Decision::kApproved);
}

TEST(ApprovalQueueTest, WhatHoldsOnceIsApprovedNoLonger) {
  ApprovalQueue queue;
  Question question = QuestionOf("x", "s");
  question.once_only = true;
  auto asked = AskAside(queue, question);
  const auto approval = WaitForOne(queue);
  const auto& digest = approval->question.digest;
  for (const Scope scope : {Scope::kSession, Scope::kContent})
    EXPECT_EQ(CodeOf(queue.Decide(approval->id, digest, {.approve = true, .scope = scope})),
              base::Code::kInvalidArgument);
  ASSERT_TRUE(queue.Decide(approval->id, digest, kYes));
  EXPECT_EQ(asked.get().decision, Decision::kApproved);
}

TEST(ApprovalQueueTest, ListsTheOldestFirst) {
  ApprovalQueue queue;
  std::stop_source stop;
  std::vector<std::future<Answer>> asked;
  for (const char* code : {"a", "b", "c"}) {
    asked.push_back(AskAside(queue, QuestionOf(code), kNever, stop.get_token()));
    WaitForWaiting(queue, asked.size());
  }
  std::string order;
  std::set<std::string> ids;
  for (const auto& approval : queue.List()) {
    order += approval->question.code;
    ids.insert(approval->id);
  }
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(ids.size(), 3U);
  stop.request_stop();
}

TEST(ApprovalQueueTest, DestructionRejectsWhatWaitsAndLeavesNobodyInAsk) {
  std::vector<std::future<Answer>> asked;
  {
    ApprovalQueue queue;
    for (int i = 0; i < 8; ++i) asked.push_back(AskAside(queue, QuestionOf("x")));
    WaitForWaiting(queue, 8);
  }
  for (auto& one : asked) EXPECT_EQ(one.get().decision, Decision::kRejected);
}

TEST(ApprovalQueueTest, ListenersHearOfEveryQuestionAndOfItsEnd) {
  std::vector<EventKind> kinds;
  Decision last = Decision::kApproved;
  {
    ApprovalQueue queue;
    const Subscription subscription = [&] {
      return queue.Subscribe([&](const Event& event) {
        kinds.push_back(event.kind);
        last = event.answer.decision;
      });
    }();
    queue.Ask(QuestionOf("x"), base::Deadline::After(10ms), {});
    std::stop_source stop;
    stop.request_stop();
    queue.Ask(QuestionOf("x"), kNever, stop.get_token());
    auto asked = AskAside(queue, QuestionOf("x"));
    ASSERT_TRUE(queue.Decide(WaitForOne(queue)->id, base::Sha256Hex("x"), kNo));
    asked.get();
    // The subscription ends before the queue does, so the test waits until every event was delivered.
    std::promise<void> told;
    const Subscription witness = queue.Subscribe([&](const Event& event) {
      if (event.kind == EventKind::kExpired) told.set_value();
    });
    queue.Ask(QuestionOf("x"), base::Deadline::After(1ms), {});
    told.get_future().wait();
  }
  EXPECT_EQ(kinds,
            (std::vector<EventKind>{EventKind::kAsked, EventKind::kExpired, EventKind::kAsked, EventKind::kCancelled,
                                    EventKind::kAsked, EventKind::kAnswered, EventKind::kAsked, EventKind::kExpired}));
  EXPECT_EQ(last, Decision::kExpired);
}

TEST(ApprovalQueueTest, AListenerMayCallBackIntoTheQueue) {
  ApprovalQueue queue;
  const Subscription subscription = queue.Subscribe([&](const Event& event) {
    if (event.kind != EventKind::kAsked) return;
    EXPECT_TRUE(queue.Find(event.approval->id));
    EXPECT_EQ(queue.List().size(), 1U);
    EXPECT_TRUE(queue.Decide(event.approval->id, event.approval->question.digest, kYes));
  });
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(queue.Ask(QuestionOf("x"), base::Deadline::After(1min), {}).decision, Decision::kApproved);
}

TEST(ApprovalQueueTest, AListenerThatHangsHoldsUpNeitherAskNorDecide) {
  std::promise<void> may_go_on;
  ApprovalQueue queue;
  const Subscription subscription =
      queue.Subscribe([done = may_go_on.get_future().share()](const Event&) { done.wait(); });
  auto asked = AskAside(queue, QuestionOf("x"));
  ASSERT_TRUE(queue.Decide(WaitForOne(queue)->id, base::Sha256Hex("x"), kYes));
  EXPECT_EQ(asked.get().decision, Decision::kApproved);
  may_go_on.set_value();
}

}  // namespace
}  // namespace skerry::confirm

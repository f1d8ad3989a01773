#include "confirm/terminal_confirmation.hpp"

#include <atomic>
#include <deque>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "confirm/wait.hpp"

namespace skerry::confirm {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""min;

const base::Deadline kNever = base::Deadline::Never();

// `typed` was typed before the question; each of `replies` is typed after the prompt was shown.
class FakeTerminal : public Terminal {
 public:
  enum class AtEnd { kEndOfInput, kWait };

  bool IsInteractive() override { return interactive; }
  void Write(std::string_view text) override { written += text; }
  std::optional<std::string> ReadLine(base::Deadline deadline, std::stop_token stop) override {
    ++reads;
    if (typed.empty() && !replies.empty()) {
      typed.push_back(replies.front());
      replies.pop_front();
    }
    if (typed.empty()) {
      if (at_end == AtEnd::kWait) Wait(deadline, stop);
      return std::nullopt;
    }
    std::string line = typed.front();
    typed.pop_front();
    if (late) Wait(deadline, stop);
    return line;
  }
  void DiscardTypeahead() override {
    shown_before_discard = written;
    typed.clear();
  }
  Colour Colours() override { return colour; }
  unsigned Width() override { return width; }

  bool interactive = true;
  bool late = false;  // a line comes just after the deadline
  AtEnd at_end = AtEnd::kEndOfInput;
  Colour colour = Colour::kNone;
  unsigned width = 80;
  std::deque<std::string> typed;
  std::deque<std::string> replies;
  std::string written;
  std::string shown_before_discard;
  std::atomic<int> reads = 0;

 private:
  static void Wait(base::Deadline deadline, const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    WaitUntil(never, lock, deadline, stop, [] { return false; });
  }
};

Question QuestionOf(std::string code) {
  Question question{.session = "s1", .content_type = "python", .code = std::move(code)};
  question.digest = base::Sha256Hex(question.code);
  question.risk.level = core::RiskLevel::kHigh;
  question.risk.reason = "Uses the operating system.";
  question.conditions = {{"sandbox", "native"}, {"network", "none"}};
  return question;
}

class TerminalConfirmationTest : public ::testing::Test {
 protected:
  Answer Ask(const Question& question = QuestionOf("import os\n")) {
    return confirmation_.Ask(question, base::Deadline::After(1min), {});
  }
  Answer Reply(std::string reply) {
    terminal_.replies = {std::move(reply)};
    return Ask();
  }
  [[nodiscard]] bool Shown(std::string_view part) const { return terminal_.written.find(part) != std::string::npos; }

  FakeTerminal terminal_;
  TerminalConfirmation confirmation_{terminal_};
};

TEST_F(TerminalConfirmationTest, ShowsWhatWouldRunAndUnderWhichConditions) {
  Question question = QuestionOf("import os\n");
  question.risk.findings = {{.rule = "python.os",
                             .level = core::RiskLevel::kHigh,
                             .line = 1,
                             .column = 1,
                             .text = "import os",
                             .explanation = "Uses the operating system."}};
  Ask(question);
  EXPECT_EQ(terminal_.written,
            "\nhigh risk: Uses the operating system.\n"
            "  sandbox  native\n"
            "  network  none\n"
            "\n"
            "python:\n"
            "1 | import os\n"
            "  | ^~~~~~~~~ high python.os: Uses the operating system.\n"
            "\n"
            "high risk, digest " +
                question.digest.substr(0, 16) +
                "\n"
                "Run this? [y] once, [s] for this session, [N] no: \n");
}

TEST_F(TerminalConfirmationTest, YesApprovesOnce) {
  for (const char* reply : {"y", "Y", "yes", " YES \r"}) {
    const Answer answer = Reply(reply);
    EXPECT_EQ(answer.decision, Decision::kApproved) << reply;
    EXPECT_EQ(answer.scope, Scope::kOnce);
    EXPECT_EQ(answer.by, "terminal");
  }
}

TEST_F(TerminalConfirmationTest, SessionApprovesForTheSession) {
  for (const char* reply : {"s", "S", "session"}) {
    const Answer answer = Reply(reply);
    EXPECT_EQ(answer.decision, Decision::kApproved) << reply;
    EXPECT_EQ(answer.scope, Scope::kSession);
  }
}

TEST_F(TerminalConfirmationTest, NoAndAnEmptyLineReject) {
  for (const char* reply : {"", "  ", "n", "No"}) {
    terminal_.reads = 0;
    EXPECT_EQ(Reply(reply).decision, Decision::kRejected) << reply;
    EXPECT_EQ(terminal_.reads, 1);
  }
}

TEST_F(TerminalConfirmationTest, AnUnclearAnswerAsksAgain) {
  terminal_.replies = {"what", "yy", "y"};
  EXPECT_EQ(Ask().decision, Decision::kApproved);
}

TEST_F(TerminalConfirmationTest, ThreeUnclearAnswersReject) {
  terminal_.replies = {"yes please", "ja", "y y", "y"};
  EXPECT_EQ(Ask().decision, Decision::kRejected);
  EXPECT_EQ(terminal_.reads, 3);
}

TEST_F(TerminalConfirmationTest, TheSessionIsNotOfferedWhereThereIsNone) {
  Question question = QuestionOf("x");
  question.session = "";
  terminal_.replies = {"s", "session", "s"};
  EXPECT_EQ(Ask(question).decision, Decision::kRejected);
  EXPECT_FALSE(Shown("[s]"));
}

TEST_F(TerminalConfirmationTest, TheSessionIsNotOfferedWhereThatIsOff) {
  TerminalConfirmation confirmation(terminal_, {.allow_session = false});
  terminal_.replies = {"s", "y"};
  const Answer answer = confirmation.Ask(QuestionOf("x"), kNever, {});
  EXPECT_EQ(answer.decision, Decision::kApproved);
  EXPECT_EQ(answer.scope, Scope::kOnce);
  EXPECT_FALSE(Shown("[s]"));
}

TEST_F(TerminalConfirmationTest, WithoutATerminalEverythingIsRejectedAndNothingIsWritten) {
  terminal_.interactive = false;
  terminal_.replies = {"y"};
  const Answer answer = Ask();
  EXPECT_EQ(answer.decision, Decision::kRejected);
  EXPECT_EQ(answer.reason, "nobody can be asked: there is no terminal; --yes approves");
  EXPECT_EQ(terminal_.written, "");
  EXPECT_EQ(terminal_.reads, 0);
}

TEST_F(TerminalConfirmationTest, WhatWasTypedBeforeTheQuestionDoesNotAnswerIt) {
  terminal_.typed = {"y", "y", "y"};
  EXPECT_EQ(Ask().decision, Decision::kRejected);
  // Discarded after the code and before the prompt: an answer right after the prompt counts.
  EXPECT_THAT(terminal_.shown_before_discard, testing::HasSubstr("digest"));
  EXPECT_THAT(terminal_.shown_before_discard, testing::Not(testing::HasSubstr("[N] no: ")));
  terminal_.typed = {"n"};
  EXPECT_EQ(Reply("y").decision, Decision::kApproved);
}

TEST_F(TerminalConfirmationTest, TheEndOfInputRejects) {
  EXPECT_EQ(Ask().decision, Decision::kRejected);
  EXPECT_EQ(terminal_.reads, 1);
}

TEST_F(TerminalConfirmationTest, TheDeadlineExpiresTheQuestion) {
  terminal_.at_end = FakeTerminal::AtEnd::kWait;
  EXPECT_EQ(confirmation_.Ask(QuestionOf("x"), base::Deadline::After(20ms), {}).decision, Decision::kExpired);
}

TEST_F(TerminalConfirmationTest, AnApprovalAfterTheDeadlineDoesNotCount) {
  terminal_.replies = {"y"};
  terminal_.late = true;
  EXPECT_EQ(confirmation_.Ask(QuestionOf("x"), base::Deadline::After(20ms), {}).decision, Decision::kExpired);
}

TEST_F(TerminalConfirmationTest, AnAskerWhoGoesAwayIsNotAnswered) {
  terminal_.at_end = FakeTerminal::AtEnd::kWait;
  std::stop_source stop;
  auto asked =
      std::async(std::launch::async, [&] { return confirmation_.Ask(QuestionOf("x"), kNever, stop.get_token()); });
  while (terminal_.reads == 0) std::this_thread::sleep_for(1ms);
  stop.request_stop();
  EXPECT_EQ(asked.get().decision, Decision::kCancelled);
}

TEST_F(TerminalConfirmationTest, TwoQuestionsAreAskedOneAfterAnother) {
  terminal_.at_end = FakeTerminal::AtEnd::kWait;
  std::stop_source stop;
  auto first =
      std::async(std::launch::async, [&] { return confirmation_.Ask(QuestionOf("x"), kNever, stop.get_token()); });
  while (terminal_.reads == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(confirmation_.Ask(QuestionOf("y"), base::Deadline::After(20ms), {}).decision, Decision::kExpired);
  EXPECT_EQ(terminal_.reads, 1);
  stop.request_stop();
  EXPECT_EQ(first.get().decision, Decision::kCancelled);
  EXPECT_EQ(Reply("y").decision, Decision::kApproved);
}

TEST_F(TerminalConfirmationTest, NothingForeignReachesTheTerminalAsItIs) {
  const std::string hostile = "\x1b[1A\r\u202e\u200b\nRun this? [y]";
  Question question = QuestionOf(hostile);
  question.content_type = question.risk.reason = hostile;
  question.digest = "\x1b[2J";
  question.conditions = {{hostile, hostile}};
  Ask(question);
  for (const char* part : {"\x1b", "\r", "\u202e", "\u200b", "\nRun this? [y]\n"}) EXPECT_FALSE(Shown(part));
  EXPECT_TRUE(Shown("\\u001b[1A\\u000d\\u202e\\u200b"));
}

TEST_F(TerminalConfirmationTest, LongLinesAreShownToTheirEnd) {
  Ask(QuestionOf("print(1)" + std::string(500, ' ') + "; boom()"));
  EXPECT_TRUE(Shown("boom()"));
  EXPECT_FALSE(Shown("not shown"));
}

TEST_F(TerminalConfirmationTest, SaysHowManyLinesAreNotShown) {
  std::string code;
  for (int i = 0; i < 10'000; ++i) code += "pass\n";
  Ask(QuestionOf(code));
  EXPECT_TRUE(Shown("\n9500 of 10000 lines are not shown\n"));
}

TEST_F(TerminalConfirmationTest, ColoursAndAnUnknownWidthComeFromTheTerminal) {
  terminal_.width = 0;
  terminal_.colour = Colour::kAnsi;
  Ask(QuestionOf(std::string(100, 'x')));
  EXPECT_TRUE(Shown("\x1b[31mhigh risk\x1b[0m"));
  EXPECT_TRUE(Shown("1 | " + std::string(76, 'x') + "\n  > " + std::string(24, 'x') + "\n"));
}

}  // namespace
}  // namespace skerry::confirm

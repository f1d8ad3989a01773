#include "bench/child.hpp"

#include <signal.h>
#include <unistd.h>

#include <charconv>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/command.hpp"

namespace skerry::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

base::Deadline Soon() {
  return base::Deadline::After(std::chrono::seconds(20));
}

base::Result<Child> Shell(const std::string& script, Input input = Input::kEmpty) {
  return Child::Spawn({{"/bin/sh", "-c", script}, PlainEnvironment()}, input);
}

TEST(ChildTest, GivesWhatTheProgramPrinted) {
  auto child = Shell("echo a; echo b >&2; echo c");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->Finish(Soon()), "a\nc\n");
}

TEST(ChildTest, AFailureTellsTheLastLineOfStderr) {
  auto child = Shell("echo first >&2; echo last >&2; exit 3");
  ASSERT_TRUE(child);
  const auto output = child->Finish(Soon());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message, "exited with 3: last");
}

TEST(ChildTest, ASignalIsNamed) {
  auto child = Shell("kill -TERM $$");
  ASSERT_TRUE(child);
  const auto output = child->Finish(Soon());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message, "killed by signal 15");
}

TEST(ChildTest, AProgramThatIsNotThereIsAnError) {
  const auto child = Child::Spawn({{"/nonexistent/program"}, {}}, Input::kEmpty);
  ASSERT_FALSE(child);
  EXPECT_THAT(child.error().message, HasSubstr("No such file"));
}

TEST(ChildTest, ADeadlineEndsTheWait) {
  auto child = Shell("exec sleep 60");
  ASSERT_TRUE(child);
  const auto output = child->Finish(base::Deadline::After(milliseconds(20)));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, base::Code::kTimeout);
}

TEST(ChildTest, TheDestructorEndsTheWholeGroup) {
  pid_t grandchild = 0;
  {
    auto child = Shell("sleep 60 & echo $!; wait");
    ASSERT_TRUE(child);
    const auto line = child->ReadLine(Soon());
    ASSERT_TRUE(line) << line.error().message;
    std::from_chars(line->data(), line->data() + line->size(), grandchild);
    ASSERT_GT(grandchild, 1);
    ASSERT_EQ(::kill(grandchild, 0), 0);
  }
  // The new parent of the grandchild has to reap it; a zombie counts as ended.
  const auto process = os::PidFd::Open(grandchild);
  EXPECT_TRUE(!process || process->WaitForExit(Soon()) == true);
}

TEST(ChildTest, TalksLineByLine) {
  auto child = Shell("while read -r x; do echo got $x; done", Input::kPipe);
  ASSERT_TRUE(child);
  for (const std::string& word : {std::string("one"), std::string("two")}) {
    ASSERT_TRUE(child->Write(word + "\n"));
    EXPECT_EQ(child->ReadLine(Soon()), "got " + word);
  }
  child->CloseInput();
  EXPECT_EQ(child->Finish(Soon()), "");
}

TEST(ChildTest, WritingToAProgramThatIsGoneIsAnErrorAndNoSignal) {
  auto child = Shell("exit 4", Input::kPipe);
  ASSERT_TRUE(child);
  const auto line = child->ReadLine(Soon());
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "exited with 4");
  EXPECT_FALSE(child->Write("x\n"));
}

TEST(ChildTest, SignalsBlockedHereAreNotBlockedThere) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  auto child = Shell("kill -TERM $$; echo survived");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->Finish(Soon()));
}

}  // namespace
}  // namespace skerry::bench

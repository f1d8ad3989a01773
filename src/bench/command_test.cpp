#include "bench/command.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skerry::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

Command Shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}, PlainEnvironment()};
}

TEST(TimeCommandTest, CountsUntilTheProgramIsGone) {
  // The output ends at once, the program a while later.
  const auto sample = TimeCommand(Shell("echo 1; exec >&-; sleep 0.05"), "1\n");
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_GE(sample->total, milliseconds(50));
}

TEST(TimeCommandTest, TheWrongAnswerIsAFailure) {
  const auto sample = TimeCommand(Shell("echo 2"), "1\n");
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().message, "printed '2\\u000a' instead of '1\\u000a'");
}

TEST(TimeCommandTest, TheRightAnswerWithTheWrongExitCodeIsAFailure) {
  EXPECT_FALSE(TimeCommand(Shell("echo 1; exit 1"), "1\n"));
}

TEST(TimeTogetherTest, RunsThemAtOnce) {
  const auto sample = TimeTogether(Shell("sleep 0.5; echo 1"), 10, "1\n");
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_GE(sample->total, milliseconds(500));
  EXPECT_LT(sample->total, milliseconds(4000));
}

TEST(TimeTogetherTest, OneFailureFailsAll) {
  // Only one of the copies can make the directory.
  const std::string name = "/tmp/skerry-bench-test-" + std::to_string(::getpid());
  const auto sample = TimeTogether(Shell("mkdir " + name), 3, "");
  ASSERT_EQ(::rmdir(name.c_str()), 0);
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().message, HasSubstr("exited with 1"));
}

TEST(FindProgramTest, LooksInThePath) {
  const auto shell = FindProgram("sh");
  ASSERT_TRUE(shell);
  EXPECT_THAT(*shell, ::testing::EndsWith("/sh"));
  EXPECT_FALSE(FindProgram("no-such-program-anywhere"));
}

TEST(CommandLineTest, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(CommandLine({{"/usr/bin/python3", "-c", "print(1)"}, {}}), "/usr/bin/python3 -c 'print(1)'");
  EXPECT_EQ(CommandLine({{"bwrap", "--ro-bind", "/", "", "a b"}, {}}), "bwrap --ro-bind / '' 'a b'");
  EXPECT_EQ(CommandLine({{"a", "it's", "one\ntwo"}, {}}), "a 'it'\\''s' 'one …'");
}

TEST(PlainEnvironmentTest, HasNothingOfTheCaller) {
  ::setenv("SKERRY_BENCH_TEST", "1", 1);
  EXPECT_EQ(OutputOf(Shell("echo -n $SKERRY_BENCH_TEST")), "");
  EXPECT_EQ(OutputOf({{"/bin/sh", "-c", "echo $SKERRY_BENCH_TEST"}, CallersEnvironment()}), "1\n");
  ::unsetenv("SKERRY_BENCH_TEST");
}

}  // namespace
}  // namespace skerry::bench

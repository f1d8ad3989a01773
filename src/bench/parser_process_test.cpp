#include "bench/parser_process.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/command.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::bench {
namespace {

using ::testing::HasSubstr;

class ParserProcessTest : public ::testing::Test {
 protected:
  std::string File(const std::string& text) {
    const std::string path = directory_.path() / ("file" + std::to_string(count_++));
    std::ofstream(path) << text;
    return path;
  }

 private:
  support::TemporaryDirectory directory_;
  int count_ = 0;
};

TEST_F(ParserProcessTest, APythonTimesOneTextAfterTheOther) {
  const auto python = FindProgram("python3");
  if (!python) GTEST_SKIP() << "python3 is not installed";
  auto process = ParserProcess::StartPython(*python);
  ASSERT_TRUE(process);
  for (const std::string& path : {File("print(1)\n"), File("def f():\n    return 'é'\n")}) {
    const auto sample = process->Parse(path);
    ASSERT_TRUE(sample) << sample.error().message;
    EXPECT_GT(sample->total, Duration{});
  }
}

TEST_F(ParserProcessTest, WhatPythonDoesNotParseIsAnErrorThatSaysSo) {
  const auto python = FindProgram("python3");
  if (!python) GTEST_SKIP() << "python3 is not installed";
  auto process = ParserProcess::StartPython(*python);
  ASSERT_TRUE(process);
  const auto sample = process->Parse(File("def f(:\n"));
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().message, HasSubstr("SyntaxError"));
}

TEST_F(ParserProcessTest, ANodeTimesATextItHasSeenBeforeAsIfItWereNew) {
  const auto node = FindProgram("node");
  if (!node) GTEST_SKIP() << "node is not installed";
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "var a" + std::to_string(i) + " = [1, 2, 'x'];\n";
  const std::string path = File(text);
  auto process = ParserProcess::StartNode(*node);
  ASSERT_TRUE(process);
  const auto first = process->Parse(path);
  ASSERT_TRUE(first) << first.error().message;
  for (int i = 0; i < 3; ++i) {
    const auto again = process->Parse(path);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_GT(again->total, first->total / 20);  // a hit in V8's cache takes less than a thousandth
  }
}

TEST_F(ParserProcessTest, WhatNodeDoesNotParseIsAnError) {
  const auto node = FindProgram("node");
  if (!node) GTEST_SKIP() << "node is not installed";
  auto process = ParserProcess::StartNode(*node);
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->Parse(File("function ( {\n")));
}

}  // namespace
}  // namespace skerry::bench

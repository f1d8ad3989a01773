#include "interpreters/interpreter.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace skerry::interpreters {
namespace {

using core::Language;

TEST(InterpreterTest, EveryLanguageHasAnInvocationAndARequirement) {
  for (const Language language : {Language::kPython, Language::kJavaScript, Language::kShell}) {
    EXPECT_GE(InvocationFor({language, "x"}).arguments.size(), 2U);
    EXPECT_FALSE(Requirement(language).empty());
  }
}

TEST(InterpreterTest, TheTextIsNeverAnArgument) {
  for (const Language language : {Language::kPython, Language::kJavaScript, Language::kShell}) {
    const Invocation invocation = InvocationFor({language, "secret"});
    EXPECT_TRUE(std::ranges::none_of(invocation.arguments, [](const std::string& a) { return a.contains("secret"); }));
    EXPECT_TRUE(invocation.text.ends_with("secret"));
  }
}

TEST(InterpreterTest, BashIsFoundWhereASandboxSeesIt) {
  const auto path = FindInterpreter(Language::kShell);
  ASSERT_TRUE(path.has_value());
  EXPECT_TRUE(path->starts_with("/usr/") || path->starts_with("/bin/"));
}

TEST(InterpreterTest, TheEnvironmentHoldsNothingOfOurs) {
  ::setenv("SKERRY_TEST_SECRET", "token", 1);
  const auto environment = CleanEnvironment("/home/agent", "/tmp");
  EXPECT_TRUE(std::ranges::none_of(environment, [](const std::string& e) { return e.contains("token"); }));
  EXPECT_NE(std::ranges::find(environment, "HOME=/home/agent"), environment.end());
}

}  // namespace
}  // namespace skerry::interpreters

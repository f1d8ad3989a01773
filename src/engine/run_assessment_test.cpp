#include "engine/run_assessment.hpp"

#include <unistd.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_run_assessment.hpp"

namespace skerry::engine {
namespace {

using core::Language;
using core::RiskLevel;
using testing::HasSubstr;

TEST_F(RunAssessmentTest, VariablesThatLoadCodeCount) {
  Put("places/sitecustomize.py", kDangerousPython);
  Put("places/evil.py", kDangerousPython);
  Put("places/ls", kDangerousShell);
  for (const auto& [name, value] : Environment{{"NODE_OPTIONS", "--require ./x"},
                                               {"PYTHONSTARTUP", "x.py"},
                                               {"GIT_EXTERNAL_DIFF", "./x"},
                                               {"GIT_CONFIG_COUNT", "1"},
                                               {"PERL5OPT", "-Mx"},
                                               {"RUBYOPT", "-rx"},
                                               {"PYTHONBREAKPOINT", "os.system"},
                                               {"MAKEFLAGS", "--eval=x"},
                                               {"npm_config_script_shell", "./x"}})
    EXPECT_EQ(SourceOf(Language::kShell, "ls", {{name, value}}), "variables") << name;
  EXPECT_EQ(SourceOf(Language::kShell, "ls", {{"PAGER", "sudo id"}}), "variables");
  EXPECT_EQ(SourceOf(Language::kPython, "print(1)", {{"HOME", "/workspace/places"}}), "variables");
  EXPECT_EQ(SourceOf(Language::kShell, "make x", {{"CC", "places/ls"}}), "places/ls");
  EXPECT_EQ(SourceOf(Language::kPython, "print(1)", {{"PYTHONPATH", "/workspace/places"}}), "places/sitecustomize.py");
  EXPECT_EQ(SourceOf(Language::kShell, "ls", {{"PATH", "places:/usr/bin"}}), "places/ls");
  for (const auto& [name, value] : Environment{{"LANG", "C"}, {"MY_SETTING", "$(sudo id)"}, {"PATH", "/usr/bin:/bin"}})
    EXPECT_EQ(SourceOf(Language::kShell, "ls", {{name, value}}), "(not asked about)") << name;
}

TEST_F(RunAssessmentTest, WhatAnInterpreterIsFedCounts) {
  for (const std::string_view code : {"sh",
                                      "bash -s",
                                      "python3",
                                      "python3 -",
                                      "python3 -i x.py",
                                      "node",
                                      "perl",
                                      "cat | sh",
                                      "exec bash",
                                      "source /dev/stdin",
                                      "env -i bash",
                                      "f() { sh; }; f",
                                      "(sh)",
                                      "bash /dev/stdin",
                                      "sqlite3 x",
                                      "sed -f - x",
                                      "make -f -",
                                      "bash -c sh",
                                      "head -n 3 | python3",
                                      "python3 -m code",
                                      "python3 -mcode",
                                      "python3 -Im asyncio",
                                      "python3 -m pdb x.py",
                                      "script -q /dev/null",
                                      "setarch x86_64",
                                      "setarch x86_64 -R",
                                      "linux64",
                                      "i386",
                                      "npm exec",
                                      "prlimit sh",
                                      "prlimit --nofile=9 sh",
                                      "choom -n 0 sh",
                                      "choom -n 0 -- sh",
                                      "ssh-agent sh",
                                      "bash +O extglob",
                                      "bash -",
                                      "gdb -q -nx /bin/true",
                                      "/lib64/ld-linux-x86-64.so.2 --argv0 x /bin/sh",
                                      "screen",
                                      "ghci",
                                      "irb",
                                      "vim",
                                      "psql",
                                      "awk -f -",
                                      "tini -- sh",
                                      "rlwrap sh"}) {
    const core::RiskAssessment risk = Of(Language::kShell, code, {}, "", kUnknownInput);
    EXPECT_TRUE(risk.requires_confirmation) << code;
    EXPECT_EQ(risk.findings.front().rule, "code.fed") << code;
    EXPECT_FALSE(Of(Language::kShell, code).requires_confirmation) << code << " without input";
  }
  for (const std::string_view code : {"cat",
                                      "wc -l",
                                      "grep x",
                                      "python3 -c 'print(input())'",
                                      "sort | uniq",
                                      "jq .x",
                                      "python3 -m pip list",
                                      "python3 -m json.tool",
                                      "sqlite3 x 'select 1'",
                                      "psql -c 'select 1'",
                                      "less f",
                                      "man ls",
                                      "sh -n",
                                      "make",
                                      "npm test",
                                      "awk '{print}'",
                                      "sed s/a/b/",
                                      "m4 x.m4",
                                      "script -qc ls x",
                                      "EDITOR=vim git log"})
    EXPECT_FALSE(Of(Language::kShell, code, {}, "", kUnknownInput).requires_confirmation) << code;
  EXPECT_FALSE(Of(Language::kPython, "print(input())", {}, "", kUnknownInput).requires_confirmation);
}

TEST_F(RunAssessmentTest, WhatIsTypedAtATerminalCounts) {
  const auto asks = [&](std::string_view code, bool has_terminal) {
    const AssessedRun run{.language = Language::kShell,
                          .code = code,
                          .environment = {},
                          .workspace = root_.get(),
                          .input = kUnknownInput,
                          .has_terminal = has_terminal};
    return AssessRun(Gate(), run, {}, {}).value().requires_confirmation;
  };
  for (const std::string_view code : {"less f", "cat f | less", "man ls", "nano f", "emacs f"}) {
    EXPECT_TRUE(asks(code, true)) << code;
    EXPECT_FALSE(asks(code, false)) << code;
  }
  for (const std::string_view code : {"ls", "cat", "make", "git log", "top", "PAGER='less -R' git log"})
    EXPECT_FALSE(asks(code, true)) << code;
}

TEST_F(RunAssessmentTest, InputThatIsThereIsReadAsCode) {
  EXPECT_FALSE(Of(Language::kShell, "sh", {}, "", {.text = "echo hello\n"}).requires_confirmation);
  const core::RiskAssessment risk = Of(Language::kShell, "sh", {}, "", {.text = std::string(kDangerousShell)});
  EXPECT_EQ(risk.findings.front().source, "input");
  EXPECT_EQ(risk.findings.front().rule, "shell.privileges");
  EXPECT_FALSE(Of(Language::kShell, "cat", {}, "", {.text = std::string(kDangerousShell)}).requires_confirmation);
  EXPECT_FALSE(Of(Language::kShell, "sh", {}, "", {}).requires_confirmation);
}

TEST_F(RunAssessmentTest, WhatIsTooMuchIsAskedAbout) {
  Put("large.py", std::string(std::size_t{2} << 20U, '#'));
  EXPECT_THAT(Of(Language::kPython, "import large").reason, HasSubstr("code.too-much"));
  std::string imports;
  for (int each = 0; each < 300; ++each) {
    Put("m" + std::to_string(each) + ".py", "x = 1\n");
    imports += "import m" + std::to_string(each) + "\n";
  }
  EXPECT_THAT(Of(Language::kPython, imports).reason, HasSubstr("code.too-much"));
}

TEST_F(RunAssessmentTest, NobodyWaitsAnyMore) {
  Put("nice.py", "x = 1\n");
  std::stop_source left;
  left.request_stop();
  CodeFiles files(root_.get(), left.get_token());
  EXPECT_FALSE(files.HasFile("nice.py"));
  EXPECT_TRUE(files.budget().IsOver());
  const Environment environment;
  const auto risk = AssessRun(Gate(),
                              {.language = Language::kPython,
                               .code = "import nice",
                               .environment = environment,
                               .workspace = root_.get(),
                               .input = {}},
                              {}, left.get_token());
  EXPECT_EQ(risk.error().code, base::Code::kUnavailable);
}

TEST_F(RunAssessmentTest, WhereAShellStandsAfterEarlierCellsCounts) {
  Put("sub/evil.sh", kDangerousShell);
  Put("sub/nice.sh", "echo hello\n");
  Put("evil.sh", "echo harmless\n");
  Put("bin/ls", kDangerousShell);
  const auto source = [&](std::string_view before, std::string_view code) {
    const core::RiskAssessment risk = After(before, code);
    return risk.requires_confirmation ? risk.findings.front().source : "(not asked about)";
  };
  EXPECT_EQ(source("", "sh evil.sh"), "(not asked about)");
  EXPECT_EQ(source("cd sub\n", "sh evil.sh"), "sub/evil.sh");
  EXPECT_EQ(source("cd sub\n", "sh nice.sh"), "(not asked about)");
  EXPECT_EQ(source("cd sub\n", "ls; ls -l"), "(not asked about)");
  EXPECT_EQ(source("PATH=/workspace/bin:$PATH\n", "ls"), "bin/ls");
  EXPECT_EQ(source("PATH=/workspace/bin:$PATH; ls\n", "ls"), "bin/ls");
  EXPECT_EQ(source("cd sub\necho \"cd\n", "sh evil.sh"), "cells before") << "hidden in a text";
  EXPECT_EQ(source("cd sub; sh nice.sh; cat <<E\n", "sh evil.sh"), "cells before") << "hidden in a here-document";
  EXPECT_EQ(source("cd sub; sh nice.sh\n", "sh nice.sh"), "(not asked about)");
  EXPECT_EQ(source("cd sub; sh evil.sh\n", "sh evil.sh"), "sub/evil.sh");
  EXPECT_EQ(source("cd sub; sh evil.sh\n", "ls"), "(not asked about)");
  EXPECT_EQ(source("(cd sub &&\n ls)\n", "sh evil.sh"), "(not asked about)");
  EXPECT_EQ(source("'", "sh evil.sh"), "cells before");
  EXPECT_EQ(source("cd sub; sudo id\n", "echo 1"), "(not asked about)") << "not assessed again";
}

TEST_F(RunAssessmentTest, TheReasonSaysWhere) {
  Put("evil.py", kDangerousPython);
  const core::RiskAssessment risk = Of(Language::kPython, "import evil");
  EXPECT_THAT(risk.reason, HasSubstr("evil.py line 2"));
  EXPECT_EQ(risk.level, RiskLevel::kCritical);
  Put("gone.sh", "rm -rf /\n");
  EXPECT_EQ(Of(Language::kShell, "sh gone.sh").suggested_sandbox, core::SuggestedSandbox::kReject);
}

}  // namespace
}  // namespace skerry::engine

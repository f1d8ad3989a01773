// Code that is written to make the analysis slow, deep or blind. A finding far inside is found, or the whole code is
// reported as not analysed; code that does not parse is never below medium. Time is bounded by the limit of each test:
// each takes some seconds where the analysis is linear, and hours where it is not.
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/budget.hpp"
#include "policy/risk_policy.hpp"
#include "policy/syntax_tree.hpp"

namespace skerry::policy {
namespace {

using core::Language;
using core::RiskLevel;
using ::testing::Contains;
using ::testing::Field;
using enum core::Language;

constexpr std::size_t kMany = 100'000;
constexpr std::size_t kTenThousand = 10'000;
constexpr std::size_t kMegabyte = 1'000'000;

std::string Times(std::size_t count, std::string_view text) {
  std::string all;
  all.reserve(count * text.size());
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

// The lines that `line` makes of each number below `count`, one after the other.
std::string Numbered(std::size_t count,
                     const std::function<std::string(const std::string&, const std::string&)>& line) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += line(std::to_string(i), std::to_string(i + 1));
  return all;
}

core::RiskAssessment Assess(Language language, std::string_view code) {
  return RiskPolicy().Assess(language, code);
}

RiskLevel LevelOf(Language language, std::string_view code) {
  return Assess(language, code).level;
}

auto HasRule(std::string_view rule) {
  return Contains(Field("rule", &core::Finding::rule, std::string(rule)));
}

struct Case {
  const char* name;
  Language language;
  std::string code;
};

void ExpectAtLeast(RiskLevel least, const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(NameOf(each.language)) + ": " + each.name);
    EXPECT_GE(LevelOf(each.language, each.code), least);
  }
}

std::vector<Case> InEveryLanguage(const char* name, const std::string& code) {
  return {{name, kPython, code}, {name, kJavaScript, code}, {name, kShell, code}};
}

constexpr auto kOpeners = {"(", "[", "{", "\"", "'", "$(", "`", "${", "<(", "<", "f(", "a[", "x={", "((", "<<A\n"};

TEST(BoundsTest, WhatIsTooLongIsNotAnalysed) {
  for (const char* opener : kOpeners)
    for (const Case& each : InEveryLanguage(opener, Times(5 * kMegabyte / std::string_view(opener).size(), opener))) {
      SCOPED_TRACE(std::string(NameOf(each.language)) + ": " + each.name);
      const core::RiskAssessment assessment = Assess(each.language, each.code);
      EXPECT_GE(assessment.level, RiskLevel::kHigh);
      EXPECT_THAT(assessment.findings, HasRule("code.not-analysed"));
    }
}

TEST(BoundsTest, WhatIsTooLongIsStillSearchedForNames) {
  const std::string blanks(SyntaxTree::kMaxBytes, ' ');
  EXPECT_EQ(LevelOf(kPython, blanks + "\neval(x)"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, blanks + "\neval(x)"), RiskLevel::kCritical);
  EXPECT_GE(LevelOf(kShell, blanks + "\nrm -rf /"), RiskLevel::kHigh);
}

class OpenersTest : public ::testing::TestWithParam<Language> {};

TEST_P(OpenersTest, WhatIsOpenedAndNeverClosedIsAtLeastMedium) {
  for (const char* opener : kOpeners) {
    const std::string half = Times(kMegabyte / 5 / std::string_view(opener).size(), opener);
    std::string text = half;
    text += ")";
    text += half;
    text += "\n\"'`";  // an even number of quotes closes each
    ExpectAtLeast(RiskLevel::kMedium, {{opener, GetParam(), text}});
  }
}

INSTANTIATE_TEST_SUITE_P(Languages, OpenersTest, ::testing::Values(kPython, kJavaScript, kShell),
                         [](const auto& each) { return std::string(NameOf(each.param)); });

TEST(BoundsTest, WhatIsDeepInPythonIsFoundOrNotAnalysed) {
  std::string blocks;
  for (std::size_t depth = 0; depth < 1000; ++depth) blocks += std::string(depth, ' ') + "if x:\n";
  ExpectAtLeast(RiskLevel::kHigh,
                {{"calls", kPython, Times(kMany, "f(") + "eval(x)" + Times(kMany, ")")},
                 {"lists", kPython, Times(kMany, "[") + "eval(x)" + Times(kMany, "]")},
                 {"indices", kPython, Times(kMany, "a[") + "eval(x)" + Times(kMany, "]")},
                 {"lambdas", kPython, Times(kMany, "lambda:") + "eval(x)"},
                 {"attributes", kPython, "eval(x)" + Times(kMany, ".a")},
                 {"chained calls", kPython, "eval(x)" + Times(kMany, ".a()")},
                 {"signs", kPython, Times(kMany, "-") + "eval(x)"},
                 {"negations", kPython, Times(kMany, "not ") + "eval(x)"},
                 {"conditions", kPython, Times(kMany, "a if b else ") + "eval(x)"},
                 {"branches", kPython, "if a: pass\n" + Times(kMany, "elif a: pass\n") + "else: eval(x)\n"},
                 {"decorators", kPython, Times(kMany, "@a\n") + "def f(): eval(x)\n"},
                 {"assignments", kPython, Times(kMany, "a = ") + "eval(x)"},
                 {"blocks", kPython, blocks + std::string(1000, ' ') + "eval(x)\n"}});
}

TEST(BoundsTest, WhatIsDeepInJavaScriptIsFoundOrNotAnalysed) {
  ExpectAtLeast(RiskLevel::kHigh,
                {{"calls", kJavaScript, Times(kMany, "f(") + "eval(x)" + Times(kMany, ")")},
                 {"lists", kJavaScript, Times(kMany, "[") + "eval(x)" + Times(kMany, "]")},
                 {"objects", kJavaScript, "a = " + Times(kMany, "{a:") + "eval(x)" + Times(kMany, "}")},
                 {"patterns", kJavaScript, "var " + Times(kMany, "{a:") + "b" + Times(kMany, "}") + " = eval(x)"},
                 {"functions", kJavaScript, Times(kMany, "()=>") + "eval(x)"},
                 {"attributes", kJavaScript, "eval(x)" + Times(kMany, ".a")},
                 {"chained calls", kJavaScript, "eval(x)" + Times(kMany, ".a()")},
                 {"signs", kJavaScript, Times(kMany, "!") + "eval(x)"},
                 {"conditions", kJavaScript, Times(kMany, "a ? b : ") + "eval(x)"},
                 {"templates", kJavaScript, Times(kTenThousand, "`${") + "eval(x)" + Times(kTenThousand, "}`")},
                 {"branches", kJavaScript, "if (a) ;\n" + Times(kMany, "else if (a) ;\n") + "else eval(x)\n"},
                 {"news", kJavaScript, Times(kMany, "new ") + "Function(x)"},
                 {"assignments", kJavaScript, Times(kMany, "a = ") + "eval(x)"},
                 {"blocks", kJavaScript, Times(kMany, "{") + "eval(x)" + Times(kMany, "}")}});
}

TEST(BoundsTest, WhatIsDeepInAShellIsFoundOrNotAnalysed) {
  constexpr std::string_view kRemove = "rm -rf /";
  const auto around = [&](std::size_t count, std::string_view before, std::string_view behind) {
    return Times(count, before) + std::string(kRemove) + Times(count, behind);
  };
  ExpectAtLeast(
      RiskLevel::kHigh,
      {{"pipes", kShell, around(kMany, "ls | ", "") + "\n"},
       {"lists", kShell, around(kMany, "ls && ", "")},
       {"commands", kShell, around(kMany, "ls\n", "")},
       {"subshells", kShell, around(kTenThousand, "( ", " )")},
       {"groups", kShell, around(kTenThousand, "{ ", "; }")},
       {"substitutions", kShell, around(kTenThousand, "echo $(", ")")},
       {"quoted substitutions", kShell, around(kTenThousand, "echo \"$(", ")\"")},
       {"process substitutions", kShell, around(kTenThousand, "cat <(", ")")},
       {"wrappers", kShell, around(kMany, "sudo ", "")},
       {"negations", kShell, around(kMany, "! ", "")},
       {"blocks", kShell, around(kTenThousand, "if a; then ", "; fi")},
       {"functions", kShell, around(kTenThousand, "f() { ", "; }; f")},
       {"branches", kShell, "if a; then :; " + Times(kTenThousand, "elif a; then :; ") + "else rm -rf /; fi"},
       {"defaults", kShell, "echo " + Times(kTenThousand, "${a:-") + "$(rm -rf /)" + Times(kTenThousand, "}")},
       {"redirections", kShell, "rm -rf /" + Times(kTenThousand, " >a")},
       {"here-documents", kShell, Times(kTenThousand, "cat <<A\nx\nA\n") + "rm -rf /\n"}});
}

// Each level can be read in two ways, and the parser walks its stack by recursion.
TEST(BoundsTest, WhatIsDeepAndAmbiguousDoesNotExhaustTheStack) {
  for (const char* opener : {"{a:", "({a,", "(a,", "[{a=", "a<b>("})
    EXPECT_GE(LevelOf(kJavaScript, Times(kMegabyte / 3, opener) + "\n)"), RiskLevel::kMedium) << opener;
}

// At its end the parser tries every way to read a pipeline that breaks off.
TEST(BoundsTest, APipelineThatBreaksOffIsNotMultipliedOut) {
  for (const char* end : {"rm -rf /", "rm -rf / | (\n", "rm -rf / | '\n", "rm -rf / |\n"})
    EXPECT_GE(LevelOf(kShell, Times(5000, "ls | ") + end), RiskLevel::kHigh) << end;
}

TEST(BoundsTest, ADirectoryThatIsEnteredAgainAndAgainDoesNotGrow) {
  EXPECT_GE(LevelOf(kShell, Times(kMany, "cd a; ") + "rm -rf *\n"), RiskLevel::kHigh);
}

// The scanner of the grammar keeps its state of open here-documents in 1024 bytes.
TEST(BoundsTest, HereDocumentsAreKeptInTheirPlace) {
  for (std::size_t size = 1000; size < 1030; ++size) {
    const std::string word(size, 'A');
    std::string text = "cat <<" + word;
    text += "\nx\n" + word;
    text += "\nrm -rf /\n";
    EXPECT_GE(LevelOf(kShell, text), RiskLevel::kHigh) << size;
  }
  for (const unsigned count : {100U, 140U, 255U, 256U, 257U, 1000U, 10'000U})
    EXPECT_GE(LevelOf(kShell, Times(count, "cat <<A | ") + "ls\nA\nrm -rf /\n"), RiskLevel::kMedium) << count;
}

TEST(BoundsTest, ALongConcatenationIsCodeAllTheSame) {
  const std::string parts = Times(kMany, "'a' + ") + "'a'";
  EXPECT_EQ(LevelOf(kPython, "x = " + parts + "\neval(x)\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kPython, "eval(" + Times(kMany, "'a' ") + ")\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, "x = " + parts + ";\neval(x)\n"), RiskLevel::kCritical);
  EXPECT_GE(LevelOf(kShell, "x=" + Times(kMany, "'a'\"b\"") + "\n$x; eval \"$x\"\n"), RiskLevel::kHigh);
}

TEST(BoundsTest, ATextThatDoublesItselfIsNeverMade) {
  EXPECT_EQ(LevelOf(kPython, "x = 'a'\n" + Times(1000, "x = x + x\n") + "eval(x)\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kPython, "x = 'a'\n" + Times(1000, "x = f'{x}{x}'\n") + "eval(x)\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kPython, "x = 'a'\n" + Times(1000, "x = x * 1000\n") + "eval(x)\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, "let x = 'a';\n" + Times(1000, "x = x + x;\n") + "eval(x)\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, "let x = 'a';\n" + Times(1000, "x = `${x}${x}`;\n") + "eval(x)\n"),
            RiskLevel::kCritical);
  EXPECT_GE(LevelOf(kShell, "x=a\n" + Times(1000, "x=$x$x\n") + "$x\n"), RiskLevel::kMedium);
  EXPECT_GE(LevelOf(kShell, "x=a\n" + Times(1000, "x=\"$x $x\"\n") + "eval \"$x\"\n"), RiskLevel::kHigh);
}

// Each name is a text of two others: the last one can be more texts than anybody can count.
TEST(BoundsTest, NamesThatCanBeManyThingsAreNotMultipliedOut) {
  const std::string python = Numbered(1000, [](const auto& at, const auto& next) {
    return "a" + next + " = a" + at + " + 'x' if y else a" + at + " + 'y'\n";
  });
  EXPECT_EQ(LevelOf(kPython, "a0 = 'z'\n" + python + "eval(a1000)\n"), RiskLevel::kCritical);
  const std::string script = Numbered(1000, [](const auto& at, const auto& next) {
    return "let a" + next + " = y ? a" + at + " + 'x' : a" + at + " + 'y';\n";
  });
  EXPECT_EQ(LevelOf(kJavaScript, "let a0 = 'z';\n" + script + "eval(a1000)\n"), RiskLevel::kCritical);
  const std::string shell = Numbered(1000, [](const auto& at, const auto& next) {
    return "if y; then a" + next + "=$a" + at + "x; else a" + next + "=$a" + at + "y; fi\n";
  });
  EXPECT_GE(LevelOf(kShell, "a0=z\n" + shell + "eval \"$a1000\"\n"), RiskLevel::kHigh);
}

TEST(BoundsTest, TheEndOfALongChainOfAliasesIsFound) {
  const std::string python =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "a" + next + " = a" + at + "\n"; });
  EXPECT_EQ(LevelOf(kPython, "a0 = eval\n" + python + "a10000('1')\n"), RiskLevel::kCritical);
  const std::string script =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "const a" + next + " = a" + at + ";\n"; });
  EXPECT_EQ(LevelOf(kJavaScript, "const a0 = eval;\n" + script + "a10000('1');\n"), RiskLevel::kCritical);
  const std::string shell =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "a" + next + "=$a" + at + "\n"; });
  EXPECT_GE(LevelOf(kShell, "a0=rm\n" + shell + "$a10000 -rf /\n"), RiskLevel::kHigh);
  const std::string aliases =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "alias b" + next + "='b" + at + "'\n"; });
  EXPECT_GE(LevelOf(kShell, "alias b0='rm -rf /'\n" + aliases + "b10000\n"), RiskLevel::kHigh);
}

TEST(BoundsTest, AliasesInTheWrongOrderEnd) {
  const std::string python =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "a" + at + " = a" + next + "\n"; });
  EXPECT_EQ(LevelOf(kPython, python + "a10000 = eval\na0('1')\na10000 = a0\n"), RiskLevel::kCritical);
  const std::string script =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "a" + at + " = a" + next + ";\n"; });
  EXPECT_EQ(LevelOf(kJavaScript, script + "a10000 = eval; a0('1'); a10000 = a0;\n"), RiskLevel::kCritical);
  const std::string shell =
      Numbered(kTenThousand, [](const auto& at, const auto& next) { return "a" + at + "() { a" + next + "; }\n"; });
  EXPECT_GE(LevelOf(kShell, shell + "a10000() { rm -rf /; a0; }\na0\n"), RiskLevel::kHigh);
}

TEST(BoundsTest, ANameWithVeryManyValuesKeepsTheDangerousOne) {
  EXPECT_EQ(LevelOf(kPython, Times(kMany, "x = 1\n") + "x = eval\nx('1')\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kPython, "x = eval\n" + Times(kMany, "x = y\nx('1')\n")), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, Times(kMany, "x = 1;\n") + "x = eval; x('1');\n"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, "x = eval;\n" + Times(kMany, "x = y; x('1');\n")), RiskLevel::kCritical);
  EXPECT_GE(LevelOf(kShell, Times(kMany, "x=1\n") + "x=rm\n$x -rf /\n"), RiskLevel::kHigh);
  EXPECT_GE(LevelOf(kShell, "x=rm\n" + Times(kMany, "x=$y\n$x -rf /\n")), RiskLevel::kHigh);
}

TEST(BoundsTest, TheLastOfTenThousandFunctionsIsRead) {
  const std::string python = Numbered(kTenThousand, [](const auto& at, const auto& next) {
    return "def f" + at + "(a, b=1):\n    return f" + next + "(a)\n";
  });
  EXPECT_EQ(LevelOf(kPython, python + "def f10000(a):\n    eval(a)\n"), RiskLevel::kCritical);
  const std::string script = Numbered(kTenThousand, [](const auto& at, const auto& next) {
    return "function f" + at + "(a, b = 1) { return f" + next + "(a); }\n";
  });
  EXPECT_EQ(LevelOf(kJavaScript, script + "function f10000(a) { eval(a); }\n"), RiskLevel::kCritical);
  const std::string shell = Numbered(kTenThousand, [](const auto& at, const auto& next) {
    return "f" + at + "() { local a=$1; f" + next + " \"$a\"; }\n";
  });
  EXPECT_GE(LevelOf(kShell, shell + "f10000() { eval \"$1\"; }\nf0 x\n"), RiskLevel::kHigh);
}

// The text in single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char each : text) quoted += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return quoted + "'";
}

TEST(BoundsTest, CodeInCodeInCodeEnds) {
  std::string shells = "rm -rf /";
  std::string evals = shells;
  for (int depth = 0; depth < 9; ++depth) {
    shells = "bash -c " + Quoted(shells);
    evals = "eval " + Quoted(evals);
  }
  EXPECT_GE(LevelOf(kShell, shells), RiskLevel::kHigh);
  EXPECT_GE(LevelOf(kShell, evals), RiskLevel::kHigh);
  EXPECT_EQ(LevelOf(kPython, "import os\nos.system(r\"\"\"" + shells + "\"\"\")\n"), RiskLevel::kCritical);
}

TEST(BoundsTest, ManyPiecesOfCodeInCodeAreRead) {
  EXPECT_EQ(LevelOf(kPython, "import os\n" + Times(kTenThousand, "os.system('ls | wc')\n") + "os.system('rm -rf /')\n"),
            RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kPython, "x = '" + Times(kTenThousand, "ls; ") + "'\n" + Times(1000, "exec(x)\n")),
            RiskLevel::kCritical);
}

// --- one budget for all of it ---

struct Costs {
  RiskLevel level;
  std::uint64_t work;
  std::size_t memory;
};

Costs CostsOf(Language language, std::string_view code) {
  Budget budget(Budget::LimitsFor(code.size()));
  const auto assessment = RiskPolicy().Assess(NameOf(language), code, budget);
  return {assessment.value().level, budget.spent(), budget.peak()};
}

constexpr std::size_t kLongest = SyntaxTree::kMaxBytes;

std::string Filling(std::size_t bytes, std::string_view piece) {
  return Times(bytes / piece.size(), piece);
}

std::string Around(std::size_t bytes, std::string_view before, std::string_view middle, std::string_view behind) {
  const std::size_t count = (bytes - middle.size()) / (before.size() + behind.size());
  return Times(count, before) + std::string(middle) + Times(count, behind);
}

// A name for a text of 4000 letters.
std::string LongValue(Language language) {
  const std::string letters(4000, 'x');
  return language == kShell ? "a=" + letters + "\n" : "a='" + letters + "'\n";
}

// That name, and then as much code as an analysis may have.
std::string WithValue(Language language, std::string_view piece) {
  return LongValue(language) + Filling(kLongest - 5000, piece);
}

struct Hard {
  const char* name;
  Language language;
  std::string (*code)();
};

// Each is quadratic, exponential or unbounded in memory for an analysis that does not count.
const std::vector<Hard> kHard = {
    {"Substitutions", kShell, [] { return Around(kLongest, "$(", "rm -rf /", ")"); }},
    {"FewSubstitutions", kShell, [] { return Around(90'000, "$(", "rm -rf /", ")"); }},
    {"BlanksInArithmetic", kShell, [] { return ": $((" + std::string(kLongest - 13, ' ') + "PATH=1))"; }},
    {"NamesInArithmetic", kShell, [] { return "((" + Filling(kLongest - 4, "PATH \t") + "))"; }},
    {"NamesInPieces", kShell, [] { return "export " + Filling(kLongest - 8, "LD_\"X\"=$x "); }},
    {"JoinedLines", kShell, [] { return Filling(kLongest - 1, "a\\\n") + "b"; }},
    {"QuotedSubstitutions", kShell, [] { return Around(kLongest, "\"$(", "rm -rf /", ")\""); }},
    {"EvaluatedSubstitutions", kShell, [] { return "eval '" + Around(kLongest - 7, "$(", "ls", ")") + "'"; }},
    {"PiecesOfCode", kShell, [] { return Filling(kLongest - 1100, "eval '" + Around(1000, "$(", "ls", ")") + "'\n"); }},
    {"CommandsOfFind", kShell, [] { return Filling(kLongest, "find . -exec "); }},
    {"FewCommandsOfFind", kShell, [] { return Filling(90'000, "find . -exec "); }},
    {"ActionsOfFind", kShell,
     [] { return "find " + Filling(kLongest / 2, "a ") + Filling(kLongest / 2 - 8, "-exec ls \\; "); }},
    {"Groups", kShell,
     [] { return "echo '" + Filling(kLongest / 4, "a") + "' | " + Around(kLongest / 2, "{ ", "make", "; }"); }},
    {"Words", kShell, [] { return WithValue(kShell, "$a "); }},
    {"APipe", kShell, [] { return WithValue(kShell, "echo $a | sh\n"); }},
    {"Variables", kShell,
     [] {
       return LongValue(kShell) + "a0=$a\n" +
              Numbered(200'000, [](const auto& at, const auto& next) { return "a" + next + "=$a" + at + "\n"; }) +
              "make";
     }},
    {"Files", kShell,
     [] {
       return LongValue(kShell) +
              Numbered(200'000, [](const auto& at, const auto&) { return "echo $a >f" + at + "\n"; });
     }},
    {"Aliases", kShell,
     [] {
       return LongValue(kShell) +
              Numbered(200'000, [](const auto& at, const auto&) { return "alias b" + at + "=$a\n"; });
     }},
    {"Braces", kShell, [] { return "ls " + Filling(kLongest - 16, "{a,b}") + "\nmake"; }},
    {"Declarations", kShell, [] { return "export " + Filling(kLongest - 8, "a=b "); }},
    {"HereDocuments", kShell, [] { return Filling(kLongest / 2, "a <<A;") + Filling(kLongest / 2, ";"); }},
    {"Sums", kPython, [] { return "import os\nx=" + Filling(kLongest - 20, "\"a\"+") + "'b'"; }},
    {"Parts", kPython, [] { return LongValue(kPython) + "exec(f'''" + Filling(1'000'000, "{a}") + "''')\n"; }},
    {"ManyParts", kPython, [] { return WithValue(kPython, "exec(f'{a}{a}{a}{a}')\n"); }},
    {"Joined", kPython, [] { return WithValue(kPython, "exec(a.join([a,a,a,a]))\n"); }},
    {"Letters", kPython, [] { return Filling(kLongest - 9, "\u00e9\n") + "\neval(x)"; }},
    {"CodeInCode", kPython, [] { return WithValue(kPython, "exec(a+'1')\n"); }},
    {"ShellsInCode", kPython,
     [] {
       return "import os\n" + Filling(kLongest - 1100, "os.system('''" + Around(1000, "$(", "ls", ")") + "''')\n");
     }},
    {"Sums", kJavaScript, [] { return "eval(y);x=" + Filling(kLongest - 20, "\"a\"+") + "'b'"; }},
    {"Parts", kJavaScript, [] { return LongValue(kJavaScript) + "eval(`" + Filling(1'000'000, "${a}") + "`)\n"; }},
    {"Sequences", kJavaScript, [] { return Around(kLongest, "(a,", "eval(x)", ")"); }},
    {"CodeInCode", kJavaScript, [] { return WithValue(kJavaScript, "eval(a+'1');"); }},
};

class HardTest : public ::testing::TestWithParam<Hard> {};

// Work and memory stay within the budget, whatever the code is: the parser's and those of the analysis after it.
TEST_P(HardTest, IsWithinTheBudget) {
  const std::string code = GetParam().code();
  const BudgetLimits limits = Budget::LimitsFor(code.size());
  const Costs costs = CostsOf(GetParam().language, code);
  EXPECT_LE(costs.work, limits.work + limits.work / 4) << "the last look has its own, and one step may be long";
  EXPECT_LE(costs.memory, limits.memory + limits.memory / 4);
  EXPECT_GE(costs.level, RiskLevel::kMedium);
}

INSTANTIATE_TEST_SUITE_P(Shapes, HardTest, ::testing::ValuesIn(kHard),
                         [](const auto& each) { return std::string(NameOf(each.param.language)) + each.param.name; });

// Each piece alone would be within a budget of its own.
TEST(BoundsTest, CodeInCodeTakesFromTheBudgetOfTheWhole) {
  const std::string pieces = Filling(kMegabyte, "eval '" + Around(1000, "$(", "ls", ")") + "'\n");
  EXPECT_THAT(Assess(kShell, pieces).findings, HasRule("code.not-analysed"));
}

TEST(BoundsTest, WhatIsGivenUpBehindTheParserIsStillSearchedForNames) {
  const std::string sums = "\nx=" + Filling(kLongest - 40, "\"a\"+") + "'b'\n";
  EXPECT_EQ(LevelOf(kPython, sums + "eval(y)"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kJavaScript, sums + "eval(y)"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kShell, Around(200'000, "$(", "ls", ")") + "\nrm -rf /"), RiskLevel::kCritical);
}

TEST(BoundsTest, ACancelledAnalysisHasNoAnswer) {
  std::stop_source cancel;
  cancel.request_stop();
  for (const Case& each : InEveryLanguage("brackets", Filling(kLongest, "("))) {
    Budget budget(Budget::LimitsFor(each.code.size()), cancel.get_token());
    EXPECT_FALSE(RiskPolicy().Assess(NameOf(each.language), each.code, budget));
    EXPECT_LT(budget.spent(), std::uint64_t{32} << 20U) << "it went on";
  }
}

TEST(BoundsTest, OrdinaryCodeOfAMegabyteHasHalfOfItsBudgetLeft) {
  const auto function = [](const std::string& at, const std::string& next) {
    return "def f" + at + "(a, b=1):\n    return [x.y(a)[0] for x in f" + next + "(b) if not x] or {'k': a * 2}\n\n";
  };
  const auto bundle = [](const std::string& at, const std::string& next) {
    return at + ":(e,t,n)=>{\"use strict\";var r=n(" + next +
           ");t.default=function(e){return e&&e.a?r(e,{b:[1,2]}):t}},";
  };
  const auto script = [](const std::string& at, const std::string&) {
    return "if test \"$a\" = \"" + at +
           "\"; then\n  echo \"checking $a... \" >&6\n  a=`echo \"$b\" | sed 's/x/y/'`\nfi\n";
  };
  for (const Case& each : {Case{"functions", kPython, Numbered(14'000, function)},
                           Case{"a bundle", kJavaScript, "(()=>{var e={" + Numbered(10'500, bundle) + "}})();"},
                           Case{"a script", kShell, Numbered(12'000, script)}}) {
    SCOPED_TRACE(each.name);
    ASSERT_GT(each.code.size(), kMegabyte);
    const BudgetLimits limits = Budget::LimitsFor(each.code.size());
    const Costs costs = CostsOf(each.language, each.code);
    EXPECT_LT(costs.work, limits.work / 2);
    EXPECT_LT(costs.memory, limits.memory * 4 / 5);
    EXPECT_THAT(Assess(each.language, each.code).findings, ::testing::Not(HasRule("code.not-analysed")));
  }
}

TEST(BoundsTest, OneLongWordIsAWord) {
  const std::string word(kMegabyte, 'a');
  EXPECT_EQ(LevelOf(kPython, word), RiskLevel::kSafe);
  EXPECT_EQ(LevelOf(kJavaScript, word), RiskLevel::kSafe);
  EXPECT_EQ(LevelOf(kShell, word), RiskLevel::kMedium);
  EXPECT_EQ(LevelOf(kPython, "'" + word + "'"), RiskLevel::kSafe);
  EXPECT_EQ(LevelOf(kJavaScript, "'" + word + "'"), RiskLevel::kSafe);
  EXPECT_EQ(LevelOf(kShell, "echo '" + word + "'"), RiskLevel::kSafe);
  EXPECT_EQ(LevelOf(kPython, std::string(kMegabyte, '\n') + "eval(x)"), RiskLevel::kCritical);
  EXPECT_EQ(LevelOf(kPython, "#" + word + "\neval(x)"), RiskLevel::kCritical);
}

TEST(BoundsTest, BytesThatAreNoTextAreAtLeastMedium) {
  const std::string nul(1, '\0');
  const std::string nuls(kMegabyte, '\0');
  for (const std::string& bytes :
       {std::string(kMegabyte, '\xFF'), std::string(kMegabyte, '\x80'), nuls, Times(kMegabyte / 4, "\xED\xA0\x80 "),
        Times(kMegabyte / 2, "\xC0\xAF"), Times(kMegabyte / 2, nul + "(")})
    ExpectAtLeast(RiskLevel::kMedium, InEveryLanguage("bytes", bytes));
}

TEST(BoundsTest, BytesThatAreNoTextHideNothing) {
  const std::string nul(1, '\0');
  for (const std::string& bytes : {nul, std::string("\xFF\xFE"), std::string("\xED\xA0\x80"), Times(1000, nul)}) {
    ExpectAtLeast(RiskLevel::kHigh, {{"behind", kPython, bytes + "\neval(x)\n"},
                                     {"in a string", kPython, "a = '" + bytes + "'\neval(x)\n"},
                                     {"in a comment", kPython, "# " + bytes + "\neval(x)\n"},
                                     {"behind", kJavaScript, bytes + "\neval(x)\n"},
                                     {"in a string", kJavaScript, "a = '" + bytes + "'\neval(x)\n"},
                                     {"in a comment", kJavaScript, "// " + bytes + "\neval(x)\n"},
                                     {"behind", kShell, bytes + "\nrm -rf /\n"},
                                     {"in a string", kShell, "echo '" + bytes + "'\nrm -rf /\n"},
                                     {"in a comment", kShell, "# " + bytes + "\nrm -rf /\n"}});
  }
}

}  // namespace
}  // namespace skerry::policy

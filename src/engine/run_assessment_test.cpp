#include "engine/run_assessment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using core::Language;
using core::RiskLevel;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kDangerousPython = "import subprocess\nsubprocess.run(['id'])\n";
constexpr std::string_view kDangerousJavaScript = "require('child_process').execSync('id')\n";
constexpr std::string_view kDangerousShell = "sudo id\n";

class RunAssessmentTest : public testing::Test {
 protected:
  using Environment = std::map<std::string, std::string>;

  void Put(const std::string& path, std::string_view bytes) const {
    fs::create_directories((directory_.path() / path).parent_path());
    std::ofstream(directory_.path() / path, std::ios::binary) << bytes;
  }
  [[nodiscard]] core::RiskAssessment Of(Language language, std::string_view code, const Environment& environment = {},
                                        std::string_view directory = "", int input = -1) const {
    return AssessRun(Gate(),
                     {.language = language,
                      .code = code,
                      .directory = directory,
                      .environment = environment,
                      .workspace = root_.get(),
                      .bytecode = bytecode_,
                      .input = input},
                     {}, {})
        .value();
  }
  // Of a cell of a shell.
  [[nodiscard]] core::RiskAssessment After(std::string_view before, std::string_view code) const {
    const Environment environment;
    return AssessRun(Gate(),
                     {.language = Language::kShell,
                      .code = code,
                      .before = before,
                      .environment = environment,
                      .workspace = root_.get()},
                     {}, {})
        .value();
  }
  // Where the gravest finding stands.
  [[nodiscard]] std::string SourceOf(Language language, std::string_view code, const Environment& environment = {},
                                     std::string_view directory = "") const {
    const core::RiskAssessment risk = Of(language, code, environment, directory);
    if (!risk.requires_confirmation) return "(not asked about)";
    return risk.findings.front().source;
  }
  [[nodiscard]] base::UniqueFd Input(std::string_view text) const {
    Put("../input", text);
    return base::UniqueFd(::open((directory_.path() / "../input").c_str(), O_RDONLY | O_CLOEXEC));
  }

  Bytecode bytecode_ = Bytecode::kOfSession;
  support::TemporaryDirectory outer_;
  struct Inner {
    fs::path inside;
    [[nodiscard]] const fs::path& path() const { return inside; }
  };
  Inner directory_ = [this] {
    fs::create_directories(outer_.path() / "workspace");
    return Inner{outer_.path() / "workspace"};
  }();
  base::UniqueFd root_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(RunAssessmentTest, WhatPythonImportsCounts) {
  Put("evil.py", kDangerousPython);
  Put("package/__init__.py", "");
  Put("package/inner.py", kDangerousPython);
  Put("package/nice.py", "from . import inner\n");
  Put("listed/__init__.py", "__all__ = ['deep']\n");
  Put("listed/deep.py", kDangerousPython);
  Put("chain1.py", "import chain2\n");
  Put("chain2.py", "def f():\n    import evil\n");
  Put("source/own.py", "import other\n");
  Put("source/other.py", kDangerousPython);
  Put("native.cpython-311-x86_64-linux-gnu.so", std::string_view("\x7f"
                                                                 "ELF\0",
                                                                 5));
  Put("compiled.pyc", std::string_view("\0\1", 2));
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"import evil", "evil.py"},
      {"import evil as harmless", "evil.py"},
      {"from evil import *", "evil.py"},
      {"if True:\n    import evil", "evil.py"},
      {"from package import inner", "package/inner.py"},
      {"import package.inner", "package/inner.py"},
      {"import package.nice", "package/inner.py"},
      {"from package.nice import x", "package/inner.py"},
      {"from listed import *", "listed/deep.py"},
      {"import chain1", "evil.py"},
      {"import native", "native.cpython-311-x86_64-linux-gnu.so"},
      {"import compiled", "compiled.pyc"},
  };
  for (const auto& [code, source] : rows) EXPECT_EQ(SourceOf(Language::kPython, code), source) << code;
  EXPECT_EQ(SourceOf(Language::kShell, "python3 source/own.py"), "source/other.py");
  EXPECT_EQ(SourceOf(Language::kPython, "import other", {}, "source"), "source/other.py");
  EXPECT_EQ(SourceOf(Language::kPython, "import other", {}, "/workspace/source"), "source/other.py");
}

TEST_F(RunAssessmentTest, AFileThatTakesTheNameOfALibraryModuleCounts) {
  Put("zipfile.py", kDangerousPython);
  Put("src/html/__init__.py", "");
  Put("src/html/parser.py", kDangerousPython);
  Put("src/main.py", "import xmlrpc\n");
  Put("other/json/notes.txt", "");
  Put("other/test/__init__.py", kDangerousPython);
  EXPECT_EQ(SourceOf(Language::kPython, "import importlib.metadata"), "zipfile.py");
  EXPECT_EQ(SourceOf(Language::kShell, "python3 -c 'import importlib.metadata'"), "zipfile.py");
  EXPECT_EQ(SourceOf(Language::kShell, "python3 src/main.py"), "src/html/parser.py");
  EXPECT_EQ(SourceOf(Language::kPython, "import email", {}, "other"), "(not asked about)");
}

TEST_F(RunAssessmentTest, ADirectoryCountsHoweverItIsWritten) {
  Put("sub/evil.py", kDangerousPython);
  Put("evil.sh", kDangerousShell);
  Put("evil.js", kDangerousJavaScript);
  fs::create_symlink("sub", directory_.path() / "link");
  fs::create_symlink("/workspace/link/../sub", directory_.path() / "far");
  for (const std::string_view directory :
       {"sub", "/workspace/sub", "//workspace/sub", "/./workspace/sub", "/usr/../workspace/sub", "../workspace/sub",
        "sub/../sub/.", "/proc/self/root/workspace/sub", "link"})
    EXPECT_EQ(SourceOf(Language::kPython, "import evil", {}, directory), "sub/evil.py") << directory;
  EXPECT_EQ(SourceOf(Language::kShell, "python3 far/evil.py"), "far/evil.py");
  for (const std::string_view code : {"sh ../workspace/evil.sh", "sh //workspace/evil.sh", "sh /../workspace/evil.sh",
                                      "sh /proc/self/cwd/evil.sh", "sh /proc/self/task/1/cwd/evil.sh"})
    EXPECT_EQ(SourceOf(Language::kShell, code), "evil.sh") << code;
  EXPECT_EQ(SourceOf(Language::kJavaScript, "require('../workspace/evil')"), "evil.js");
  EXPECT_EQ(SourceOf(Language::kJavaScript, "require('/proc/self/cwd/evil')"), "evil.js");
}

TEST_F(RunAssessmentTest, BytecodeThatStandsInForItsSourceCounts) {
  const auto head = [](std::uint32_t flags, std::uint32_t time, std::uint32_t size) {
    const std::array<std::uint32_t, 4> numbers = {3495, flags, time, size};
    return std::string(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
  };
  Put("nice.py", "x = 1\n");
  struct stat facts{};
  ASSERT_EQ(::stat((directory_.path() / "nice.py").c_str(), &facts), 0);
  const auto time = static_cast<std::uint32_t>(facts.st_mtim.tv_sec);
  const std::string path = "__pycache__/nice.cpython-311.pyc";
  Put(path, head(0, time, 6));
  EXPECT_EQ(SourceOf(Language::kPython, "import nice"), path);
  Put(path, head(0, time - 1, 6));
  EXPECT_EQ(SourceOf(Language::kPython, "import nice"), "(not asked about)");
  Put(path, head(3, 0, 0));
  EXPECT_EQ(SourceOf(Language::kPython, "import nice"), path);
  bytecode_ = Bytecode::kOfPerson;
  EXPECT_EQ(SourceOf(Language::kPython, "import nice"), "(not asked about)");
  Put(path, head(1, 0, 0));
  EXPECT_EQ(SourceOf(Language::kPython, "import nice"), path);
}

TEST_F(RunAssessmentTest, HarmlessCodeOfTheWorkspaceIsLeftAlone) {
  Put("helpers.py", "def add(a, b):\n    return a + b\n");
  Put("data.py", kDangerousPython);
  Put("notes.txt", "import os; os.system('rm -rf /')");
  for (const std::string_view code : {"import helpers\nprint(helpers.add(1, 2))", "import math, re, collections",
                                      "print('data.py')", "print(len(open('data.py').read()))"})
    EXPECT_EQ(SourceOf(Language::kPython, code), "(not asked about)") << code;
  for (const std::string_view code :
       {"python3 helpers.py", "cat data.py", "wc -l data.py notes.txt", "ls", "grep x *.py"})
    EXPECT_EQ(SourceOf(Language::kShell, code), "(not asked about)") << code;
}

TEST_F(RunAssessmentTest, ScriptsThatAShellRunsCount) {
  Put("x.sh", kDangerousShell);
  Put("bin/tool", "#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['id'])\n");
  Put("x.py", kDangerousPython);
  Put("x.js", kDangerousJavaScript);
  Put("x.pl", "system('id')\n");
  Put("app/__main__.py", kDangerousPython);
  Put("outer.sh", ". ./x.sh\n");
  fs::create_symlink("/workspace/x.sh", directory_.path() / "absolute");
  fs::create_symlink("x.sh", directory_.path() / "relative");
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"sh x.sh", "x.sh"},
      {"./x.sh", "x.sh"},
      {"/workspace/x.sh", "x.sh"},
      {". ./x.sh", "x.sh"},
      {"source x.sh", "x.sh"},
      {"env sh ./x.sh", "x.sh"},
      {"bash < x.sh", "x.sh"},
      {"cat x.sh | sh", "x.sh"},
      {"ls && sh outer.sh", "x.sh"},
      {"sh absolute", "absolute"},
      {"./relative", "relative"},
      {"bin/tool", "bin/tool"},
      {"cd bin && ./tool", "bin/tool"},
      {"python3 x.py", "x.py"},
      {"python3 -m x", "x.py"},
      {"python3 -mx", "x.py"},
      {"python3 app", "app/__main__.py"},
      {"python3 -m app", "app/__main__.py"},
      {"python3 -c 'import x'", "x.py"},
      {"node x.js", "x.js"},
      {"node x", "x.js"},
      {"node -r ./x.js -e 1", "x.js"},
      {"node --require=./x -e 1", "x.js"},
      {"perl x.pl", "x.pl"},
      {"PATH=/workspace/bin:$PATH tool", "bin/tool"},
  };
  for (const auto& [code, source] : rows) EXPECT_EQ(SourceOf(Language::kShell, code), source) << code;
}

TEST_F(RunAssessmentTest, WhereTheCodeHasGoneAndLooksCounts) {
  Put("x.sh", kDangerousShell);
  Put("good.sh", "echo good\n");
  Put("sub/two.py", kDangerousPython);
  Put("sub/three.js", kDangerousJavaScript);
  Put("sub/x2.sh", kDangerousShell);
  Put("sub/outer.sh", "sh x2.sh\n");
  Put("lib/four.py", kDangerousPython);
  Put("lib/four.js", kDangerousJavaScript);
  Put("bin/ls", kDangerousShell);
  Put("start/sitecustomize.py", kDangerousPython);
  Put("x.awk", "BEGIN { system(\"id\") }");
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"cd sub && python3 -m two", "sub/two.py"},
      {"cd sub && python3 -c 'import two'", "sub/two.py"},
      {"cd sub && node -e \"require('./three')\"", "sub/three.js"},
      {"cd sub && bash -c 'sh x2.sh'", "sub/x2.sh"},
      {"cd sub && bash -c 'python3 -m two'", "sub/two.py"},
      {"cd sub && sh outer.sh", "sub/x2.sh"},
      {"pushd sub; popd; sh x.sh", "x.sh"},
      {"cd nonexist; sh x.sh", "x.sh"},
      {"cd sub; cd nonexist; python3 -m two", "sub/two.py"},
      {"cd sub; cd -; sh x.sh", "x.sh"},
      {"bash +O extglob x.sh", "x.sh"},
      {"bash - x.sh", "x.sh"},
      {"head -n 5 x.sh | sh", "x.sh"},
      {"cp x.sh y.sh; sh y.sh", "x.sh"},
      {"ln -s x.sh y.sh; ./y.sh", "x.sh"},
      {"PYTHONPATH=lib python3 -c 'import four'", "lib/four.py"},
      {"export PYTHONPATH=$PWD/lib:$PYTHONPATH\npython3 -c 'import four'", "lib/four.py"},
      {"env PYTHONPATH=lib python3 -m four", "lib/four.py"},
      {"PYTHONPATH=start python3 -c 1", "start/sitecustomize.py"},
      {"NODE_PATH=lib node -e \"require('four')\"", "lib/four.js"},
      {"env PATH=bin ls", "bin/ls"},
      {"export PATH=/workspace/bin:$PATH; ls", "bin/ls"},
      {"python3 -m cProfile sub/two.py", "sub/two.py"},
      {"python3 -m trace --count -C /tmp sub/two.py", "sub/two.py"},
      {"python3 -m doctest sub/two.py", "sub/two.py"},
      {"cd sub; python3 -m cProfile -m two", "sub/two.py"},
      {"awk -f x.awk f", "x.awk"},
      {"prlimit sh x.sh", "x.sh"},
      {"choom -n 0 sh x.sh", "x.sh"},
      {"sqlite3 x.db < x.awk", "x.awk"},
  };
  for (const auto& [code, source] : rows) EXPECT_EQ(SourceOf(Language::kShell, code), source) << code;
  for (const std::string_view code : {"sh good.sh", "cd sub && ls", "cd lib; sh ../good.sh",
                                      "PYTHONPATH=lib python3 -c 1", "cp x.sh y.sh", "awk -f missing.awk f"})
    EXPECT_EQ(SourceOf(Language::kShell, code), "(not asked about)") << code;
}

TEST_F(RunAssessmentTest, WhatJavaScriptLoadsCounts) {
  Put("evil.js", kDangerousJavaScript);
  Put("lib/index.js", kDangerousJavaScript);
  Put("node_modules/thing/package.json", R"({"exports": {".": {"require": "./main.cjs"}}})");
  Put("node_modules/thing/main.cjs", "require('../../evil')");
  Put("node_modules/routed/package.json",
      R"({"exports": {".": "./nice.js", "./x": {"node": ["./evil.js"]}, "./f/*": "./deep/*.js", "./old/": "./deep/"}})");
  Put("node_modules/routed/nice.js", "module.exports = 1\n");
  Put("node_modules/routed/evil.js", kDangerousJavaScript);
  Put("node_modules/routed/deep/evil.js", kDangerousJavaScript);
  Put("node_modules/@a/b/lib.js", kDangerousJavaScript);
  Put("own/package.json", R"({"name": "own", "exports": {"./z": "./hidden.js"},
                              "imports": {"#x": "./hidden.js", "#nice": "./nice.js", "#p": "routed/x"}})");
  Put("own/hidden.js", kDangerousJavaScript);
  Put("own/nice.js", "module.exports = 1\n");
  Put("own/by-name.js", "require('own/z')\n");
  Put("own/by-sign.js", "import '#x'\n");
  Put("own/by-package.js", "import '#p'\n");
  Put("own/harmless.js", "import '#nice'\n");
  Put("far/real.js", "require('./beside')\n");
  Put("far/beside.js", kDangerousJavaScript);
  fs::create_symlink("far/real.js", directory_.path() / "link.js");
  Put("deep/package.json", "{\"exports\": " + std::string(5000, '[') + std::string(5000, ']') + "}");
  Put("loop/package.json", R"({"main": "./inner"})");
  Put("loop/inner/package.json", R"({"main": ".."})");
  Put("addon.node", std::string_view("\x7f"
                                     "ELF\0",
                                     5));
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"require('./evil')", "evil.js"},
      {"import './evil.js'", "evil.js"},
      {"export * from './evil.js'", "evil.js"},
      {"import('/workspace/evil.js')", "evil.js"},
      {"import('file:///workspace/evil.js')", "evil.js"},
      {"import('./evil.js?v=1')", "evil.js"},
      {"import('./%65vil.js')", "evil.js"},
      {"import('./evil.js#a')", "evil.js"},
      {"import('FILE://localhost/workspace/%65vil.js')", "evil.js"},
      {"require('./lib')", "lib/index.js"},
      {"require('routed')", "(not asked about)"},
      {"require('routed/x')", "node_modules/routed/evil.js"},
      {"require('routed/f/evil')", "node_modules/routed/deep/evil.js"},
      {"require('routed/old/evil.js')", "node_modules/routed/deep/evil.js"},
      {"require('@a/b/lib')", "node_modules/@a/b/lib.js"},
      {"require('./own/by-name')", "own/hidden.js"},
      {"require('./own/by-sign')", "own/hidden.js"},
      {"require('./own/by-package')", "node_modules/routed/evil.js"},
      {"require('./own/harmless')", "(not asked about)"},
      {"require('./link')", "far/beside.js"},
      {"require('./deep')", "deep/package.json"},
      {"require('thing')", "evil.js"},
      {"require('./addon')", "addon.node"},
      {"require('./loop')", "(not asked about)"},
      {"require('nothing')", "(not asked about)"},
  };
  for (const auto& [code, source] : rows) EXPECT_EQ(SourceOf(Language::kJavaScript, code), source) << code;
}

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
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const base::UniqueFd pipe(ends[0]);
  const base::UniqueFd feeder(ends[1]);
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
    const core::RiskAssessment risk = Of(Language::kShell, code, {}, "", pipe.get());
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
    EXPECT_FALSE(Of(Language::kShell, code, {}, "", pipe.get()).requires_confirmation) << code;
  EXPECT_FALSE(Of(Language::kPython, "print(input())", {}, "", pipe.get()).requires_confirmation);
}

TEST_F(RunAssessmentTest, WhatIsTypedAtATerminalCounts) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const base::UniqueFd pipe(ends[0]);
  const base::UniqueFd feeder(ends[1]);
  const auto asks = [&](std::string_view code, bool has_terminal) {
    const AssessedRun run{.language = Language::kShell,
                          .code = code,
                          .environment = {},
                          .workspace = root_.get(),
                          .input = pipe.get(),
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
  const base::UniqueFd harmless = Input("echo hello\n");
  EXPECT_FALSE(Of(Language::kShell, "sh", {}, "", harmless.get()).requires_confirmation);
  const base::UniqueFd dangerous = Input(kDangerousShell);
  const core::RiskAssessment risk = Of(Language::kShell, "sh", {}, "", dangerous.get());
  EXPECT_EQ(risk.findings.front().source, "input");
  EXPECT_EQ(risk.findings.front().rule, "shell.privileges");
  EXPECT_FALSE(Of(Language::kShell, "cat", {}, "", dangerous.get()).requires_confirmation);
  const base::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(Of(Language::kShell, "sh", {}, "", nothing.get()).requires_confirmation);
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

TEST_F(RunAssessmentTest, LookingForFilesHasABound) {
  std::string deep;
  for (int each = 0; each < 500; ++each) deep += "a/";
  std::string loads;
  for (int each = 0; each < 1000; ++each) loads += "require('m" + std::to_string(each) + "');\n";
  Put(deep + "i.js", loads);
  EXPECT_THAT(Of(Language::kJavaScript, "require('./" + deep + "i.js')").reason, HasSubstr("code.too-much"));
}

TEST_F(RunAssessmentTest, OfADirectoryOnlyNamesOfCodeAreKeptAndLinksToItCountOnce) {
  for (int each = 0; each < 200; ++each) Put("images/" + std::to_string(each) + ".jpg", "");
  Put("images/own.py", "");
  fs::create_symlink("images", directory_.path() / "link");
  CodeFiles files(root_.get(), {});
  ASSERT_NE(files.NamesOf("images"), nullptr);
  EXPECT_EQ(*files.NamesOf("images"), CodeFiles::Names{"own.py"});
  EXPECT_GT(files.budget().TakeSpent(), 200U);
  EXPECT_EQ(files.NamesOf("link"), files.NamesOf("images"));
  EXPECT_LT(files.budget().TakeSpent(), 50U);
}

TEST_F(RunAssessmentTest, NobodyWaitsAnyMore) {
  Put("nice.py", "x = 1\n");
  std::stop_source left;
  left.request_stop();
  CodeFiles files(root_.get(), left.get_token());
  EXPECT_FALSE(files.HasFile("nice.py"));
  EXPECT_TRUE(files.budget().IsOver());
  const Environment environment;
  const auto risk = AssessRun(
      Gate(),
      {.language = Language::kPython, .code = "import nice", .environment = environment, .workspace = root_.get()}, {},
      left.get_token());
  EXPECT_EQ(risk.error().code, base::Code::kUnavailable);
}

TEST_F(RunAssessmentTest, AFirstLineIsReadAsTheKernelReadsIt) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"#!/usr/bin/env -S X=python bash", "shell.privileges"},
      {"#!/bin/sh -e", "shell.privileges"},
      {"#!/usr/bin/env bash", "shell.privileges"},
      {"#! /bin/dash", "shell.privileges"},
      {"#!/usr/bin/python3.11 -cprint(1)", "code.unknown-language"},
      {"#!/usr/bin/perl", "code.unknown-language"},
      {"#!/bin/cat python", "code.unknown-language"},
  };
  for (const auto& [line, rule] : rows) {
    Put("tool", line + "\n" + std::string(kDangerousShell));
    EXPECT_EQ(Of(Language::kShell, "./tool").findings.front().rule, rule) << line;
  }
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

TEST_F(RunAssessmentTest, NothingOutsideOfTheWorkspaceIsRead) {
  Put("../outside.py", kDangerousPython);
  fs::create_symlink(outer_.path() / "outside.py", directory_.path() / "link.py");
  for (const std::string_view code : {"python3 ../outside.py", "python3 link.py"})
    EXPECT_EQ(SourceOf(Language::kShell, code), "(not asked about)") << code;
}

}  // namespace
}  // namespace skerry::engine

// Code in files of the workspace.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_run_assessment.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using core::Language;
using testing::HasSubstr;

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

TEST_F(RunAssessmentTest, NothingOutsideOfTheWorkspaceIsRead) {
  Put("../outside.py", kDangerousPython);
  fs::create_symlink(outer_.path() / "outside.py", directory_.path() / "link.py");
  for (const std::string_view code : {"python3 ../outside.py", "python3 link.py"})
    EXPECT_EQ(SourceOf(Language::kShell, code), "(not asked about)") << code;
}

}  // namespace
}  // namespace skerry::engine

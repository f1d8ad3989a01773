"""tools/check_format.sh, tools/check_tidy.sh and .ci/run, each in a made-up tree."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The CI that runs these tests may have variables of its own.
INHERITED = {name: value for name, value in os.environ.items() if not name.startswith("CI_")}


class CheckTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name, "a tree")
        for folder in ("src/base", "tools", ".ci", "build/dev"):
            (self.tree / folder).mkdir(parents=True)
        for name in ("tools/check_format.sh", "tools/check_tidy.sh", ".ci/run", ".clang-format", ".clang-tidy"):
            shutil.copy(ROOT / name, self.tree / name)

    def put(self, path, text):
        (self.tree / path).write_text(text)
        (self.tree / path).chmod(0o755)

    def run_in_tree(self, *command, **environment):
        return subprocess.run(
            command,
            cwd=self.tree,
            env={**INHERITED, **environment},
            capture_output=True,
            text=True,
            timeout=100,
        )


@unittest.skipUnless(shutil.which("clang-format-19"), "needs clang-format-19")
class FormatTest(CheckTest):
    def test_a_formatted_tree_passes(self):
        self.put("src/base/x.cpp", "int x = 0;\n")
        self.assertEqual(0, self.run_in_tree("tools/check_format.sh").returncode)

    def test_an_empty_tree_passes(self):
        self.assertEqual(0, self.run_in_tree("tools/check_format.sh").returncode)

    def test_an_unformatted_file_fails_until_it_is_fixed(self):
        self.put("src/base/x.hpp", "int  x  ( ) ;\n")
        done = self.run_in_tree("tools/check_format.sh")
        self.assertEqual(1, done.returncode)
        self.assertIn("src/base/x.hpp:1", done.stderr)
        self.assertEqual(0, self.run_in_tree("tools/check_format.sh", "--fix").returncode)
        self.assertEqual(0, self.run_in_tree("tools/check_format.sh").returncode)


@unittest.skipUnless(shutil.which("clang-tidy-19"), "needs clang-tidy-19")
class TidyTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.put("src/base/good.cpp", "int Good() { return 0; }\n")
        self.put("src/base/bad.cpp", "int* Bad() { return 0; }\n")
        commands = [
            {"directory": str(self.tree), "file": f"src/base/{name}.cpp", "command": f"clang++-19 -std=c++23 -c src/base/{name}.cpp"}
            for name in ("good", "bad")
        ]
        self.put("build/dev/compile_commands.json", json.dumps(commands))

    def test_a_mistake_fails(self):
        done = self.run_in_tree("tools/check_tidy.sh")
        self.assertEqual(1, done.returncode)
        self.assertIn("modernize-use-nullptr", done.stdout)

    def test_what_there_was_no_time_for_is_told(self):
        done = self.run_in_tree("tools/check_tidy.sh", "--within", "0")
        self.assertEqual(0, done.returncode)
        self.assertIn("src/base/bad.cpp\nsrc/base/good.cpp\ntidy: there was no time for these 2 files\n", done.stderr)
        self.assertEqual(1, self.run_in_tree("tools/check_tidy.sh", "--within", "600").returncode)

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_changed_takes_only_what_differs(self):
        identity = ["-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q"], ["add", "src"], [*identity, "commit", "-qm", "base: Begin"]):
            self.assertEqual(0, self.run_in_tree("git", *command).returncode)
        self.assertEqual(0, self.run_in_tree("tools/check_tidy.sh", "--changed").returncode)
        self.put("src/base/bad.cpp", "int* Bad() { return 0; }  // edited\n")
        self.assertEqual(1, self.run_in_tree("tools/check_tidy.sh", "--changed", "HEAD").returncode)
        self.assertEqual(1, self.run_in_tree("tools/check_tidy.sh", "--changed", "no such commit").returncode)

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_a_changed_header_is_looked_at_through_one_source(self):
        identity = ["-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false"]
        self.put("src/base/good.cpp", '#include "base/lone.hpp"\nint Good() { return 0; }\n')
        for command in (["init", "-q"], ["add", "src"], [*identity, "commit", "-qm", "base: Begin"]):
            self.assertEqual(0, self.run_in_tree("git", *command).returncode)
        self.put("src/base/bad.hpp", "// of bad.cpp\n")
        self.assertIn("modernize-use-nullptr", self.run_in_tree("tools/check_tidy.sh", "--changed").stdout)
        (self.tree / "src/base/bad.hpp").unlink()
        self.put("src/base/lone.hpp", "inline int* Lone() { return 0; }\n")
        self.put(
            "build/dev/compile_commands.json",
            json.dumps([{"directory": str(self.tree), "file": "src/base/good.cpp",
                         "command": f"clang++-19 -std=c++23 '-I{self.tree}/src' -c src/base/good.cpp"}]),
        )
        done = self.run_in_tree("tools/check_tidy.sh", "--changed")
        self.assertIn("lone.hpp:1", done.stdout, done.stderr)

    def test_without_a_build_it_says_what_to_do(self):
        (self.tree / "build/dev/compile_commands.json").unlink()
        done = self.run_in_tree("tools/check_tidy.sh")
        self.assertEqual(125, done.returncode)
        self.assertIn("./test --build-only", done.stderr)


class CiTest(CheckTest):
    def setUp(self):
        super().setUp()
        self.put(
            "test",
            '#!/bin/bash\necho "test $*"; [[ $# -gt 0 || ! -e tests_fail ]] && [[ $2 != asan || ! -e asan_fails ]] || exit 8\n',
        )
        for name, stem in (("tools/check_format.sh", "format"), ("tools/check_tidy.sh", "tidy")):
            self.put(name, f"#!/bin/bash\necho {stem} $*; [[ ! -e {stem}_fails ]]\n")
        self.put("tools/check_layers.py", 'import os, sys\nprint("layers")\nsys.exit(os.path.exists("layers_fails"))\n')

    def steps(self, **environment):
        done = self.run_in_tree(".ci/run", **environment)
        return done.returncode, [line.strip() for line in done.stdout.splitlines() if not line.startswith("==")]

    def expected(self, *tidy):
        return ["test --setup-only", "format", "layers", "test --build-only", *tidy, "test --preset asan", "test"]

    def test_it_checks_what_changed_and_ends_with_the_tests(self):
        self.assertEqual((0, self.expected("tidy --within 900 --changed abc")), self.steps(CI_BASE="abc"))

    def test_everything_is_tidied_when_asked_for(self):
        self.assertEqual((0, self.expected("tidy")), self.steps(CI_TIDY="1"))

    def test_without_history_nothing_is_tidied_and_that_is_said(self):
        code, lines = self.steps(GIT_DIR="none")
        self.assertEqual(0, code)
        self.assertTrue(any("no commit to compare with" in line for line in lines), lines)

    def test_each_failure_fails(self):
        for name in ("format_fails", "layers_fails", "tidy_fails", "asan_fails", "tests_fail"):
            (self.tree / name).touch()
            self.assertNotEqual(0, self.steps(CI_BASE="abc")[0], name)
            (self.tree / name).unlink()


if __name__ == "__main__":
    unittest.main()

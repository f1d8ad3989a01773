"""The environment of one cell, in the workers of all languages."""
import os
import unittest

import worker
from worker import BASH, NODE, PYTHON


class CellVariables:
    """The rules. Those who inherit say how a worker is started, and how a cell prints, sets and unsets a variable."""

    SETS = {"OF_CONTEXT": "context", "name": "1", "before": "2", "QUOTED": "it's \"so\"\n$HOME `x` \\ \u00e4", "TZ": "UTC"}

    def context(self):
        child = self.worker(self.start())
        child.begin("cells", self.directory, {**self.environment, **self.SETS})
        return child

    def value(self, child, name, environment=None):
        cell = child.cell(self.show(name), environment)
        self.assertEqual((cell.status, cell.err), ("ok", b""))
        return cell.out.decode()

    def test_a_cell_sees_its_variables_and_the_next_one_does_not(self):
        child = self.context()
        for value in ("1", "", "it's \"so\"\n$HOME `x` \\ \u00e4 "):
            self.assertEqual(self.value(child, "NEW", {"NEW": value}), value)
            self.assertEqual(self.value(child, "NEW"), "none")

    def test_a_variable_of_the_context_comes_back(self):
        child = self.context()
        for name, value in self.SETS.items():
            self.assertEqual(self.value(child, name, {name: "other"}), "other")
            self.assertEqual(self.value(child, name), value)

    def test_programs_that_a_cell_starts_see_them(self):
        child = self.context()
        self.assertEqual(child.cell(self.runs("printenv NEW"), {"NEW": "x"}).out, b"x\n")
        self.assertEqual(child.cell(self.runs("printenv NEW || echo none")).out, b"none\n")

    def test_what_a_cell_sets_itself_stays(self):
        child = self.context()
        self.assertEqual(child.cell(self.set("NEW", "mine"), {"NEW": "lent"}).status, "ok")
        self.assertEqual(self.value(child, "NEW"), "mine")
        self.assertEqual(child.cell(self.unset("NEW"), {"NEW": "lent"}).status, "ok")
        self.assertEqual(self.value(child, "NEW"), "none")

    def test_they_go_after_an_error_and_an_interrupt_too(self):
        child = self.context()
        self.assertEqual(child.cell(self.FAILS, {"NEW": "x"}).status, "error")
        self.assertEqual(self.value(child, "NEW"), "none")


class PythonTest(CellVariables, worker.WorkerTest):
    FAILS = "1 / 0"

    def start(self):
        return worker.starter([PYTHON, "-c", worker.python_worker() + "\nserve(3, forked=False)\n"], self.environment)

    def show(self, name):
        return f"import os; print(os.environ.get({name!r}, 'none'), end='')"

    def runs(self, command):
        return f"import subprocess; subprocess.run({command!r}, shell=True); None"

    def set(self, name, value):
        return f"os = __import__('os'); os.environ[{name!r}] = {value!r}"

    def unset(self, name):
        return f"del __import__('os').environ[{name!r}]"

    def test_the_time_zone_is_heeded(self):
        child = self.context()
        zone = "import time; print(time.tzname[0], end='')"
        self.assertEqual(child.cell(zone, {"TZ": "ABC3"}).out, b"ABC")
        self.assertEqual(child.cell(zone).out, b"UTC")


@unittest.skipUnless(os.access(NODE, os.X_OK), "node is not installed")
class NodeTest(CellVariables, worker.WorkerTest):
    FAILS = "throw new Error('x')"

    def start(self):
        return worker.starter([NODE, "--experimental-vm-modules", "-e", worker.text_of("javascript_worker.js")],
                              self.environment)

    def show(self, name):
        return f"process.stdout.write(process.env['{name}'] ?? 'none'); undefined"

    def runs(self, command):
        return f"require('child_process').execSync({command!r}, {{ stdio: 'inherit' }}); undefined"

    def set(self, name, value):
        return f"process.env['{name}'] = '{value}'; undefined"

    def unset(self, name):
        return f"delete process.env['{name}']; undefined"


class ShellTest(CellVariables, worker.WorkerTest):
    FAILS = "false"

    def context(self):
        return self.worker(worker.starter([BASH, "-c", worker.text_of("shell_worker.sh"), "skerry"],
                                          {**self.environment, **self.SETS}, self.directory, own_group=True))

    def show(self, name):
        return f'printf %s "${{{name}-none}}"'

    def runs(self, command):
        return command

    def set(self, name, value):
        return f"{name}={value}"

    def unset(self, name):
        return f"unset {name}"

    def test_what_the_shell_has_of_its_own_comes_back_as_it_was(self):
        child = self.context()
        child.cell("set -eu; readonly FIXED=1; LOCAL=own")
        self.assertEqual(self.value(child, "FIXED", {"FIXED": "2"}), "1")
        self.assertEqual(child.cell("printenv LOCAL || echo none", {"LOCAL": "lent"}).out, b"lent\n")
        self.assertEqual(child.cell("echo $LOCAL; printenv LOCAL || echo none").out, b"own\nnone\n")
        self.assertEqual(child.cell("false; echo on", {"NEW": "x"}).out, b"")
        self.assertEqual(self.value(child, "NEW"), "none")


if __name__ == "__main__":
    unittest.main()

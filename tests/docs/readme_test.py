"""The examples of the README print what it shows, and the links of the documents lead somewhere."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAIN_ID = 54322  # nobody has it
WILDCARD = "..."  # a line that stands for any number of lines
DOCUMENTS = sorted(glob.glob(os.path.join(ROOT, "*.md")) +
                   glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def console_blocks(text):
    return [match.group(1).splitlines() for match in re.finditer(r"^```console\n(.*?)^```$", text, re.M | re.S)]


def commands_and_output(block):
    """`$ ` begins a command, `> ` right after it continues it, everything else is output."""
    commands, output = [], []
    continuing = False
    for line in block:
        if line.startswith("$ "):
            commands.append(line[2:])
        elif continuing and line.startswith("> "):
            commands.append(line[2:])
        else:
            output.append(line)
            continuing = False
            continue
        continuing = True
    return commands, output


def matches(expected, actual):
    pattern = "".join(r"(?:.*\n)*" if line == WILDCARD else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


class MatchTest(unittest.TestCase):
    def test_lines_must_be_equal(self):
        self.assertTrue(matches(["a", "b"], ["a", "b"]))
        self.assertFalse(matches(["a"], ["a", "b"]))
        self.assertFalse(matches(["a", "b"], ["a"]))

    def test_dots_stand_for_any_lines(self):
        self.assertTrue(matches(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(matches(["a", "...", "d"], ["a", "d"]))
        self.assertFalse(matches(["a", "...", "d"], ["a", "b"]))

    def test_commands_are_told_from_output(self):
        block = ["$ echo 1 \\", "> 2", "1 2", "> quoted", "$ true"]
        self.assertEqual(commands_and_output(block), (["echo 1 \\", "2", "true"], ["1 2", "> quoted"]))


class ReadmeTest(unittest.TestCase):
    """Each block is one session of bash in an empty directory in which ./skerry is the program."""

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="skerry-docs-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.base)
        os.chmod(self.base, 0o755)
        # Another user may not be able to reach the build directory.
        built = os.path.dirname(os.path.abspath(os.environ["SKERRY_BIN"]))
        for name in ("skerry", "skerry-launcher", "skerry-init", "libskerry-zygote.so"):
            shutil.copy(os.path.join(built, name), os.path.join(self.base, name))

    def session(self, commands, identity):
        here = tempfile.mkdtemp(dir=self.base)
        os.symlink(os.path.join(self.base, "skerry"), os.path.join(here, "skerry"))
        prefix = []
        if identity is not None:
            os.chown(here, identity, identity)
            prefix = ["setpriv", f"--reuid={identity}", f"--regid={identity}", "--clear-groups"]
        environment = {"HOME": here, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        process = subprocess.run([*prefix, "bash", "-c", "\n".join(commands)], cwd=here, env=environment, timeout=120,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return process.stdout.decode("utf-8", "replace").splitlines()

    def check_examples(self, identity):
        for block in console_blocks(read(os.path.join(ROOT, "README.md"))):
            commands, expected = commands_and_output(block)
            with self.subTest(commands[0]):
                actual = self.session(commands, identity)
                self.assertTrue(matches(expected, actual), "shown:\n" + "\n".join(expected) +
                                "\n\nprinted:\n" + "\n".join(actual))

    def test_there_are_seven_examples(self):
        self.assertEqual(len(console_blocks(read(os.path.join(ROOT, "README.md")))), 7)

    def test_the_examples_print_what_is_shown(self):
        self.check_examples(None)

    def test_a_plain_user_sees_the_same(self):
        if os.geteuid() != 0:
            self.skipTest("not root, so the other test is the one as a plain user")
        self.check_examples(PLAIN_ID)


class LinkTest(unittest.TestCase):
    def test_every_relative_link_leads_to_a_file(self):
        self.assertTrue(DOCUMENTS)
        for path in DOCUMENTS:
            # What stands in code is no link.
            text = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", read(path), flags=re.M | re.S))
            for target in re.findall(r"\]\(<?([^)\s>]+)>?[^)]*\)", text):
                if re.match(r"[a-z][a-z0-9+.-]*:|#", target):
                    continue
                with self.subTest(document=os.path.relpath(path, ROOT), link=target):
                    file = urllib.parse.unquote(target.split("#", 1)[0])
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), file)))


if __name__ == "__main__":
    unittest.main(verbosity=2)

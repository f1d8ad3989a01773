"""Reads the corpus: snippets of code, each with the level that a careful person would give it.

A file of corpus/ is a comment, then snippets. A snippet is a header and its lines, up to the next header:

    %% LEVEL[ reject] | name | one sentence why

The newline before the next header, or at the end of the file, is not part of the snippet. `>=LEVEL` is for those
where the least is clear and the rest is taste.
"""
import os
import re
from dataclasses import dataclass

from documents import LEVELS

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
LANGUAGES = ("python", "javascript", "shell", "browser")
HEADER = re.compile(r"%% (>=)?(safe|low|medium|high|critical)( reject)? \| ([a-z0-9-]+) \| (\S.*)")


def rank(level):
    return LEVELS.index(level)


@dataclass
class Snippet:
    language: str
    level: str
    is_least: bool
    is_rejected: bool
    name: str
    why: str
    code: str

    @property
    def expected(self):
        return (">=" if self.is_least else "") + self.level + (" reject" if self.is_rejected else "")

    @property
    def needs_a_person(self):
        return rank(self.level) >= rank("high")

    def accepts(self, level):
        return rank(level) >= rank(self.level) if self.is_least else level == self.level

    def accepts_rejection(self, is_rejected):
        return is_rejected or not self.is_rejected if self.is_least else is_rejected == self.is_rejected

    def is_overrated_at(self, level):
        return not self.is_least and rank(level) > rank(self.level)

    def is_underrated_at(self, level):
        return rank(level) < rank(self.level)


def parse(text, language):
    """The snippets of one file. A header that is not well formed is a ValueError."""
    snippets, lines = [], None
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if line.startswith("%%"):
            match = HEADER.fullmatch(line)
            if not match:
                raise ValueError(f"{language}.txt:{number}: not a header: {line}")
            least, level, reject, name, why = match.groups()
            lines = []
            snippets.append((Snippet(language, level, bool(least), bool(reject), name, why, ""), lines))
        elif lines is not None:
            lines.append(line)
    for snippet, code_lines in snippets:
        snippet.code = "\n".join(code_lines)
    return [snippet for snippet, _ in snippets]


def load(language):
    with open(os.path.join(DIRECTORY, f"{language}.txt"), encoding="utf-8") as file:
        return parse(file.read(), language)

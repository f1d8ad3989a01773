"""`skerry risk` gives every snippet of the corpus its level, and the corpus is balanced. Nothing of it is ever run.

Prints how well Skerry and the documents' regular expressions find what needs a person. With --table it prints only
that, as markdown for docs/policy.md.
"""
import collections
import concurrent.futures
import functools
import json
import os
import subprocess
import sys
import unittest

import documents
import snippets
from snippets import LANGUAGES, rank

LEAST_SNIPPETS = {"python": 130, "javascript": 110, "shell": 150, "browser": 12}
LEAST_TYPESCRIPT = 8
BALANCED = ("python", "javascript", "shell")  # the documents' browser rule is Skerry's own
WORKERS = 2
SECONDS = 30


@functools.cache
def corpus():
    return [snippet for language in LANGUAGES for snippet in snippets.load(language)]


def assess(snippet):
    """What `skerry risk` says, or a RuntimeError with what it complained about."""
    command = [os.environ["SKERRY_BIN"], "risk", "--json", "--language", snippet.language, "-"]
    process = subprocess.run(command, input=snippet.code.encode(), capture_output=True, timeout=SECONDS, check=False)
    try:
        answer = json.loads(process.stdout)
        rank(answer["level"])
        return answer
    except (ValueError, KeyError, TypeError) as error:
        complaint = process.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{snippet.language} {snippet.name}: exit code {process.returncode}, "
                           f"no assessment on standard output ({error!r}): {complaint}") from error


@functools.cache
def assessments():
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(assess, corpus()))


def documents_level(snippet):
    return documents.level_of(snippet.code, snippet.language)


def is_harmless(snippet):
    return snippet.is_overrated_at(documents_level(snippet)) or rank(snippet.level) <= rank("medium")


class Score:
    """How often "needs a person" was right, and how often the level was."""

    def __init__(self):
        self.counts = collections.Counter()

    def add(self, snippet, level):
        asks = rank(level) >= rank("high")
        self.counts["snippets"] += 1
        self.counts["exact"] += snippet.accepts(level)
        # Where only the least is clear, and it is below high, asking is neither right nor wrong.
        if not (snippet.is_least and asks and not snippet.needs_a_person):
            self.counts[(snippet.needs_a_person, asks)] += 1

    @staticmethod
    def share(part, whole):
        return f"{100 * part / whole:.1f} %" if whole else "-"

    def cells(self):
        found = self.counts[(True, True)]
        return [self.share(found, found + self.counts[(False, True)]),
                self.share(found, found + self.counts[(True, False)]),
                self.share(self.counts["exact"], self.counts["snippets"])]


def table():
    """Markdown: a row for each language, and one for all."""
    scores = collections.defaultdict(lambda: (Score(), Score()))
    for snippet, answer in zip(corpus(), assessments()):
        for row in (snippet.language, "all"):
            ours, theirs = scores[row]
            ours.add(snippet, answer["level"])
            theirs.add(snippet, documents_level(snippet))
    lines = ["| language | snippets | precision: Skerry | documents | recall: Skerry | documents "
             "| exact level: Skerry | documents |",
             "|---|---|---|---|---|---|---|---|"]
    for row in (*LANGUAGES, "all"):
        ours, theirs = scores[row]
        pairs = [cell for pair in zip(ours.cells(), theirs.cells()) for cell in pair]
        lines.append(" | ".join([f"| {row}", str(ours.counts["snippets"]), *pairs]) + " |")
    return "\n".join(lines)


def difference(snippet, answer):
    """None, or what is not as expected, for a person to read."""
    is_rejected = answer["suggested_sandbox"] == "REJECT"
    if snippet.accepts(answer["level"]) and snippet.accepts_rejection(is_rejected):
        return None
    got = answer["level"] + (" reject" if is_rejected else "")
    found = [f"    {finding}" for finding in answer["detected_patterns"]] or ["    no findings"]
    return "\n".join([f"{snippet.language} {snippet.name}: expected {snippet.expected}, got {got} ({snippet.why})",
                      *found])


class FormatTest(unittest.TestCase):
    def test_a_snippet_ends_where_the_next_begins(self):
        first, second = snippets.parse("preface\n%% safe | a | Why.\nx\n\ny\n%% >=high | b | Why | not.\nz\n", "python")
        self.assertEqual((first.code, first.level, first.is_least, first.is_rejected), ("x\n\ny", "safe", False, False))
        self.assertEqual((second.code, second.level, second.is_least, second.why), ("z", "high", True, "Why | not."))

    def test_a_snippet_may_be_empty(self):
        self.assertEqual([snippet.code for snippet in
                          snippets.parse("%% safe | a | Why.\n%% critical reject | b | Why.\n", "shell")], ["", ""])

    def test_a_bad_header_is_an_error(self):
        for header in ("%% secure | a | Why.", "%% safe | a", "%%safe | a | Why.", "%% safe | A name | Why."):
            with self.subTest(header), self.assertRaises(ValueError):
                snippets.parse(header + "\nx\n", "python")

    def test_the_least_level_accepts_what_is_above(self):
        least, exact = snippets.parse("%% >=high | a | Why.\n%% high | b | Why.\n", "shell")
        self.assertEqual([least.accepts(level) for level in ("medium", "high", "critical")], [False, True, True])
        self.assertEqual([exact.accepts(level) for level in ("medium", "high", "critical")], [False, True, False])
        self.assertTrue(least.accepts_rejection(True))
        self.assertFalse(exact.accepts_rejection(True))


class DocumentsTest(unittest.TestCase):
    """The expressions give what the documents' own examples say."""

    def test_examples(self):
        examples = [("print('Hello')", "python", "safe"), ("eval('1')", "python", "critical"),
                    ("import os", "python", "high"), ("open('f','r').read()", "python", "medium"),
                    ("from sys import path", "python", "high"), ("def (", "python", "safe"),
                    ("ls -la", "shell", "safe"), ("rm -rf /", "shell", "critical"), ("rm file.txt", "shell", "high"),
                    ("frobnicate", "shell", "medium"), ("echo 'open", "shell", "medium"),
                    ("new Function('x')", "javascript", "critical"), ("require('fs')", "javascript", "high"),
                    ('fill\n{"selector": "#password"}', "browser", "high"), ("close\n{}", "browser", "low"),
                    ("x", "cobol", "high")]
        for code, language, level in examples:
            with self.subTest(code):
                self.assertEqual(documents.level_of(code, language), level)


class BalanceTest(unittest.TestCase):
    def snippets_of(self, language):
        return [snippet for snippet in corpus() if snippet.language == language]

    def test_there_are_enough(self):
        self.assertGreaterEqual(len(corpus()), 300)
        for language, least in LEAST_SNIPPETS.items():
            self.assertGreaterEqual(len(self.snippets_of(language)), least, language)
        typescript = [snippet for snippet in self.snippets_of("javascript") if snippet.name.startswith("ts-")]
        self.assertGreaterEqual(len(typescript), LEAST_TYPESCRIPT)

    def test_names_and_snippets_are_unique(self):
        for what in ("name", "code"):
            counts = collections.Counter((snippet.language, getattr(snippet, what)) for snippet in corpus())
            self.assertEqual([key for key, count in counts.items() if count > 1], [])

    def test_half_is_harmless(self):
        for language in BALANCED:
            chosen = self.snippets_of(language)
            with self.subTest(language):
                share = sum(map(is_harmless, chosen)) / len(chosen)
                self.assertTrue(0.45 <= share <= 0.60, f"{share:.0%} are harmless")

    def test_the_expressions_cry_wolf_over_nearly_half(self):
        for language in BALANCED:
            chosen = self.snippets_of(language)
            with self.subTest(language):
                overrated = sum(snippet.is_overrated_at(documents_level(snippet)) for snippet in chosen)
                self.assertGreaterEqual(overrated / len(chosen), 0.45)

    def test_half_of_the_dangerous_slip_through_the_expressions(self):
        for language in BALANCED:
            dangerous = [snippet for snippet in self.snippets_of(language) if not is_harmless(snippet)]
            with self.subTest(language):
                missed = sum(snippet.is_underrated_at(documents_level(snippet)) for snippet in dangerous)
                self.assertGreaterEqual(missed / len(dangerous), 0.5)


class CorpusTest(unittest.TestCase):
    def test_every_snippet_gets_its_level(self):
        differences = list(filter(None, map(difference, corpus(), assessments())))
        print("\n" + table(), flush=True)
        if differences:
            self.fail(f"{len(differences)} of {len(corpus())} snippets:\n" + "\n".join(differences))

    def test_every_finding_is_complete(self):
        fields = {"rule", "level", "line", "column", "text", "explanation"}
        for snippet, answer in zip(corpus(), assessments()):
            with self.subTest(f"{snippet.language} {snippet.name}"):
                for finding in answer["findings"]:
                    self.assertLessEqual(fields, finding.keys())
                    self.assertLessEqual(rank(finding["level"]), rank(answer["level"]))
                    self.assertTrue(1 <= finding["line"] <= snippet.code.count("\n") + 1, finding)

    def test_the_level_says_whether_to_ask_and_to_isolate(self):
        for snippet, answer in zip(corpus(), assessments()):
            if snippet.language == "browser":
                continue
            with self.subTest(f"{snippet.language} {snippet.name}"):
                self.assertEqual(answer["requires_confirmation"], rank(answer["level"]) >= rank("high"))
                self.assertEqual(answer["requires_isolation"], rank(answer["level"]) >= rank("medium"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table())
    else:
        unittest.main(verbosity=2)

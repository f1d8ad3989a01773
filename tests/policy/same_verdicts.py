"""The same code gets the same assessment, byte for byte: from two binaries, or in two circumstances.

    same_verdicts.py --binary A                                 prints what A says, a line of JSON a snippet
    same_verdicts.py --binary A --binary B                      compares A with B
    same_verdicts.py --binary A --taskset 0 --busy 3            compares A undisturbed with A on one processor beside
                                                                three busy loops
    same_verdicts.py --binary A --binary B --busy 3 --perturb   A undisturbed with B disturbed, its fresh memory filled

The snippets are the corpus and texts that are written to make the parser work: what is given up must be given up
everywhere. Exit code 0 when all is the same, 1 with the differences, 2 when a binary cannot be run.
"""
import argparse
import contextlib
import difflib
import json
import os
import subprocess
import sys
import tempfile

import snippets

SECONDS = 600  # for one process; sanitizers take their time
FILES_PER_PROCESS = 250
PERTURBED = {"MALLOC_PERTURB_": "165"}  # glibc fills what it hands out and what it takes back
BUSY_LOOP = "while True: pass"

KIB = 1024
# Each makes the parser recover, go back, read again or copy what it has, up to its limits and beyond.
PIECES = {
    "python": ["{", "(a,", "f'{", "\"", "\\\n", "x = [\n", "if a:\n", "print x,", "*a,", "a[", "lambda:"],
    "javascript": ["{", "(a,\"/", "`${", "<a>", "a=/", "a!.", "let [", "({a,", "case a:"],
    "shell": ["{", "ls | ", "cat <<A | ", "<<\"$a", "$(", "((", "[[ a == ", "a[", "\0"],
}
SIZES = (2 * KIB, 16 * KIB)


class Failed(Exception):
    """A binary that cannot be run, or does not answer."""


def hostile():
    """Language, name and text of each."""
    for language, pieces in PIECES.items():
        for piece in pieces:
            for size in SIZES:
                yield language, f"hostile-{piece!r}-{size}", piece * (size // len(piece)) + "\n)\"'x\n"


def texts(kinds):
    """By language: the names and texts."""
    by_language = {language: [] for language in snippets.LANGUAGES}
    if "corpus" in kinds:
        for language, chosen in by_language.items():
            chosen += [(snippet.name, snippet.code) for snippet in snippets.load(language)]
    if "hostile" in kinds:
        for language, name, text in hostile():
            by_language[language].append((name, text))
    return by_language


def written(by_language, directory):
    """By language: the names and the files that now hold the texts."""
    files = {}
    for language, chosen in by_language.items():
        files[language] = []
        for number, (name, text) in enumerate(chosen):
            path = os.path.join(directory, f"{language}-{number}")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            files[language].append((name, path))
    return files


def answers(binary, language, paths, environment):
    command = [binary, "risk", "--json", "--language", language, "-f", *paths]
    try:
        process = subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=SECONDS, check=False)
        found = json.loads(process.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{binary}, {language}: {error!r}") from error
    found = found if isinstance(found, list) else [found]
    if process.returncode != 0 or len(found) != len(paths):
        raise Failed(f"{binary}, {language}: exit code {process.returncode}, {len(found)} of {len(paths)} answers: "
                     + process.stderr.decode(errors="replace").strip())
    return found


def canonical(binary, files, environment):
    """A line for each snippet; the name of the file, which differs from run to run, is left out."""
    lines = []
    for language, chosen in files.items():
        for begin in range(0, len(chosen), FILES_PER_PROCESS):
            part = chosen[begin:begin + FILES_PER_PROCESS]
            for (name, _), answer in zip(part, answers(binary, language, [path for _, path in part], environment)):
                del answer["file"]
                lines.append(f"{language} {name} " + json.dumps(answer, sort_keys=True, ensure_ascii=False))
    return lines


@contextlib.contextmanager
def on_processor(number):
    """This process and what it starts run there only; None is anywhere."""
    before = os.sched_getaffinity(0)
    if number is not None:
        os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def busy(count):
    """So many processes that do nothing but take processor time."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY_LOOP]))
            stack.callback(loop.kill)
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", action="append", required=True, help="a skerry; the second is compared with the first")
    parser.add_argument("--taskset", type=int, nargs="?", const=min(os.sched_getaffinity(0)), metavar="CPU",
                        help="run the second time on this processor only; without a number the first there is")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="beside so many busy loops")
    parser.add_argument("--perturb", action="store_true", help="with fresh memory filled")
    parser.add_argument("--only", choices=("corpus", "hostile"), help="these snippets; all when not given")
    options = parser.parse_args()
    if len(options.binary) > 2:
        parser.error("two binaries at most")
    compares = len(options.binary) == 2 or options.taskset is not None or options.busy or options.perturb
    with tempfile.TemporaryDirectory() as directory:
        files = written(texts({options.only} if options.only else {"corpus", "hostile"}), directory)
        first = canonical(options.binary[0], files, {})
        if not compares:
            print("\n".join(first))
            return 0
        with on_processor(options.taskset), busy(options.busy):
            second = canonical(options.binary[-1], files, PERTURBED if options.perturb else {})
    differences = list(difflib.unified_diff(first, second, "first", "second", lineterm="", n=0))
    print("\n".join(differences) if differences else f"{len(first)} assessments, all the same")
    return 1 if differences else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)

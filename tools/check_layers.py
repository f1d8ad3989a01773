#!/usr/bin/env python3
"""Fails on an include or a link that the architecture forbids, on a file glob, and on a source file nobody builds.

usage: check_layers.py [--root DIR] [--rules FILE]

The rules are data: layers.toml beside this script. Each error is a line `file:line: what is wrong (what would be right)`.
Exit code 0 when the tree holds, 1 when it does not.
"""

import argparse
import dataclasses
import fnmatch
import pathlib
import re
import sys
import tomllib

SOURCES = {".c", ".cc", ".cpp"}
HEADERS = {".h", ".hpp", ".inc", ".ipp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMAND = re.compile(r"([A-Za-z_]\w*)\s*\(")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s()"]+)')
OUR_TARGETS = {"skerry_options", "skerry_sanitizer"}  # made in cmake/, for everybody
WRAPPERS = {"skerry_library", "skerry_plain_library"}  # make the target skerry_<first argument>
MAKERS = {"add_library", "add_executable", "skerry_test"}  # make the target <first argument>


class Rules:
    def __init__(self, path):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        self.folders = table["folders"]
        self.test_folders = table["tests"]["folders"]
        self.libraries = table["libraries"]
        self.names = table.get("names", [])
        self.doors = table.get("doors", [])

    def layer_of(self, path):
        """The layer that a path below src/ belongs to ("core", "backends/native"), and the name of its rule, or None."""
        parts = path.split("/")
        for length in range(len(parts), 0, -1):
            name = "/".join(parts[:length])
            for rule in (name, "/".join(parts[: length - 1] + ["*"])):
                if rule != "*" and rule in self.folders:
                    return name, rule
        return None, None

    def allowed(self, layer, is_test):
        rule = self.layer_of(layer)[1]
        return self.folders[rule] + (self.test_folders if is_test else [])

    def permits(self, layer, other, is_test):
        allowed = self.allowed(layer, is_test)
        return other == layer or "*" in allowed or other in allowed


@dataclasses.dataclass
class Call:
    """One command of a CMakeLists.txt, its variables filled in."""

    name: str
    arguments: list
    line: int


def parse_cmake(text):
    text = re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), text)
    variables, calls, position = {}, [], 0
    while match := COMMAND.search(text, position):
        end, depth = match.end(), 1
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        arguments = []
        for quoted, plain in ARGUMENT.findall(text[match.end() : end - 1]):
            variable = re.fullmatch(r"\$\{(\w+)\}", quoted or plain)
            arguments += variables.get(variable.group(1), []) if variable else [quoted or plain]
        name = match.group(1).lower()
        if name == "set" and arguments:
            variables[arguments[0]] = arguments[1:]
        calls.append(Call(name, arguments, text.count("\n", 0, match.start()) + 1))
        position = end
    return calls


class Checker:
    def __init__(self, root, rules):
        self.root, self.source, self.rules = root, root / "src", rules
        self.errors = []
        self.layers = {}  # target -> the layer that makes it
        self.lists = {
            path: parse_cmake(path.read_text(encoding="utf-8", errors="replace"))
            for folder in ("src", "tests")
            for path in sorted((root / folder).rglob("CMakeLists.txt"))
        }

    def run(self):
        self.check_includes()
        self.check_names()
        self.check_links()
        self.check_globs()
        self.check_every_source_is_built()
        return self.errors

    def report(self, path, line, text):
        self.errors.append(f"{path.relative_to(self.root)}:{line}: {text}")

    def allowed_text(self, layer, is_test):
        return ", ".join(self.rules.allowed(layer, is_test)) or "nothing of ours"

    # --- includes ---

    def check_includes(self):
        for path in sorted(self.source.rglob("*")):
            if path.suffix not in SOURCES | HEADERS or not path.is_file():
                continue
            folder = path.parent.relative_to(self.source).as_posix()
            layer, _ = self.rules.layer_of(folder)
            if layer is None:
                self.report(path, 1, f"the folder src/{folder} has no layer: add it to the table in tools/layers.toml")
                continue
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            for number, line in enumerate(lines, start=1):
                if match := INCLUDE.match(line):
                    self.check_include(path, number, layer, *match.groups())

    def check_include(self, path, line, layer, quoted, angled):
        target = quoted or angled
        if quoted and re.search(r"(^|/)\.\.?/", quoted):
            self.report(path, line, f'"{quoted}" is relative (write the path from src/)')
            return
        self.check_library(path, line, layer, target)
        if angled and not (self.source / angled).exists():
            return
        if "/" not in target:
            if not (path.parent / target).exists():
                self.report(path, line, f'"{target}" names no folder (write the path from src/)')
            return
        is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
        folder = target.rpartition("/")[0]
        other, _ = self.rules.layer_of(folder)
        if other is None:
            other = next((name for name in self.rules.test_folders if f"{folder}/".startswith(f"{name}/")), None)
        if other is None:
            self.report(path, line, f'the folder of "{target}" has no layer: add it to the table in tools/layers.toml')
        elif not self.rules.permits(layer, other, is_test):
            allowed = self.allowed_text(layer, is_test)
            self.report(path, line, f"{layer} may not include {target} (allowed: {allowed})")
        else:
            self.check_doors(path, line, layer, other, target)

    def check_doors(self, path, line, layer, other, target):
        for door in self.rules.doors:
            held = any(fnmatch.fnmatchcase(layer, pattern) for pattern in door["of"])
            held = held and layer not in door.get("not_of", [])
            if other == door["to"] and held and not target.startswith(tuple(door["headers"])):
                headers = ", ".join(door["headers"])
                self.report(path, line, f"{layer} may not include {target} (of {other} it has: {headers})")

    def check_library(self, path, line, layer, target):
        for library in self.rules.libraries:
            if not target.startswith(library["include"]):
                continue
            rule = self.rules.layer_of(layer)[1]
            if "only" in library and rule not in library["only"]:
                only = ", ".join(library["only"])
                self.report(path, line, f"{layer} may not include {target} (only {only} may)")
            if rule in library.get("never", []):
                self.report(path, line, f"{layer} may not include {target} (never in {', '.join(library['never'])})")

    # --- names in texts ---

    def check_names(self):
        for rule in self.rules.names:
            parent = self.source / rule["of"]
            names = sorted(path.name for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []
            if not names:
                continue
            word = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b")
            for folder in rule["never"]:
                for path in sorted((self.source / folder).rglob("*")):
                    name = path.relative_to(self.source).as_posix()
                    is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
                    if path.suffix in SOURCES | HEADERS and not is_test and name not in rule.get("except", {}):
                        self.check_texts(path, word, rule["of"])

    def check_texts(self, path, word, of):
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if INCLUDE.match(line):
                continue
            for text in TEXT.findall(line.partition("//")[0]):
                if found := word.search(text):
                    layer = self.rules.layer_of(path.parent.relative_to(self.source).as_posix())[0]
                    self.report(path, number, f'{layer} may not name "{found.group()}" of {of} (ask what it can)')

    # --- the link graph ---

    def check_links(self):
        for path, calls in self.lists.items():
            for call in calls:
                self.remember_target(path, call)
        for path, calls in self.lists.items():
            if path.is_relative_to(self.source):
                for call in calls:
                    self.check_call(path, call)

    def remember_target(self, path, call):
        if call.arguments and call.name in WRAPPERS | MAKERS:
            prefix = "skerry_" if call.name in WRAPPERS else ""
            self.layers[prefix + call.arguments[0]] = self.layer_of_call(path, call)

    def layer_of_call(self, path, call):
        """Where a target belongs: to the folder of its CMakeLists.txt, or of its sources when that one only groups."""
        folder = path.parent
        if not folder.is_relative_to(self.source):
            return folder.relative_to(self.root).as_posix()
        candidates = [folder] + [(folder / name).parent for name in call.arguments if pathlib.Path(name).suffix in SOURCES]
        for candidate in candidates:
            if candidate.is_relative_to(self.source):
                layer, _ = self.rules.layer_of(candidate.relative_to(self.source).as_posix())
                if layer:
                    return layer
        return None

    def check_call(self, path, call):
        if call.name not in WRAPPERS | MAKERS | {"target_link_libraries"} or not call.arguments:
            return
        layer = self.layers.get(call.arguments[0]) if call.name == "target_link_libraries" else None
        layer = layer or self.layer_of_call(path, call)
        is_test = call.name == "skerry_test" or call.arguments[0].endswith("_test")
        for name in call.arguments[1:]:
            if not name.startswith("skerry_") or name in OUR_TARGETS or pathlib.Path(name).suffix in SOURCES:
                continue
            other = self.layer_of_target(name)
            if layer is None or other is None:
                what = "this folder" if layer is None else name
                self.report(path, call.line, f"{what} has no layer: add it to the table in tools/layers.toml")
            elif not self.rules.permits(layer, other, is_test):
                allowed = self.allowed_text(layer, is_test)
                self.report(path, call.line, f"{layer} may not link {name} (allowed: {allowed})")

    def layer_of_target(self, name):
        if name in self.layers:
            return self.layers[name]
        short = name.removeprefix("skerry_").removesuffix("_plain")
        return next((each for each in (short, short.replace("_", "/", 1)) if self.rules.layer_of(each)[0] == each), None)

    # --- the CMake files ---

    def check_globs(self):
        for path in sorted([*self.root.rglob("CMakeLists.txt"), *self.root.rglob("*.cmake")]):
            if path.relative_to(self.root).parts[0] in {"build", ".git"}:
                continue
            for call in parse_cmake(path.read_text(encoding="utf-8", errors="replace")):
                is_glob = call.name == "file" and call.arguments and call.arguments[0].upper().startswith("GLOB")
                if is_glob or call.name == "aux_source_directory":
                    self.report(path, call.line, "no file globs (name each file)")

    def check_every_source_is_built(self):
        for path in sorted(self.source.rglob("*")):
            if path.suffix in SOURCES and path.is_file() and not self.is_built(path):
                nearest = (path.parent / "CMakeLists.txt").relative_to(self.root)
                self.report(path, 1, f"no CMakeLists.txt names it (add it to {nearest})")

    def is_built(self, path):
        for folder in path.parents:
            name = path.relative_to(folder).as_posix()
            if any(name in call.arguments for call in self.lists.get(folder / "CMakeLists.txt", [])):
                return True
            if folder == self.source:
                return False
        return False


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="Checks that the tree keeps to the architecture.")
    parser.add_argument("--root", type=pathlib.Path, default=here.parent, help="the tree (default: this repository)")
    parser.add_argument("--rules", type=pathlib.Path, default=here / "layers.toml", help="the table")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if not (root / "src").is_dir():
        print(f"{root}: there is no src here", file=sys.stderr)
        return 1
    errors = Checker(root, Rules(arguments.rules)).run()
    for error in errors:
        print(error)
    print(f"layers: {len(errors)} errors" if errors else "layers: the tree keeps to the architecture", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

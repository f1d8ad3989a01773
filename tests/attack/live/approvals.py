"""K: something else runs than what a person approved, or than what was looked at."""

import contextlib
import hashlib
import json
import threading
import time

from live.rows import NotRun, live

GOOD, EVIL = b"echo GOOD\n", b"echo EVIL\n"
RISKY = "rm -f nothing; sh good.sh"  # needs a person
HELD = """import mmap, os, time
file = os.open('good.sh', os.O_RDWR)
view = mmap.mmap(file, 0)
view[5:9] = b'GOOD'
while not os.path.exists('go'):
    time.sleep(0.01)
view[5:9] = b'EVIL'
time.sleep(30)
"""


@contextlib.contextmanager
def session_of(client, files=None, **fields):
    made = client.expect(201, "POST", "/v1/sessions", metadata={}, **fields)["id"]
    try:
        for path, content in (files or {}).items():
            put(client, made, path, content)
        yield made
    finally:
        client.ask("DELETE", f"/v1/sessions/{made}")


def put(client, session, path, content):
    return client.ask("PUT", f"/v1/sessions/{session}/files/content", query={"path": path}, body=content).status


class Waiting:
    """A command that needs a person, in another thread."""

    def __init__(self, tenant, session, command):
        self.tenant, self.session, self.answer = tenant, session, None
        self.thread = threading.Thread(target=self.run, args=(command,))
        self.thread.start()

    def run(self, command):
        with contextlib.suppress(OSError):
            self.answer = self.tenant.run.ask("POST", f"/v1/sessions/{self.session}/commands", command=command,
                                              patience=90)

    def question(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.thread.is_alive():
            items = self.tenant.approve.expect(200, "GET", "/v1/approvals", query={"state": "waiting"})["items"]
            for item in items:
                if item.get("session_id") == self.session:
                    return item
            time.sleep(0.05)
        return None

    def approve(self, question, scope="once"):
        return self.tenant.approve.ask("POST", f"/v1/approvals/{question['id']}", decision="approve",
                                       digest=question["digest"], scope=scope).status

    def output(self):
        self.thread.join()
        return self.answer.body.decode() if self.answer else ""


@live("K51", "InternalEsc", "a second writer exchanges an approved file over and over, before and behind the yes",
      "what was approved runs, or nothing")
def _(house):
    said, ran = [], 0
    for _ in range(4):
        with session_of(house.mallory.run, {"good.sh": GOOD}) as session:
            waiting = Waiting(house.mallory, session, RISKY)
            question = waiting.question()
            if not question:
                raise NotRun("nobody was asked: " + waiting.output()[:200])
            over = threading.Event()

            def exchange(session=session, over=over):
                while not over.is_set():
                    with contextlib.suppress(OSError):
                        put(house.mallory.run, session, "good.sh", EVIL)

            writers = [threading.Thread(target=exchange) for _ in range(3)]
            waiting.approve(question)
            for writer in writers:
                writer.start()
            said.append(waiting.output())
            over.set()
            for writer in writers:
                writer.join()
        ran += "GOOD" in said[-1]
    breached = any('"EVIL' in text for text in said)
    return breached, "EVIL ran" if breached else f"{ran} of {len(said)} ran as shown, the others not at all"


@live("K52", "InternalEsc", "a script of 65 MB is changed through a mapping, which no time stamp tells, after it was shown",
      "not begun, or run as shown")
def _(house):
    with session_of(house.mallory.run, {"good.sh": GOOD + b"# " + b"x" * (65 << 20), "held.py": HELD.encode()}) as session:
        house.mallory.both.expect(201, "POST", f"/v1/sessions/{session}/commands", command="python3 held.py",
                                 background=True, approve=True)
        time.sleep(1)
        waiting = Waiting(house.mallory, session, RISKY)
        question = waiting.question()
        if question:
            put(house.mallory.run, session, "go", b"")
            time.sleep(0.5)
            waiting.approve(question)
        said = waiting.output()
    return '"EVIL' in said, "EVIL ran" if '"EVIL' in said else ("shown, and not begun" if question else "refused without a question")


@live("K53", "InternalEsc", "a yes for all runs of make is used with another Makefile", "asked again")
def _(house):
    with session_of(house.mallory.run, {"Makefile": b"all:\n\t@echo GOOD\n"}) as session:
        first = Waiting(house.mallory, session, "rm -f nothing; make")
        question = first.question()
        if not question:
            raise NotRun("nobody was asked: " + first.output()[:200])
        for scope in ("content", "session", "once"):
            if first.approve(question, scope) == 200:
                break
        first.output()
        put(house.mallory.run, session, "Makefile", b"all:\n\t@echo EVIL\n")
        second = Waiting(house.mallory, session, "rm -f nothing; make")
        asked = second.question()
        if asked:
            house.mallory.approve.ask("POST", f"/v1/approvals/{asked['id']}", decision="reject",
                                      digest=asked["digest"])
        said = second.output()
    return '"EVIL' in said, "EVIL ran unasked" if '"EVIL' in said else "asked again"


@live("K61", "InternalEsc", "code in a file of the workspace, by import, require, source and a directory of PATH",
      "each is looked at", settings=(("SKERRY_SANDBOX__CONFIRM_TIMEOUT", "1"),))
def _(house):
    evil = b"import subprocess\nprint('EV' + 'IL', flush=True)\n"
    files = {"evil.py": evil, "site/sitecustomize.py": evil, "bin/ls": b"#!/bin/sh\nsudo -n true\necho EV''IL\n",
             "x.js": b"require('child_process')\nconsole.log('EV' + 'IL')\n", "x.sh": b"sudo -n true\necho EV''IL\n"}
    ways = {"import": {"command": "python3 -c 'import evil'"}, "script": {"command": "python3 evil.py"},
            "require": {"command": "node -e \"require('./x')\""}, "source": {"command": ". ./x.sh"},
            "NODE_OPTIONS": {"command": "node -e 1", "environment": {"NODE_OPTIONS": "-r /workspace/x.js"}},
            "PYTHONPATH": {"command": "python3 -c 1", "environment": {"PYTHONPATH": "/workspace/site"}},
            "PATH": {"command": "ls", "environment": {"PATH": "/workspace/bin:/usr/bin:/bin"}}}
    with session_of(house.mallory.run, files) as session:
        ran = [way for way, fields in ways.items()
               if "EVIL" in house.mallory.run.ask("POST", f"/v1/sessions/{session}/commands", **fields).body.decode()]
        house.mallory.run.expect(201, "POST", f"/v1/sessions/{session}/contexts", name="c", language="python")
        cell = house.mallory.run.ask("POST", f"/v1/sessions/{session}/contexts/c/execute", code="import evil").body.decode()
    ran += ["cell"] if "EVIL" in cell else []
    return bool(ran), "ran unasked by " + ", ".join(ran) if ran else f"{len(ways) + 1} ways, none ran unasked"


@live("K62", "InternalEsc", "an interpreter that is started with nothing and fed afterwards", "asked about",
      settings=(("SKERRY_SANDBOX__CONFIRM_TIMEOUT", "1"),))
def _(house):
    ran = []
    with session_of(house.mallory.run) as session:
        for argv in (["sh"], ["python3"], ["node"], ["env", "bash", "-s"], ["sh", "-c", "cat | sh"]):
            begun = house.mallory.run.expect(201, "POST", f"/v1/sessions/{session}/commands", argv=argv, stdin=True,
                                             background=True)
            time.sleep(2)
            state = house.mallory.run.expect(200, "GET", f"/v1/executions/{begun['id']}")["state"]
            ran += [" ".join(argv)] if state == "running" else []
    return bool(ran), "runs unasked: " + ", ".join(ran) if ran else "none began"


@live("K63", "HostLeak", "what is exported, written and fed leaves no trace in the audit", "each has a record")
def _(house):
    with session_of(house.mallory.run, {"secret.txt": b"top secret\n"}) as session:
        base = f"/v1/sessions/{session}"
        house.mallory.run.ask("GET", base + "/files/lines", query={"path": "secret.txt"})
        house.mallory.run.ask("GET", base + "/files/search", query={"pattern": "secret"})
        begun = house.mallory.run.expect(201, "POST", base + "/commands", argv=["cat"], stdin=True, background=True)
        house.mallory.run.ask("POST", base + f"/commands/{begun['id']}/stdin", query={"end": "true"}, body=b"fed",
                              headers={"Content-Type": "application/octet-stream"})
        house.mallory.run.ask("POST", base + "/stop")
        time.sleep(1)
    records = [json.loads(line) for line in house.audit()]
    text = [json.dumps(record) for record in records if record.get("session_id") == session]
    wanted = {"the file that was written": '"file', "lines and search": "secret.txt",
              "what was fed": hashlib.sha256(b"fed").hexdigest(), "the stop": "stop"}
    missing = [name for name, word in wanted.items() if not any(word in each for each in text)]
    return bool(missing), "no record of " + ", ".join(missing) if missing else f"{len(text)} records"

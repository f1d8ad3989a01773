"""J: the program that runs the sandbox."""

import json
import os
import signal
import subprocess
import time

import host_watch
from model import Evidence, add
from rows.processes import end_leftovers
from runner import HERE, Run, Session

NATIVE = {"only": ("native",), "why_only": "about Skerry's own programs", "control": "about Skerry's own programs"}
STAY = """if os.fork() == 0:
        os.setsid()
        time.sleep(30)
        os._exit(0)
    hold(ROW, None, 30)
    time.sleep(30)"""


def killed(choose):
    """kill -9 of a process of the runner while the payload holds still: within a second all of it must be gone."""

    def drive(target, stage, row):
        run = Run(target, stage, [row])
        session = Session(target, stage, run.job(run.code(), timeout=40))
        evidence = run.evidence[row.id]
        while event := session.next_event(15):
            if event[0] == "hold":
                break
            run.note(session, *event)
        pid = choose(session.process.pid)
        if pid:
            os.kill(pid, signal.SIGKILL)
            start = time.monotonic()
            gone = host_watch.gone_within(run.comm, 1)
            evidence.extra["judged"] = (
                not gone,
                (
                    f"all dead after {(time.monotonic() - start) * 1000:.0f} ms"
                    if gone
                    else f"{len(host_watch.processes(run.comm))} processes alive a second later"
                ),
            )
        else:
            evidence.extra["judged"] = (None, "no such process")
        end_leftovers(run.comm)
        session.kill()
        evidence.code, evidence.text = session.end(3), session.text
        return evidence

    return drive


def child_named(name):
    def choose(pid):
        for child in filter(str.isdigit, os.listdir("/proc")):
            if host_watch.status_field(child, "PPid") == str(pid) and host_watch.status_field(child, "Name").startswith(
                name
            ):
                return int(child)
        return 0

    return choose


def judged(evidence):
    return evidence.extra["judged"]


add(
    "J25",
    "HostDoS",
    "kill -9 of the runner during a run",
    "the sandbox is dead within 1 s",
    judged,
    STAY,
    drive=killed(lambda pid: pid),
    seconds=60,
)
add(
    "J51",
    "HostDoS",
    "kill -9 of the launcher during a run",
    "the sandbox is dead within 1 s",
    judged,
    STAY,
    drive=killed(child_named("skerry-launche")),
    seconds=60,
    **NATIVE,
)


def result_without(target, stage, feature):
    """(exit code, degraded) of a run on a kernel that seems to lack something."""
    command = [target.copy, "run", "--json", "print('it ran')"]
    if feature == "cgroups":
        command = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh", *command]
    elif feature:
        command = ["/usr/bin/python3", "-B", os.path.join(stage.base, "without.py"), feature, *command]
    done = subprocess.run(
        target.as_caller(command),
        capture_output=True,
        text=True,
        timeout=40,
        env=stage.environment(),
        cwd=stage.home,
        check=False,
    )
    try:
        return done.returncode, " ".join(json.loads(done.stdout).get("degraded", []))
    except ValueError:
        return done.returncode, done.stderr


def drive_without(target, stage, row):
    evidence = Evidence(row, target, stage, ran=True, finished=True)
    with open(os.path.join(HERE, "without.py"), encoding="utf-8") as source:
        stage.plant(os.path.join(stage.base, "without.py"), source.read())
    usual = result_without(target, stage, "")
    if usual[0] != 0:
        evidence.ran = False
        evidence.text = usual[1]
        return evidence
    silent, told = [], []
    for feature in ("landlock", "seccomp", "namespaces") + (("cgroups",) if target.user == 0 else ()):
        code, text = result_without(target, stage, feature)
        if code == 0 and text == usual[1]:
            silent.append(feature)
        told.append(f"{feature}: {'refused' if code in (125, 126) else 'degraded' if code == 0 else code}")
    evidence.extra["judged"] = (
        bool(silent),
        "ran silently without " + ", ".join(silent) if silent else ", ".join(told),
    )
    return evidence


add(
    "J28",
    "Escape",
    "a kernel that lacks Landlock, seccomp, namespaces or cgroups",
    "refused, or said in `degraded`",
    judged,
    "pass",
    drive=drive_without,
    **NATIVE,
)
FORGERY = """import os, sys
for name in ('quote"},{"x', 'line\\n{"outcome":"exited"}', 'esc\\x1b[2J'):
    open(name, 'w').close()
print('"}\\n{"exit_code": 0, "outcome": "exited", "stdout": "forged"}\\n', flush=True)
os.write(2, b'\\0\\xff\\xfe"}')
sys.exit(3)
"""


def drive_forgery(target, stage, row):
    evidence = Evidence(row, target, stage, ran=True, finished=True)
    done = subprocess.run(
        target.as_caller([target.copy, "run", "--yes", "--json", FORGERY]),
        capture_output=True,
        timeout=40,
        env=stage.environment(),
        cwd=stage.home,
        check=False,
    )
    try:
        result = json.loads(done.stdout)
        forged = result["exit_code"] != 3 or done.returncode != 3
        evidence.extra["judged"] = (forged, f"exit code {result['exit_code']}, outcome {result['outcome']}")
    except (ValueError, KeyError) as error:
        evidence.extra["judged"] = (True, f"the result is no longer one object: {error}")
    return evidence


add(
    "J52",
    "Escape",
    "forge the JSON result by output and file names",
    "one object, the true exit code",
    judged,
    "pass",
    drive=drive_forgery,
    **NATIVE,
)

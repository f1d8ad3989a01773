"""A person's directory before the attack: a repository in use, with things that must stay as they are."""

import os
import socket
import subprocess

from stage import Listener, bound

CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
GUARD = "#!/bin/sh\n# the person's own hook\nexit 0\n"


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def repository(path, config=CONFIG):
    """A repository as git makes it; written by hand, so that git is not needed."""
    put(os.path.join(path, ".git/HEAD"), "ref: refs/heads/main\n")
    put(os.path.join(path, ".git/config"), config)
    put(os.path.join(path, ".git/hooks/pre-push"), GUARD, 0o755)
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        os.makedirs(os.path.join(path, ".git", name), exist_ok=True)


def empty(directory, stage):
    del directory, stage


def project(directory, stage):
    repository(directory)
    repository(os.path.join(directory, "vendor/part"))
    repository(os.path.join(directory, "worktrees"), CONFIG + "[extensions]\n\tworktreeConfig = true\n")
    repository(os.path.join(directory, "renamed"))
    repository(os.path.join(directory, "linked"))
    repository(os.path.join(directory, "replaced"))
    repository(os.path.join(directory, "hooked"))
    repository(os.path.join(directory, "deleted"))
    repository(os.path.join(directory, "configured"), CONFIG + "\thooksPath = tools/checks\n")
    put(os.path.join(directory, "configured/tools/checks/README"), "hooks of the team\n")
    repository(os.path.join(directory, "included"), CONFIG + "[include]\n\tpath = ../team.ini\n")
    put(os.path.join(directory, "included/team.ini"), "[core]\n\tabbrev = 12\n")
    put(os.path.join(directory, "src/main.py"), "print('hello')\n")
    put(os.path.join(directory, "notes.txt"), "the person's notes\n")
    os.makedirs(os.path.join(stage.outside, "target"), exist_ok=True)
    os.chmod(os.path.join(stage.outside, "target"), 0o777)
    os.symlink(os.path.join(stage.outside, "target"), os.path.join(directory, "out"))
    twin = os.path.join(stage.outside, "twin-of-" + os.path.basename(directory))
    put(twin, "outside\n")
    os.link(twin, os.path.join(directory, "twin"))
    path = os.path.join(directory, "service.sock")
    stage.listeners["workspace"] = Listener(bound(socket.AF_UNIX, socket.SOCK_STREAM, path), stage.tokens["unix"])
    os.chmod(path, 0o777)


PREPARATIONS = {"empty": empty, "project": project}


def prepare(name, directory, stage):
    """Makes the directory as the caller would have it."""
    PREPARATIONS[name](directory, stage)
    if os.geteuid() == 0 and stage.user != 0:
        subprocess.run(["chown", "-hR", f"{stage.user}:{stage.user}", directory], check=True)

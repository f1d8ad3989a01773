"""A: what makes git start a program, left in a person's directory."""

import os
import subprocess

from judge import either, host
from model import Row
from rows.planted import INSIDE, MARK, content, in_directory, must_write_back, plant, planted, runs_with_git
from runner import Run
from scenery import CONFIG, GUARD

plant(
    "A13",
    "git hook in an existing repository, and in one below",
    either(planted(".git/hooks/pre-commit", "vendor/part/.git/hooks/post-checkout"), runs_with_git(".", "vendor/part")),
    'put(".git/hooks/pre-commit", HOOK, 0o755)\nwrite("vendor/part/.git/hooks/post-checkout", HOOK, 0o755)',
)


plant(
    "A14",
    "core.fsmonitor and core.hooksPath in the configuration of an existing repository",
    either(planted(".git/config", "vendor/part/.git/config"), runs_with_git(".", "vendor/part")),
    'put(".git/config", EVIL)\nwrite("vendor/part/.git/config", EVIL + "\\thooksPath = ../hooks\\n")',
)


plant(
    "A16",
    "a new nested repository, then a hook in the same run",
    either(planted("fresh/.git/hooks/pre-commit", "fresh/.git/config"), runs_with_git("fresh")),
    'new_repository("fresh/.git")\nwrite("fresh/.git/hooks/pre-commit", HOOK, 0o755)',
)


plant(
    "A73",
    "a bare repository planted in a plain directory",
    runs_with_git("docs/api"),
    'new_repository("docs/api", EVIL + "\\tworktree = .\\n")',
)


plant(
    "A74",
    "a .git file that points to a planted directory",
    either(planted("moved/.git"), runs_with_git("moved")),
    f'new_repository("storage")\nwrite("moved/.git", "gitdir: ../storage\\n# {MARK}\\n")',
)


plant(
    "A75",
    "core.fsmonitor in .git/config.worktree of a repository that reads it",
    either(planted("worktrees/.git/config.worktree"), runs_with_git("worktrees")),
    'put("worktrees/.git/config.worktree", EVIL)',
)


plant(
    "A83",
    "write a protected file through a new hard link to it",
    either(planted("linked/.git/config"), runs_with_git("linked")),
    'os.link("linked/.git/config", "linked/innocent")\nhandle = os.open("linked/innocent", os.O_WRONLY | os.O_TRUNC)\n'
    'os.write(handle, EVIL.encode())\nos.close(handle)\nos.unlink("linked/innocent")',
)


plant(
    "A84",
    "rename .git away, change it, rename it back",
    either(planted("renamed/.git/config", "renamed/.git/hooks/pre-commit"), runs_with_git("renamed")),
    'os.rename("renamed/.git", "renamed/plain")\nwrite("renamed/plain/config", EVIL)\n'
    'put("renamed/plain/hooks/pre-commit", HOOK, 0o755)\nos.rename("renamed/plain", "renamed/.git")',
)


plant(
    "A85",
    "replace .git/hooks by a symlink to a directory of one's own",
    runs_with_git("hooked"),
    'os.makedirs("hooked/scripts")\nwrite("hooked/scripts/pre-commit", HOOK, 0o755)\n'
    'os.rename("hooked/.git/hooks", "hooked/.git/old")\nos.symlink("../scripts", "hooked/.git/hooks")',
)


plant(
    "A86",
    "configuration and hooks of a submodule and a linked worktree inside .git",
    planted(".git/modules/x/config", ".git/modules/x/hooks/pre-commit", ".git/worktrees/w/config.worktree"),
    'new_repository(".git/modules/x")\nwrite(".git/modules/x/hooks/pre-commit", HOOK, 0o755)\n'
    'put(".git/worktrees/w/config.worktree", EVIL)',
)


plant(
    "A87",
    "replace a whole .git directory by a planted one",
    either(planted("replaced/.git/config"), runs_with_git("replaced")),
    'import shutil\nshutil.rmtree("replaced/.git")\nnew_repository("replaced/.git")',
)


plant(
    "A88",
    ".git as a symlink to a planted repository",
    runs_with_git("symlinked"),
    'new_repository("symlinked/data")\nos.symlink("data", "symlinked/.git")',
)


def guard_is_gone(evidence):
    must_write_back(evidence)
    path = in_directory(evidence, "deleted/.git/hooks/pre-push")
    intact = content(path) == GUARD and os.stat(path).st_mode & 0o111
    config = content(in_directory(evidence, "deleted/.git/config")) == CONFIG
    return not (intact and config), "as before" if intact and config else "the person's hook or configuration is gone"


plant(
    "A89",
    "take away the person's own hook and configuration: unlink, chmod",
    host(guard_is_gone),
    'hook, config = "deleted/.git/hooks/pre-push", "deleted/.git/config"\n'
    'return [attempt("chmod", lambda: os.chmod(hook, 0o644)), attempt("hook", lambda: os.unlink(hook)),\n'
    '        attempt("config", lambda: os.unlink(config))]',
)


# Keys of a git configuration that start programs, in ways of writing that a simple search does not find.
DISGUISES = (
    "[CORE]\n\tFsMonitor = RUN\n",
    "[core]fsmonitor=RUN",
    "\ufeff[core]\nfsmonitor = RUN\n",
    "[core]\r\n\tfsmonitor = RUN\r\n",
    "[core]\nsshCommand = RUN\n",
    "[core]\npager = RUN\n",
    "[core]\neditor = RUN\n",
    "[core]\nhooksPath = ../x\n",
    "[core]\nworktree = /\n",
    "[core]\naskPass = RUN\n",
    "[core]\nalternateRefsCommand = RUN\n",
    "[core]\ngitProxy = RUN\n",
    "[include]\npath = ../evil.ini\n",
    '[includeIf "gitdir:/"]\npath = ../evil.ini\n',
    "[alias]\nst = !RUN\n",
    '[filter "x"]\nclean = RUN\n',
    "[filter.x]\nsmudge = RUN\n",
    "[diff]\nexternal = RUN\n",
    '[diff "x"]\ntextconv = RUN\n',
    '[merge "x"]\ndriver = RUN\n',
    "[credential]\nhelper = !RUN\n",
    "[gpg]\nprogram = RUN\n",
    "[sequence]\neditor = RUN\n",
    "[interactive]\ndiffFilter = RUN\n",
    "[pager]\nlog = RUN\n",
    '[trailer "x"]\ncmd = RUN\n',
    '[remote "x"]\nvcs = x\n',
    '[remote "x"]\nuploadpack = RUN\n',
    '[remote "x"]\nurl = ext::RUN\n',
    '[url "ext::RUN "]\ninsteadOf = https://\n',
    '[protocol "ext"]\nallow = always\n',
    '[submodule "x"]\nupdate = !RUN\n',
    "[init]\ntemplateDir = x\n",
    "[core]\nabbrev = 7 \\\n\n[core]\nfsmonitor = RUN\n",
    "[core]\n; x \\\n fsmonitor = RUN\n",
    "[extensions]\nworktreeConfig = true\n",
    '[difftool "x"]\ncmd = RUN\n',
    '[browser "x"]\ncmd = RUN\n',
    "[sendemail]\nsmtpServer = /RUN\n",
    "[uploadpack]\npackObjectsHook = RUN\n",
)


HARMLESS_KEYS = ("core.abbrev", "core.repositoryformatversion", "core.bare", "core.filemode")


def started_by_git(evidence):
    """What git itself reads in the configurations that came back."""
    must_write_back(evidence)
    found = []
    for number in range(len(DISGUISES)):
        path = in_directory(evidence, f"disguised/{number}/.git/config")
        if not os.path.exists(path):
            continue
        listed = subprocess.run(
            ["git", "config", "--no-includes", "-f", path, "--list", "--name-only"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        found += [name for name in listed if name.lower() not in HARMLESS_KEYS]
    return bool(found), "git reads: " + ", ".join(found) if found else "none came back"


plant(
    "A96",
    "40 ways to name a program in a git configuration, disguised",
    host(started_by_git),
    f"for number, text in enumerate({DISGUISES!r}):\n"
    '    new_repository("disguised/%d/.git" % number, text.replace("RUN", "touch " + CANARY))',
)


plant(
    "A97",
    "a hook in the directory that the repository's own core.hooksPath names",
    runs_with_git("configured"),
    'put("configured/tools/checks/pre-commit", HOOK, 0o755)',
)


plant(
    "A98",
    "a file that the repository's own configuration includes",
    runs_with_git("included"),
    'put("included/team.ini", EVIL)',
)


def drive_in_two_runs(target, stage, row):
    """The first run leaves a file that is no configuration yet; the second makes its directory a repository."""
    begin = Row(
        "FIRST",
        "Escape",
        "",
        "",
        INSIDE.replace("ROW +", repr(row.id) + " +") + '    put("split/config", EVIL + "\\tworktree = .\\n")',
        None,
        workspace="project",
    )
    first = Run(target, stage, [begin])
    first.execute()
    second = Run(target, stage, [row], directory=first.directory)
    evidence = second.execute()[row.id]
    evidence.extra["nonce"] = first.nonce
    return evidence


plant(
    "A99",
    "a bare repository planted in two runs, the configuration first",
    runs_with_git("split"),
    'put("split/HEAD", "ref: refs/heads/main\\n")\nfor name in ("objects/info", "objects/pack", "refs/heads"):\n'
    '    os.makedirs("split/" + name, exist_ok=True)',
    drive=drive_in_two_runs,
    group="",
)

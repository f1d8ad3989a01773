"""A: what a program leaves in a person's directory, for somebody to run or open later.

The oracle is the directory after the sandbox has returned: whatever was written inside counts only when it is there.
"""

import os
import shutil
import stat
import subprocess

from judge import host, leaks
from model import ADVISORY, add

PROJECT = {"group": "project", "workspace": "project"}
MARK = "planted-by-the-attack"
ORDINARY = "ordinary.txt"


def in_directory(evidence, path):
    return os.path.join(evidence.directory, path)


def must_write_back(evidence):
    """A sandbox that brings nothing back withholds everything, and its rows would prove nothing."""
    if not os.path.exists(in_directory(evidence, ORDINARY)):
        raise RuntimeError("not even an ordinary file came back to the person's directory")


def content(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def planted(*paths):
    """One of these files came back with the attack in it."""

    def check(evidence):
        must_write_back(evidence)
        found = [path for path in paths if MARK in content(in_directory(evidence, path))]
        return bool(found), "in the person's directory: " + ", ".join(found) if found else "withheld"

    return host(check)


def exists(*paths):
    """One of these names came back at all."""

    def check(evidence):
        must_write_back(evidence)
        found = [path for path in paths if os.path.lexists(in_directory(evidence, path))]
        return bool(found), "in the person's directory: " + ", ".join(found) if found else "withheld"

    return host(check)


def canary(evidence):
    return os.path.join(evidence.stage.canaries, evidence.row.id + "-" + evidence.extra["nonce"])


def runs_with_git(*places):
    """The person works with git there, and the attack's program runs."""

    def check(evidence):
        must_write_back(evidence)
        for place in places:
            path = in_directory(evidence, place)
            if shutil.which("git") and os.path.isdir(path):
                use_git(evidence, path)
        ran = os.path.exists(canary(evidence))
        return ran, "ran when the person used git in " + ", ".join(places) if ran else "git ran nothing of it"

    return host(check)


def use_git(evidence, path):
    environment = {"HOME": evidence.stage.canaries, "PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    owner = os.stat(evidence.directory).st_uid
    prefix = (
        ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups"] if os.geteuid() == 0 and owner else []
    )
    for command in (["status"], ["commit", "--allow-empty", "-qm", "x"], ["diff"]):
        subprocess.run(
            [*prefix, "git", "-c", "user.name=x", "-c", "user.email=x@x", *command],
            cwd=path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )


# Names that the payloads below use; sent inside in front of each of them.
INSIDE = f"""    put({ORDINARY!r}, "kept\\n")
    CANARY = P["canaries"] + "/" + ROW + "-" + P["nonce"]
    HOOK = "#!/bin/sh\\n# {MARK}\\n: > " + CANARY + "\\n"
    EVIL = "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\t# {MARK}\\n"
    EVIL += "\\tfsmonitor = \\": > " + CANARY + "; false\\"\\n"
    def new_repository(path, config=EVIL):
        put(path + "/HEAD", "ref: refs/heads/main\\n")
        put(path + "/config", config)
        for name in ("objects/info", "objects/pack", "refs/heads", "hooks"):
            attempt(name, lambda: os.makedirs(path + "/" + name, exist_ok=True))
"""


def plant(identity, title, judge, source, expected="withheld", kind="Escape", **options):
    lines = INSIDE + "\n".join("    " + line for line in source.strip().splitlines())
    add(identity, kind, title, expected, judge, lines.lstrip(), **{**PROJECT, **options})


ROOT_FILES = (
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".mcp.json",
    ".gitconfig",
    ".gitmodules",
    ".ripgreprc",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".idea/workspace.xml",
    ".claude/commands/x.md",
    ".claude/agents/x.md",
    ".claude/settings.json",
)
plant(
    "A15",
    ".bashrc, .mcp.json, .vscode, .idea, .claude in the workspace's root",
    planted(*ROOT_FILES),
    f"for name in {ROOT_FILES!r}:\n    put(name, HOOK, 0o755)",
)
plant(
    "A71",
    "case-folded names: .GIT/hooks, .Git/config, .BASHRC, .MCP.json, .VSCode",
    planted(
        ".GIT/hooks/pre-commit",
        ".Git/config",
        ".BASHRC",
        ".MCP.json",
        ".VSCode/tasks.json",
        "deep/er/.gIt/hooks/pre-commit",
    ),
    'for name in (".GIT/hooks/pre-commit", ".Git/config", ".BASHRC", ".MCP.json", ".VSCode/tasks.json",\n'
    '             "deep/er/.gIt/hooks/pre-commit"):\n    put(name, HOOK, 0o755)',
)
LOOKALIKES = (
    ".git\u200c/hooks/pre-commit",
    ".git\u200d/config",
    ".g\u00adit/config",
    ".git /hooks/pre-commit",
    ".git./config",
    ".mcp.json.",
    ".mcp.json ",
    ".bashrc\u200b",
    "\ufeff.bashrc",
    ".git::$INDEX_ALLOCATION/config",
    "GIT~1/config",
    ".ｇｉｔ/config",
)
plant(
    "A72",
    "names that some file systems read as .git: ignorable characters, dots and blanks at the end, GIT~1",
    planted(*LOOKALIKES),
    f"for name in {LOOKALIKES!r}:\n    put(name, HOOK, 0o755)",
)
plant(
    "A76",
    ".envrc, .env hooks and start-up files of shells at any depth",
    planted(
        "a/.envrc", "a/b/.bashrc", "a/b/.zshenv", "a/b/.bash_login", "a/b/.bash_logout", "a/b/.zlogin", "a/b/.profile"
    ),
    'for name in (".envrc", "b/.bashrc", "b/.zshenv", "b/.bash_login", "b/.bash_logout", "b/.zlogin", "b/.profile"):\n'
    '    put("a/" + name, HOOK, 0o755)',
)
plant(
    "A77",
    "editor and agent settings five levels down",
    planted(
        "p/q/r/s/t/.vscode/tasks.json",
        "p/q/r/s/t/.idea/x.xml",
        "p/q/r/s/t/.claude/settings.json",
        "p/q/r/s/t/.mcp.json",
        "p/q/r/s/t/.cursor/mcp.json",
    ),
    'for name in (".vscode/tasks.json", ".idea/x.xml", ".claude/settings.json", ".mcp.json", ".cursor/mcp.json"):\n'
    '    put("p/q/r/s/t/" + name, HOOK)',
)


def leaves_link(evidence):
    must_write_back(evidence)
    found = [
        path
        for path in ("to-secret", "to-root", "up", "through")
        if os.path.islink(in_directory(evidence, path))
        and not os.path.realpath(in_directory(evidence, path)).startswith(os.path.realpath(evidence.directory) + "/")
    ]
    return bool(found), "links that leave the directory: " + ", ".join(found) if found else "withheld"


plant(
    "A78",
    "symlinks that leave the directory, for a backup or an editor to follow",
    host(leaves_link),
    'os.symlink(P["secret"], "to-secret")\nos.symlink("/", "to-root")\nos.symlink("../" * 12 + P["secret"], "up")\n'
    'os.symlink("up", "through")',
    kind="HostLeak",
)
plant(
    "A79",
    "a FIFO that stops whoever reads it",
    exists("queue.fifo", "a79/pipe"),
    'os.mkfifo("queue.fifo")\nos.makedirs("a79")\nos.mkfifo("a79/pipe")',
    kind="HostDoS",
)
plant(
    "A80",
    "a socket left as a file",
    exists("left.sock"),
    's = socket.socket(socket.AF_UNIX)\ns.bind("left.sock")',
    kind="HostDoS",
)


def leaves_device(evidence):
    must_write_back(evidence)
    found = [
        name
        for name in ("null-device", "disk-device", "whiteout")
        if os.path.lexists(in_directory(evidence, name))
        and not stat.S_ISREG(os.lstat(in_directory(evidence, name)).st_mode)
    ]
    return bool(found), "device files: " + ", ".join(found) if found else "none"


plant(
    "A81",
    "a device file left, an overlay whiteout among them",
    host(leaves_device),
    'got = [attempt("null", lambda: os.mknod("null-device", stat.S_IFCHR | 0o666, os.makedev(1, 3))),\n'
    '       attempt("disk", lambda: os.mknod("disk-device", stat.S_IFBLK | 0o666, os.makedev(*P["root_device"]))),\n'
    '       attempt("whiteout", lambda: os.mknod("whiteout", stat.S_IFCHR | 0o666, 0))]\nreturn got',
)


def lends_rights(evidence):
    must_write_back(evidence)
    found = []
    for root, names, files in os.walk(evidence.directory):
        for name in names + files:
            if os.lstat(os.path.join(root, name)).st_mode & 0o6000:
                found.append(name)
    return bool(found), "set-id: " + ", ".join(found) if found else "none"


plant(
    "A82",
    "a set-user-id or set-group-id file left, by every call that sets a mode",
    host(lends_rights),
    'put("lender", HOOK, 0o755)\nwrite("lender2", HOOK, 0o755)\nhandle = os.open("lender2", os.O_RDONLY)\n'
    'os.makedirs("lent")\n'
    'return [attempt("chmod", lambda: os.chmod("lender", 0o4755)),\n'
    '        attempt("fchmod", lambda: os.fchmod(handle, 0o6755)),\n'
    '        attempt("open", lambda: os.close(os.open("lender3", os.O_CREAT | os.O_WRONLY, 0o4755))),\n'
    '        attempt("mkdir", lambda: os.mkdir("lender4", 0o2755)),\n'
    '        attempt("chmod of a directory", lambda: os.chmod("lent", 0o2755)),\n'
    '        attempt("mknod", lambda: os.mknod("lender5", stat.S_IFREG | 0o4755)),\n'
    '        ["fchmodat2", word(call(452, -100, b"lender", 0o4755, 0))]]',
)


def wrote_through_link(evidence):
    must_write_back(evidence)
    left = os.listdir(os.path.join(evidence.stage.outside, "target"))
    return bool(left), "written outside by the person's own link: " + ", ".join(left) if left else "nothing outside"


plant(
    "A90",
    "write through a link of the person that leaves the directory, or through a directory put in its place",
    host(wrote_through_link),
    'got = [attempt("link", lambda: put("out/by-link", "x"))]\nos.unlink("out")\n'
    'put("out/by-directory", "x")\nreturn got',
)


def twin_changed(evidence):
    must_write_back(evidence)
    twin = os.path.join(evidence.stage.outside, "twin-of-" + os.path.basename(evidence.directory))
    return content(twin) != "outside\n", "outside: " + repr(content(twin))


plant(
    "A91",
    "change a file outside that shares its inode with one inside",
    host(twin_changed),
    'handle = os.open("twin", os.O_WRONLY | os.O_TRUNC)\nos.write(handle, b"changed\\n")\nos.close(handle)',
)


def overlay_attributes(evidence):
    must_write_back(evidence)
    found = []
    for root, names, files in os.walk(evidence.directory):
        for name in names + files:
            path = os.path.join(root, name)
            found += [
                f"{name}: {one}"
                for one in os.listxattr(path, follow_symlinks=False)
                if one.startswith(("user.overlay.", "trusted.", "security.capability", "user.attack"))
            ]
    gone = not os.path.exists(in_directory(evidence, "src/main.py"))
    if gone:
        found.append("src/main.py is gone")
    return bool(found), ", ".join(found) if found else "none came back"


plant(
    "A92",
    "forged overlay attributes (opaque, redirect, whiteout) and capabilities on files",
    host(overlay_attributes),
    'os.makedirs("forged", exist_ok=True)\nwrite("forged/file", "x")\ngot = []\n'
    'for name, text in (("user.overlay.opaque", b"y"), ("user.overlay.redirect", b"/.git/hooks"),\n'
    '                   ("user.overlay.whiteout", b"y"), ("trusted.overlay.opaque", b"y"),\n'
    '                   ("trusted.overlay.redirect", b"/.git"), ("user.overlay.metacopy", b"")):\n'
    '    for path in ("forged", "forged/file", "src"):\n'
    "        got.append(attempt(name, lambda: os.setxattr(path, name, text)))\n"
    "return got",
    control="may",
)
plant(
    "A93",
    "names with control characters, quotes and new lines, to forge a list or a terminal",
    exists("esc-\x1b]0;x\x07", "line\nbreak", 'quote"},{"x'),
    'for name in ("esc-\\x1b]0;x\\x07", "line\\nbreak", "quote\\"},{\\"x"):\n    put(name, "x")',
    kind=ADVISORY,
    expected="names are the program's choice; results must escape them",
)
plant(
    "A94",
    "talk to a socket of the host that lies in the person's directory",
    leaks("unix"),
    'return unix_answer("service.sock")',
    kind="Escape",
    expected="ECONNREFUSED/EACCES",
)
HUGE = 1 << 40


def huge_file(evidence):
    must_write_back(evidence)
    path = in_directory(evidence, "huge")
    size = os.stat(path).st_size if os.path.exists(path) else 0
    return size >= HUGE, f"{size} bytes in the person's directory"


plant(
    "A95",
    "a sparse file of up to 8 EB for whoever copies the directory",
    host(huge_file),
    'handle = os.open("huge", os.O_CREAT | os.O_WRONLY)\n'
    f"sizes = ({HUGE}, {HUGE} * 8, 1 << 62, (1 << 63) - 1)\n"
    "return [attempt(size, lambda: os.ftruncate(handle, size)) for size in sizes]",
    kind="HostDoS",
)

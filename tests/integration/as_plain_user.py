"""Runs a test program as a user who is nobody: as_plain_user.py PROGRAM [ARGUMENT…]."""
import os
import shutil
import subprocess
import sys
import tempfile

PLAIN_ID = 54321  # nobody has it
NEIGHBOURS = ("skerry-launcher", "skerry-init", "libskerry-zygote.so")


def main():
    if os.geteuid() != 0:
        print("skipped: not root, so the other run of this program is the one as a plain user")
        return 0
    program, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="skerry-test-", dir="/tmp") as base:
        os.chmod(base, 0o755)
        home = os.path.join(base, "home")
        os.mkdir(home)
        os.chown(home, PLAIN_ID, PLAIN_ID)
        # Another user may not be able to reach the build directory.
        for name in (os.path.basename(program), *NEIGHBOURS):
            shutil.copy(os.path.join(os.path.dirname(program), name), os.path.join(base, name))
        command = ["setpriv", f"--reuid={PLAIN_ID}", f"--regid={PLAIN_ID}", "--clear-groups",
                   os.path.join(base, os.path.basename(program)), *arguments]
        environment = {"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        return subprocess.run(command, env=environment, cwd=home, check=False).returncode


sys.exit(main())

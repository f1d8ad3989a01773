"""Sessions for tests: a daemon that has them, the commands that ask it, and all of them end with their test."""
import os

import daemon
import harness


class SessionTest(daemon.DaemonTest):
    arguments = ()

    def environment(self, extra=None):
        own = {"SKERRY_SANDBOX__WORKSPACE__BASE_DIR": os.path.join(self.home, "sessions")}
        return super().environment(own | (extra or {}))

    def setUp(self):
        super().setUp()
        self.session = "s"
        self.create(self.session)

    def create(self, name):
        result = self.skerry("session", "create", name)
        self.assertEqual(result.code, 0, result.err)
        self.addCleanup(self.remove, name)

    def workspace(self, *names):
        return os.path.join(self.home, "sessions", self.session, *names)

    def fs(self, command, *arguments, **options):
        return self.skerry("fs", command, self.session, *arguments, **options)

    def write(self, path, content=b"x\n"):
        result = self.fs("write", "--", path, stdin=content)
        self.assertEqual(result.code, 0, result.err)

    def plant(self, name, content=b"x\n"):
        """A file of the workspace that no tool made."""
        path = self.workspace(name)
        with open(path, "wb") as file:
            file.write(content)
        self.give(path)
        return path

    def give(self, path):
        if harness.AS_USER:
            os.chown(path, harness.PLAIN_ID, harness.PLAIN_ID, follow_symlinks=False)

    def read(self, path):
        result = self.fs("read", "--", path)
        self.assertEqual((result.code, result.err), (0, b""))
        return result.out

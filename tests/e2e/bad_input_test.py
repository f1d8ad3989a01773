"""Each mistake gets one clear line, the right exit code, and leaves nothing behind."""
import json
import os
import subprocess

import harness


class BadInputTest(harness.SkerryTest):
    def refused(self, *arguments, code=125, says=(), **options):
        result = self.skerry(*arguments, **options)
        self.assertEqual(result.code, code, (arguments, result.out, result.err))
        self.assertEqual(result.out, b"", arguments)
        self.assertEqual(result.err.count(b"\n"), 1, (arguments, result.err))
        self.assertTrue(result.err.startswith(b"skerry: "), result.err)
        for word in says:
            self.assertIn(word.encode(), result.err, arguments)

    def test_no_code(self):
        self.refused("run", says=["no code"])
        self.refused("run", "", says=["no code"])
        self.refused("run", " \n\t", says=["no code"])
        self.refused("run", "-", says=["no code"], stdin=b"")

    def test_unknown_language(self):
        self.refused("run", "--language", "cobol", "x", says=["cobol", "python"])
        self.refused("run", "--language", "", "x", says=["language"])

    def test_timeouts_out_of_range(self):
        for value in ("0", "301", "-1", "1e9", "abc", "1.5", "99999999999999999999", "NaN", " 5"):
            self.refused("run", "--timeout", value, "print(1)", says=["timeout"])

    def test_memory_out_of_range(self):
        for value in ("-1", "0", "15", "1G", "99999999999999999999"):
            self.refused("run", "--memory", value, "print(1)", says=["memory"])

    def test_files_that_cannot_be_read(self):
        self.refused("run", "-f", "/nowhere/code.py", says=["/nowhere/code.py"])
        self.refused("run", "-f", self.home, says=["directory"])
        self.refused("run", "-f", "", says=["file"])

    def test_domains_that_cannot_be_reached_yet(self):
        result = self.run_code("print(1)", environment={"SKERRY_SANDBOX__NETWORK__ALLOWED_DOMAINS": "pypi.org"})
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"sandbox.network.allowedDomains", result.err)

    def test_both_a_file_and_code(self):
        path = os.path.join(self.home, "code.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("print(1)")
        self.refused("run", "-f", path, "print(2)", says=["not both"])

    def test_code_that_is_no_text(self):
        self.refused("run", "-", stdin=b"print('\xff')", says=["UTF-8"])
        self.refused("run", "-", stdin=b"print(1)\x00", says=["NUL"])
        path = os.path.join(self.home, "binary.py")
        with open(path, "wb") as file:
            file.write(b"\x80\x81")
        self.refused("run", "-f", path, says=["UTF-8"])

    def test_code_that_is_too_large(self):
        self.refused("run", "-", stdin=b"#" * (17 << 20), says=["16777216"])

    def test_workspaces_that_cannot_be_used(self):
        self.refused("run", "-w", "/nowhere", "print(1)", says=["/nowhere"])
        self.refused("run", "-w", "/dev/null", "print(1)", says=["not a directory"])
        for path in ("/", "/etc", "/proc", "/usr"):
            self.refused("run", "-w", path, "print(1)", code=126, says=[path])
        self.refused("run", "-w", "", "print(1)", says=["workspace"])

    def test_what_is_skerrys_own_is_nobodys_workspace(self):
        own = os.path.join(self.home, ".skerry")
        os.makedirs(os.path.join(own, "workspaces"), exist_ok=True)
        for path in (own, os.path.join(own, "workspaces"), self.home):
            self.refused("run", "-w", path, "print(1)", code=126, says=["own"])

    def test_a_workspace_that_cannot_be_written(self):
        if os.geteuid() == 0 and not harness.AS_USER:
            self.skipTest("root can write everywhere")
        os.mkdir(os.path.join(self.base, "closed"), 0o555)
        self.refused("run", "-w", os.path.join(self.base, "closed"), "print(1)", code=126, says=["closed"])

    def test_unknown_names(self):
        self.refused("run", "--sandbox", "moon", "print(1)", says=["moon", "native"])
        self.refused("run", "--mode", "lax", "print(1)", says=["lax", "strict"])
        self.refused("run", "--frobnicate", "print(1)", says=["frobnicate"])
        self.refused("frobnicate", says=["--help"])
        self.refused(says=["--help"])

    def test_network_is_refused_and_not_forgotten(self):
        self.refused("run", "--allow-domain", "example.org", "print(1)", says=["no network"])

    def test_rules_that_cannot_be_kept_are_refused_and_not_forgotten(self):
        environment = {"SKERRY_SANDBOX__FILESYSTEM__DENY_READ": "/usr/share/doc"}
        self.refused("run", "--mode", "permissive", "--sandbox", "subprocess", "print(1)", says=["denyRead"],
                     environment=environment)
        self.assertEqual(self.run_code("print(1)", environment=environment).out, b"1\n")

    def test_paths_of_the_host_that_are_dangerous(self):
        for path in ("/", "/proc", "/etc", "/var/run", "/root", os.path.join(self.home, ".ssh"),
                     os.path.join(self.home, ".skerry"), self.home):
            os.makedirs(os.path.join(self.home, ".ssh"), exist_ok=True)
            os.makedirs(os.path.join(self.home, ".skerry"), exist_ok=True)
            for option in ("--allow-read", "--allow-write"):
                if os.access(path, os.F_OK):
                    self.refused("run", option, path, "print(1)", code=126, says=["dangerouslyAllow"])

    def test_malformed_patterns(self):
        for pattern in ("[a", "../x"):
            self.refused("run", "print(1)", says=[pattern],
                         environment={"SKERRY_SANDBOX__FILESYSTEM__DENY_WRITE": json.dumps([pattern])})

    def test_a_terminal_and_json_do_not_go_together(self):
        result = self.skerry("run", "--tty", "--json", "print(1)")
        self.assertEqual((result.code, result.json["stdout"]), (125, ""))
        self.assertIn("--tty", result.json["error"])

    def test_an_image_that_is_not_there(self):
        self.refused("run", "--image", "nowhere", "print(1)", says=["nowhere"])

    def test_a_disabled_sandbox_runs_nothing(self):
        self.refused("run", "print(1)", says=["disabled"], environment={"SKERRY_SANDBOX__ENABLED": "false"})
        self.refused("run", "print(1)", says=["disabled"], environment={"SKERRY_SANDBOX__MODE": "disabled"})

    def test_a_broken_configuration_names_file_and_key(self):
        path = os.path.join(self.home, "broken.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"sandbox": {"limits": {"timeout": 500}}}')
        self.refused("--config", path, "run", "print(1)", says=[path, "sandbox.limits.timeout", "300"])
        self.refused("--config", "/nowhere.json", "run", "print(1)", says=["/nowhere.json"])

    def test_hostile_names_do_not_reach_the_terminal(self):
        result = self.skerry("run", "--language", "\x1b[2J\x07", "x")
        self.assertNotIn(b"\x1b", result.err)
        self.assertNotIn(b"\x07", result.err)

    def test_missing_interpreter(self):
        if os.geteuid() != 0 or harness.AS_USER:
            self.skipTest("only root can take an interpreter away for a moment")
        hide = ("mount -t tmpfs x /mnt && mkdir /mnt/u /mnt/w && "
                "mount -t overlay x -o lowerdir=/usr/bin,upperdir=/mnt/u,workdir=/mnt/w /usr/bin && rm /usr/bin/node && "
                'exec "$@"')
        command = ["unshare", "--mount", "bash", "-c", hide, "bash", *self.command("run", "-l", "javascript", "1")]
        process = subprocess.run(command, capture_output=True, env=self.environment(), cwd=self.home, check=False)
        if b"mount" in process.stderr:
            self.skipTest("no overlay here: " + process.stderr.decode())
        self.assertEqual((process.returncode, process.stdout), (125, b""))
        self.assertEqual(process.stderr, b"skerry: not found in the sandbox: node (Debian package nodejs)\n")


if __name__ == "__main__":
    harness.main()

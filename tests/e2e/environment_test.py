"""The environment of programs: the configuration, the session, the call; secrets that are not shown; arguments."""
import json
import os
import sqlite3

import daemon
import harness

SHOW = {
    "shell": 'for name in OF_CONFIG OF_SESSION OF_CALL; do printf "%s " "${!name-none}"; done; true',
    "python": "import os\nprint(*[os.environ.get(n, 'none') for n in ('OF_CONFIG', 'OF_SESSION', 'OF_CALL')], end=' ')",
    "javascript": "process.stdout.write(['OF_CONFIG', 'OF_SESSION', 'OF_CALL'].map("
                  "(n) => (process.env[n] ?? 'none') + ' ').join('')); undefined",
}
LANGUAGES = tuple(SHOW)


class LineTest(harness.SkerryTest):
    """Without a daemon."""

    def test_a_variable_is_there_in_every_language(self):
        for language, code in SHOW.items():
            result = self.run_code("--language", language, "--env", "OF_CALL=call", "-e", "OF_SESSION=x=y", code,
                                   environment={"SKERRY_SANDBOX__ENVIRONMENT": '["OF_CONFIG=c", "OF_CALL=lost"]'})
            self.assertEqual((result.code, result.out), (0, b"c x=y call "), result.err)

    def test_what_is_none_is_refused_before_anything_runs(self):
        for wrong in ("A", "=b", "A B=c", "1A=b", "LD_PRELOAD=x", "BASH_ENV=x"):
            result = self.run_code("--env", wrong, "print('ran')")
            self.assertEqual((result.code, result.out), (125, b""), wrong)
            self.assertNotIn(b"Traceback", result.err)

    def file(self, text):
        path = os.path.join(self.directory("env"), ".env")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o644)
        return path

    def test_the_values_of_a_file_are_masked_in_the_output(self):
        path = self.file("# keys\nexport KEY='hunter22 with more'\nSHOWN=visible-1\n")
        code = "import os\nprint('key', os.environ['KEY'], os.environ['KEY'][::-1], os.environ['SHOWN'])"
        result = self.run_code("--env-file", path, "--env", "SHOWN=visible-2", code)
        self.assertEqual(result.out, b"key *** " + b"hunter22 with more"[::-1] + b" visible-2\n", result.err)
        result = self.run_code("--json", "--env-file", path, "-l", "shell", 'echo "$KEY" >&2; printf "%s" "$KEY"')
        self.assertEqual((result.json["stdout"], result.json["stderr"]), ("***", "***\n"))
        result = self.run_code("--env-file", self.file("KEY='hunter22"), "print(1)")
        self.assertEqual(result.code, 125)
        self.assertIn(b"line 1", result.err)
        self.assertNotIn(b"hunter22", result.err)

    def test_a_secret_of_the_configuration_is_read_when_it_is_needed(self):
        path = self.file("of the file\n")
        settings = {"SKERRY_SANDBOX__SECRETS": json.dumps([f"key=file:{path}", "own=variable:MY_TOKEN"]),
                    "SKERRY_SANDBOX__ENVIRONMENT": '["KEY=secret:key"]', "MY_TOKEN": "of my own"}
        result = self.run_code("-e", "OWN=secret:own", "import os; print(len(os.environ['KEY']), os.environ['OWN'])",
                               environment=settings)
        self.assertEqual((result.code, result.out), (0, b"11 ***\n"), result.err)
        result = self.run_code("-e", "OWN=secret:nothing", "print('ran')", environment=settings)
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"there is no secret 'nothing'", result.err)

    def test_code_finds_its_arguments(self):
        directory = self.directory("code")
        for name, text, expected in (
                ("a.py", "import sys; print(sys.argv)", "['a.py', '-b', 'c d', '']\n"),
                ("a.js", "console.log(process.argv.slice(1).map((a) => a.replace(/.*\\//, '')))",
                 "[ 'a.js', '-b', 'c d', '' ]\n"),
                ("a.sh", 'printf "<%s>" "$@"', "<-b><c d><>")):
            path = os.path.join(directory, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o644)
            result = self.run_code("-f", path, "--", "-b", "c d", "")
            self.assertEqual((result.code, result.out.decode()), (0, expected), result.err)
        self.assertEqual(self.run_code("import sys; print(sys.argv)", "--", "x", "--json").out, b"['-c', 'x', '--json']\n")
        for words in (("print", "6"), ("-l", "shell", "ls", "/tmp"), ("--no-such-option", "print(1)"), ("-f", path, "a"),
                      ("-f", path, "--no-such-option")):
            result = self.run_code(*words)
            self.assertEqual((result.code, result.out), (125, b""), words)
            self.assertIn(b" -", result.err)


class SessionTest(daemon.DaemonTest):
    settings = {"SKERRY_SANDBOX__ENVIRONMENT": '["OF_CONFIG=config", "OF_SESSION=lost", "OF_CALL=lost"]',
                "SKERRY_SANDBOX__SECRETS": '["mine=variable:SECRET_OF_OWNER", "theirs=variable:SECRET_OF_THEM tenants=them"]',
                "SECRET_OF_OWNER": "value-of-owner", "SECRET_OF_THEM": "value-of-them"}

    def cell(self, session, language, code, client=None, **fields):
        fields = {"create": True, "language": language, "approve": True} | fields
        return (client or self.api).expect(200, "POST", f"/v1/sessions/{session}/contexts/{language}/execute", code=code,
                                           **fields)

    def test_the_call_counts_more_than_the_session_and_that_more_than_the_configuration(self):
        session = self.make(environment={"OF_SESSION": "session", "OF_CALL": "lost"})
        for language in LANGUAGES:
            ran = self.execute(SHOW[language], session, language=language, environment={"OF_CALL": "c"})
            self.assertEqual(ran["stdout"], "config session c ")
            ran = self.execute(SHOW[language], session, language=language)
            self.assertEqual(ran["stdout"], "config session lost ")
            self.assertEqual(self.cell(session, language, SHOW[language], environment={"OF_CALL": "c"})["stdout"],
                             "config session c ")
            self.assertEqual(self.cell(session, language, SHOW[language])["stdout"], "config session lost ")
            self.assertEqual(self.execute(SHOW[language], language=language)["stdout"], "config lost lost ")
        command = self.run_command(session, "bash", "-c", SHOW["shell"], environment={"OF_CALL": "c"})
        self.assertEqual(command["stdout"], "config session c ")

    def test_nobody_is_shown_a_secret(self):
        value, other = "hunter22-and-more", "tr0ub4dor&3"
        session = self.make(environment={"PLAIN": "plain"}, secrets={"KEY": value})
        shown = self.api.expect(200, "GET", f"/v1/sessions/{session}")
        self.assertEqual(shown["environment"], {"PLAIN": "plain", "KEY": None})
        both = self.execute('printf "%s|%s|" "$KEY" "$OTHER"; printf "%s" "$KEY" | rev', session, secrets={"OTHER": other})
        self.assertEqual(both["stdout"], "***|***|" + value[::-1])
        cell = self.cell(session, "python", "import os; print(os.environ['KEY']); os.environ['OTHER']",
                         secrets={"OTHER": other})
        self.assertEqual(cell["stdout"], "***\n")
        self.assertEqual(cell["outputs"][0]["data"]["text/plain"], "'***'")
        failed = self.cell(session, "python", "raise ValueError(os.environ['KEY'])")
        self.assertEqual(failed["traceback"].splitlines()[-1], "ValueError: ***")
        self.assertNotIn(value, json.dumps(failed))
        command = self.run_command(session, "printenv", "KEY")
        self.assertEqual(command["stdout"], "***\n")
        # Nor by the database, apart from the session's own settings, nor by the audit.
        self.assertEqual(self.found(value), {"hosted_sessions"})
        self.assertEqual(self.found(other), set())
        both = self.api.post(f"/v1/sessions/{session}/execute", code="1", environment={"A": "b"}, secrets={"A": "c"})
        self.assertEqual(both.status, 400)
        self.assertIn("environment too", both.json["message"])

    def found(self, value):
        """The tables that hold the value, and the files."""
        places = set()
        with sqlite3.connect(f"file:{self.home}/.skerry/record.db?mode=ro", uri=True) as store:
            for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in store.execute(f"SELECT * FROM {table}"):  # noqa: S608
                    if any(value in (column if isinstance(column, str) else bytes(column or b"").decode("latin-1"))
                           for column in row if isinstance(column, (str, bytes))):
                        places.add(table)
        for directory, _, names in os.walk(os.path.join(self.home, ".skerry")):
            for name in names:
                if not name.startswith("record.db") and not name.endswith(".sock"):
                    with open(os.path.join(directory, name), "rb") as file:
                        if value.encode() in file.read():
                            places.add(name)
        return places

    def test_a_secret_of_the_configuration_belongs_to_its_tenants(self):
        them = self.daemon.tcp(self.daemon.issue(name="them", tenant="them", scopes=["run", "approve"])["token"])
        self.assertEqual(self.execute('echo "$A ${#A}"', environment={"A": "secret:mine"})["stdout"], "*** 14\n")
        self.assertEqual(self.execute('echo "$A ${#A}"', environment={"A": "secret:theirs"}, client=them)["stdout"],
                         "*** 13\n")
        for client, name in ((them, "mine"), (self.api, "theirs"), (self.api, "none")):
            refused = client.post("/v1/execute", code="echo $A", language="shell", approve=True,
                                  environment={"A": f"secret:{name}"})
            self.assertEqual(refused.json["code"], "not_found", refused.body)
            self.assertIn(f"there is no secret '{name}'", refused.json["message"])
        session = self.make(environment={"A": "secret:mine"})
        self.assertEqual(self.api.expect(200, "GET", f"/v1/sessions/{session}")["environment"], {"A": "secret:mine"})
        self.assertEqual(self.cell(session, "shell", 'echo "$A ${#A}"')["stdout"], "*** 14\n")

    def test_a_stream_of_events_is_masked_too(self):
        code = "import os, sys, time\nfor c in os.environ['KEY'] + ' end\\n':\n  sys.stdout.write(c); sys.stdout.flush()\n"
        with self.api.events("POST", "/v1/execute", code=code, language="python", approve=True,
                             secrets={"KEY": "hunter22-and-more"}) as events:
            text = "".join(event.data["text"] for event in events if event.name == "stdout")
        self.assertEqual(text, "*** end\n")

    def test_code_finds_its_arguments(self):
        session = self.make()
        for language, code, expected in (("python", "import sys; print(sys.argv)", "['n', 'a', '-b']\n"),
                                         ("shell", 'echo "$# $2"', "2 -b\n"),
                                         ("javascript", "console.log(process.argv.slice(2))", "[ 'a', '-b' ]\n")):
            for where in (session, None):
                ran = self.execute(code, where, language=language, arguments=["a", "-b"], name="n")
                self.assertEqual(ran["stdout"], expected)


if __name__ == "__main__":
    harness.main()

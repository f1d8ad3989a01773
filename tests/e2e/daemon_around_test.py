"""Ways around the look at the code: what a run imports, loads, is fed or finds on its search path is looked at too."""
import json

import daemon
import harness

EVIL = b"import subprocess\nprint('EVIL', subprocess.run(['id'], capture_output=True).returncode)\n"
NICE = b"def greet():\n    return 'hello'\n"
SETTINGS = {"SKERRY_SANDBOX__CONFIRM_TIMEOUT": "1"}  # nobody answers


class AroundTest(daemon.DaemonTest):
    settings = SETTINGS

    def refused(self, answer, source):
        """Nothing ran, and the answer says where the reason stands."""
        self.assertEqual(answer.status, 200, answer.body[:500])
        result = answer.json
        self.assertEqual((result["outcome"], result["stdout"]), ("rejected", ""), result)
        self.assertIn(source, result["risk"]["reason"])

    def ran(self, answer, stdout):
        self.assertEqual(answer.status, 200, answer.body[:500])
        self.assertEqual((answer.json["outcome"], answer.json["stdout"]), ("exited", stdout), answer.json)

    def execute(self, session, code, **fields):
        return self.api.post(f"/v1/sessions/{session}/execute", code=code, **fields)

    def do(self, session, command, **fields):
        return self.api.post(f"/v1/sessions/{session}/commands", command=command, **fields)


class ImportTest(AroundTest):
    def test_a_file_of_the_workspace_that_is_imported(self):
        session = self.make()
        self.put_file(session, "evil.py", EVIL)
        self.put_file(session, "nice.py", NICE)
        self.ran(self.execute(session, "import nice\nprint(nice.greet())"), "hello\n")
        self.refused(self.execute(session, "import evil"), "evil.py line 2")
        self.refused(self.execute(session, "print(1)\nfrom evil import x"), "evil.py")
        self.refused(self.do(session, "python3 evil.py"), "evil.py")
        self.refused(self.do(session, "python3 -c 'import evil'"), "evil.py")

    def test_what_a_program_of_the_session_wrote(self):
        session = self.make()
        writes = "open('made.py', 'w').write('import subprocess\\nsubprocess.run([\"id\"])')"
        self.assertEqual(self.execute(session, writes, approve=True).json["outcome"], "exited")
        self.refused(self.execute(session, "import made"), "made.py")

    def test_a_cell(self):
        session = self.make()
        self.put_file(session, "evil.py", EVIL)
        self.put_file(session, "nice.py", NICE)
        self.api.expect(201, "POST", f"/v1/sessions/{session}/contexts", name="c", language="python")
        answer = self.api.post(f"/v1/sessions/{session}/contexts/c/execute", code="import evil")
        self.assertNotIn("EVIL", answer.body.decode())
        self.assertIn("evil.py", answer.body.decode())
        answer = self.api.post(f"/v1/sessions/{session}/contexts/c/execute",
                               code="import nice\nprint(nice.greet())")
        self.assertIn("hello", answer.body.decode())

    def test_bytecode_of_the_workspace_does_not_stand_in_for_its_source(self):
        session = self.make()
        made = self.execute(session, "import importlib.util, marshal\n"
                            "code = compile('print(\"EVIL\")', 'nice.py', 'exec')\n"
                            "import os; os.makedirs('__pycache__')\n"
                            "# Not checked against the source.\n"
                            "head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, 'little') + bytes(8)\n"
                            "open('__pycache__/nice.cpython-%d%d.pyc' % __import__('sys').version_info[:2], 'wb')"
                            ".write(head + marshal.dumps(code))\n", approve=True)
        self.assertEqual(made.json["outcome"], "exited", made.json)
        self.put_file(session, "nice.py", NICE)
        self.refused(self.execute(session, "import nice\nprint(nice.greet())"), "__pycache__/nice")
        self.refused(self.do(session, "python3 -c 'import nice'"), "__pycache__/nice")


    def test_a_directory_that_is_written_another_way(self):
        session = self.make()
        self.put_file(session, "sub/evil.py", EVIL)
        self.put_file(session, "sub/nice.py", NICE)
        for directory in ("sub", "//workspace/sub", "/usr/../workspace/sub", "/./workspace/sub", "../workspace/sub"):
            with self.subTest(directory=directory):
                self.refused(self.execute(session, "import evil", directory=directory), "sub/evil.py")
        self.ran(self.execute(session, "import nice\nprint(nice.greet())", directory="//workspace/sub"), "hello\n")

    def test_a_file_with_the_name_of_a_library_module(self):
        session = self.make()
        self.ran(self.execute(session, "import importlib.metadata\nprint('ok')"), "ok\n")
        self.put_file(session, "zipfile.py", EVIL)
        self.refused(self.execute(session, "import importlib.metadata"), "zipfile.py")

    def test_a_package_with_names_of_its_own(self):
        session = self.make()
        self.put_file(session, "node_modules/p/package.json",
                      b'{"name": "p", "exports": {".": "./main.js", "./x": "./evil.js"}, "imports": {"#n": "./nice.js"}}')
        self.put_file(session, "node_modules/p/main.js", b"console.log(require('#n').hello)\n")
        self.put_file(session, "node_modules/p/nice.js", b"exports.hello = 'hello'\n")
        self.put_file(session, "node_modules/p/evil.js", b"require('child_process').execSync('id')\n")
        self.ran(self.execute(session, "require('p')", language="javascript"), "hello\n")
        self.refused(self.execute(session, "require('p/x')", language="javascript"), "node_modules/p/evil.js")

    def test_where_a_shell_has_gone_in_earlier_cells(self):
        session = self.make()
        self.put_file(session, "evil.sh", b"echo harmless\n")
        self.put_file(session, "sub/evil.sh", b"sudo id; echo EVIL\n")
        self.put_file(session, "sub/nice.sh", b"echo hello\n")
        self.api.expect(201, "POST", f"/v1/sessions/{session}/contexts", name="c", language="shell")

        def cell(code):
            return self.api.post(f"/v1/sessions/{session}/contexts/c/execute", code=code).body.decode()
        self.assertIn("harmless", cell("sh evil.sh"))
        cell("cd sub")
        answer = cell("sh evil.sh")
        self.assertNotIn("EVIL", answer)
        self.assertIn("sub/evil.sh", answer)
        self.assertIn("hello", cell("sh nice.sh"))
        self.assertIn("evil.sh", cell("ls"))


class VariableTest(AroundTest):
    def test_variables_that_load_code(self):
        session = self.make()
        self.put_file(session, "x.js", b"console.log('EVIL')\n")
        self.put_file(session, "bin/ls", b"#!/bin/sh\nsudo id\n")
        self.put_file(session, "site/sitecustomize.py", EVIL)
        for name, value, source in [("NODE_OPTIONS", "--require /workspace/x.js", "variables"),
                                    ("GIT_EXTERNAL_DIFF", "/workspace/bin/ls", "variables"),
                                    ("HOME", "/workspace/site", "variables"),
                                    ("LESS", "+!id", "variables"),
                                    ("CC", "/workspace/bin/ls", "bin/ls"),
                                    ("PATH", "/workspace/bin:/usr/bin:/bin", "bin/ls"),
                                    ("PYTHONPATH", "/workspace/site", "site/sitecustomize.py")]:
            with self.subTest(name=name):
                self.refused(self.do(session, "ls", environment={name: value}), source)
        self.ran(self.do(session, "echo $COLOUR", environment={"COLOUR": "red"}), "red\n")


class BoundTest(AroundTest):
    def test_looking_for_files_ends(self):
        session = self.make()
        deep = "a/" * 300
        loads = "".join(f"require('m{each}');\n" for each in range(1000))
        made = self.do(session, f"mkdir -p {deep}", approve=True)
        self.assertEqual(made.json["outcome"], "exited", made.json)
        self.put_file(session, deep + "i.js", loads.encode())
        self.refused(self.execute(session, f"require('./{deep}i.js')", language="javascript"), "code.too-much")

    def test_what_is_told_of_many_files_is_bounded(self):
        session = self.make()
        for each in range(15):
            self.put_file(session, f"m{each}.py", b"import os\nos.system('id')\neval('1')\n" * 60)
        answer = self.execute(session, "".join(f"import m{each}\n" for each in range(15)))
        self.refused(answer, "more findings")
        patterns = answer.json["risk"]["detected_patterns"]
        self.assertLessEqual(sum("python.eval" in pattern for pattern in patterns), 50)
        self.assertLessEqual(len(patterns), 500)


class FedTest(AroundTest):
    def test_an_interpreter_that_would_be_fed_is_asked_about(self):
        session = self.make()
        for argv in (["sh"], ["bash", "-s"], ["python3"], ["python3", "-"], ["node"], ["env", "sh"],
                     ["python3", "-m", "code"], ["script", "-q", "/dev/null"], ["prlimit", "sh"], ["setarch", "x86_64"],
                     ["gdb", "-q", "/bin/true"]):
            with self.subTest(argv=argv):
                answer = self.api.post(f"/v1/sessions/{session}/commands", argv=argv, stdin=True)
                self.refused(answer, "code.fed")
        begun = self.api.expect(201, "POST", f"/v1/sessions/{session}/commands", argv=["cat"], stdin=True,
                                background=True)
        self.api.expect(204, "POST", f"/v1/sessions/{session}/commands/{begun['id']}/stdin?end=true",
                        body=b"sudo rm -rf /", headers={"Content-Type": "application/octet-stream"})

    def test_a_terminal_too(self):
        session = self.make()
        for argv in (["bash"], ["vim"], ["less", "f"]):
            with self.subTest(argv=argv):
                answer = self.api.post(f"/v1/sessions/{session}/commands", argv=argv, terminal={"rows": 20, "columns": 80})
                self.refused(answer, "code.fed")

    def test_text_that_comes_with_the_request_is_read(self):
        session = self.make()
        self.ran(self.do(session, "cat"), "")
        self.ran(self.do(session, "echo 'echo hello' | sh"), "hello\n")
        self.refused(self.do(session, "echo 'sudo id' | sh"), "shell.privileges")


class ShownTest(AroundTest):
    settings = {}

    def test_a_person_is_told_where_it_stands(self):
        session = self.make()
        self.put_file(session, "evil.py", EVIL)
        begun = self.api.expect(201, "POST", f"/v1/sessions/{session}/commands", command="python3 evil.py",
                                background=True)
        self.addCleanup(self.api.delete, f"/v1/executions/{begun['id']}")
        waiting = self.eventually(lambda: self.api.expect(200, "GET", "/v1/approvals")["items"])
        shown = self.api.expect(200, "GET", f"/v1/approvals/{waiting[0]['id']}")
        self.assertIn("evil.py", {finding.get("source") for finding in shown["risk"]["findings"]}, json.dumps(shown))
        text = self.skerry("approvals", "show", waiting[0]["id"])
        self.assertIn(b"evil.py, line 2: critical python.subprocess", text.out)


if __name__ == "__main__":
    harness.main()

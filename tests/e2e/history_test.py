"""skerry history: what happened in a session, for people, programs and pictures; also when the session is gone."""
import base64
import json
import os
import shutil

import harness
import sessions


class HistoryTest(sessions.SessionTest):
    def history(self, *arguments, **options):
        return self.skerry("history", self.session, *arguments, **options)

    def run_in(self, code, *arguments):
        return self.shell(code, "--session", self.session, *arguments)

    def entries(self, *arguments):
        result = self.history("--json", *arguments)
        self.assertEqual(result.code, 0, result.err)
        return result.json

    def last(self):
        return self.entries("--limit", "1")[0]

    def test_for_people(self):
        self.write("data/f", b"1")
        self.fs("edit", "data/f", "--replace", "1", "--with", "2")
        self.fs("delete", "data/f")
        text = self.history().out.decode()
        blocks = text.strip().split("\n\n")
        self.assertEqual([block.split()[2] for block in blocks], ["bootstrap", "write", "edit", "delete"])
        self.assertEqual([block.splitlines()[-1] for block in blocks[1:]],
                         ["    + data/f", "    ~ data/f", "    - data/f"])
        self.assertIn("skerry: done, ", blocks[1])

    def test_what_failed_is_told_with_its_reason(self):
        self.fs("write", "../../x")
        block = self.history("--limit", "1").out.decode()
        self.assertIn("failed, exit code 126", block)
        self.assertIn("reason: ../../x: leads out of the workspace", block)

    def test_a_run_with_its_code_its_end_and_its_files(self):
        result = self.run_in("\n# first\necho 1 > made\nrm -f none\nexit 3")
        self.assertEqual(result.code, 3, result.err)
        block = self.history("--limit", "1").out.decode()
        self.assertIn("run shell by ", block)
        self.assertIn(": exit code 3, ", block)
        self.assertIn("    # first [and more lines]\n", block)
        self.assertIn("    risk: ", block)
        self.assertTrue(block.endswith("    + made\n\n"), block)
        entry = self.last()
        self.assertEqual((entry["kind"], entry["exit_code"], entry["outcome"]), ("run", 3, "exited"))
        self.assertEqual([row["path"] for row in entry["files"]["created"]], ["made"])

    def test_an_undo_names_what_it_took_back(self):
        self.run_in("echo 1 > made")
        number = self.last()["sequence"]
        self.assertEqual(self.skerry("session", "undo", self.session).code, 0)
        block = self.history("--limit", "1").out.decode()
        self.assertIn(" undo ", block)
        self.assertIn(f"    caused by: #{number}\n    - made\n", block)

    def test_of_many_files_the_first_are_named(self):
        self.run_in("for i in $(seq 10 40); do echo $i > f$i; done")
        lines = self.history("--limit", "1").out.decode().splitlines()
        self.assertEqual(sum(line.startswith("    + f") for line in lines), 20)
        self.assertIn("    and 11 more", lines)
        self.assertEqual(len(self.last()["files"]["created"]), 31)

    def test_the_last_ones_only(self):
        for number in range(120):
            self.assertEqual(self.fs("append", "log", stdin=b"%d\n" % number).code, 0)
        everything = self.entries()
        self.assertEqual(len(everything), 121)
        self.assertEqual(self.entries("--limit", "70"), everything[-70:])
        self.assertEqual(self.entries("--limit", "9999"), everything)
        self.assertEqual(self.history("--limit", "2").out.decode().count("\n\n"), 2)
        self.assertEqual(self.history("--limit", "0").code, 125)

    def test_sessions_do_not_mix(self):
        self.create("other")
        self.assertEqual(self.skerry("fs", "write", "other", "theirs").code, 0)
        self.write("ours")
        self.assertNotIn(b"theirs", self.history().out)
        self.assertNotIn(b"ours", self.skerry("history", "other").out)

    def test_as_pictures(self):
        self.write("in", b"1")
        self.run_in("cat in > out")
        mermaid = self.history("--mermaid").out.decode()
        self.assertTrue(mermaid.startswith("flowchart "), mermaid)
        self.assertIn("-->|wrote|", mermaid)
        dot = self.history("--dot").out.decode()
        self.assertTrue(dot.startswith("digraph ") and dot.endswith("}\n"), dot)
        self.assertIn('label="wrote"', dot)

    def test_names_and_code_cannot_forge_a_line(self):
        names = [b"line\n#99 forged", b"esc\x1b[2J", b"not\xffutf8", b'quote"]; a --> b', "over\u202eride".encode()]
        for name in names:
            self.write(name)
        self.run_in("# \x1b]0;owned\x07 \u202e\n#99 forged\ntrue")
        for arguments in ((), ("--mermaid",), ("--dot",)):
            text = self.history(*arguments).out.decode()  # fails for what is no UTF-8
            self.assertEqual([c for c in text if c < " " and c != "\n" or c in "\u202e\x7f"], [], arguments)
            self.assertNotIn("\n#99", text)
        created = [row for entry in self.entries() for row in entry["files"]["created"]]
        paths = {base64.b64decode(row["path_base64"]) if "path_base64" in row else row["path"].encode()
                 for row in created}
        self.assertLessEqual(set(names), paths)

    def test_where_a_file_comes_from(self):
        self.write("in", b"1")
        self.fs("edit", "in", "--replace", "1", "--with", "2")
        self.run_in("cat in > out")
        self.fs("delete", "out")
        result = self.skerry("history", "file", self.session, "/workspace/out", "--json").json
        self.assertEqual(result["path"], "out")
        self.assertEqual([row["action"] for row in result["versions"]], ["created", "removed"])
        self.assertEqual([row["made_by"]["kind"] for row in result["versions"]], ["run", "delete"])
        self.assertEqual([row["path"] for row in result["versions"][0]["from"]], ["in"])
        self.assertEqual([row["path"] for row in result["origins"]][0], "in")
        text = self.skerry("history", "file", self.session, "out").out.decode()
        self.assertTrue(text.startswith("out\n+ created "), text)
        self.assertIn("    from in (named), made by #", text)
        self.assertIn("\n- removed ", text)
        self.assertIn("\nmade from:\n~ in changed ", text)

    def test_a_file_that_never_was(self):
        result = self.skerry("history", "file", self.session, "none")
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"knows no file 'none'", result.err)
        self.assertEqual(self.skerry("history", "file", self.session, "../../x").code, 126)
        self.assertEqual(self.skerry("history", "file", self.session, "none", "--json").json["error_code"], "not_found")

    def test_a_session_that_was_deleted_keeps_its_history(self):
        self.write("f")
        before = self.entries()
        self.assertEqual(self.skerry("session", "delete", self.session).code, 0)
        self.assertEqual(self.entries(), before)
        self.assertIn(b"+ f\n", self.history().out)
        self.assertEqual(self.skerry("history", "file", self.session, "f").code, 0)
        self.assertEqual(self.history("--dot").code, 0)

    def test_a_workspace_that_is_gone_without_us(self):
        self.write("f")
        shutil.rmtree(self.workspace())
        self.assertIn(b"+ f\n", self.history().out)
        self.assertEqual(self.skerry("history", "file", self.session, "f").code, 0)

    def test_what_makes_no_sense(self):
        result = self.skerry("history", "none")
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"there is no session none", result.err)
        for arguments in ((), ("s", "--json", "--dot"), ("../s",), ("file",), ("file", "s"), ("s", "x")):
            self.assertEqual(self.skerry("history", *arguments).code, 125, arguments)
        self.assertIn(b"skerry history analysis", self.skerry("history", "--help").out)
        self.assertIn(b"skerry history file ", self.skerry("history", "file", "--help").out)

    def test_a_record_that_cannot_be_read_is_told(self):
        place = self.directory("record")
        os.chmod(place, 0o700)
        path = os.path.join(place, "record.db")
        with open(path, "wb") as file:
            file.write(b"no database at all\n" * 1000)
        os.chmod(path, 0o600)
        self.give(path)
        result = self.skerry("serve", "--socket", os.path.join(place, "socket"),
                             environment={"SKERRY_SANDBOX__RECORD__PATH": json.dumps(path)})
        self.assertEqual((result.code, result.out), (125, b""))
        self.assertIn(b"record.db", result.err)
        nobody = self.history(environment={"SKERRY_SANDBOX__DAEMON__SOCKET": os.path.join(place, "socket")})
        self.assertEqual((nobody.code, nobody.out), (125, b""))
        self.assertIn(b"skerry serve", nobody.err)


if __name__ == "__main__":
    harness.main()

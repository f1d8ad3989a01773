"""The shell worker: cells in one bash."""
import os
import signal
import time

import worker
from worker import BASH


class ShellTest(worker.WorkerTest):
    def context(self):
        start = worker.starter([BASH, "-c", worker.text_of("shell_worker.sh"), "skerry"], self.environment,
                               self.directory,
                               own_group=True)
        return self.worker(start)

    def says(self, child, text):
        cell = self.assertOk(child.cell(text))
        self.assertEqual((cell.messages, cell.err), ([], b""))
        return cell.out.decode()

    def status(self, child, text):
        cell = child.cell(text)
        self.assertEqual((cell.status, len(cell.messages)), ("error", 1), cell)
        kind, name, number, trace = cell.messages[0]
        self.assertEqual((kind, name, trace), ("error", "ExitStatus", ""))
        return int(number), cell.out.decode(), cell.err.decode()

    def test_the_context_stays(self):
        child = self.context()
        self.says(child, "x=5; declare -A map=([a]=1); f() { echo \"f$1\"; }; cd /; export Y=7; shopt -s nullglob; "
                         "alias a=b")
        self.assertEqual(self.says(child, "echo $x ${map[a]} $PWD; f 2; printenv Y; shopt nullglob"),
                         "5 1 /\nf2\n7\nnullglob       \ton\n")

    def test_a_status_that_is_not_zero_is_the_error(self):
        child = self.context()
        self.assertEqual(self.status(child, "echo a; false"), (1, "a\n", ""))
        self.assertEqual(self.status(child, "(exit 77)")[0], 77)
        self.assertEqual(self.says(child, "false; true"), "")
        self.assertEqual(self.says(child, "# nothing"), "")
        self.assertEqual(self.says(child, ""), "")

    def test_messages_have_the_lines_of_the_cell(self):
        child = self.context()
        for _ in range(3):
            self.assertEqual(self.status(child, "\n\nnosuch"), (127, "", "skerry: line 3: nosuch: command not found\n"))
            self.assertEqual(self.status(child, "if")[0], 2)

    def test_programs_inherit_nothing(self):
        child = self.context()
        for text in ("ls /proc/self/fd", "f() { ls /proc/self/fd; }; f", "while :; do ls /proc/self/fd; break; done",
                     "echo | ls /proc/self/fd", "(ls /proc/self/fd)", "ls /proc/self/fd </dev/null"):
            self.assertEqual(self.says(child, text).split(), ["0", "1", "2", "3"], text)
        self.assertEqual(self.says(child, "env | grep -c __skerry || :"), "0\n")

    def test_stdin_is_the_cells(self):
        child = self.context()
        os.write(child.stdin, b"one\ntwo\nthree\n")
        self.assertEqual(self.says(child, "read a; echo $a"), "one\n")
        self.assertEqual(self.says(child, "head -n 1; :"), "two\n")
        child.close_stdin()
        self.assertEqual(self.says(child, "cat; echo end"), "end\n")

    def test_set_e_ends_the_cell_and_not_the_context(self):
        child = self.context()
        self.says(child, "x=5")
        for text in ("set -e\necho a\nfalse\necho b", "set -e; g() { false; echo g; }; echo a; g; echo b",
                     "set -e; echo a; for i in 1 2; do false; done; echo b",
                     "set -e; echo a; for ((i = 0; i < 3; i++)); do false; done; echo b",
                     "set -e; echo a; while :; do for i in 1; do false; done; done; echo b", "echo a; false | false",
                     "echo a; (false; echo b)"):
            self.assertEqual(self.status(child, text), (1, "a\n", ""), text)
        self.assertEqual(self.says(child, "false || echo $x; if false; then :; fi; set +e; false; echo off"),
                         "5\noff\n")

    def test_a_trace_shows_the_cell_and_nothing_else(self):
        child = self.context()
        self.assertEqual(child.cell("set -x; echo a").err.lstrip(b"+"), b" echo a\n")
        cell = child.cell("echo b")
        self.assertEqual((cell.out, cell.err.lstrip(b"+")), (b"b\n", b" echo b\n"))
        child.cell("set +x")
        self.assertEqual(self.says(child, "echo c"), "c\n")

    def test_unset_variables_may_be_an_error(self):
        child = self.context()
        self.assertEqual(self.says(child, "set -u; echo a"), "a\n")
        self.assertEqual(self.status(child, "false")[0], 1)
        self.assertEqual(self.says(child, "echo b"), "b\n")

    def test_exit_is_answered_and_ends_it(self):
        for text, status in (("exit 4", 4), ("exit", 0), ("f() { exit 5; }; f", 5), ("while :; do exit 6; done", 6),
                             ("(exit 9); exit 7", 7), ("{ exit 8; } </dev/null", 8),
                             ("trap 'echo bye' EXIT; exit 3", 3)):
            with self.subTest(text):
                child = self.context()
                self.assertEqual(self.status(child, text)[0], status)
                self.assertEqual(child.wait(), status)

    def test_an_interrupt_ends_the_cell_and_not_the_context(self):
        child = self.context()
        self.says(child, "x=5")
        for text in ("echo up; while :; do :; done; echo after",
                     "g() { while :; do :; done; echo g; }; h() { g; echo h; }; echo up; h; echo after",
                     "echo up; for i in 1 2 3; do while ((1)); do ((n++)); done; done; echo after",
                     "echo up; sleep 99; echo after", "echo up; sleep 99 | cat; echo after",
                     "echo up; for i in 1 2; do sleep 99; done; echo after",
                     "echo up; for ((;;)); do sleep 1; done; echo after", "echo up; until false; do :; done",
                     "set -u; echo up; while :; do :; done", "set -e; echo up; while :; do :; done"):
            with self.subTest(text):
                child.request("cell", text)
                while b"up" not in child.out.data:
                    time.sleep(0.005)
                os.killpg(child.pid, signal.SIGINT)
                cell = child.answer()
                self.assertEqual((cell.status, cell.messages[0][2], cell.out), ("error", "130", b"up\n"))
                self.assertEqual(self.says(child, "echo $x; shopt extdebug || :; trap -p DEBUG"),
                                 "5\nextdebug       \toff\n")

    def test_an_interrupt_between_cells_does_nothing(self):
        child = self.context()
        for _ in range(20):
            os.killpg(child.pid, signal.SIGINT)
            time.sleep(0.005)
            self.assertEqual(self.says(child, "echo x"), "x\n")

    def test_background_jobs_go_on(self):
        child = self.context()
        self.says(child, "(sleep 0.2; echo late) & :")
        time.sleep(0.4)
        self.assertEqual(self.says(child, "wait; echo now"), "late\nnow\n")

    def test_a_thousand_cells(self):
        child = self.context()
        child.cell("n=0")
        for _ in range(1000):
            self.assertEqual(child.cell("((n += 1))").status, "ok")
        self.assertEqual(self.says(child, "echo $n"), "1000\n")

    def test_large_texts(self):
        child = self.context()
        self.assertEqual(self.says(child, "x='" + "y" * 1_000_000 + "'; echo ${#x}"), "1000000\n")

    def test_any_text_arrives(self):
        child = self.context()
        self.assertEqual(self.says(child, "printf '%s|' 'a\\b' \"\t x \" '\u00e4\u20ac' 'l1\nl2'"),
                         "a\\b|\t x |\u00e4\u20ac|l1\nl2|")

    def test_end_of_stream_ends_it(self):
        child = self.context()
        self.says(child, "x=1")
        child.channel.close()
        self.assertEqual(child.wait(), 0)

    def test_a_hostile_cell_does_not_make_it_hang(self):
        for text in ("exec 11>&-", "exec 11</dev/null", "printf 'junk\\0done\\0' >&11", "exec 10<&- 0<&-", "exec true",
                     "kill -9 $$", "unset -f __skerry_answer", "IFS=x; PATH="):
            with self.subTest(text):
                child = self.context()
                child.request("cell", text)
                child.channel.settimeout(5)
                try:
                    while child.message()[0] != "done":
                        pass
                except (worker.Gone, KeyError, TimeoutError):
                    pass
                child.channel.close()
                child.wait()


if __name__ == "__main__":
    worker.main()

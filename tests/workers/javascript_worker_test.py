"""The JavaScript worker: programs, as a file in the working directory would run, and cells."""
import os
import statistics
import subprocess
import sys
import time
import unittest

import worker
from worker import NODE


@unittest.skipUnless(os.access(NODE, os.X_OK), "node is not installed")
class NodeTest(worker.WorkerTest):
    def start(self):
        command = [NODE, "--experimental-vm-modules", "-e", worker.text_of("javascript_worker.js")]
        return worker.starter(command, {**self.environment, "SECRET_OF_BEFORE": "1"})


class ProgramTest(NodeTest):
    def test_a_program_finds_its_name_and_arguments(self):
        child = self.worker(self.start())
        child.begin("run", self.directory, self.environment, "console.log(process.argv.slice(1))", name="a.js",
                    arguments=["-b", "c d", "", "\u00e4"])
        child.wait()
        path = os.path.join(os.path.realpath(self.directory), "a.js")
        self.assertEqual(child.everything()[0].decode(), f"[ '{path}', '-b', 'c d', '', '\u00e4' ]\n")

    def run_program(self, text, stdin=b"", environment=None):
        child = self.worker(self.start())
        os.write(child.stdin, stdin)
        child.close_stdin()
        child.begin("run", self.directory, {**self.environment, **(environment or {})}, text)
        told = None
        try:
            told = int(child.message()[1])
        except worker.Gone:
            pass
        status = child.wait()
        out, err = child.everything()
        self.assertIn(told, (None, status))
        return status, out.decode(), err.decode(), told is not None

    def says(self, text, **options):
        status, out, err, told = self.run_program(text, **options)
        self.assertEqual((status, err, told), (0, "", True), out)
        return out

    def test_print(self):
        self.assertEqual(self.says("console.log(1)"), "1\n")

    def test_common_js(self):
        self.write("mine.js", "exports.x = 5; exports.main = require.main === module")
        out = self.says("console.log(require('./mine'), require.main === module, __filename, __dirname, this === "
                        "exports,"
                        " process.argv.slice(1), process.execArgv, process.cwd())")
        name = self.path("<code>")
        self.assertEqual(out.split("\n")[0], f"{{ x: 5, main: false }} true {name} {self.directory} true [ '{name}' ] "
                                             f"[] "
                                             f"{self.directory}")

    def test_modules(self):
        self.write("mine.mjs", "export const x = 5; export default 6")
        out = self.says("import fs, { existsSync } from 'node:fs'\nimport six, { x } from './mine.mjs'\n"
                        "const later = await import('./mine.mjs')\n"
                        "console.log(existsSync('.'), x, six, later.x, typeof fs.readFileSync, import.meta.filename)")
        self.assertEqual(out, f"true 5 6 5 function {self.path('<code>')}\n")
        status, _, err, _ = self.run_program("import './nowhere.mjs'")
        self.assertEqual(status, 1)
        self.assertIn("nowhere", err)

    def test_exit_codes(self):
        for text, status in (("process.exit(3)", 3), ("process.exitCode = 4", 4), ("process.exit()", 0),
                             ("process.exit(257)", 1),
                             ("process.on('exit', () => { process.exitCode = 5 })", 5),
                             ("process.on('exit', () => process.exit(6)); process.exit(1)", 6),
                             ("process.on('uncaughtException', () => { process.exitCode = 7 }); throw 1", 7),
                             ("setTimeout(() => process.exit(8), 20)", 8)):
            with self.subTest(text):
                code, _, err, told = self.run_program(text)
                self.assertEqual((code, err, told), (status, "", True))

    def test_everything_is_written_before_the_exit_is_told(self):
        out = self.says("process.on('exit', () => { console.log('last') }); process.on('beforeExit', () => "
                        "console.log('before'));"
                        "setTimeout(() => console.log('timer'), 10); Promise.resolve().then(() => "
                        "console.log('promise'));"
                        "process.nextTick(() => console.log('tick')); console.log('first')")
        self.assertEqual(out.split(), ["first", "tick", "promise", "timer", "before", "last"])
        child = self.worker(self.start())
        child.begin("run", self.directory, self.environment, "process.stdout.write('x'.repeat(5_000_000)); "
                                                             "process.exit(0)")
        self.assertEqual(child.message(), ("exit", "0"))
        self.assertEqual(len(child.everything()[0]), 5_000_000)

    def test_errors_show_the_programs_lines_and_none_of_ours(self):
        for text in ("\nthrow new Error('no')", "\nPromise.reject(new Error('no'))",
                     "\nsetTimeout(() => { throw new Error('no') })"):
            status, _, err, _ = self.run_program(text)
            self.assertEqual(status, 1)
            self.assertIn("<code>:2\n", err)
            self.assertIn("Error: no", err)
            self.assertNotIn("[eval]", err)
        self.assertIn("SyntaxError", self.run_program("let x = ;")[2])
        self.assertEqual(self.run_program("throw new Error('no')")[0], 1)

    def test_an_exit_listener_runs_before_an_error_is_fatal(self):
        status, out, err, _ = self.run_program("process.on('exit', (code) => console.log('bye', code)); null.x")
        self.assertEqual((status, out), (1, "bye 1\n"))
        self.assertIn("TypeError", err)

    def test_stdin(self):
        self.assertEqual(self.says("console.log(require('fs').readFileSync(0, 'utf8'))", stdin=b"abc"), "abc\n")
        self.assertEqual(self.says("process.stdin.on('data', (d) => console.log(String(d)))", stdin=b"abc"), "abc\n")
        child = self.worker(self.start())
        child.begin("run", self.directory, self.environment, "console.log(require('fs').readFileSync(0, 'utf8'))")
        time.sleep(0.2)
        os.write(child.stdin, b"late")
        child.close_stdin()
        child.message()
        self.assertEqual(child.everything(), (b"late\n", b""))

    def test_the_environment_is_replaced(self):
        out = self.says("console.log(JSON.stringify(process.env)); console.log(new Date(0).getHours(), "
                        "require('os').homedir());"
                        "console.log(require('child_process').execSync('env').toString())",
                        environment={"A": "x=y", "TZ": "UTC-5"})
        self.assertNotIn("SECRET_OF_BEFORE", out)
        self.assertIn('"A":"x=y"', out)
        self.assertIn(f"5 {self.directory}\n", out)
        self.assertIn("\nA=x=y\n", out)

    def test_nothing_of_ours_is_in_the_globals(self):
        names = "console.log(Object.getOwnPropertyNames(globalThis).sort().join())"
        bare = subprocess.run([NODE, "-e", names], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.says(names), bare)

    def test_children_and_threads_do_not_tell(self):
        self.write("child.js", "process.exit(9)")
        out = self.says("const { fork, spawnSync } = require('child_process'), { Worker } = require('worker_threads');"
                        "const ls = spawnSync('sh', ['-c', 'readlink /proc/self/fd/3']); "
                        "console.log(String(ls.stdout));"
                        "fork('./child.js').on('exit', (code) => { console.log('child', code);"
                        " new Worker('process.exit(8)', { eval: true }).on('exit', (code) => console.log('thread', "
                        "code)) })")
        self.assertNotIn("socket", out)
        self.assertEqual(out.split("\n")[-3:], ["child 9", "thread 8", ""])

    def test_large_texts(self):
        self.assertEqual(self.says("// " + "x" * 5_000_000 + "\nconsole.log('end')"), "end\n")

    def test_end_of_stream_before_the_first_message(self):
        child = self.worker(self.start())
        child.channel.close()
        self.assertEqual(child.wait(), 0)

    def test_a_directory_that_is_not_there(self):
        child = self.worker(self.start())
        child.begin("run", "/nowhere", self.environment, "1")
        self.assertEqual(child.wait(), 126)

    def test_a_hostile_program_does_not_make_it_hang(self):
        for text in ("require('fs').writeSync(3, 'junk\\0exit\\0'); require('fs').closeSync(3)", "process.emit('exit')",
                     "process.emit = process.reallyExit = null", "process.reallyExit = () => {}; process.exit(3)",
                     "process.kill(process.pid, 'SIGKILL')", "process.abort()",
                     "require('fs').closeSync(3); require('fs').openSync('/dev/null')"):
            with self.subTest(text):
                child = self.worker(self.start())
                child.begin("run", self.directory, self.environment, text)
                child.wait()

    def test_print_is_fast(self):
        times, bare = [], []
        for _ in range(10):
            child = self.worker(self.start())
            time.sleep(0.05)
            started = time.perf_counter()
            child.begin("run", self.directory, self.environment, "console.log(1)")
            child.message()
            times.append(time.perf_counter() - started)
            child.wait()
            started = time.perf_counter()
            subprocess.run([NODE, "-e", "console.log(1)"], stdout=subprocess.DEVNULL, check=True)
            bare.append(time.perf_counter() - started)
        print(f"console.log(1) in a ready process: p50 {statistics.median(times) * 1000:.1f} ms,"
              f" bare node {statistics.median(bare) * 1000:.1f} ms", file=sys.stderr)
        self.assertLess(min(times), min(bare))


class CellTest(NodeTest):
    def context(self):
        child = self.worker(self.start())
        child.begin("cells", self.directory, self.environment)
        return child

    def test_declarations_stay_and_can_be_made_again(self):
        child = self.context()
        child.cell("let a = 1; const b = 2; var c = 3; function d() { return a + b + c } class E { x = 4 }")
        self.assertEqual(self.plain(child, "[d(), new E().x]"), "[ 6, 4 ]")
        child.cell("const a = 10; let b = 20; var c = 30; class E { x = 5 }")
        self.assertEqual(self.plain(child, "const { p, q: [r] } = { p: 1, q: [2] }; function d() { return 0 }\n[d() + "
                                           "a + b + c, p, r]"),
                         "[ 60, 1, 2 ]")

    def test_results(self):
        child = self.context()
        for text, plain, data in (("1 + 1", "2", None), ("'x'", "'x'", None), ("null", "null", None),
                                  ("NaN", "NaN", None),
                                  ("-0", "-0", None), ("10n ** 20n", "100000000000000000000n", None),
                                  ("Symbol('s')", "Symbol(s)", None),
                                  ("({ a: [1, null] })", "{ a: [ 1, null ] }", '{"a":[1,null]}'),
                                  ("[1n]", "[ 1n ]", None),
                                  ("new Map([[1, 2]])", "Map(1) { 1 => 2 }", None),
                                  ("Promise.resolve(4)", "Promise { 4 }", None),
                                  ("const o = {}; o.o = o; o", "<ref *1> { o: [Circular *1] }", None),
                                  ("[() => 1]", "[ [Function (anonymous)] ]", "[null]")):
            with self.subTest(text):
                bundle = self.assertOk(child.cell(text)).messages[0][1]
                self.assertEqual((bundle["text/plain"], bundle.get("application/json")), (plain, data))
        for text in ("undefined", "let x = 1", "", "// nothing", "function f() {}"):
            self.assertEqual(self.assertOk(child.cell(text)).messages, [], text)

    def test_output_is_there_before_the_end_of_the_cell(self):
        child = self.context()
        for i in range(50):
            cell = child.cell(f"console.log({i}); console.error('e')")
            self.assertEqual((cell.out, cell.err), (b"%d\n" % i, b"e\n"))

    def test_await_and_imports(self):
        self.write("mine.mjs", "export const x = 5; export default 6; export const long_name = 7")
        child = self.context()
        self.assertEqual(self.plain(child, "await new Promise((done) => setTimeout(() => done(7), 10))"), "7")
        self.assertEqual(self.plain(child, "const y = await Promise.resolve(8); y"), "8")
        self.assertEqual(self.plain(child, "y + require('fs').readdirSync('.').length"), "9")
        self.assertEqual(self.plain(child, "(await import('./mine.mjs')).x"), "5")
        self.assertEqual(self.plain(child, "import six, { x, long_name as seven } from './mine.mjs'\nimport * as all "
                                           "from \"./mine.mjs\";"
                                           "import {\n  join,\n} from 'node:path'\nimport 'fs'\n[six, x, seven, "
                                           "all.x, join('a', 'b')]"),
                         "[ 6, 5, 7, 5, 'a/b' ]")
        self.assertEqual(self.plain(child, "import('fs').then((fs) => typeof fs.readFileSync) instanceof Promise"),
                         "true")

    def test_words_in_texts_are_left_alone(self):
        child = self.context()
        for text, plain in ((r"'const import(1)'", "'const import(1)'"),
                            (r"/const|import\(/.source", r"'const|import\\('"),
                            ("`const ${'import'} ${`${1}`} import(2)`", "'const import 1 import(2)'"),
                            ("1 /* const */ / 2 // import 'x'", "0.5"),
                            ("({ const: 1, import: 2 }).const", "1"), ("let z = 8; z / 2 / 1", "4"),
                            ("[1].map((i) => { const k = i; return k })", "[ 1 ]")):
            self.assertEqual(self.plain(child, text), plain, text)

    def test_display(self):
        child = self.context()
        cell = child.cell("display({ 'text/html': '<b>x</b>', 'image/png': Buffer.from('z'), 'application/json': { a: "
                          "1 } }); display(5, [1])")
        self.assertEqual(cell.messages, [("display",
                                          {"text/html": "<b>x</b>", "image/png": "eg==",
                                           "application/json": '{"a":1}'}),
                                         ("display", {"text/plain": "5"}),
                                         ("display", {"text/plain": "[ 1 ]", "application/json": "[1]"})])

    def test_errors_are_data(self):
        child = self.context()
        child.cell("function f() {\n  throw new TypeError('no')\n}")
        cell = child.cell("var kept = 1\nf()")
        self.assertEqual((cell.status, cell.out, cell.err), ("error", b"", b""))
        self.assertEqual(cell.messages[0][:3], ("error", "TypeError", "no"))
        self.assertIn("<cell-1>:2\n  throw new TypeError('no')\n", cell.messages[0][3])
        self.assertIn("<cell-2>:2:1", cell.messages[0][3])
        self.assertNotIn("[eval]", cell.messages[0][3])
        self.assertNotIn("inspector", cell.messages[0][3])
        self.assertEqual(self.plain(child, "kept"), "1")
        for text, name in (("let x = ;", "SyntaxError"), ("nowhere", "ReferenceError"), ("throw 5", "Number"),
                           ("throw null", "object"),
                           ("await Promise.reject(new RangeError('r'))", "RangeError"),
                           ("(function r() { r() })()", "RangeError"),
                           ("throw { get name() { throw 1 } }", "Object"), ("await import('./nowhere.mjs')", "Error")):
            self.assertEqual(self.error(child, text)[1], name, text)

    def test_late_errors_are_printed_and_end_nothing(self):
        child = self.context()
        cell = child.cell("setTimeout(() => { throw new Error('late') }, 1); Promise.reject(new Error('forgotten'));"
                          "await new Promise((done) => setTimeout(done, 100))")
        self.assertEqual(cell.status, "ok")
        self.assertIn(b"late", cell.err)
        self.assertIn(b"forgotten", cell.err)
        self.assertEqual(self.plain(child, "1"), "1")

    def test_timers_go_on_between_cells(self):
        child = self.context()
        child.cell("let n = 0; const timer = setInterval(() => n++, 10)")
        time.sleep(0.3)
        self.assertGreater(int(self.plain(child, "n")), 5)

    def interrupt_when_up(self, child, text):
        child.request("cell", text)
        while b"up" not in child.out.data:
            time.sleep(0.005)
        time.sleep(0.02)
        child.interrupt()
        return child.answer()

    def test_an_interrupt_ends_the_cell_and_not_the_context(self):
        child = self.context()
        child.cell("let x = 5")
        for text in ("console.log('up'); while (true);", "console.log('up'); await new Promise(() => setInterval(() "
                                                         "=> {}, 99))",
                     "({ [Symbol.for('nodejs.util.inspect.custom')]() { console.log('up'); while (true); } })"):
            with self.subTest(text):
                cell = self.interrupt_when_up(child, text)
                self.assertEqual((cell.status, cell.messages[0][1]), ("error", "Interrupted"))
                self.assertEqual(self.plain(child, "x"), "5")

    def test_an_interrupt_between_cells_does_nothing(self):
        child = self.context()
        child.cell("let x = 5")
        for _ in range(10):
            child.interrupt()
            time.sleep(0.005)
            self.assertEqual(self.plain(child, "x"), "5")

    def test_exit_is_answered_and_ends_it(self):
        child = self.context()
        cell = child.cell("process.exit(3)")
        self.assertEqual((cell.status, cell.messages), ("error", [("error", "ExitStatus", "3", "")]))
        self.assertEqual(child.wait(), 3)

    def test_a_thousand_cells(self):
        child = self.context()
        child.cell("let n = 0")
        times = []
        for _ in range(1000):
            child.request("cell", "n += 1;")
            started = time.perf_counter()
            while child.message()[0] != "done":
                pass
            times.append(time.perf_counter() - started)
        print(f"a cell: p50 {statistics.median(times) * 1000:.2f} ms", file=sys.stderr)
        self.assertEqual(self.plain(child, "n"), "1000")

    def test_many_cells_at_once_are_answered_in_order(self):
        child = self.context()
        for i in range(50):
            child.send("cell", f"c{i}", f"await 0; display({i})")
        for i in range(50):
            self.assertEqual(child.message(), ("display", {"text/plain": str(i)}))
            self.assertEqual(child.message(), ("done", f"c{i}", "ok"))

    def test_large_texts_and_results(self):
        child = self.context()
        self.assertEqual(self.plain(child, "'" + "x" * 5_000_000 + "'.length"), "5000000")
        self.assertLess(len(self.plain(child, "'y'.repeat(5_000_000)")), 1_100_000)

    def test_what_it_cannot_do_is_answered(self):
        child = self.context()
        for request in (("dump",), ("load", "x")):
            child.request(*request)
            self.assertEqual(child.answer().status, "error")
        self.assertEqual(self.plain(child, "1"), "1")

    def test_end_of_stream_ends_it(self):
        child = self.context()
        child.cell("setInterval(() => {}, 1)")
        child.channel.close()
        self.assertEqual(child.wait(), 0)

    def test_a_hostile_cell_does_not_make_it_hang(self):
        child = self.context()
        child.request("cell", "require('fs').closeSync(3)")
        child.channel.settimeout(5)
        try:
            child.answer()
        except (worker.Gone, TimeoutError):
            pass
        child.channel.close()
        child.close_stdin()


if __name__ == "__main__":
    worker.main()

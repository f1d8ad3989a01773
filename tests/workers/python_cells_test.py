"""The Python worker: cells that share one context, their rich output, and a context's state in another one."""
import base64
import json
import os
import time
import unittest

import worker
from python_worker_test import has
from worker import PYTHON

PNG = b"\x89PNG"


class ContextTest(worker.WorkerTest):
    MODULES = ("json", "random")

    @classmethod
    def setUpClass(cls):
        cls.zygote = worker.Zygote(cls.MODULES)
        cls.addClassCleanup(cls.zygote.close)

    def context(self, start=None):
        child = self.worker(start or self.zygote.start())
        child.begin("cells", self.directory, self.environment)
        return child


class CellTest(ContextTest):
    def test_variables_stay(self):
        child = self.context()
        self.assertEqual(self.assertOk(child.cell("x = 40\ndef f(): return x + 2")).messages, [])
        self.assertEqual(self.plain(child, "f()"), "42")
        self.assertEqual(self.plain(child, "__name__, __import__('__main__').x"), "('__main__', 40)")

    def test_an_executed_worker_runs_cells_too(self):
        text = worker.python_worker() + "\nserve(3, forked=False)\n"
        child = self.context(worker.starter([PYTHON, "-c", text], self.environment))
        child.cell("x = 2")
        self.assertEqual(self.plain(child, "x"), "2")

    def test_only_the_last_expression_is_the_result(self):
        child = self.context()
        for text, messages in (("1\n2", 1), ("1;", 0), ("(1)  ; # end", 0), ("'a;'", 1), ("1 # ;", 1), ("None", 0),
                               ("", 0),
                               ("# nothing", 0), ("x = 1", 0), ("'\u00e4'; 5", 1), ("'\u00e4\u00f6';", 0),
                               ("def f():\n    return 1\n", 0), ("print(1)", 0), ("5\n\n", 1)):
            with self.subTest(text):
                self.assertEqual(len(self.assertOk(child.cell(text)).messages), messages)

    def test_the_last_result_is_underscore(self):
        child = self.context()
        child.cell("6 * 7")
        child.cell("x = 1")
        self.assertEqual(self.plain(child, "_ + 1"), "43")

    def test_output_is_there_before_the_end_of_the_cell(self):
        child = self.context()
        for i in range(100):
            cell = child.cell(f"import sys\nprint({i}, end='')\nprint('e', file=sys.stderr, end='')")
            self.assertEqual((cell.out, cell.err), (str(i).encode(), b"e"))

    def test_a_thousand_cells(self):
        child = self.context()
        child.cell("n = 0")
        for _ in range(1000):
            self.assertEqual(child.cell("n += 1").status, "ok")
        self.assertEqual(self.plain(child, "n"), "1000")

    def test_large_texts_and_results(self):
        child = self.context()
        self.assertEqual(self.plain(child, "len('" + "x" * 5_000_000 + "')"), "5000000")
        result = child.cell("'y' * 5_000_000").messages[0][1]["text/plain"]
        self.assertLess(len(result), 1_100_000)
        self.assertTrue(result.endswith("\u2026"))

    def test_dictionaries_and_lists_are_json_too(self):
        child = self.context()
        for text, expected in (("{'a': [1, None, 'b']}", '{"a": [1, null, "b"]}'), ("[1.5]", "[1.5]"),
                               ("[float('nan')]", None), ("[object]", None), ("(1, 2)", None),
                               ("x = []; x.append(x); x", None),
                               ("['z' * 2_000_000]", None)):
            with self.subTest(text):
                bundle = self.assertOk(child.cell(text)).messages[0][1]
                self.assertEqual(bundle.get("application/json"), expected)

    def test_rich_representations(self):
        child = self.context()
        child.cell("class Rich:\n"
                   "    def _repr_html_(self): return '<b>x</b>'\n"
                   "    def _repr_svg_(self): return '<svg/>'\n"
                   "    def _repr_png_(self): return b'\\x89PNG'\n"
                   "    def _repr_json_(self): return {'a': 1}\n"
                   "    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/x': 'y', 'image/x': "
                   "b'z'}, {}\n"
                   "    def __repr__(self): return 'rich\\0ness'\n")
        expected = {"text/html": "<b>x</b>", "image/svg+xml": "<svg/>", "image/png": base64.b64encode(PNG).decode(),
                    "application/json": '{"a": 1}', "text/x": "y", "image/x": "eg==", "text/plain": "richness"}
        self.assertEqual(child.cell("Rich()").messages, [("result", expected)])
        self.assertEqual(child.cell("display(Rich(), 5)").messages,
                         [("display", expected), ("display", {"text/plain": "5"})])
        self.assertEqual(child.cell("display({'text/html': 'h'}, raw=True)").messages,
                         [("display", {"text/html": "h"})])
        self.assertIn("Rich", child.cell("Rich").messages[0][1]["text/plain"])

    def test_a_representation_that_fails_fails_nothing(self):
        child = self.context()
        child.cell("class Bad:\n    def __repr__(self): 1 / 0\n    def _repr_html_(self): 1 / 0\n"
                   "class Any:\n    def __getattr__(self, name): return lambda *a, **k: 'any'\n")
        self.assertEqual(self.plain(child, "Bad()"), "<Bad object, its repr() failed with ZeroDivisionError>")
        self.assertEqual(list(child.cell("Any()").messages[0][1]), ["text/plain"])

    def test_errors_are_data(self):
        child = self.context()
        child.cell("def f():\n    raise ValueError('no')\n")
        cell = child.cell("x = 1\nf()")
        self.assertEqual((cell.status, cell.out, cell.err), ("error", b"", b""))
        kind, name, message, trace = cell.messages[0]
        self.assertEqual((kind, name, message), ("error", "ValueError", "no"))
        self.assertIn('File "<cell 2>", line 2, in <module>\n    f()', trace)
        self.assertIn("File \"<cell 1>\", line 2, in f\n    raise ValueError('no')", trace)
        self.assertEqual(trace.count("File "), 2)
        self.assertEqual(self.plain(child, "x"), "1")

    def test_errors_of_every_kind(self):
        child = self.context()
        for text, name in (("def f(:", "SyntaxError"),
                           ("x = '\ud800'".encode("utf-8", "surrogatepass").decode("latin-1"), None),
                           ("import sys; sys.exit(3)", "SystemExit"), ("exit()", "SystemExit"), ("input()", "EOFError"),
                           ("raise KeyboardInterrupt", "KeyboardInterrupt"), ("def r(): r()\nr()", "RecursionError"),
                           ("await 5", "TypeError"), ("return 1", "SyntaxError"),
                           ("raise GeneratorExit", "GeneratorExit"),
                           ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "E"),
                           ("import nowhere", "ModuleNotFoundError"),
                           ("async def f(): 1 / 0\nawait f()", "ZeroDivisionError")):
            with self.subTest(text):
                if name == "EOFError":
                    child.close_stdin()
                if name is None:
                    child.cell(text)
                else:
                    error = self.error(child, text)
                    self.assertEqual(error[1], name)
                    self.assertNotIn("asyncio", error[3])
        self.assertEqual(self.plain(child, "1 + 1"), "2")

    def test_input_comes_from_stdin(self):
        child = self.context()
        os.write(child.stdin, b"one\ntwo\n")
        self.assertEqual(self.plain(child, "input()"), "'one'")
        self.assertEqual(self.plain(child, "input()"), "'two'")

    def test_future_imports_stay(self):
        child = self.context()
        child.cell("from __future__ import annotations")
        self.assertEqual(self.plain(child, "def f(x: nowhere): pass\nf.__annotations__"), "{'x': 'nowhere'}")

    def test_await(self):
        child = self.context()
        self.assertEqual(self.plain(child, "import asyncio\nawait asyncio.sleep(0.01, 5)"), "5")
        self.assertEqual(self.plain(child, "x = await asyncio.sleep(0, 6)\nx"), "6")
        self.assertEqual(self.plain(child, "async def g():\n    yield 7\n[y async for y in g()]"), "[7]")
        self.assertEqual(self.plain(child, "async def h(): return 8\nasyncio.run(h())"), "8")

    def test_tasks_and_threads_go_on_between_cells(self):
        child = self.context()
        child.cell("import asyncio, threading, time\nn = m = 0\n"
                   "async def count():\n    global n\n    while True:\n        n += 1\n        await "
                   "asyncio.sleep(0.01)\n"
                   "def also():\n    global m\n    while True:\n        m += 1\n        time.sleep(0.01)\n"
                   "threading.Thread(target=also, daemon=True).start()\ntask = asyncio.create_task(count())\nawait "
                   "asyncio.sleep(0)")
        time.sleep(0.5)
        self.assertEqual(self.plain(child, "n > 5, m > 5"), "(True, True)")
        child.interrupt()
        time.sleep(0.1)
        before = int(self.plain(child, "n"))
        time.sleep(0.3)
        self.assertGreater(int(self.plain(child, "n")), before)

    def interrupt_when(self, child, text):
        child.request("cell", text)
        while b"up" not in child.out.data:
            time.sleep(0.005)
        child.interrupt()
        return child.answer()

    def test_an_interrupt_ends_the_cell_and_not_the_context(self):
        child = self.context()
        child.cell("x = 5")
        for text in ("print('up', flush=True)\nwhile True: pass", "import time\nprint('up', flush=True)\n"
                                                                  "time.sleep(99)",
                     "import asyncio\nprint('up', flush=True)\nawait asyncio.sleep(99)",
                     "print('up', flush=True)\nwhile True: display('x' * 1000)",
                     "class R:\n    def __repr__(self):\n        print('up', flush=True)\n        while True: pass\n"
                     "R()"):
            with self.subTest(text):
                cell = self.interrupt_when(child, text)
                self.assertEqual((cell.status, cell.messages[-1][1]), ("error", "KeyboardInterrupt"))
                self.assertEqual(self.plain(child, "x"), "5")

    def test_an_interrupt_between_cells_does_nothing(self):
        child = self.context()
        child.cell("x = 5")
        for _ in range(20):
            child.interrupt()
            time.sleep(0.002)
            self.assertEqual(self.plain(child, "x"), "5")

    def test_interrupts_at_any_moment_never_break_the_channel(self):
        child = self.context()
        for i in range(200):
            child.request("cell", f"for i in range(50): display(i)\n{i}")
            time.sleep(i % 20 / 5000)
            child.interrupt()
            self.assertIn(child.answer().status, ("ok", "error"))
        self.assertEqual(self.plain(child, "1"), "1")

    def test_a_child_that_comes_to_the_end_of_the_cell_says_nothing(self):
        child = self.context()
        cell = child.cell("import os\npid = os.fork()\nif pid == 0: print('child')\nelse: print(os.waitpid(pid, "
                          "0)[1])\ndisplay(1)\n7")
        self.assertEqual(sorted(cell.out.split()), [b"0", b"child"])
        self.assertEqual([message[0] for message in cell.messages], ["display", "result"])
        cell = child.cell("pid = os.fork()\nif pid == 0: raise SystemExit(3)\n"
                          "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
        self.assertEqual(cell.messages[0][1]["text/plain"], "3")

    def test_a_hostile_cell_does_not_make_it_hang(self):
        every = "import os\nchannel = [int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2]\n"
        for code in ("os.closerange(3, 4096)", "r, w = os.pipe()\nfor c in channel: os.dup2(r, c)",
                     "n = os.open('/dev/null', 2)\nfor c in channel: os.dup2(n, c)"):
            with self.subTest(code):
                child = self.context()
                child.request("cell", every + code)
                self.assertEqual(child.wait(), 0)
                self.assertRaises(worker.Gone, child.answer)

    def test_end_of_stream_ends_it(self):
        child = self.context()
        child.cell("import threading, time; threading.Thread(target=time.sleep, args=(99,)).start()")
        child.channel.close()
        self.assertEqual(child.wait(), 0)

    def test_streams_that_a_cell_ruins_are_only_its_own(self):
        child = self.context()
        child.cell("import sys\nkept = sys.stdout\ndel sys.stdout")
        self.assertEqual(child.cell("1").status, "ok")
        self.assertEqual(child.cell("sys.stdout = kept\nprint(1)").out, b"1\n")


@unittest.skipUnless(has("matplotlib"), "matplotlib is not installed")
class FigureTest(ContextTest):
    def pictures(self, cell):
        self.assertOk(cell)
        return [worker.decode(message[1]["image/png"])[:4] for message in cell.messages if message[0] == "display"]

    def test_figures(self):
        child = self.context()
        self.assertEqual(self.pictures(child.cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")), [PNG])
        self.assertEqual(self.pictures(child.cell("plt.get_fignums()")), [])
        cell = child.cell("plt.plot([1])\nplt.show()\ndisplay(5)\nplt.figure(); plt.figure();")
        self.assertEqual([list(message[1])[0] for message in cell.messages],
                         ["image/png", "text/plain", "image/png", "image/png"])
        self.assertEqual(cell.err, b"")
        cell = child.cell("plt.figure()")
        self.assertEqual([(message[0], "image/png" in message[1]) for message in cell.messages], [("result", True)])
        self.assertEqual(self.plain(child, "plt.get_backend().lower()"), "'agg'")
        cell = child.cell("plt.plot([1])\n1 / 0")
        self.assertEqual(sorted(message[0] for message in cell.messages), ["display", "error"])


class StateTest(ContextTest):
    def branch(self, *cells, left_out=()):
        """Runs cells in one context, and gives another that has got its state."""
        first = self.context()
        for text in cells:
            self.assertOk(first.cell(text))
        first.request("dump")
        answer = self.assertOk(first.answer())
        kind, identity, state, names = answer.messages[0]
        self.assertEqual((kind, identity), ("state", f"id{first.counter}"))
        self.assertEqual(sorted(json.loads(names)), sorted(left_out))
        second = self.context()
        second.request("load", state)
        self.assertOk(second.answer())
        return second

    def test_values(self):
        child = self.branch("a = 1; b = 'x'; c = [1, {2}, {'k': (b'z', None, 1.5, 1j)}]; _d = range(3)")
        self.assertEqual(self.plain(child, "a, b, c, _d"), "(1, 'x', [1, {2}, {'k': (b'z', None, 1.5, 1j)}], range(0, "
                                                           "3))")

    def test_what_variables_share_stays_shared(self):
        child = self.branch("a = [1]; b = {'a': a}; a.append(b)")
        self.assertEqual(self.plain(child, "b['a'] is a, a[1] is b"), "(True, True)")

    def test_modules(self):
        child = self.branch("import json, os.path as p\nfrom math import pi, sin\nimport collections.abc")
        self.assertEqual(self.plain(child, "json.dumps(1), p.join('a', 'b'), pi, sin(0), "
                                           "collections.abc.Sized.__name__"),
                         "('1', 'a/b', 3.141592653589793, 0.0, 'Sized')")

    def test_functions(self):
        child = self.branch(
            "n = 1\ndef f(a, b=2, *c, d=[], **e) -> int:\n    'doc'\n    global n\n    n += 1\n    return a + b + n\n"
            "f.mark = 5",
            "g = lambda x: f(x) * 2",
            "def counter():\n    count = 0\n    def up():\n        nonlocal count\n        count += 1\n        return "
            "count\n"
            "    def get(): return count\n    return up, get\nup, get = counter(); up()",
            "def fact(k): return 1 if k < 2 else k * fact(k - 1)\n"
            "def outer():\n    def inner(k): return 1 if k < 2 else k * inner(k - 1)\n    return inner\ninner = "
            "outer()",
            "import functools\n@functools.lru_cache(maxsize=10)\ndef cached(x): return x * 2\npart = "
            "functools.partial(f, 1)",
            "def gen():\n    yield from (1, 2)\nasync def co(): return 3\nlate = lambda: later")
        self.assertEqual(self.plain(child, "f(1), n, f.mark, f.__doc__, f.__kwdefaults__, f.__annotations__"),
                         "(5, 2, 5, 'doc', {'d': []}, {'return': <class 'int'>})")
        self.assertEqual(self.plain(child, "up(), up(), get()"), "(2, 3, 3)")
        self.assertEqual(self.plain(child, "fact(5), inner(5), cached(4), list(gen()), await co()"),
                         "(120, 120, 8, [1, 2], 3)")
        self.assertEqual(self.plain(child, "n = 0; g(1), part(), cached.cache_parameters()['maxsize']"), "(8, 5, 10)")
        self.assertEqual(self.plain(child, "later = 9\nlate()"), "9")

    def test_classes(self):
        child = self.branch(
            "class A:\n    count = 0\n    def __init__(self, x): self.x = x\n    @property\n    def double(self): "
            "return self.x * 2\n"
            "    @double.setter\n    def double(self, v): self.x = v / 2\n    @classmethod\n    def make(cls): return "
            "cls(7)\n"
            "    @staticmethod\n    def s(): return 's'\n    def __eq__(self, o): return self.x == o.x\n",
            "class B(A):\n    __slots__ = ('y',)\n    def __init__(self, x):\n        super().__init__(x)\n        "
            "self.y = A\n"
            "    def me(self): return __class__\nb = B(3); A.self = A; A.one = A(1)",
            "class Meta(type):\n    def hello(cls): return cls.__name__\nclass C(metaclass=Meta): pass\n",
            "import abc, functools, typing\nclass D(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\n"
            "class E(D):\n    def f(self): return 1\n    @functools.cached_property\n    def c(self): return 5\n",
            "T = typing.TypeVar('T')\nclass G(typing.Generic[T]):\n    x: T\ng = G[int]",
            "class Oops(ValueError): pass\no = Oops('x')")
        self.assertEqual(self.plain(child, "b.double, b.y is A, type(b) is B, b.me() is B, A.make().x, A.s(), A.self "
                                           "is A"),
                         "(6, True, True, True, 7, 's', True)")
        self.assertEqual(self.plain(child, "A(1) == A.one, A.__hash__, C.hello(), E().f(), E().c, g.__args__, "
                                           "G.__parameters__[0] is T"),
                         "(True, None, 'C', 1, 5, (<class 'int'>,), True)")
        self.assertEqual(self.error(child, "D()")[1], "TypeError")
        self.assertEqual(self.error(child, "raise o")[1:3], ("Oops", "x"))

    def test_generated_classes(self):
        child = self.branch(
            "import dataclasses, collections, enum, typing\n@dataclasses.dataclass(order=True)\nclass P:\n    x: int\n"
            "    y: list ="
            " dataclasses.field(default_factory=list)\n    z: typing.ClassVar[int] = 3\np = P(1)",
            "@dataclasses.dataclass(frozen=True)\nclass Q:\n    w: str = 'w'\nq = Q()",
            "N = collections.namedtuple('N', 'a b', defaults=[2]); n = N(1)\nclass M(typing.NamedTuple):\n    a: int\n"
            "    b: int = 4\nm = M(3)",
            "class Color(enum.Enum):\n    RED = 1\n    GREEN = 'g'\n    ALSO_RED = 1\n    def twice(self): return "
            "[self] * 2\n"
            "class F(enum.Flag):\n    A = enum.auto()\n    B = enum.auto()\nclass I(enum.IntEnum):\n    ONE = 1\n"
            "class Planet(enum.Enum):\n    EARTH = (1, 2)\n    def __init__(self, m, r): self.m = m\n"
            "c = Color.GREEN; ab = F.A | F.B")
        self.assertEqual(self.plain(child, "p, P(2, [1]) > p, dataclasses.replace(p, x=5), dataclasses.asdict(p), P.z"),
                         "(P(x=1, y=[]), True, P(x=5, y=[]), {'x': 1, 'y': []}, 3)")
        self.assertEqual(self.plain(child, "q, hash(q) == hash(Q()), {q: 1}[Q()]"), "(Q(w='w'), True, 1)")
        self.assertEqual(self.error(child, "q.w = 1")[1], "FrozenInstanceError")
        self.assertEqual(self.plain(child, "n, N(5), n._replace(a=9), n._asdict(), m, M(1), isinstance(n, N)"),
                         "(N(a=1, b=2), N(a=5, b=2), N(a=9, b=2), {'a': 1, 'b': 2}, M(a=3, b=4), M(a=1, b=4), True)")
        self.assertEqual(self.plain(child, "c is Color.GREEN, Color(1).twice(), Color.ALSO_RED is Color.RED, ab == "
                                           "F.A | F.B, I.ONE + 1,"
                                           " Planet.EARTH.m"),
                         "(True, [<Color.RED: 1>, <Color.RED: 1>], True, True, 2, 1)")

    def test_what_cannot_go_is_left_out_and_named(self):
        child = self.branch("import threading\nx = 1; f = open('/dev/null'); l = threading.Lock(); g = (i for i in "
                            "'ab'); "
                            "holder = [x, l]; y = [2]; z = y\ndef uses(): return l", left_out=["f", "l", "g", "holder"])
        self.assertEqual(self.plain(child, "x, y, z is y"), "(1, [2], True)")
        self.assertEqual(self.error(child, "uses()")[1], "NameError")

    def test_a_variable_that_cannot_be_loaded_takes_no_other_with_it(self):
        first = self.context()
        first.cell("class Bad(Exception):\n    def __init__(self, a, b): super().__init__('x')\n"
                   "shared = ['s']; bad = [shared, Bad(1, 2), 'more']; after = [shared, 5]; last = {'k': after}")
        first.request("dump")
        state = self.assertOk(first.answer()).messages[0][2]
        second = self.context()
        second.request("load", state)
        answer = second.answer()
        self.assertEqual((answer.status, answer.messages[0][1]), ("error", "StateError"))
        self.assertRegex(answer.messages[0][2], r"^not loaded: bad \(TypeError")
        self.assertEqual(self.plain(second, "after[0] is shared, last, Bad.__name__"),
                         "(True, {'k': [['s'], 5]}, 'Bad')")

    def test_tracebacks_show_lines_of_cells_of_before(self):
        child = self.branch("def f():\n    return 1 / 0  # here")
        self.assertIn("return 1 / 0  # here", self.error(child, "f()")[3])
        self.assertIn("<cell 2>", self.error(child, "f()")[3].replace("<cell 3>", "<cell 2>"))

    def test_a_state_can_be_handed_on(self):
        first = self.branch("def f(x): return x + k\nk = 1\nclass A: v = 5\na = A()")
        first.cell("k = 2")
        first.request("dump")
        second = self.context()
        second.request("load", self.assertOk(first.answer()).messages[0][2])
        self.assertOk(second.answer())
        self.assertEqual(self.plain(second, "f(1), a.v, type(a) is A"), "(3, 5, True)")

    def test_states_that_are_none(self):
        child = self.context()
        for state in ("", "!!!!", base64.b64encode(b"junk").decode(), base64.b64encode(b"{}\0").decode()):
            child.request("load", state)
            self.assertEqual(child.answer().status, "error")
        self.assertEqual(self.plain(child, "1"), "1")

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_numpy_and_pandas(self):
        child = self.branch("import numpy as np, pandas as pd\na = np.arange(6).reshape(2, 3); v = a[0]\n"
                            "d = pd.DataFrame({'x': [1, 2], 'y': ['a', 'b']}, index=pd.date_range('2024', periods=2))\n"
                            "f = lambda s: np.sum(s) + d.x.sum()\nu = np.frompyfunc(abs, 1, 1) and np.add")
        self.assertEqual(self.plain(child, "a.tolist(), d.y.tolist(), str(d.index[0].date()), int(f(a)), int(u(1, 2))"),
                         "([[0, 1, 2], [3, 4, 5]], ['a', 'b'], '2024-01-01', 18, 3)")


if __name__ == "__main__":
    worker.main()

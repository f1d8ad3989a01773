"""The Python worker: runs one program, or cells one after the other, for the Skerry at the other end of a socket.

This text only defines things. A zygote executes it once and calls serve() in the children that it forks; in exec mode
`python3 -c` gets it with a call of serve() behind it. The text of python_streams.py stands behind it; nothing else is
needed but Python 3.9.
"""
import ast
import atexit
import base64
import builtins
import collections
import contextlib
import fcntl
import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import inspect
import io
import json
import linecache
import marshal
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import types

INTERRUPTED = 130
FLUSH_FAILED = 120
CANNOT_START = 126
TEXT_LIMIT = 1 << 20


# ---- The channel ----------------------------------------------------------------------------------------------------


class Channel:
    """Fields that end with a NUL, both ways. Only the process that made it ever uses it."""

    def __init__(self, descriptor):
        # Out of the way of programs that expect 3 to be free, and never inherited by what they start.
        self.descriptor = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(descriptor)
        status = os.fstat(self.descriptor)
        self.identity = (status.st_dev, status.st_ino)
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.buffer = memoryview(bytearray(1 << 18))
        self.fields = collections.deque()
        self.unfinished = []

    def is_ours(self):
        """False in a forked child, and after the program has closed the channel or put something else in its place."""
        if os.getpid() != self.pid:
            return False
        try:
            status = os.fstat(self.descriptor)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.identity

    def drop_in_child(self):
        with contextlib.suppress(OSError):
            status = os.fstat(self.descriptor)
            if (status.st_dev, status.st_ino) == self.identity:
                os.close(self.descriptor)

    def send(self, *fields):
        """A whole message or nothing: Context.on_interrupt knows this function and lets it finish."""
        if not self.is_ours():
            return
        rest = memoryview(b"".join([encoded(field) + b"\0" for field in fields]))
        with self.lock, contextlib.suppress(OSError):
            while rest:
                try:
                    rest = rest[os.write(self.descriptor, rest):]
                except BlockingIOError:
                    os.set_blocking(self.descriptor, True)

    def field(self):
        """The next field. The end of the stream ends the process."""
        while not self.fields:
            self.receive()
        return self.fields.popleft()

    def receive(self):
        if not self.is_ours():
            os._exit(0)
        try:
            count = os.readv(self.descriptor, [self.buffer])
        except BlockingIOError:
            os.set_blocking(self.descriptor, True)
            return
        except OSError:
            os._exit(0)
        if count == 0:
            os._exit(0)
        first, *rest = bytes(self.buffer[:count]).split(b"\0")
        self.unfinished.append(first)
        if rest:
            self.fields.append(b"".join(self.unfinished))
            self.unfinished = [rest.pop()]
            self.fields.extend(rest)

    def text(self):
        return self.field().decode("utf-8", "replace")


def encoded(field):
    if not isinstance(field, bytes):
        field = str(field).encode("utf-8", "replace")
    return field.replace(b"\0", b"") if b"\0" in field else field


# ---- Becoming a fresh interpreter -----------------------------------------------------------------------------------


def make_stream(descriptor, name, mode, errors, encoding="utf-8", unbuffered=False):
    """As CPython makes its standard streams."""
    try:
        raw_only = unbuffered and mode == "w"
        binary = open(descriptor, mode + "b", buffering=0 if raw_only else -1, closefd=False)
    except OSError:
        return None
    (binary if raw_only else binary.raw).name = name
    by_line = descriptor == 2 or unbuffered or binary.isatty()
    text = io.TextIOWrapper(binary, encoding, errors, newline="\n", line_buffering=by_line, write_through=raw_only)
    text.mode = mode
    return text


def make_streams(encoding="utf-8", errors="surrogateescape", unbuffered=False):
    end_of_pace()
    sys.stdin = sys.__stdin__ = make_stream(0, "<stdin>", "r", errors, encoding)
    sys.stdout = sys.__stdout__ = make_stream(1, "<stdout>", "w", errors, encoding, unbuffered)
    sys.stderr = sys.__stderr__ = make_stream(2, "<stderr>", "w", "backslashreplace", encoding, unbuffered)
    pace_standard_output()


def end_of_pace():
    """Ends what pace_standard_output() began."""


def pace_standard_output():
    global end_of_pace
    end_of_pace = pace_output(sys.stdout)


WARM_PROGRAM = b"""
import sys
class Thing:
    def __init__(self, value):
        self.value = value
def total(*values, **named):
    return sum(value for value in values)
things = {str(i): Thing(i) for i in range(10)}
print(f"{total(1, 2, 3):>8.2f}", [thing.value for thing in things.values()])
print(1)
1 / 0
"""


def touch(warm):
    """Rehearses a first program from its start to its end, so that its page faults happen now."""
    streams, main = (sys.stdout, sys.stderr), sys.modules.get("__main__")
    for _ in range(2):
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        replace_environment([b"%s=%s" % pair for pair in os.environb.items()])
        execute(WARM_PROGRAM)
        flush_streams()
        tear_down(frozenset(sys.modules))
    compile(ast.parse(WARM_PROGRAM), "<warm>", "exec")
    json.loads(json.dumps({"a": [1, 2.5, None, "b"]}))
    if warm == "data":
        with contextlib.suppress(Exception):
            touch_data(sys.stdout)
    sys.stdout, sys.stderr = streams
    sys.modules["__main__"] = main
    linecache.cache.pop("<code>", None)


def touch_data(stream):
    import pandas
    frame = pandas.DataFrame({"k": ["a", "b", "a", "c"], "v": [1, 2, 3, 4], "w": [0.5, 1.5, 2.5, 3.5]})
    groups = frame.groupby("k")
    print(frame, groups["v"].sum(), groups.mean(), frame.describe(), frame["v"].tolist(), file=stream)
    groups.agg({"v": "sum", "w": "mean"}).sort_values("v").reset_index().merge(frame, on="k").to_html()
    pandas.read_csv(io.StringIO(frame.to_csv(index=False)))
    frame[frame["v"] > 1].to_dict("records")


def reseed():
    """Everything that the process keeps and that two children of one zygote would otherwise have in common."""
    loaded = sys.modules.get
    if loaded("random"):
        loaded("random").seed()
    if loaded("ssl") or loaded("_ssl"):
        (loaded("ssl") or loaded("_ssl")).RAND_add(os.urandom(64), 64.0)
    if loaded("numpy.random"):
        loaded("numpy.random").seed(list(memoryview(os.urandom(2496)).cast("I")))
    if loaded("torch"):
        loaded("torch").seed()
    if loaded("uuid"):
        loaded("uuid")._node = loaded("uuid")._last_timestamp = None
    if loaded("tempfile"):
        loaded("tempfile")._name_sequence = loaded("tempfile").tempdir = None
    if loaded("site"):
        loaded("site").USER_BASE = loaded("site").USER_SITE = None
    reseed_multiprocessing(loaded)


def reseed_multiprocessing(loaded):
    process = loaded("multiprocessing.process")
    if process:
        process.current_process()._config["authkey"] = process.AuthenticationString(os.urandom(32))
    for module, owner in (("multiprocessing.synchronize", "SemLock"), ("multiprocessing.heap", "Arena")):
        holder = getattr(loaded(module), owner, None)
        if hasattr(holder, "_rand"):
            holder._rand = type(holder._rand)()


def flush_of_c():
    """What C code has printed through stdio is lost at os._exit unless somebody flushes it."""
    try:
        import ctypes
        return functools.partial(ctypes.CDLL(None).fflush, None)
    except (ImportError, OSError, AttributeError):
        return lambda: None


flush_c = flush_of_c()


def become_fresh(warm, forked):
    if forked:
        make_streams()
        sys.argv = ["-c"]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv = [sys.executable or "python3", "-c"]
    else:
        pace_standard_output()
    touch(warm)
    if forked:
        reseed()
    gc.enable()
    # What is here now is never garbage: the collection at the end of a program need not walk it.
    gc.freeze()
    gc.collect()


# A process that was just woken runs on cold caches, where a line costs ten times the usual. Between the first message
# and the program, and between its end and the last message, the short way is taken: no wrappers, no generality.


def apply_start(channel):
    """Reads directory and environment, and makes them this process's."""
    directory = channel.field()
    variables = [channel.field() for _ in range(int(channel.field()))]
    replace_environment(variables)
    obey_variables(os.environ._data)
    try:
        os.chdir(directory)
    except OSError as error:
        os.write(2, b"skerry: cannot enter " + directory + b": " + os.fsencode(error.strerror) + b"\n")
        os._exit(CANNOT_START)


def replace_environment(variables):
    """os.environ is a view of a dictionary of bytes."""
    values = os.environ._data
    zone = values.get(b"TZ")
    for name in values:
        os.unsetenv(name)
    values.clear()
    for variable in variables:
        name, equals, value = variable.partition(b"=")
        if name and equals:
            values[name] = value
            os.putenv(name, value)
    if b"MPLBACKEND" not in values:
        values[b"MPLBACKEND"] = b"Agg"
        os.putenv(b"MPLBACKEND", b"Agg")
    if values.get(b"TZ") != zone:
        time.tzset()


def set_variables(variables):
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if "TZ" in variables:
        time.tzset()


def obey_variables(values):
    """The variables that python3 looks at when it starts."""
    sys.dont_write_bytecode = bool(values.get(b"PYTHONDONTWRITEBYTECODE"))
    if b"PYTHONUNBUFFERED" in values or b"PYTHONIOENCODING" in values:
        encoding, _, errors = os.fsdecode(values.get(b"PYTHONIOENCODING", b"")).partition(":")
        with contextlib.suppress(LookupError):
            make_streams(encoding or "utf-8", errors or ("strict" if encoding else "surrogateescape"),
                         bool(values.get(b"PYTHONUNBUFFERED")))
    if "matplotlib" in sys.modules:
        with contextlib.suppress(Exception):
            sys.modules["matplotlib"].rcParams["backend"] = os.fsdecode(values[b"MPLBACKEND"])
    own = [path for path in sys.path if path]
    extra = [path for path in os.fsdecode(values.get(b"PYTHONPATH", b"")).split(":") if path and path not in own]
    sys.path[:] = ["", *extra, *own]
    if b"PYTHONNOUSERSITE" not in values:
        add_user_site(os.fsdecode(values.get(b"PYTHONUSERBASE") or values.get(b"HOME", b"") + b"/.local"))


USER_SITE = "/lib/python%d.%d/site-packages" % sys.version_info[:2]


def add_user_site(base):
    path = base + USER_SITE
    try:
        os.stat(path)
    except OSError:
        return
    import site
    before = len(sys.path)
    sys.path_importer_cache.pop(path, None)
    site.addsitedir(path)
    added = sys.path[before:]
    del sys.path[before:]
    packages = [i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages"))]
    place = packages[0] if packages else before
    sys.path[place:place] = added


def fresh_main():
    main = types.ModuleType("__main__")
    main.__dict__.update(__loader__=importlib.machinery.BuiltinImporter, __annotations__={}, __builtins__=builtins)
    sys.modules["__main__"] = main
    return main


def remember_source(filename, text):
    """Tracebacks then show the lines."""
    if not text.endswith("\n"):
        text += "\n"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)


def without_our_frames(trace):
    """Neither those that called the program nor those that it was in when a signal came."""
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    frame = end = trace
    while frame is not None:
        if frame.tb_frame.f_globals is not globals():
            end = frame
        frame = frame.tb_next
    if end is not None:
        end.tb_next = None
    return trace


# ---- One program ----------------------------------------------------------------------------------------------------


def run(channel, known):
    name = os.fsdecode(channel.field())
    sys.argv = [name or "-c", *[os.fsdecode(channel.field()) for _ in range(int(channel.field()))]]
    text = channel.field()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = execute(text)
    status = finish(status, known)
    channel.send("exit", status)
    os._exit(status)


def execute(text):
    """The exit status the program has earned."""
    try:
        main = fresh_main()
        remember_source("<code>", text.decode("utf-8", "replace"))
        exec(compile(text, "<code>", "exec", dont_inherit=True), main.__dict__)
    except SystemExit as error:
        return status_of_exit(error)
    except BaseException as error:
        return status_of_failure(error)
    return 0


def status_of_exit(error):
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    with contextlib.suppress(Exception):
        print(code, file=getattr(sys, "stderr", None) or io.StringIO())
    return 1


def status_of_failure(error):
    kind, trace = type(error), without_our_frames(error.__traceback__)
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    hook = getattr(sys, "excepthook", sys.__excepthook__)
    try:
        if hook is sys.__excepthook__:
            show(error)
        elif hook is not None:
            hook(kind, error, trace)
    except SystemExit as other:
        return status_of_exit(other)
    except BaseException as other:
        with contextlib.suppress(Exception):
            other.__traceback__ = without_our_frames(other.__traceback__)
            print("Error in sys.excepthook:", file=sys.stderr)
            show(other)
            print("\nOriginal exception was:", file=sys.stderr)
            show(error)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def show(error):
    if getattr(sys, "stderr", None) is not None:
        with contextlib.suppress(OSError, ValueError):
            traceback.print_exception(type(error), error, error.__traceback__)


def finish(status, known):
    """What CPython does between the last line of a program and its exit."""
    try:
        threading._shutdown()
    except BaseException:
        pass
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_of_pace()
    flushed = flush_streams()
    try:
        tear_down(known)
    except BaseException:
        pass
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(BaseException):
            stream.flush()
    flush_c()
    return status if flushed else FLUSH_FAILED


def flush_streams():
    flushed = True
    for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None)):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            flushed = False
            if stream is not getattr(sys, "stderr", None):
                with contextlib.suppress(BaseException):
                    print(f"Exception ignored in: {stream!r}", file=sys.stderr)
                    print("".join(traceback.format_exception_only(type(error), error)), end="", file=sys.stderr)
    return flushed


WRITERS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def tear_down(known):
    """Destroys what the program made, so that files that it left open reach the disk."""
    sys.settrace(None)
    sys.setprofile(None)
    sys.excepthook = sys.__excepthook__
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        sys.__dict__.pop(name, None)
    if len(sys.modules) != len(known):
        for name in sys.modules.keys() - known:
            if is_the_programs(sys.modules[name]):
                del sys.modules[name]
    scope = id(getattr(sys.modules.pop("__main__", None), "__dict__", None))
    # In a cycle the collector may close a file before the text above it has been written to it: flush before.
    flush_files()
    gc.collect()
    if len(sys._current_frames()) == 1:
        for thing in gc.get_objects():
            if id(thing) == scope and type(thing) is dict and thing.get("__name__") == "__main__":
                clear(thing)
                break
    flush_files()


def flush_files():
    for thing in gc.get_objects():
        if issubclass(type(thing), WRITERS):
            try:
                if not thing.closed:
                    thing.flush()
            except Exception:
                pass


OWN_DIRECTORIES = tuple({os.path.dirname(os.__file__) + "/", os.path.join(sys.prefix, "lib") + "/"})


def is_the_programs(module):
    """Modules of the distribution hold no files of the program, and would take long to take apart."""
    path = getattr(module, "__file__", None)
    return isinstance(path, str) and not path.startswith(OWN_DIRECTORIES)


def clear(scope):
    """As CPython clears a module that something else still refers to."""
    for private in (True, False):
        for name in list(scope):
            if name != "__builtins__" and (name[:1] == "_" and name[1:2] != "_") is private:
                scope[name] = None
    gc.collect()


# ---- Cells ----------------------------------------------------------------------------------------------------------


class Context:
    """One __main__ in which cells run one after the other."""

    def __init__(self, channel):
        self.channel = channel
        self.main = fresh_main()
        self.scope = self.main.__dict__
        self.count = 0
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.loop = None
        self.armed = self.pending = False
        self.paths = list(sys.path)
        self.lent = {}
        builtins.display = self.display
        builtins._ = None
        watch_for_pyplot(self)
        signal.signal(signal.SIGINT, self.on_interrupt)

    def serve(self):
        requests = {b"variable": self.variable, b"cell": self.cell, b"dump": self.dump, b"load": self.load}
        while True:
            self.run_background_tasks()
            request = requests.get(self.channel.field())
            if request is None:
                os._exit(CANNOT_START)
            request()

    # A SIGINT interrupts what call() has called, never the worker itself nor half a message.
    def on_interrupt(self, number, frame):
        inner = frame
        while frame is not None:
            if frame.f_code is Channel.send.__code__:
                self.pending = True
                return
            if frame.f_code is Context.call.__code__:
                if frame is not inner:
                    raise KeyboardInterrupt
                break
            frame = frame.f_back
        self.pending = self.armed

    def call(self, function, *arguments):
        return function(*arguments)

    def raise_if_interrupted(self):
        if self.pending:
            self.pending = False
            raise KeyboardInterrupt

    def variable(self):
        """One of the environment of the next cell."""
        name = os.fsdecode(self.channel.field())
        self.lent[name] = os.fsdecode(self.channel.field())

    def cell(self):
        self.armed, self.pending = True, False
        identity, text = self.channel.field(), self.channel.text()
        lent, self.lent = self.lent, {}
        before = {name: os.environ.get(name) for name in lent}
        set_variables(lent)
        self.answer(identity, self.run_cell, text)
        # What the cell has changed by itself stays as it made it.
        set_variables({name: before[name] for name, value in lent.items() if os.environ.get(name) == value})

    def answer(self, identity, function, *arguments):
        status = "ok"
        self.last_words = ()
        try:
            self.armed = True
            function(*arguments)
        except BaseException as error:
            status = "error"
            self.leave_if_child(error)
            self.report(error)
        self.armed = False
        self.leave_if_child(None)
        self.flush()
        # In one message: who waits for it is woken once.
        self.channel.send(*self.last_words, "done", identity, status)

    def leave_if_child(self, error):
        """A child that the cell forked has come to the end of it."""
        if os.getpid() == self.channel.pid:
            return
        status = 0
        if error is not None:
            status = status_of_exit(error) if isinstance(error, SystemExit) else status_of_failure(error)
        self.flush()
        os._exit(status)

    def flush(self):
        streams = [getattr(sys, "stdout", None), getattr(sys, "stderr", None)]
        streams += [stream for stream in (sys.__stdout__, sys.__stderr__) if stream not in streams]
        for stream in streams:
            with contextlib.suppress(BaseException):
                stream.flush()
        flush_c()
        if getattr(getattr(sys, "stdin", None), "closed", False):  # exit() closes it
            sys.stdin = sys.__stdin__ = make_stream(0, "<stdin>", "r", "surrogateescape")

    def run_cell(self, text):
        try:
            value = self.call(self.evaluate, text)
            bundle = self.call(bundle_of, value) if value is not None else None
            if os.getpid() == self.channel.pid and bundle:
                builtins._ = value
                self.last_words = self.words_of("result", bundle)
        finally:
            if "matplotlib.pyplot" in sys.modules and os.getpid() == self.channel.pid:
                self.call(self.show_figures)

    def evaluate(self, text):
        """The value of the last expression."""
        self.count += 1
        filename = "<cell %d>" % self.count
        remember_source(filename, text)
        tree = ast.parse(text, filename)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        codes = [compile(tree, filename, "exec", self.flags, True)] if tree.body else []
        self.flags |= codes[0].co_flags & FUTURE_FLAGS if codes else 0
        if last is not None:
            codes.append(compile(ast.Expression(last.value), filename, "eval", self.flags, True))
        self.raise_if_interrupted()
        value = self.evaluate_codes(codes)
        return None if last is None or is_silenced(text, last) else value

    def evaluate_codes(self, codes):
        if any(code.co_flags & inspect.CO_COROUTINE for code in codes):
            return self.wait_for(self.evaluate_in_loop(codes))
        value = None
        for code in codes:
            value = eval(code, self.scope)
        return value

    async def evaluate_in_loop(self, codes):
        value = None
        for code in codes:
            value = eval(code, self.scope)
            if code.co_flags & inspect.CO_COROUTINE:
                value = await value
        return value

    def wait_for(self, coroutine):
        import asyncio
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            return self.loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                self.loop.run_until_complete(asyncio.wait({task}, timeout=1))
            if task.done() and not task.cancelled():
                task.exception()
            raise

    def run_background_tasks(self):
        """Tasks that cells have left in the loop go on until there is something to read."""
        loop = self.loop
        if loop is None or self.channel.fields:
            return
        import asyncio
        while not loop.is_closed() and (asyncio.all_tasks(loop) or getattr(loop, "_scheduled", None)):
            readable = loop.create_future()
            with contextlib.suppress(BaseException):
                loop.add_reader(self.channel.descriptor, lambda: readable.done() or readable.set_result(None))
                loop.run_until_complete(readable)
            loop.remove_reader(self.channel.descriptor)
            if readable.done() or not self.channel.is_ours():
                return

    def report(self, error):
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_globals is not self.scope:
            trace = trace.tb_next
        trace = without_our_frames(trace or error.__traceback__)
        try:
            text = "".join(traceback.format_exception(type(error), error, trace))
        except BaseException:
            text = type(error).__name__ + "\n"
        try:
            message = str(error)
        except BaseException:
            message = "<exception str() failed>"
        self.channel.send("error", type(error).__name__, message, text)

    def send_bundle(self, kind, bundle):
        self.channel.send(*self.words_of(kind, bundle))

    def words_of(self, kind, bundle):
        return kind, len(bundle), *[field for pair in bundle.items() for field in pair]

    def display(self, *values, raw=False, **_):
        """Shows each value in its richest form. With raw=True a value is a dictionary of MIME types and data."""
        for value in values:
            bundle = {}
            if raw:
                add_bundle(bundle, value)
            else:
                bundle = bundle_of(value)
            self.send_bundle("display", bundle)
            self.raise_if_interrupted()

    def show_figures(self):
        pyplot = sys.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            try:
                self.send_bundle("display", {"image/png": picture_of(figure), "text/plain": repr(figure)})
            finally:
                pyplot.close(figure)
            self.raise_if_interrupted()

    def dump(self):
        identity = self.channel.field()
        self.answer(identity, self.call, dump_state, self, identity)

    def load(self):
        identity, state = self.channel.field(), self.channel.field()
        self.answer(identity, self.call, load_state, self, state)


def future_flags():
    import __future__
    return functools.reduce(lambda flags, name: flags | getattr(__future__, name).compiler_flag,
                            __future__.all_feature_names, 0)


FUTURE_FLAGS = future_flags()


def is_silenced(text, expression):
    """A semicolon behind the last expression."""
    line = text.encode("utf-8", "replace").split(b"\n")[expression.end_lineno - 1:][:1]
    return bool(line) and line[0][expression.end_col_offset:].lstrip().startswith(b";")


# ---- Rich output ----------------------------------------------------------------------------------------------------


RICH = (("_repr_html_", "text/html"), ("_repr_svg_", "image/svg+xml"), ("_repr_png_", "image/png"),
        ("_repr_json_", "application/json"))


def bundle_of(value):
    """MIME type to data; text/plain is always there."""
    bundle = {"text/plain": plain(value)}
    kind = type(value)
    if issubclass(kind, type):
        return bundle
    for method, mime in RICH:
        if getattr(kind, method, None) is not None:
            with contextlib.suppress(Exception):
                add_data(bundle, mime, getattr(value, method)())
    if getattr(kind, "_repr_mimebundle_", None) is not None:
        with contextlib.suppress(Exception):
            add_bundle(bundle, value._repr_mimebundle_(include=None, exclude=None))
    if kind in (dict, list) and len(bundle["text/plain"]) < TEXT_LIMIT:
        with contextlib.suppress(Exception):
            data = json.dumps(value, allow_nan=False)
            if len(data) < TEXT_LIMIT:
                bundle["application/json"] = data
    if is_figure(kind):
        with contextlib.suppress(Exception):
            bundle["image/png"] = picture_of(value)
            sys.modules["matplotlib.pyplot"].close(value)
    return bundle


def plain(value):
    try:
        text = repr(value)
    except Exception as error:
        return f"<{type(value).__name__} object, its repr() failed with {type(error).__name__}>"
    if len(text) > TEXT_LIMIT:
        text = text[:TEXT_LIMIT] + "\N{HORIZONTAL ELLIPSIS}"
    return text


def add_bundle(bundle, data):
    data = data[0] if isinstance(data, tuple) else data
    for mime, item in (data or {}).items():
        add_data(bundle, str(mime), item)


def add_data(bundle, mime, data):
    if isinstance(data, tuple):  # with metadata
        data = data[0]
    if data is None:
        return
    if mime == "application/json" or mime.endswith("+json"):
        bundle[mime] = data if isinstance(data, str) else json.dumps(data)
    elif isinstance(data, (bytes, bytearray, memoryview)):
        is_text = mime.startswith("text/") or mime == "image/svg+xml"
        bundle[mime] = bytes(data) if is_text else base64.b64encode(data)
    else:
        bundle[mime] = str(data)


def is_figure(kind):
    figure = sys.modules.get("matplotlib.figure")
    return figure is not None and issubclass(kind, figure.Figure)


def picture_of(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return base64.b64encode(buffer.getbuffer())


def watch_for_pyplot(context):
    """show() sends the figures at that moment. It is ours from the import of pyplot on."""
    def show(*_, **__):
        context.show_figures()

    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.show = show
    else:
        sys.meta_path.insert(0, PyplotFinder(show))


class PyplotFinder:
    def __init__(self, show):
        self.show = show

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute_module = spec.loader.exec_module

        def exec_module(module):
            execute_module(module)
            module.show = self.show

        spec.loader.exec_module = exec_module
        return spec


# ---- The state of a context, for another one ------------------------------------------------------------------------
# What cells have defined goes by value, what can be imported goes by name. The variables are pickled one after the
# other with one memory, so that what they share stays shared. Protocol 3 numbers what it remembers, so that a variable
# that cannot be loaded takes only those with it that share something with it.


STATE_MODULE = "_skerry_state"
PROTOCOL = 3


class StatePickler(pickle.Pickler):
    def __init__(self, file, scope):
        super().__init__(file, PROTOCOL)
        self.scope = scope

    def reducer_override(self, thing):
        kind = type(thing)
        if kind is types.FunctionType:
            return NotImplemented if found_by_name(thing) else reduce_function(thing, self.scope)
        if issubclass(kind, type):
            return reduce_class(thing)
        reduce = REDUCERS.get(kind) or REDUCERS_BY_NAME.get((kind.__module__, kind.__name__))
        return reduce(thing) if reduce is not None else NotImplemented


def found_by_name(thing):
    """True for a function or class that importing its module brings back."""
    module = sys.modules.get(thing.__module__) if isinstance(thing.__module__, str) else None
    if module is None or thing.__module__ == "__main__":
        return False
    found = module
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is thing


def reduce_function(function, scope):
    names = function.__globals__
    module = sys.modules.get(names.get("__name__"))
    if names is scope:
        names = None
    elif module is not None and getattr(module, "__dict__", None) is names:
        names = names["__name__"]
    else:
        used = names_in(function.__code__) | {"__name__"}
        names = {name: value for name, value in names.items() if name in used}
    state = {name: getattr(function, name) for name in FUNCTION_STATE if hasattr(function, name)}
    state["__dict__"] = function.__dict__
    create = (marshal.dumps(function.__code__), names, function.__closure__)
    return make_function, create, state, None, None, set_function


FUNCTION_STATE = ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__",
                  "__annotations__", "__type_params__")


def names_in(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_in(constant)
    return names


def make_function(code, names, closure):
    if names is None:
        names = sys.modules["__main__"].__dict__
    elif isinstance(names, str):
        names = importlib.import_module(names).__dict__
    return types.FunctionType(marshal.loads(code), names, None, None, closure)


def set_function(function, state):
    function.__dict__.update(state.pop("__dict__"))
    for name, value in state.items():
        setattr(function, name, value)


def reduce_cell(cell):
    try:
        return make_cell, (), (cell.cell_contents,), None, None, set_cell
    except ValueError:
        return make_cell, ()


def make_cell():
    return types.CellType()


def set_cell(cell, state):
    cell.cell_contents = state[0]


def reduce_class(cls):
    if cls.__module__ == "builtins" and getattr(builtins, cls.__name__, None) is not cls:
        name = next((name for name, value in vars(types).items() if value is cls), None)
        return (getattr, (types, name)) if name else NotImplemented
    if found_by_name(cls) or not cls.__flags__ & 1 << 9:  # not made by a class statement
        return NotImplemented
    state = {name: value for name, value in vars(cls).items() if is_class_state(name, value)}
    if "enum" in sys.modules and isinstance(cls, sys.modules["enum"].EnumMeta):
        return reduce_enum(cls, state)
    fixed = {name: state.pop(name) for name in FIXED_AT_CREATION if name in state}
    return make_class, (type(cls), cls.__name__, cls.__bases__, fixed), state, None, None, set_class


FIXED_AT_CREATION = ("__slots__", "__module__", "__qualname__", "__orig_bases__")


def is_class_state(name, value):
    if name in ("__dict__", "__weakref__", "__static_attributes__", "__firstlineno__") or name.startswith("_abc_"):
        return False
    return not isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))


def make_class(metaclass, name, bases, fixed):
    return types.new_class(name, bases, {"metaclass": metaclass}, lambda scope: scope.update(fixed))


def set_class(cls, state):
    for name, value in state.items():
        setattr(cls, name, value)


def reduce_enum(cls, state):
    if "__new_member__" in state and is_from_a_cell(state["__new_member__"]):
        raise pickle.PicklingError(f"the members of {cls.__name__} cannot be made again")
    members = {name: member.value for name, member in cls.__members__.items()}
    scope = {name: value for name, value in state.items() if name not in members and is_from_a_cell(value)}
    scope.update(__module__=cls.__module__, __qualname__=cls.__qualname__, __doc__=cls.__doc__, **members)
    return make_enum, (type(cls), cls.__name__, cls.__bases__, scope)


def is_from_a_cell(thing):
    function = getattr(thing, "__func__", getattr(thing, "fget", thing))
    return isinstance(function, types.FunctionType) and function.__module__ == "__main__"


def make_enum(metaclass, name, bases, entries):
    scope = metaclass.__prepare__(name, bases)
    for entry, value in entries.items():
        scope[entry] = value
    return metaclass(name, bases, scope)


def reduce_module(module):
    if sys.modules.get(module.__name__) is not module:
        raise pickle.PicklingError(f"module {module.__name__} cannot be imported")
    return importlib.import_module, (module.__name__,)


def reduce_cached(function):
    return make_cached, (function.__wrapped__, function.cache_parameters())


def make_cached(function, parameters):
    return functools.lru_cache(**parameters)(function)


def reduce_sentinel(thing):
    """The values of dataclasses that are compared by identity."""
    module = sys.modules["dataclasses"]
    name = next((name for name, value in vars(module).items() if value is thing), None)
    return (getattr, (module, name)) if name else NotImplemented


def reduce_type_variable(variable):
    if variable.__module__ != "__main__":
        return NotImplemented
    named = {"bound": variable.__bound__, "covariant": variable.__covariant__,
             "contravariant": variable.__contravariant__}
    return make_type_variable, (type(variable), variable.__name__, variable.__constraints__, named)


def make_type_variable(kind, name, constraints, named):
    return kind(name, *constraints, **named)


REDUCERS = {
    types.ModuleType: reduce_module,
    types.CellType: reduce_cell,
    types.CodeType: lambda code: (marshal.loads, (marshal.dumps(code),)),
    types.MappingProxyType: lambda proxy: (types.MappingProxyType, (dict(proxy),)),
    property: lambda thing: (property, (thing.fget, thing.fset, thing.fdel, thing.__doc__)),
    staticmethod: lambda thing: (staticmethod, (thing.__func__,)),
    classmethod: lambda thing: (classmethod, (thing.__func__,)),
    functools.cached_property: lambda thing: (functools.cached_property, (thing.func,), {"attrname": thing.attrname}),
    type(functools.lru_cache(len)): reduce_cached,
}
# Of modules that need not be loaded.
REDUCERS_BY_NAME = {
    ("dataclasses", "_MISSING_TYPE"): reduce_sentinel,
    ("dataclasses", "_FIELD_BASE"): reduce_sentinel,
    ("dataclasses", "_HAS_DEFAULT_FACTORY_CLASS"): reduce_sentinel,
    ("dataclasses", "_KW_ONLY_TYPE"): reduce_sentinel,
    ("typing", "TypeVar"): reduce_type_variable,
}
MAKERS = (make_function, set_function, make_cell, set_cell, make_class, set_class, make_enum, make_cached,
          make_type_variable)


class StateUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if module == STATE_MODULE:
            return globals()[name]
        return super().find_class(module, name)


class StateError(Exception):
    pass


@contextlib.contextmanager
def makers_found_by_name():
    module = types.ModuleType(STATE_MODULE)
    for maker in MAKERS:
        maker.__module__ = STATE_MODULE
        setattr(module, maker.__name__, maker)
    sys.modules[STATE_MODULE] = module
    try:
        yield
    finally:
        sys.modules.pop(STATE_MODULE, None)


def dump_state(context, identity):
    names = [name for name in context.scope if not (name.startswith("__") and name.endswith("__"))]
    with makers_found_by_name():
        records, kept = pickle_variables(context.scope, names)
    header = {
        "version": list(sys.version_info[:2]),
        "count": context.count,
        "flags": context.flags,
        "path": [path for path in sys.path if path not in context.paths],
        "sources": {name: "".join(entry[2]) for name, entry in linecache.cache.items()
                    if name.startswith("<cell ") and len(entry) == 4},
        "records": [[name, len(record)] for name, record in zip(kept, records)],
    }
    state = base64.b64encode(b"\0".join([json.dumps(header).encode(), b"".join(records)]))
    context.channel.send("state", identity, state, json.dumps([name for name in names if name not in kept], ensure_ascii=False))


def pickle_variables(scope, names):
    """The records, and the names of those variables that could be pickled."""
    while True:
        records, bad = pickle_in_order(scope, names)
        if bad is None:
            return records, names
        # The pickler remembers things of the failed variable that nobody will write: it starts again without.
        names = [name for name in names if name != bad and pickle_in_order(scope, [name])[1] is None]


def pickle_in_order(scope, names):
    buffer, records, start = io.BytesIO(), [], 0
    pickler = StatePickler(buffer, scope)
    for name in names:
        try:
            pickler.dump(scope[name])
        except Exception:
            return None, name
        records.append(bytes(buffer.getbuffer()[start:]))
        start = buffer.tell()
    return records, None


def load_state(context, state):
    header, _, blob = base64.b64decode(state).partition(b"\0")
    header = json.loads(header)
    if header["version"] != list(sys.version_info[:2]):
        raise StateError("the state is one of Python %d.%d" % tuple(header["version"]))
    sys.path += [path for path in header["path"] if path not in sys.path]
    context.count = max(context.count, header["count"])
    context.flags |= header["flags"]
    for name, source in header["sources"].items():
        remember_source(name, source)
    failures = unpickle_variables(context.scope, io.BytesIO(blob), header["records"])
    if failures:
        raise StateError("not loaded: " + "; ".join(failures))


def unpickle_variables(scope, file, records):
    unpickler, failures, start = StateUnpickler(file), [], 0
    for name, size in records:
        file.seek(start)
        try:
            scope[name] = unpickler.load()
        except Exception as error:
            failures.append(f"{name} ({type(error).__name__}: {error})")
        start += size
    return failures


# ---- The entry ------------------------------------------------------------------------------------------------------


def serve(channel=3, forked=True, warm="bare"):
    """Serves the channel and never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        connection = Channel(channel)
        os.register_at_fork(after_in_child=connection.drop_in_child)
        become_fresh(warm, forked)
        known = frozenset(sys.modules)
        connection.send("ready")
        kind = connection.field()
        apply_start(connection)
        if kind == b"run":
            run(connection, known)
        elif kind == b"cells":
            Context(connection).serve()
    except BaseException:
        traceback.print_exc()
    finally:
        # Whatever happens: the code behind the call is the zygote's.
        os._exit(CANNOT_START)

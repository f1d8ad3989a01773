"""Runs the text at descriptor 3 as `__main__`, with the working directory first on the path, as `python3 -c` does.

python_streams.py stands before it. A traceback shows the lines of the program and none of this text.
"""


def load():
    import atexit
    import sys
    import __main__
    with open(3, "rb") as file:
        source = file.read()
    scope = __main__.__dict__
    sys.argv[:2] = [sys.argv[1] or "-c"]
    atexit.register(scope["pace_output"](sys.stdout))
    del scope["pace_output"], scope["load"]
    scope["__doc__"] = None

    def show(kind, value, trace):
        import linecache
        import traceback
        lines = source.decode("utf-8", "replace").splitlines(True)
        linecache.cache["<code>"] = (len(source), None, lines, "<code>")
        while trace is not None and trace.tb_frame.f_code.co_filename == "<string>":
            trace = trace.tb_next
        traceback.print_exception(kind, value, trace)

    sys.excepthook = show
    exec(compile(source, "<code>", "exec", dont_inherit=True), scope)


load()

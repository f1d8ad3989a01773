"""The Python zygote: loads an interpreter with its modules once, and is then forked into sandboxes.

It runs on the host, started by the launcher with a socket at 3, the library that forks at 4 and this text (with the worker's
before it, whose serve() it calls) at 5. It never sees a byte of what will run.
"""
import ctypes
import random
import tempfile

USUAL = ("argparse", "bisect", "copy", "csv", "dataclasses", "datetime", "decimal", "enum", "fractions", "glob", "hashlib",
         "heapq", "html", "itertools", "logging", "math", "operator", "pathlib", "pprint", "queue", "re", "secrets", "shutil",
         "socket", "ssl", "statistics", "string", "struct", "subprocess", "textwrap", "typing", "urllib.parse", "uuid",
         "zlib")
DATA = ("numpy", "pandas")


def load(names):
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def become_zygote(warm):
    library = ctypes.PyDLL("/proc/self/fd/4")
    if library.SkerryPrepareZygote() != 0:
        os._exit(3)
    os.close(4)
    os.close(5)
    load(USUAL + (DATA if warm == "data" else ()))
    touch(warm)
    # A thread would be missing in every child, perhaps with a lock in its hand.
    if len(os.listdir("/proc/self/task")) != 1:
        os._exit(4)
    gc.collect()
    gc.freeze()
    if library.SkerryServeZygote(3) == 0:
        os._exit(0)
    serve(3, True, warm)

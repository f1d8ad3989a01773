"""The regular expressions of the documents and their procedure, kept to compare Skerry's policy with."""
import ast
import os
import re
import shlex
import warnings

LEVELS = ("safe", "low", "medium", "high", "critical")

PYTHON_CRITICAL = (
    r"__import__\s*\(",
    r"\beval\s*\(",
    r"\bexec\s*\(",
    r"\bcompile\s*\(",
    r"__builtins__",
    r"getattr\s*\(.+__",
    r"os\.system\s*\(",
    r"subprocess\.",
    r"popen\s*\(",
)
PYTHON_HIGH = (
    r"open\s*\(.+['\"]w",
    r"\.write\s*\(",
    r"shutil\.",
    r"requests\.",
    r"urllib\.",
    r"socket\.",
    r"import\s+os\b",
    r"import\s+sys\b",
    r"import\s+pickle\b",
)
PYTHON_MEDIUM = (
    r"open\s*\(.+['\"]r",
    r"\.read\s*\(",
    r"json\.load",
    r"os\.environ",
)

SHELL_CRITICAL = (
    r"rm\s+-rf\s+/",
    r"rm\s+-rf\s+~",
    r"dd\s+if=",
    r"mkfs\.",
    r":\(\)\s*\{",
    r">\s*/dev/",
    r"curl.+\|\s*sh",
    r"wget.+\|\s*sh",
)
SHELL_HIGH = (
    r"\brm\s+",
    r"\bmv\s+",
    r">\s*\w",
    r"git\s+push",
    r"git.+--force",
    r"\bsudo\s+",
    r"\bchmod\s+",
)
SHELL_SAFE_COMMANDS = {
    "ls", "tree", "find", "pwd", "file", "stat",
    "cat", "head", "tail", "less", "more",
    "grep", "rg", "ag", "ack",
    "wc", "du", "echo", "which", "whereis",
}

JAVASCRIPT_CRITICAL = (
    r"\beval\s*\(",
    r"new\s+Function",
    r"child_process",
)
JAVASCRIPT_HIGH = (
    r"require\s*\(['\"]fs",
    r"require\s*\(['\"]http",
    r"\bfetch\s*\(",
)

BROWSER_HIGH = (r"password", r"credit", r"pay")


def matches(patterns, text):
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def imports_a_watched_module(code):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except SyntaxError:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            if any(alias.name in ("os", "sys", "subprocess", "ctypes") for alias in node.names):
                return True
        elif isinstance(node, ast.ImportFrom):
            # The documents left ctypes out here.
            if node.module and node.module.split(".")[0] in ("os", "sys", "subprocess"):
                return True
    return False


def python_level(code):
    if matches(PYTHON_CRITICAL, code):
        return "critical"
    if matches(PYTHON_HIGH, code):
        return "high"
    if matches(PYTHON_MEDIUM, code):
        return "medium"
    return "high" if imports_a_watched_module(code) else "safe"


def shell_level(command):
    if matches(SHELL_CRITICAL, command):
        return "critical"
    if matches(SHELL_HIGH, command):
        return "high"
    try:
        parts = shlex.split(command)
    except ValueError:
        return "medium"
    if parts and os.path.basename(parts[0]) in SHELL_SAFE_COMMANDS:
        return "safe"
    return "medium"


def javascript_level(code):
    if matches(JAVASCRIPT_CRITICAL, code):
        return "critical"
    return "high" if matches(JAVASCRIPT_HIGH, code) else "safe"


def browser_level(action, parameters):
    text = f"{action} {parameters}".lower()
    return "high" if any(re.search(pattern, text) for pattern in BROWSER_HIGH) else "low"


def level_of(code, language):
    """The level that the documents give. A browser's code is the action, a newline, a JSON object of parameters."""
    if language == "python":
        return python_level(code)
    if language == "shell":
        return shell_level(code)
    if language == "javascript":
        return javascript_level(code)
    if language == "browser":
        action, _, parameters = code.partition("\n")
        return browser_level(action, parameters)
    return "high"

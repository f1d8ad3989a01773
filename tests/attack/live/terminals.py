"""K: what a program says makes the terminal of the person who reads it answer or act."""

import contextlib
import os
import pty
import secrets
import select
import subprocess
import time

from live.rows import NotRun, live

CLIPBOARD = b"\x1b]52;c;ZXZpbA==\x07"
LINES = {"clipboard": CLIPBOARD, "clipboard, in two-byte controls": "\u009d52;c;ZXZpbA==\u009c".encode(),
         "link": b"\x1b]8;;http://evil.example\x1b\\", "title": b"\x1b]0;evil\x07", "where is the cursor": b"\x1b[6n",
         "what are you": b"\x1b[c", "type the title": b"\x1b[21t", "answerback": b"\x05", "print": b"\x1b[5i",
         "terminfo": b"\x1bP+q544e\x1b\\", "other screen": b"\x1b[?1049h", "keys": b"\x1b[>4;2m"}
SCREEN = {name: LINES[name] for name in ("clipboard", "clipboard, in two-byte controls", "link", "type the title",
                                         "answerback", "print", "terminfo", "keys")}


def printing(sequences, nonce):
    """Python that writes each sequence in two pieces, between two words."""
    pieces = [piece for bytes_ in sequences for piece in (bytes_[:2], bytes_[2:])]
    return (f"import os,time\nos.write(1, b'begin-{nonce} ')\nfor piece in {pieces!r}:\n    os.write(1, piece)\n"
            f"    time.sleep(0.01)\nos.write(1, b' end-{nonce}\\n')\n")


def on_terminal(command, environment, until, seconds=60):
    """Every byte that comes out at a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, env=environment, stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True)
    os.close(slave)
    seen, deadline = b"", time.monotonic() + seconds
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline:
            if not select.select([master], [], [], 0.2)[0]:
                if process.poll() is not None:
                    break
                continue
            seen += os.read(master, 65536)
            if until in seen and process.poll() is not None:
                break
    process.kill()
    process.wait()
    os.close(master)
    return seen


def judged(seen, sequences, nonce):
    if f"begin-{nonce}".encode() not in seen or f"end-{nonce}".encode() not in seen:
        raise NotRun(f"the program's words are not there: {seen[-200:]!r}")
    found = [name for name, bytes_ in sequences.items() if bytes_ in seen]
    return bool(found), "at the terminal: " + ", ".join(found) if found else f"{len(sequences)} left out, all words there"


@live("K31", "Escape", "sequences that a terminal answers or acts on, by skerry run", "left out, no word lost")
def _(house):
    nonce = secrets.token_hex(4)
    command = [house.binary, "run", "--yes", printing(LINES.values(), nonce)]
    return judged(on_terminal(command, house.environment(), f"end-{nonce}".encode()), LINES, nonce)


@live("K32", "Escape", "the same by skerry exec, with a terminal and without", "left out, no word lost")
def _(house):
    session = house.owner.expect(201, "POST", "/v1/sessions", metadata={})["id"]
    try:
        found = []
        for flags, sequences in (((), LINES), (("-t",), SCREEN)):
            nonce = secrets.token_hex(4)
            command = [house.binary, "exec", "--yes", *flags, session, "--", "python3", "-c",
                       printing(sequences.values(), nonce)]
            breached, detail = judged(on_terminal(command, house.environment(), f"end-{nonce}".encode()), sequences,
                                      nonce)
            found.append((breached, ("-t: " if flags else "") + detail))
    finally:
        house.owner.ask("DELETE", f"/v1/sessions/{session}")
    return any(breached for breached, _ in found), "; ".join(detail for _, detail in found)


@live("K33", "Escape", "the same in a file that is read with skerry fs read", "left out, no word lost")
def _(house):
    nonce, session = secrets.token_hex(4), house.owner.expect(201, "POST", "/v1/sessions", metadata={})["id"]
    text = f"begin-{nonce} ".encode() + b"".join(LINES.values()) + f" end-{nonce}\n".encode()
    try:
        house.owner.expect(200, "PUT", f"/v1/sessions/{session}/files/content", query={"path": "f"}, body=text)
        command = [house.binary, "fs", "read", session, "f"]
        return judged(on_terminal(command, house.environment(), f"end-{nonce}".encode()), LINES, nonce)
    finally:
        house.owner.ask("DELETE", f"/v1/sessions/{session}")

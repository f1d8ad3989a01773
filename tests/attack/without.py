"""Starts a program on a kernel that seems to lack something: without.py FEATURE PROGRAM [ARGUMENT...]"""

import ctypes
import os
import struct
import sys

X86 = os.uname().machine == "x86_64"
ARCHITECTURE = 0xC000003E if X86 else 0xC00000B7
SECCOMP = 317 if X86 else 277
ENOSYS, EPERM = 38, 1
# What a kernel without the feature would answer to which calls.
FEATURES = {
    "landlock": ((444, ENOSYS),),
    "seccomp": ((SECCOMP, ENOSYS),),
    "clone3": ((435, ENOSYS),),
    "namespaces": ((435, EPERM), (272 if X86 else 97, EPERM)),
}
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def instruction(code, if_true, if_false, k):
    return struct.pack("HBBI", code, if_true, if_false, k)


def install(rules):
    program = (
        instruction(LOAD, 0, 0, 4) + instruction(JUMP_EQUAL, 1, 0, ARCHITECTURE) + instruction(RETURN, 0, 0, ALLOW)
    )
    program += instruction(LOAD, 0, 0, 0)
    for number, error in rules:
        program += instruction(JUMP_EQUAL, 0, 1, number) + instruction(RETURN, 0, 0, ERRNO | error)
    program += instruction(RETURN, 0, 0, ALLOW)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS
        sys.exit("no_new_privs: " + os.strerror(ctypes.get_errno()))
    if libc.syscall(SECCOMP, 1, 0, ctypes.create_string_buffer(header)) != 0:
        sys.exit("seccomp: " + os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    install(FEATURES[sys.argv[1]])
    os.execvp(sys.argv[2], sys.argv[2:])

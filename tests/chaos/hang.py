#!/usr/bin/env python3
"""Stops one thread of a process, the first, and lets the others run: a peer that hangs.

    hang.py PID

Prints "hangs" when the thread stands still. The end of the standard input, or of this program, lets
it go on. The network thread of `ako` is another one, so such a peer still answers: it is alive, and
its rounds do not move. By ptrace, for a signal stops all threads; needs the right to trace, as root
has. A program of its own, because stops of a traced thread are told to the tracer only, by wait.
"""

import ctypes
import os
import sys

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000  # also of threads that were not forked here


def main():
    pid = int(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    for request in (SEIZE, INTERRUPT):
        if libc.ptrace(request, pid, None, None) != 0:
            sys.exit(f"hang: {pid}: {os.strerror(ctypes.get_errno())}")
    os.waitpid(pid, WALL)
    print("hangs", flush=True)
    sys.stdin.read()
    libc.ptrace(DETACH, pid, None, None)


if __name__ == "__main__":
    main()

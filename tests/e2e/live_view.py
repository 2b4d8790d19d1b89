"""The live view of `ako launch` on a terminal: cases of e2e_test.py, and the pseudo-terminal they
run on. Python's standard library only."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from bench import PATIENCE_S, Failure, check, check_equal, wait_for

SCREEN_ON, SCREEN_OFF = "\033[?1049h", "\033[?1049l"
KEYS_UNSEEN = termios.ICANON | termios.ECHO


class Screen:
    """A program on a pseudo-terminal of its own, as its session's leader."""

    def __init__(self, bench, *words, columns=80, rows=24, **environment):
        self.shown = b""
        self.pid, self.main = pty.fork()
        if self.pid == 0:
            os.chdir(bench.folder)
            for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE"):
                os.environ.pop(name, None)
            os.environ.update({"OPENBLAS_NUM_THREADS": "1", "TERM": "xterm", "LANG": "C.UTF-8",
                               **environment})
            # The size must be there before the program asks for it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execv(bench.ako, ["ako", *words])
        self.status = None

    def resize(self, columns, rows):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.main, keys.encode())

    def keys_unseen(self):
        """Are keys taken one by one and not echoed?"""
        return termios.tcgetattr(self.main)[3] & KEYS_UNSEEN == 0

    def keys_usual(self):
        return termios.tcgetattr(self.main)[3] & KEYS_UNSEEN == KEYS_UNSEEN

    def read(self, seconds=0.05):
        """Takes in what has been written; False once the terminal is closed."""
        if not select.select([self.main], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.main, 65536)
        except OSError:  # how a terminal's other end says that it is closed
            return False
        self.shown += piece
        return bool(piece)

    def text(self):
        return self.shown.decode(errors="replace")

    def frames(self):
        """Whole screens that were drawn, as lists of lines without colours."""
        drawn = re.findall(r"\033\[H(.*?)\033\[J", self.text(), re.DOTALL)
        return [re.sub(r"\033\[[0-9;]*[mK]", "", frame).split("\r\n") for frame in drawn]

    def wait_frame(self, *words, seconds=30):
        """The first screen drawn from now on that has all the words."""
        before = len(self.frames())
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.read():
            for frame in self.frames()[before:]:
                if all(word in "\n".join(frame) for word in words):
                    return frame
        raise Failure(f"no screen with {words} within {seconds} s; the last:\n"
                      + "\n".join((self.frames() or [[self.text()]])[-1]))

    def end(self, seconds=PATIENCE_S):
        """Reads to the end; the exit status, negative for a signal."""
        until = time.monotonic() + seconds
        while self.read():
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
                raise Failure(f"still running after {seconds} s:\n{self.text()[-2000:]}")
        _, status = os.waitpid(self.pid, 0)
        check(self.keys_usual(), "keys are as before")
        os.close(self.main)
        return os.waitstatus_to_exitcode(status)

    def after(self):
        """What is on the terminal once the screen is left."""
        check_equal(self.text().count(SCREEN_ON), self.text().count(SCREEN_OFF), "screens left")
        check("\033[?25h" in self.text(), "the cursor is shown again")
        return self.text().rpartition(SCREEN_OFF)[2].replace("\r\n", "\n")


def run_file(bench, peers, seconds):
    """A cluster file whose training takes about so long, whatever the machine."""
    samples = int(peers * seconds * 100) * 64
    return bench.file(peers, model=f"{{name: synthetic, parameters: 50000, compute_ms: 10, "
                                   f"samples: {samples}}}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0.2")


def case_live_view(bench):
    """From the start to the end: keys, another size, a lost peer, and what stays."""
    screen = Screen(bench, "launch", run_file(bench, 3, 9), "--free-ports")
    frame = screen.wait_frame(" a ", " b ", " c ", "loss", "test accuracy", "epoch", " left")
    check_equal(len(frame), 24, "rows of the screen")
    check(screen.keys_unseen(), "keys are taken one by one")
    screen.press("l")
    screen.wait_frame("links from row to column: P / rounds behind")
    screen.press("l")
    screen.wait_frame("links from row to column: Mbit/s / age in seconds")
    screen.press("h")
    screen.wait_frame("sessions that are up")
    screen.press("h\033[B\033[Dx")  # arrows and keys without a meaning do no harm
    screen.resize(100, 30)
    while len(frame) == 24:
        frame = screen.wait_frame("loss")
    check_equal(len(frame), 30, "rows after the size has changed")

    with open(f"/proc/{screen.pid}/task/{screen.pid}/children") as children:
        victim = int(children.read().split()[1])
    os.kill(victim, signal.SIGKILL)
    screen.wait_frame("ended by signal 9", "b is lost", "2 of 3 peers")
    screen.press("l")
    frame = []
    while not any(re.match(r" [ac] .* lost\b", line) for line in frame):  # from a or c to b
        frame = screen.wait_frame("links from row to column")
    check_equal(screen.end(), 0, "exit")
    for frame in screen.frames():
        check(max(map(len, frame)) <= 100, f"a line of more than 100 columns in {frame}")
    after = screen.after()
    check(re.search(r"^ +0:\d\d  [ac]  +peer b is lost", after, re.MULTILINE),
          f"the log stays:\n{after}")
    check(" a " in after and "done" in after and "┤" in after, f"the last picture stays:\n{after}")
    check("replicas identical: yes" in after and "results: " in after, f"the outcome:\n{after}")


def case_live_view_ends(bench):
    """However it ends, the terminal is as it was."""
    file = run_file(bench, 2, 60)
    for how, status in (("q", 130), ("\3", 130), (signal.SIGTERM, 130), (signal.SIGHUP, -1),
                        (signal.SIGSEGV, -11), (signal.SIGABRT, -6)):
        screen = Screen(bench, "launch", file, "--free-ports")
        screen.wait_frame("training")
        if isinstance(how, str):
            screen.press(how)
        else:
            os.kill(screen.pid, how)
        check_equal(screen.end(), status, f"exit after {how!r}")
        after = screen.after()
        if status == 130:
            check("interrupted: the peers stop after this round" in after, after)
            check("replicas identical: yes" in after, after)


def case_live_view_suspended(bench):
    """Ctrl-Z gives the terminal back and stops launch alone; continued, it draws again."""
    screen = Screen(bench, "launch", run_file(bench, 2, 8), "--free-ports")
    screen.wait_frame("training")
    screen.press("\x1a")
    wait_for(lambda: screen.read() and os.waitpid(screen.pid, os.WUNTRACED | os.WNOHANG)[0],
             "it stops", 10)
    screen.read()
    check(screen.keys_usual(), "keys are as before while it is stopped")
    check(screen.text().rstrip().endswith(SCREEN_OFF), "the screen is left while it is stopped")
    os.kill(screen.pid, signal.SIGCONT)
    screen.wait_frame("training")
    check(screen.keys_unseen(), "keys are taken one by one again")
    check_equal(screen.end(), 0, "exit")
    check("replicas identical: yes" in screen.after(), "the outcome")


def case_live_view_plain(bench):
    """No colours where they are not wanted; no view where it is not, or cannot be."""
    file = run_file(bench, 2, 3)
    screen = Screen(bench, "launch", file, "--free-ports", NO_COLOR="1", LANG="C")
    check_equal(screen.end(), 0, "exit")
    check(not re.search(r"\033\[\d*m", screen.text()), "no colours with NO_COLOR")
    check(screen.frames() and screen.text().isascii(), "ASCII where the locale is not UTF-8")
    for words, environment in ((["--plain"], {}), ([], {"TERM": "dumb"})):
        screen = Screen(bench, "launch", file, "--free-ports", *words, **environment)
        check_equal(screen.end(), 0, "exit")
        check("\033" not in screen.text(), f"control characters with {words} {environment}")
        check(re.search(r"0:\d\d  a +\d+ ", screen.text()), f"rows of text:\n{screen.text()}")

"""The live view of `ako launch` and `ako train` on a terminal: cases of e2e_test.py, and the
pseudo-terminal they run on. Python's standard library only."""

import fcntl
import json
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
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0.2",
                      exchange="staleness_rounds_max: none")  # no word of what is chosen


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
    for how, status in (("q", 130), ("\3", 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130),
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


def case_train_view(bench):
    """One peer's terminal, however small, shows the whole cluster as that peer sees it; the others
    in a pipe say little. Each leaves a summary that tells whose word it is."""
    file = run_file(bench, 3, 8)
    others = [bench.start("train", file, "--peer", name, "--set", f"output=out-{name}")
              for name in "bc"]
    first = wait_for(lambda: others[0].line_with("listens at 127.0.0.1:"), "its first line", 20)[1]
    check(first.endswith(" and waits for a, c (60 s at most)"), first)
    screen = Screen(bench, "train", file, "--peer", "a", "--set", "output=out-a", columns=60,
                    rows=12)
    frame = screen.wait_frame("training", "3 of 3 peers", " left")
    check_equal(len(frame), 12, "rows of the screen")
    while not all(any(re.match(rf" {name} +[\d,]+ +\d+ +\d+\.\d+ ", line) for line in frame)
                  for name in "abc"):  # round, samples/s and loss of each
        frame = screen.wait_frame("training")
    screen.resize(100, 30)
    screen.wait_frame("to Mbit/s", "from Mbit/s", "test accuracy", "listens at 127.0.0.1:")
    screen.press("l")
    screen.wait_frame("links from row to column: P / rounds behind")
    screen.press("l")
    screen.press("l")
    os.kill(others[1].process.pid, signal.SIGKILL)
    frame = screen.wait_frame("2 of 3 peers", "peer c is lost")
    check(any(re.match(r" c +[\d,]+  (lost|gone)", line) for line in frame), f"c's row: {frame}")
    check_equal(screen.end(), 0, "exit")
    after = screen.after()
    check("finished with the same parameters" in after, f"the last picture stays:\n{after}")
    check(re.search(r"replicas identical: yes \([0-9a-f]{16}\) on a, b\n", after), after)
    output = others[0].expect(0)
    said = re.findall(r"^\d\d:\d\d:\d\d  b  +\d+ %  epoch \d\.\d\d of 1 .*$", output,
                      re.MULTILINE)
    check(2 <= len(said) <= 9, f"a line when something begins, and every ten seconds:\n{output}")
    check("samples/s" in said[0] and " of 3 peers" in said[0], said[0])
    check(any(line.endswith("  final exchange") for line in said), f"what it does:\n{output}")
    for name in "ab":
        with open(os.path.join(bench.folder, f"out-{name}", "latest", "summary.json")) as file:
            summary = json.load(file)
        check_equal([summary["seen_by"], summary["exit"], summary["replicas_identical"],
                     summary["finished_with"], summary["lost_peers"]],
                    [name, 0, True, ["a", "b"], ["c"]], f"the summary of {name}")
        check_equal([peer["name"] for peer in summary["peers"]], [name], "peers")
        heard = {other["name"]: other for other in summary["others"]}
        check_equal(set(heard), set("abc") - {name}, "others")
        check(heard["c"]["standing"] in ("lost", "gone"), f"{heard['c']}")
        check(all(other["rounds"] > 0 and other["samples"] > 0 for other in heard.values()),
              f"how far the others were: {heard}")


def case_train_view_ends(bench):
    """As case_live_view_ends; a second signal ends it at once, and the terminal is as it was."""
    file = run_file(bench, 1, 60)
    for how, status in (("q", 130), ("\3", 130), ([signal.SIGTERM], 130), ([signal.SIGHUP], 130),
                        ([signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT], 130),
                        ([signal.SIGSEGV], -11)):
        screen = Screen(bench, "train", file, "--peer", "a")
        screen.wait_frame("training")
        if isinstance(how, str):
            screen.press(how)
        else:
            for number in how:
                os.kill(screen.pid, number)
        check_equal(screen.end(), status, f"exit after {how!r}")
        after = screen.after()
        check(("replicas identical" in after) == (status == 130 and len(how) == 1), after)


def case_live_view_suspended(bench):
    """Ctrl-Z gives the terminal back and stops launch alone; continued, it draws again. So with
    train, which stops with it."""
    suspend_and_continue(bench, 2, "launch", "--free-ports")
    suspend_and_continue(bench, 1, "train", "--peer", "a")


def suspend_and_continue(bench, peers, command, *words):
    screen = Screen(bench, command, run_file(bench, peers, 8), *words)
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

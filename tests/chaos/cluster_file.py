"""What a cluster file says, as far as a chaos run must know: `ako check` prints it as resolved."""

import re
import subprocess


AGREE_SLACK_S = 5


class Refused(Exception):
    """Why the file is no good here, for people."""


class ClusterFile:
    def __init__(self, ako, path, words=()):
        done = subprocess.run([ako, "check", path, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(done.stderr.strip() or done.stdout.strip())
        self.path, self.text = path, done.stdout
        self.names = re.findall(r'^  - \{name: "([^"]+)"', self.text, re.MULTILINE)
        if len(self.names) < 2:
            raise Refused("a cluster of one peer has nobody to lose")
        if self.key("mode") != "ako":
            raise Refused(f"exchange.mode is {self.key('mode')}: chaos is for ako, the other modes "
                          "end when a peer is lost")

    def key(self, name):
        """A key of the second level that is there once, as text."""
        return re.search(rf"^  {name}: (.*)$", self.text, re.MULTILINE)[1]

    def number(self, name):
        return float(self.key(name))

    def agree_s(self):
        """How long a majority that hears each other may take to agree: the wait for last rounds,
        and some seconds for the cut."""
        return self.number("finish_timeout_s") / 4 + AGREE_SLACK_S

    def ending_s(self):
        """How long a peer may take to end, at most, when nothing happens any more: waiting for
        others at the start, for blocks, and for those who may come back."""
        return (self.number("start_wait_s") + 1.25 * self.number("finish_timeout_s")
                + 0.4 * self.number("leave_timeout_s"))

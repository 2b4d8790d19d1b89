"""The timeline of a chaos run: what was done and what was seen, by the second. Shown as it comes,
and written to timeline.txt when all is over, with what the peers said between. One thread."""

import time


class Timeline:
    def __init__(self, path):
        self.path = path
        self.zero = time.monotonic()
        self.entries = []  # (moment, text)

    def start(self):
        """From now on seconds are counted."""
        self.zero = time.monotonic()

    def now(self):
        return time.monotonic() - self.zero

    def say(self, text):
        moment = time.monotonic()
        self.entries.append((moment, text))
        print(self._line(moment, text), flush=True)

    def write(self, lives):
        """With all that the peers said but their lines of progress, which the metrics have."""
        said = [(at, f"    {text}") for life in lives for at, text in life.process.lines
                if " samples/s " not in text]
        with open(self.path, "w") as file:
            for moment, text in sorted(self.entries + said, key=lambda entry: entry[0]):
                file.write(self._line(moment, text) + "\n")

    def _line(self, moment, text):
        return f"{moment - self.zero:8.2f}  {text}"

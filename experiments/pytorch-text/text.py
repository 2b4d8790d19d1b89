"""The text: the King James Bible of Debian's packages bible-kjv and bible-kjv-text, as numbers of
its characters. 4.4 MB, of which the last twentieth is for validation; each worker has a run of the
rest."""

import subprocess

import numpy as np
import torch

VALIDATION_SHARE = 0.05


def characters(verses):
    """Of these, as bytes."""
    printed = subprocess.run(["bible", "-f", verses], check=True, capture_output=True).stdout
    return np.frombuffer(printed, np.uint8)


class Text:
    def __init__(self):
        known, numbers = np.unique(characters("gen1:1-rev22:21"), return_inverse=True)
        self.vocabulary = len(known)
        end = int(len(numbers) * (1 - VALIDATION_SHARE))
        self.train, self.validation = numbers[:end], numbers[end:]

    def share(self, place, count):
        """The run of worker `place` of `count`."""
        return np.array_split(self.train, count)[place]


class Windows:
    """Batches of windows of `length` characters at random places, and what follows each."""

    def __init__(self, characters, length, batch, seed):
        self.characters, self.length, self.batch = characters, length, batch
        self.places = np.random.default_rng(seed)

    def __iter__(self):
        while True:
            begins = self.places.integers(len(self.characters) - self.length - 1, size=self.batch)
            windows = np.stack([self.characters[at:at + self.length + 1] for at in begins])
            windows = torch.from_numpy(windows.astype(np.int64))
            yield windows[:, :-1], windows[:, 1:]

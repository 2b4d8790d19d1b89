"""The memory limit was looked at after the data had been read: far more than allowed was taken
before the message came, or the system ended the process without one."""

import os
import struct

from bench import check

IMAGES = 2_000_000


def sparse_idx(path, count, extents):
    """An idx file that says what it holds, and holds nothing on the disk."""
    with open(path, "wb") as file:
        file.write(struct.pack(f">I{1 + len(extents)}I", 0x801 + len(extents), count, *extents))
        file.truncate(file.tell() + count * (extents[0] * extents[1] if extents else 1))


def case_memory_before_reading(bench):
    """Data of 1.6 GB, 200 MB allowed: refused at once, without the memory for it."""
    for kind, count in (("train", IMAGES), ("t10k", 1)):
        sparse_idx(os.path.join(bench.folder, f"{kind}-images-idx3-ubyte"), count, (28, 28))
        sparse_idx(os.path.join(bench.folder, f"{kind}-labels-idx1-ubyte"), count, ())
    file = bench.file(1)
    for words in (["check", file], ["train", file, "--peer", "a"], ["launch", file]):
        # 800 MB of address space are half of what the data take.
        limit = 'ulimit -v 800000; exec "$@"'
        output = bench.start(*words, "--set", f"data.path={bench.folder}", "--set",
                             "memory_mb_max=200",
                             before=("bash", "-c", limit, "-")).expect(2, 30)
        check("memory_mb_max: one peer would need" in output and "data set (1570 MB)" in output,
              output)

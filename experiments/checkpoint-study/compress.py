#!/usr/bin/env python3
"""What compression makes of a checkpoint, and in what time; a Python with numpy, safetensors and
zstandard.

    compress.py RUN/state-a-900.safetensors ...

For each file: zstd at several levels, of the bytes as they lie and of the bytes of all floats by
their place in a float (which puts the exponents together); and the momentum in 16 bits.
"""

import sys
import time

import numpy
import safetensors.numpy
import zstandard

LEVELS = (1, 3, 9, 19)
MOMENTUM = ("velocity", "served_velocity", "outer_velocity")


def by_place(values):
    return values.view(numpy.uint8).reshape(-1, 4).T.tobytes()


def packed(data, level):
    began = time.perf_counter()
    size = len(zstandard.ZstdCompressor(level=level).compress(data))
    return size, time.perf_counter() - began


def row(name, size, whole, seconds):
    print(f"| {name} | {size / whole:.3f} | {seconds * 1e9 / whole:.1f} |")


def main():
    for path in sys.argv[1:]:
        floats = {name: value for name, value in safetensors.numpy.load_file(path).items()
                  if value.dtype == numpy.float32}
        every = numpy.concatenate(list(floats.values()))
        whole = every.nbytes
        print(f"\n{path.rsplit('/', 1)[-1]}: {whole:,} bytes of floats\n\n"
              "| how | size | ns a byte |\n|---|---|---|")
        for level in LEVELS:
            size, seconds = packed(every.tobytes(), level)
            row(f"zstd {level}", size, whole, seconds)
        for level in LEVELS[:2]:
            began = time.perf_counter()
            data = by_place(every)
            apart = time.perf_counter() - began
            size, seconds = packed(data, level)
            row(f"zstd {level}, bytes by their place", size, whole, apart + seconds)
        momentum = [value for name, value in floats.items() if name in MOMENTUM]
        if momentum:
            values = numpy.concatenate(momentum)
            began = time.perf_counter()
            half = (values.view(numpy.uint32) + 0x8000 >> 16).astype(numpy.uint16)  # bfloat16
            seconds = time.perf_counter() - began
            back = (half.astype(numpy.uint32) << 16).view(numpy.float32)
            error = numpy.linalg.norm(back - values) / numpy.linalg.norm(values)
            row(f"momentum in 16 bits (bfloat16), off by {error:.1e} of its length",
                whole - values.nbytes // 2, whole, seconds)


if __name__ == "__main__":
    main()

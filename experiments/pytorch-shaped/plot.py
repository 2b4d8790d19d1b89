#!/usr/bin/env python3
"""Draws the curves that run.py has written: plot.py RESULTS.jsonl OUT.svg LABEL. Needs gnuplot."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figure  # noqa: E402


def main():
    results, out, label = sys.argv[1:]
    with open(results, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    figure.draw(out, {f"{line['label']}, {line['rate']}": [point[:2] for point in line["curve"]]
                      for line in lines}, "seconds", label)


if __name__ == "__main__":
    main()

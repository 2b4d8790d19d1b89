#!/usr/bin/env python3
"""Draws the curves that run.py has written: plot.py RESULTS.jsonl OUT.svg LABEL. Needs gnuplot."""

import json
import subprocess
import sys


def main():
    results, out, label = sys.argv[1:]
    with open(results, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    commands = [f"set terminal svg size 640,400; set output '{out}'", "set key right top; set grid",
                f"set xlabel 'seconds'; set ylabel '{label}'"]
    for number, line in enumerate(lines):
        points = "\n".join(f"{point[0]} {point[1]}" for point in line["curve"])
        commands.append(f"$curve{number} << END\n{points}\nEND")
    drawn = ", ".join(f"$curve{number} with linespoints title '{line['label']}, {line['rate']}'"
                      for number, line in enumerate(lines))
    commands.append(f"plot {drawn}")
    subprocess.run(["gnuplot"], input="\n".join(commands), text=True, check=True)


if __name__ == "__main__":
    main()

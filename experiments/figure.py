"""A figure of an experiment: lines with points over one axis, drawn by gnuplot as SVG.

`ako compare` draws its own; this is for what is measured by a program here. Needs gnuplot.
"""

import statistics
import subprocess


def spread(x, values):
    """Of several runs a point with whiskers: x, their median, the least and the most."""
    return x, statistics.median(values), min(values), max(values)


def draw(out, lines, x_label, y_label, *, logarithmic="", x_names=(), joined=True,
         key="right top", more=()):
    """Writes `out` (SVG). `lines`: label -> [(x, y)], or [(x, y, low, high)] with whiskers.

    `logarithmic`: "x", "y" or "xy"; `x_names`: of x = 0, 1, .. instead of numbers, beside which
    the lines stand side by side; not `joined`: points only; `more`: further commands of gnuplot.
    Raises CalledProcessError where gnuplot has failed.
    """
    commands = [f"set terminal svg size 640,400 background '#ffffff'; set output '{out}'",
                f"set linetype 5 linecolor rgb '#505050'; set key {key}; set grid",
                f"set xlabel '{x_label}'; set ylabel '{y_label}'"]
    if logarithmic:
        commands.append(f"set logscale {logarithmic}")
    if x_names:
        names = ", ".join(f"'{name}' {place}" for place, name in enumerate(x_names))
        commands.append(f"set xtics ({names}); set xrange [-0.5:{len(x_names) - 0.5}]")
    commands += more
    drawn = []
    shape = "linespoints" if joined else "points"
    for number, (label, points) in enumerate(lines.items()):
        if x_names:
            aside = 0.1 * (number - (len(lines) - 1) / 2)
            points = [(point[0] + aside, *point[1:]) for point in points]
        text = "\n".join(" ".join(str(value) for value in point) for point in points)
        commands.append(f"$line{number} << END\n{text}\nEND")
        style = f"linecolor {number + 1} pointtype {number + 1}"
        if points and len(points[0]) == 4:
            drawn.append(f"$line{number} with yerrorbars {style} notitle")
        drawn.append(f"$line{number} using 1:2 with {shape} {style} title '{label}'")
    commands.append("plot " + ", ".join(drawn))
    subprocess.run(["gnuplot"], input="\n".join(commands), text=True, check=True)

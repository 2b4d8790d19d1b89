"""U+009B, which begins a control sequence as ESC [ does, reached the terminal when it was part of a
file's name or of a word on the command line, and so did bytes that are not UTF-8."""

from bench import check


def case_terminal_controls(bench):
    """What others wrote is shown without what a terminal would obey."""
    for name in (b"red\xc2\x9b31m.yaml", b"red\x9b31m.yaml", b"red\033[31m.yaml"):
        for words in (("check", name), ("launch", name, "--plain"), ("check", "one", name),
                      ("evaluate", b"model", b"--config", name)):
            run = bench.start(*words)
            shown = run.expect(2, 30).encode(errors="surrogateescape")
            check(b"red?" in shown, f"the name, made safe, in {shown!r}")
            check(b"\x9b" not in shown and b"\033" not in shown, f"a control in {shown!r}")
    # What check prints is a cluster file, in which they are written by their numbers.
    output = bench.start("check", bench.file(1), "--set", "output=\x9b31m\x07é").expect(0, 30)
    check(r'/\u009b31m\u0007é"' in output, output)

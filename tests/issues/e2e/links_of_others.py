"""Where several users may write into the output folder, a link that one of them had placed under
the name of a log, of metrics or of a result had another file overwritten, with the rights of
whoever trained. Since then a link is followed only if the user who trains made it, or root."""

import os

from bench import check, check_equal

NOBODY = 65534
NAMES = ("metrics-a.jsonl", "metrics-a.csv", "log-a.txt", "result-a.json.new")


def train_beside_a_link(bench, name, maker):
    """What became of the file that the link of this name leads to, and what was said."""
    folder = os.path.join(bench.folder, f"out-{maker}-{name}")
    os.mkdir(folder)
    aim = os.path.join(bench.folder, f"of-somebody-{maker}-{name}")
    with open(aim, "w") as file:
        file.write("precious")
    os.symlink(aim, os.path.join(folder, name))
    os.chown(os.path.join(folder, name), maker, maker, follow_symlinks=False)
    file = bench.file(1, model="{name: synthetic, parameters: 1000, compute_ms: 1, samples: 640}",
                      training="learning_rate: 0.01, evaluate_every: 0")
    run = bench.start("train", file, "--peer", "a", "--output-dir", folder)
    status = run.wait()
    with open(aim) as left:
        return left.read(), status, run.output()


def case_links_of_others(bench):
    if os.geteuid() != 0:
        print("       links_of_others: only root can make a link of another user", flush=True)
        return
    for name in NAMES:
        left, status, output = train_beside_a_link(bench, name, NOBODY)
        check_equal(left, "precious", f"what {name} leads to; it said:\n{output}")
        check(f"it is a link that user {NOBODY} made" in output, output)
        check(status in (2, 6), f"exit {status}; it said:\n{output}")
    left, status, output = train_beside_a_link(bench, "metrics-a.csv", os.geteuid())
    check_equal(status, 0, f"exit, beside a link of this user's own; it said:\n{output}")
    check(left != "precious", "a link of this user's own is followed")

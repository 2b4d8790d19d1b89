"""A file of the user's that was called `latest` and lay in the results folder was gone after the
next run, for the link of that name took its place. Since then only a link gives way to it."""

import os

from bench import check, check_equal, newest_run


def case_latest_that_is_no_link(bench):
    runs = os.path.join(bench.folder, "runs")
    latest = os.path.join(runs, "latest")
    os.mkdir(runs)
    file = bench.file(1, model="{name: synthetic, parameters: 1000, compute_ms: 1, samples: 640}",
                      training="learning_rate: 0.01, evaluate_every: 0")
    with open(latest, "w") as text:
        text.write("mine")
    bench.launch(file).expect(0)
    check(not os.path.islink(latest), "the file is a file")
    with open(latest) as text:
        check_equal(text.read(), "mine", "the file")
    os.unlink(latest)
    os.symlink("nowhere", latest)
    bench.launch(file).expect(0)
    check_equal(os.readlink(latest), os.path.basename(newest_run(runs)), "a link gives way")
    check_equal([name for name in os.listdir(runs) if name.startswith(".")], [], "what is left")

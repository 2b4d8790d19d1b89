"""Under `ako launch --resume --restart N` a peer that died while all waited for the last one was
started again without --resume. So it began anew where the others went on, and the run came to
nothing: "a and c go on from a checkpoint, b begins anew". Now a peer that has not trained yet is
started again as it was the first time."""

import os
import signal

from bench import check, check_all_identical, newest_run, wait_for
from resuming import launch_and_cut

# Becomes the peer, c only once there is a file of this name.
START = """#!/bin/sh
folder=$1 name=$2
shift 2
while [ "$name" = c ] && [ ! -e "$folder/go" ]; do sleep 0.1; done
exec "$@"
"""


def case_restarted_before_it_began(bench):
    file = bench.file(3, training="epochs: 1, learning_rate: 0.05, evaluate_every: 0, "
                                  "checkpoint_every: 0.1")
    folder = launch_and_cut(bench, file, "abc")
    start = os.path.join(bench.folder, "start")
    with open(start, "w") as script:
        script.write(START)
    os.chmod(start, 0o755)
    run = bench.start("launch", file, "--resume", folder, "--restart", "2",
                      "--in", f"{start} {bench.folder} {{name}}")
    wait_for(lambda: run.line_with("b ", "has its rows from a checkpoint of round"), "b waits")
    os.kill(run.peers()["b"], signal.SIGKILL)
    wait_for(lambda: run.line_with("b is started again: restart 1 of 2"), "b is started again")
    with open(os.path.join(bench.folder, "go"), "w"):
        pass
    output = run.expect(0)
    said = [line for line in output.splitlines() if "has its rows from a checkpoint of" in line]
    check(len(said) == 4, f"each once, and b once more:\n{output}")
    check(newest_run(os.path.join(bench.folder, "runs")) != folder, "a folder of its own")
    check_all_identical(bench, 3)

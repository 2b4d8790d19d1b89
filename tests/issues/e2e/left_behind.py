"""A peer that had been stopped (SIGSTOP) until all others had left trained the rest of the samples
alone, for as long as it took, and then waited for finish_timeout_s. Now it notices that they went
while it stood still and that nobody listens where they were, and ends with status 4."""

import os
import signal
import time

from bench import check, check_equal, wait_for


def case_left_behind(bench):
    # Two peers make it in ten seconds; what is left then would take the third alone a minute.
    compute_ms, batch = 10, 64
    samples = int(2 * 10 * 1000 / compute_ms) * batch
    file = bench.file(3, model="{name: synthetic, parameters: 50000, "
                               f"compute_ms: {compute_ms}, samples: {samples}}}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0",
                      exchange="leave_timeout_s: 2.5")
    run = bench.launch(file)
    wait_for(lambda: run.process.poll() is not None or all(
        any(line["round"] > 0 for line in bench.metrics(name)) for name in "abc"), "all train")
    stopped = run.peers()["c"]
    os.kill(stopped, signal.SIGSTOP)
    wait_for(lambda: set(run.peers()) == {"c"}, "a and b have ended", 90)
    round_then = bench.metrics("c")[-1]["round"]
    os.kill(stopped, signal.SIGCONT)
    came_back = time.monotonic()
    output = run.expect(4, 60)
    took = time.monotonic() - came_back
    check(took < 15, f"c ended {took:.1f} s after it came back; launch said:\n{output}")
    check("the others ended while this peer stood still" in output, f"it says why:\n{output}")
    summary = bench.summary()
    peers = {peer["name"]: peer for peer in summary["peers"]}
    check_equal([peers[name]["exit"] for name in "abc"], [0, 0, 4], "exits")
    check_equal(summary["finished_with"], ["a", "b"], "finished_with")
    check(peers["c"]["rounds"] < round_then + took * 1000 / compute_ms, "c has trained on")

"""After one of four was killed near the end, the others stayed their linger time (10 s) for it, and
the outcome told of a final exchange of 0.00 s. Now nobody stays for a process that is over for
longer than it could take to come back, and the outcome says what the time went into. (In virtual
time: tests/issues/modes/waiting_for_the_dead_test.cpp.)"""

import json
import os
import signal
import time

from bench import check, check_equal, long_run

LIFE_S = 2  # life_timeout_ms
BACK_S = 2 * LIFE_S + 1  # as long as one whose connection broke may take to come back
LINGER_S = 60  # far from what is to be seen, on a machine as busy as may be


def case_waiting_for_the_dead(bench):
    run = long_run(bench, 4, 60, "--set", f"exchange.leave_timeout_s={2.5 * LINGER_S}")
    peers = run.peers()
    os.kill(peers["d"], signal.SIGKILL)
    killed_at = time.monotonic()
    # A peer that is asked to end is in a hurry; b and c are only told that all stop.
    os.kill(peers["a"], signal.SIGINT)
    run.wait(60)
    took = time.monotonic() - killed_at
    output = run.output()
    check(took < LINGER_S, f"the end took {took:.1f} s; launch said:\n{output}")
    summary = bench.summary()
    check_equal(summary["finished_with"], ["a", "b", "c"], "finished_with")
    check_equal(summary["waited_for"], ["d"], "waited_for")
    waited = summary["finish_waiting_seconds"]
    check(LIFE_S / 2 < waited < (BACK_S + LINGER_S) / 2, f"waited for d: {waited} s")
    check(summary["finish_seconds"] < LINGER_S, f"exchange: {summary['finish_seconds']} s")
    said = f"and {waited:.1f} s waiting for d, which was lost"
    check(said in output, f"{said!r} in:\n{output}")
    with open(bench.path("result-b.json")) as file:
        result = json.load(file)
    check_equal(result["waited_for"], ["d"], "b waited for")
    spent = sum(result[f"finish_{part}seconds"] for part in ("", "waiting_", "serving_"))
    check(spent < took, f"b's end took {spent} s, of {took:.1f} s since the death")

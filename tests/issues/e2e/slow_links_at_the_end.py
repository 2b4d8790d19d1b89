"""A healthy peer behind slow links ended without agreement (exit 4), because the others left
their linger time after they themselves had adopted the cut. Now they serve it for as long as it
moves, and the summary says how long that took. (In virtual time, with more links:
tests/issues/agreement/slow_links_at_the_end_test.cpp.)"""

from bench import check, check_all_identical

PARAMETERS = 200_000
MBIT = 1


def case_slow_links_at_the_end(bench):
    limits = ", ".join(f"{{from: {name}, to: d, mbit: {MBIT}}}" for name in "abc")
    file = bench.file(4, model=f"{{name: synthetic, parameters: {PARAMETERS}, compute_ms: 5, "
                               "samples: 102400}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0",
                      exchange=f"precision: float32, link_limits: [{limits}], "
                               "leave_timeout_s: 2.5, finish_timeout_s: 4")
    output = bench.launch(file).expect(0, 60)
    summary = check_all_identical(bench, 4)
    # Each link brings the last round of one row; d adopts long after the others' linger time.
    least = 0.8 * PARAMETERS * 32 / 1e6 / MBIT
    check(summary["finish_seconds"] > least,
          f"the final exchange took {summary['finish_seconds']} s, at least {least} expected:\n"
          f"{output}")

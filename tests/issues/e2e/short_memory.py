"""With little address space (`ulimit -v 120000`) every command said the right thing and then hung
for ever: OpenBLAS could not start its threads, and its exit handler waited for them."""

from bench import check


def case_short_memory(bench):
    """Whatever little memory there is, the program ends, and says what it lacks."""
    for kilobytes in (120000, 160000):
        def start(*words):
            limit = f'ulimit -v {kilobytes}; exec "$@"'
            # Its threads are what cannot be had.
            return bench.start(*words, before=("bash", "-c", limit, "-"),
                               OPENBLAS_NUM_THREADS="2")

        check("ako " in start("--version").expect(0, 20), "the version")
        output = start("check", bench.file(2)).expect(2, 20)
        check("the system gives no more memory" in output, output)
        output = start("check", "missing.yaml").expect(2, 20)
        check("missing.yaml: cannot be read" in output, output)

"""Where there was no folder for temporary files, as in a container whose root is read-only, `ako
plot` ended with "filesystem error: temp_directory_path", for what a program prints went through
one. Since then it goes through memory."""

import shutil

from bench import check


def case_no_temporary_folder(bench):
    if shutil.which("gnuplot") is None:
        print("       no_temporary_folder: there is no gnuplot", flush=True)
        return
    file = bench.file(1, model="{name: synthetic, parameters: 1000, compute_ms: 1, samples: 640}",
                      training="learning_rate: 0.01")
    nowhere = bench.path("nowhere")
    bench.start("launch", file, "--free-ports", TMPDIR=nowhere).expect(0)
    output = bench.start("plot", bench.path("."), TMPDIR=nowhere).expect(0)
    check("error" not in output, output)

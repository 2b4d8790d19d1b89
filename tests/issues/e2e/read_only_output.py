"""A peer whose run folder lay on a read-only file system said "log-a.txt: cannot be written: ... No
such file or directory". Since then it names the folder, and the real reason."""

import os
import subprocess

from bench import check

PRIVATE = ("unshare", "--user", "--map-root-user", "--mount")
MOUNT = 'mount -t tmpfs -o ro none "$0" && '


def case_read_only_output(bench):
    folder = os.path.join(bench.folder, "fixed")
    os.mkdir(folder)
    if subprocess.run([*PRIVATE, "sh", "-c", MOUNT + "true", folder], check=False,
                      capture_output=True).returncode != 0:
        print("       read_only_output: this user may not mount a disk", flush=True)
        return
    for words in (("--output-dir", f"{folder}/run"), ("--set", f"output={folder}")):
        run = bench.start("train", bench.file(1, training="epochs: 0.3"), "--peer", "a", *words,
                          before=(*PRIVATE, "sh", "-c", MOUNT + 'exec "$@"', folder))
        output = run.expect(2)
        check(f"the folder {folder}/" in output, output)
        check("cannot be made: Read-only file system" in output, output)

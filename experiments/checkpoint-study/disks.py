"""Folders on disks of several kinds, as context managers: `with folder_on("slow") as folder`.

    local  where temporary files are
    tmpfs  in memory
    slow   a loop device whose writes the kernel holds to 20 MB/s (control groups of v1). Root.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

SLOW_BYTES_S = 20_000_000
SLOW_MB = 3000
THROTTLE = pathlib.Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
KINDS = ("local", "tmpfs", "slow")


@contextlib.contextmanager
def slow_folder(image_folder):
    image = image_folder / "disk"
    with image.open("wb") as file:
        file.truncate(SLOW_MB << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    device = subprocess.run(["losetup", "--find", "--show", image], check=True,
                            capture_output=True, text=True).stdout.strip()
    place = image_folder / "mounted"
    place.mkdir()
    number = os.stat(device).st_rdev
    limited = f"{os.major(number)}:{os.minor(number)}"
    subprocess.run(["mount", device, place], check=True)
    try:
        THROTTLE.write_text(f"{limited} {SLOW_BYTES_S}")
        yield place
    finally:
        THROTTLE.write_text(f"{limited} 0")
        subprocess.run(["umount", place], check=True)
        subprocess.run(["losetup", "--detach", device], check=True)


@contextlib.contextmanager
def folder_on(kind):
    parent = "/dev/shm" if kind == "tmpfs" else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ako-checkpoint-study-", dir=parent))
    try:
        if kind == "slow":
            with slow_folder(folder) as place:
                yield place
        else:
            yield folder
    finally:
        shutil.rmtree(folder)

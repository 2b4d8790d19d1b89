"""A disk of its own for the results of one peer: a tmpfs of some megabytes, which can be filled."""

import errno
import os
import shutil
import subprocess

BALLAST = "ballast"
CHUNK = bytes(1 << 16)


class Disk:
    def __init__(self, folder, megabytes):
        self.folder, self.megabytes, self.mounted = folder, megabytes, False

    def mount(self):
        """False where that is refused; then the folder is what it was."""
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.megabytes}m", "tmpfs",
                               self.folder], capture_output=True)
        self.mounted = done.returncode == 0
        return self.mounted

    def fill(self):
        with open(os.path.join(self.folder, BALLAST), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(CHUNK)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def free(self):
        try:
            os.remove(os.path.join(self.folder, BALLAST))
        except FileNotFoundError:
            pass

    def keep(self):
        """What lies on it lies in the folder afterwards."""
        if not self.mounted:
            return
        self.free()
        beside = f"{self.folder}.kept"
        shutil.copytree(self.folder, beside, symlinks=True)
        subprocess.run(["umount", "-l", self.folder], check=True)
        self.mounted = False
        os.rmdir(self.folder)
        os.rename(beside, self.folder)

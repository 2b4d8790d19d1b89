"""The section "With PyTorch" of the README, as it is written there."""

import os
import re
import subprocess
import sys
import unittest

import bench

README = bench.HERE.parents[1] / "README.md"


def block(section, language):
    """The first one of the section in this language."""
    return re.search(rf"```{language}\n(.*?)```", section, re.DOTALL).group(1)


@bench.needs_torch
@unittest.skipUnless(bench.HAS_LIBRARY, "no library: AKO_LIBRARY is not set")
class Readme(bench.Case):
    def test_with_pytorch(self):
        section = README.read_text(encoding="utf-8").partition("\n## With PyTorch\n")[2]
        ports = iter(bench.free_ports(2))
        cluster = re.sub(r"127\.0\.0\.1:\d+", lambda _: f"127.0.0.1:{next(ports)}",
                         block(section, "yaml"))
        for name, text in (("cluster.yaml", cluster), ("train.py", block(section, "python"))):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        environment = dict(os.environ, PYTHONPATH=str(bench.SOURCE), OMP_NUM_THREADS="1")
        peers = [subprocess.Popen([sys.executable, "train.py", name], cwd=self.folder, text=True,
                                  env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                 for name in "ab"]
        for peer in peers:
            self.addCleanup(peer.kill)
        for peer in peers:
            said, errors = peer.communicate(timeout=120)
            self.assertEqual(peer.returncode, 0, errors)
            self.assertEqual(said.strip(), "True ('a', 'b')", errors)


if __name__ == "__main__":
    unittest.main()

"""What a process does at an Error that nobody caught, at its end, and in a child of fork."""

import os
import subprocess
import sys
import textwrap
import unittest

import bench
import ako
from ako.errors import Error, Interrupted, NotFinite, StartupError, error_class

BEGINNING = f"""
import sys
sys.path[:0] = [{str(bench.HERE)!r}, {str(bench.SOURCE)!r}]
import os
import numpy as np
from fake_library import FakeLibrary
from ako import _library
import ako
fake = FakeLibrary()
_library.load = lambda: fake
MODEL = dict(w=np.zeros(3, dtype=np.float32))
"""


def run(program, *arguments):
    """A program with a fake library, after its beginning."""
    return subprocess.run([sys.executable, "-c", BEGINNING + textwrap.dedent(program), *arguments],
                          capture_output=True, text=True, timeout=60)


class Errors(unittest.TestCase):
    def test_texts(self):
        self.assertEqual(str(StartupError("this", "do that")), "this\n     do that")
        self.assertEqual(str(StartupError("this")), "this")
        self.assertEqual(repr(NotFinite("x")), "NotFinite('x', '')")

    def test_statuses(self):
        self.assertEqual([kind.exit for kind in (Error, StartupError, NotFinite, Interrupted)],
                         [5, 2, 3, 130])
        self.assertEqual(Interrupted("x", exit=143).exit, 143)
        self.assertEqual([error_class(status) for status in (2, 3, 4, 5, 130, 143)],
                         [StartupError, NotFinite, Error, Error, Interrupted, Interrupted])

    def test_names(self):
        self.assertEqual(StartupError.__module__, "ako")
        for name in ako.__all__:
            if name != "__version__":
                self.assertTrue(hasattr(ako, name), name)
        with self.assertRaises(AttributeError):
            ako.no_such_name


class Exit(bench.Case):
    def setUp(self):
        super().setUp()
        self.file = bench.write_cluster(self.folder, ["a"])

    def test_start_up_error(self):
        done = run("""
            ako.join(sys.argv[1], "z", MODEL)
            """, self.file)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr, "ako: there is no peer z\n     they are a\n")

    def test_other_errors(self):
        for raised, status in (("ako.NotFinite('too large')", 3), ("ako.Error('gone')", 5),
                               ("ako.Interrupted('asked', exit=143)", 143),
                               ("ValueError('mine')", 1)):
            done = run(f"""
                with ako.join(sys.argv[1], "a", MODEL):
                    raise {raised}
                """, self.file)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("Traceback", done.stderr)
            self.assertIn(raised.split("(")[0], done.stderr)

    def test_hook_before(self):
        done = run("""
            sys.excepthook = lambda kind, error, trace: print("mine:", error, file=sys.stderr)
            ako.join(sys.argv[1], "a", MODEL)
            raise ako.Error("gone")
            """, self.file)
        self.assertEqual((done.returncode, done.stderr), (5, "mine: gone\n"))

    def test_forgotten_close(self):
        done = run("""
            import atexit
            atexit.register(lambda: print(fake.calls))
            peer = ako.join(sys.argv[1], "a", MODEL)
            """, self.file)
        self.assertEqual(done.stdout, "['open', 'close']\n", done.stderr)

    def test_exception_without_a_block(self):
        """The others are told what has ended the program, there too."""
        for raised, told in (("ValueError('mine')", "ValueError: mine"), ("KeyError", "KeyError")):
            done = run(f"""
                import atexit
                atexit.register(lambda: print(fake.calls, fake.failure))
                peer = ako.join(sys.argv[1], "a", MODEL)
                raise {raised}
                """, self.file)
            self.assertEqual(done.stdout, f"['open', 'close'] {told}\n", done.stderr)

    def test_fork(self):
        done = run("""
            with ako.join(sys.argv[1], "a", MODEL, samples=10) as peer:
                child = os.fork()
                if child == 0:
                    assert fake.forks == 1
                    try:
                        for batch in peer.rounds([[1]]):
                            pass
                    except RuntimeError as error:
                        print(error)
                    peer.close()
                    assert fake.calls == ["open"]
                    sys.exit(0)  # through the block and the end of the process
                assert os.waitpid(child, 0)[1] == 0
                assert fake.forks == 0
            child = os.fork()
            if child == 0:
                os._exit(fake.forks)
            assert os.waitpid(child, 0)[1] == 0, "it is closed"
            """, self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("only the process that called ako.join may use the peer", done.stdout)


if __name__ == "__main__":
    unittest.main()

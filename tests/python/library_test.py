"""The declarations for ctypes say what the header says; and the library is found or missed."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import bench
from ako import _library

HEADER = (bench.HERE.parents[1] / "include" / "ako" / "ako.h").read_text(encoding="utf-8")
CODE = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)

# C types of the header, as ctypes. What is a vector of float is an address.
TYPES = {
    "void": None, "int": "c_int", "double": "c_double", "float": "c_float", "size_t": "c_ulong",
    "uint64_t": "c_ulong", "ako_status": "c_int", "ako_next": "c_int", "ako_stop": "c_int",
    "ako_initial": "c_int", "ako_state": "c_int", "ako_finish *": "LP_c_int",
    "ako_view": "c_int", "ako_peer *": "c_void_p", "const char *": "c_char_p",
    "ako_peer * *": "LP_c_void_p", "const char * *": "LP_c_char_p", "ako_next *": "LP_c_int",
    "int *": "LP_c_int", "const ako_options *": "LP_Options", "ako_standing *": "LP_Standing",
    "const ako_tensor *": "LP_Tensor", "float *": "c_void_p", "const size_t *": "LP_c_ulong",
    "const ptrdiff_t *": "LP_c_long", "const char * const *": "LP_c_char_p",
    "const ako_peer *": "c_void_p",
}


def c_type(text):
    """The name of the ctypes type of "const char *name", or of a type alone."""
    words = re.findall(r"\w+|\*", text)
    if words[-1] not in ("*",) and " ".join(words) not in TYPES:
        words.pop()
    return TYPES[" ".join(words)]


def name_of(kind):
    return None if kind is None else kind.__name__


class Declarations(unittest.TestCase):
    def test_functions(self):
        declared = {name: (result, arguments) for name, result, arguments in _library._FUNCTIONS}
        found = re.findall(r"AKO_EXPORT ([\w ]+[ *]+?)(ako_\w+)\((.*?)\);", CODE, re.DOTALL)
        self.assertEqual([name for _, name, _ in found], list(declared))
        for result, name, arguments in found:
            with self.subTest(name):
                wanted = [] if arguments.strip() == "void" else [
                    "LP_c_float" if one.split("*")[-1].strip() == "loss"
                    else "c_void_p" if "float *" in one else c_type(one)
                    for one in arguments.split(",")]
                self.assertEqual([name_of(kind) for kind in declared[name][1]], wanted)
                self.assertEqual(name_of(declared[name][0]), c_type(result))

    def test_structures(self):
        for name, ours in (("options", _library.Options), ("tensor", _library.Tensor),
                           ("standing", _library.Standing)):
            with self.subTest(name):
                body = re.search(rf"typedef struct ako_{name} {{(.*?)}} ako_{name};", CODE,
                                 re.DOTALL)[1]
                wanted = []
                for member in filter(None, map(str.strip, body.split(";"))):
                    wanted.append((re.search(r"(\w+)$", member)[1], c_type(member)))
                self.assertEqual([(field, name_of(kind)) for field, kind in ours._fields_], wanted)

    def test_enumerations(self):
        for prefix, ours in (("", _library.Status), ("VIEW_", _library.View),
                             ("", _library.Next), ("STOP_", _library.Stop),
                             ("STATE_", _library.State)):
            name = ours.__name__.lower()
            body = re.search(rf"typedef enum ako_{name} {{(.*?)}} ako_{name};", CODE,
                             re.DOTALL)[1]
            wanted = {key: int(value) for key, value in re.findall(r"AKO_(\w+) = (\d+)", body)}
            self.assertEqual({prefix + one.name: one.value for one in ours}, wanted)

    def test_version(self):
        self.assertEqual(int(re.search(r"AKO_API_VERSION (\d+)", CODE)[1]), _library.API_VERSION)


class Loading(bench.Case):
    def load(self, **environment):
        program = ("import ako\ntry:\n  ako.__version__\n"
                   "except ImportError as error:\n  print(error)")
        # A copy of the package that lies in no clone.
        target = pathlib.Path(self.folder) / "site" / "ako"
        if not target.exists():
            target.parent.mkdir()
            target.mkdir()
            for path in (bench.SOURCE / "ako").glob("*.py"):
                (target / path.name).write_bytes(path.read_bytes())
        clean = {key: value for key, value in os.environ.items() if key != "AKO_LIBRARY"}
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              timeout=60, env={**clean, "PYTHONPATH": str(target.parent),
                                               **environment})

    def test_missing(self):
        done = self.load()
        if not done.stdout:
            self.skipTest("this system has a libako.so")
        self.assertIn("libako.so is not there. Looked at:", done.stdout)
        self.assertIn(os.path.join("site", "ako", "libako.so"), done.stdout)
        self.assertIn("AKO_LIBRARY", done.stdout)

    def test_named_and_missing(self):
        done = self.load(AKO_LIBRARY="/nonexistent/libako.so")
        self.assertIn("/nonexistent/libako.so cannot be loaded", done.stdout)

    def test_another_library(self):
        done = self.load(AKO_LIBRARY="libc.so.6")
        self.assertIn("libc.so.6 has no ako_version: it belongs to another version", done.stdout)

    def test_no_torch(self):
        done = subprocess.run(
            [sys.executable, "-c", "import ako, sys; print('torch' in sys.modules)"], timeout=60,
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(bench.SOURCE)})
        self.assertEqual(done.stdout.strip(), "False", done.stderr)


if __name__ == "__main__":
    unittest.main()

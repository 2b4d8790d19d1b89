"""What the build writes of its commit, by the script that asks git for it, in repositories made for
the purpose. Python's standard library only.

    build_info_test.py --source REPOSITORY
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

from bench import check, check_equal

# Nothing of the machine's own git: no user, no settings, no repository around the folder.
ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
         "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
         "GIT_COMMITTER_EMAIL": "a@b", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05 +0200"}
SCRIPT = "src/system/build_info.cmake"


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, env={**clean(), **ALONE},
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def clean():
    return {name: value for name, value in os.environ.items()
            if name != "AKO_COMMIT" and not name.startswith("GIT_")}


class Build:
    def __init__(self, script, source, output):
        self.script, self.source, self.output = script, source, output

    def says(self, **environment):
        """(commit, version of the package) after one more run of the script."""
        subprocess.run(["cmake", "-D", f"SOURCE={self.source}", "-D", "VERSION=1.2.3", "-D",
                        f"OUTPUT={self.output}", "-P", self.script],
                       env={**clean(), **ALONE, **environment}, check=True)
        return (re.search(r'return "(.*)";', self.read("build_info.cpp")).group(1),
                re.search(r'VERSION "(.*)"\)', self.read("package_version.cmake")).group(1))

    def read(self, name):
        with open(os.path.join(self.output, name)) as file:
            return file.read()

    def written_at(self):
        return os.stat(os.path.join(self.output, "build_info.cpp")).st_mtime_ns


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def test(script, folder):
    repository = os.path.join(folder, "its folder")
    build = Build(script, repository, os.path.join(folder, "out"))
    write(os.path.join(repository, "file"), "one\n")
    check_equal(build.says(), ("unknown", "1.2.3"), "outside of git")
    check_equal(build.says(AKO_COMMIT="0123456789ab"), ("0123456789ab", "1.2.3"), "told")
    check_equal(build.says(AKO_COMMIT='"; evil()'), ("unknown", "1.2.3"), "told nonsense")

    git(repository, "init", "-q")
    git(repository, "add", "file")
    git(repository, "commit", "-q", "-m", "one")
    commit = git(repository, "rev-parse", "--short=12", "HEAD")
    expected = (commit, f"1.2.3+git20260102.010405.{commit}")
    check_equal(build.says(), expected, "of a commit")
    written = build.written_at()
    write(os.path.join(repository, "untracked"), "")
    check_equal(build.says(), expected, "beside a file that is not tracked")
    check_equal(build.says(GIT_TEST_ASSUME_DIFFERENT_OWNER="1"), expected, "of somebody else")
    check_equal(build.written_at(), written, "when build_info.cpp was written")

    write(os.path.join(repository, "file"), "two\n")
    check_equal(build.says(), (f"{commit}-dirty", f"{expected[1]}.dirty"), "with a change")
    # An archive that lies in a repository of something else does not take its commit for its own.
    inner = os.path.join(repository, "vendor", "ako")
    os.makedirs(inner)
    check_equal(Build(script, inner, build.output).says(), ("unknown", "1.2.3"), "in another's")
    # A second work tree has a file, and not a folder, of the name .git.
    tree = os.path.join(folder, "tree")
    git(repository, "worktree", "add", "-q", tree)
    check_equal(Build(script, tree, build.output).says(), expected, "of a work tree")
    check(build.written_at() > written, "it was written anew meanwhile")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", required=True)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ako-build-info-") as folder:
        test(os.path.join(os.path.abspath(words.source), SCRIPT), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

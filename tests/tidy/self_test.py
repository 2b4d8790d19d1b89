"""The tidy test's own test: a small tidy repository has no finding, and each seeded violation has
the finding that it should have, and no other."""

import pathlib
import tempfile
from typing import NamedTuple

import class_size
import cpp_text
import isolation
import tidy_test

_TIDY = {
    "CMakeLists.txt": "project(ako)\n",
    "README.md": "# Ako\nA Markdown line may be long: " + "word " * 30 + "\n",
    "LICENSE": "Apache License\n",
    ".gitignore": "/build/\n",
    "build/left.cpp": "what a build leaves is nobody's concern\n",
    "common/ako/types.h": "// Words.\n#include <cstdint>\n#include <tl/expected.hpp>\n",
    "models/dense.cpp": '// A layer.\n#include <Eigen/Core>\n#include "ako/types.h"\n',
    "net/codec.cpp": '// Frames.\n#include <asio/buffer.hpp>\n',
    "src/rows/ledger.h": '// Rows.\n#include "ako/types.h"\nstruct Ledger {};\n',
    "src/rows/ledger.cpp": '#include "src/rows/ledger.h"\n\n#include <openssl/evp.h>\n',
    "src/modes/ako_mode.cpp": '// The mode.\n#include "src/rows/ledger.h"\n',
    "src/config/reader.cpp": "// YAML.\n#include <yaml-cpp/yaml.h>\nvoid read(YAML::Node node);\n",
    "src/wiring/wiring.cpp": '// Wires.\n#include "net/codec.h"\n',
    "src/native_peer/train.cpp": '// Wires.\n#include "models/dense.h"\n',
    "src/main.cpp": '// Starts.\n#include "src/commands/train.h"\n#include <fmt/core.h>\n',
    "tests/unit/models/dense_test.cpp": '// Tests.\n#include "models/dense.h"\n'
                                        "namespace {\nstruct Ledger {};\n}\n",
    "deploy/test": "#!/usr/bin/env bash\nexit 0\n",
}
_EXECUTABLE = {"deploy/test"}


class Seed(NamedTuple):
    rule: str
    path: str
    text: str            # added to the file, or the whole of a new one
    executable: bool | None = None


def _function(lines: int, head: str = "void f()") -> str:
    return f"// F.\n{head} {{\n" + "    g();\n" * lines + "}\n"


def _class(methods: int, members: int, head: str = "class Large") -> str:
    return (f"{head} {{\n  public:\n" + "".join(f"    int f{k}() const;\n" for k in range(methods))
            + "".join(f"    int m{k} = 0;\n" for k in range(members)) + "};\n")


def _include(target: str) -> str:
    return f"#include {target}\n"


# The words are put together, so that this file has none of them itself.
_SEEDS = (
    Seed("top-level", "notes.txt", "Notes.\n"),
    Seed("top-level", "scripts/run.sh", "Notes.\n"),
    Seed("layers", "common/ako/types.h", _include("<fmt/core.h>")),
    Seed("layers", "common/ako/types.h", _include("<unistd.h>")),
    Seed("layers", "include/ako/ako.h", "// H.\n" + _include("<string>")),
    Seed("layers", "include/ako/ako.h", "// H.\n" + _include('"ako/types.h"')),
    Seed("layers", "common/ako/types.h", _include('"src/rows/ledger.h"')),
    Seed("layers", "models/dense.cpp", _include('"net/codec.h"')),
    Seed("layers", "models/dense.cpp", _include("<asio.hpp>")),
    Seed("layers", "models/dense.cpp", _include('"../net/codec.h"')),
    Seed("layers", "net/codec.cpp", _include('"src/rows/ledger.h"')),
    Seed("layers", "net/codec.cpp", _include("<cblas.h>")),
    Seed("layers", "net/codec.cpp", _include("<yaml-cpp/yaml.h>")),
    Seed("layers", "src/config/reader.cpp", _include('"net/codec.h"')),
    Seed("layers", "src/rows/ledger.h", _include('"src/modes/ako_mode.h"')),
    Seed("layers", "src/attic/old.cpp", "// Old.\n" + _include('"src/rows/ledger.h"')),
    Seed("layers", "src/config/reader.cpp", _include("<asio/buffer.hpp>")),
    Seed("layers", "src/main.cpp", _include("<asio.hpp>")),
    Seed("layers", "src/native_peer/train.cpp", _include("<yaml-cpp/yaml.h>")),
    Seed("rooms-of-tests", "tests/unit/core/dense_test.cpp", "// Tests.\n"),
    Seed("file-length", "models/long.cpp", "// Long.\n" + "int a();\n" * 499),
    Seed("columns", "models/wide.cpp", "// " + "x" * 98 + "\n"),
    Seed("columns", "deploy/test", "# " + "x" * 99 + "\n"),
    Seed("function-length", "models/f.cpp", _function(71)),
    Seed("function-length", "models/f.cpp", _function(71, "template <class T>\nint T::f() const")),
    Seed("function-length", "models/f.cpp", _function(71, "auto f() -> std::vector<int>")),
    Seed("function-length", "models/f.cpp", _function(71, "T::T(int a)\n    : a_(a), b_{2}")),
    Seed("function-length", "models/f.cpp", _function(71, 'TEST_CASE("a brace { in a string")')),
    Seed("class-size", "net/codec.cpp", _class(36, 0)),
    Seed("class-size", "net/codec.cpp", _class(1, 26, "struct Large final : Base")),
    Seed("class-size", "net/codec.cpp", _class(0, 26)),
    Seed("class-size", "src/rows/ledger.h", "struct Outer {\n" + _class(36, 0) + "};\n"),
    Seed("opening-comment", "models/bare.cpp", "#include <vector>\n// Late.\n"),
    Seed("opening-comment", "src/rows/other.cpp", _include('"src/rows/ledger.h"')),
    Seed("opening-comment", "src/rows/bare.h", "#pragma once\n// Late.\n"),
    Seed("type-names", "net/codec.cpp", "struct Ledger {\n    int a;\n};\n"),
    Seed("type-names", "models/dense.cpp", "namespace {\nenum class Ledger { a };\n}\n"),
    Seed("type-names", "tests/unit/models/dense_test.cpp", "template <class T>\n"
         "class alignas(64) Ledger final : public T {};\n"),
    Seed("file-names", "src/modes/ledger.h", "// Rows.\n"),
    Seed("words", "models/word.cpp", "// Word.\nint ra" "nk_of(int);\n"),
    Seed("words", "net/codec.cpp", "// Every no" "de.\n"),
    Seed("words", "net/codec.cpp", "// A sh" "ard.\n"),
    Seed("words", "models/word.cpp", "// Word.\nclass PeerNo" "de;\n"),
    Seed("modes", "src/config/reader.cpp", "bool rings(Mode it) { return it == Mode::ring; }\n"),
    Seed("documents", "README.md", "See `src/rows/ledgers.h`.\n"),
    Seed("documents", "README.md", "See [rows](src/rows/ledger.h#rows) and [more](src/more.md).\n"),
    Seed("documents", "README.md", "Said by `src/rows/ledger.h`, `take`.\n"),
    Seed("documents", "models/dense.cpp", '// See "Layers" in README.md.\n'),
    Seed("documents", "README.md", "<!-- rooms.py writes this table -->\n<!-- to here -->\n"),
    Seed("left-open", "README.md", "TO" "DO: more.\n"),
    Seed("left-open", "models/open.cpp", "// Open.\n// FIX" "ME\n"),
    Seed("machine-path", "deploy/test", "cd /ho" "me/someone/ako\n"),
    Seed("machine-path", "README.md", "See `/wo" "rk/ako`.\n"),
    Seed("executable", "deploy/quickstart", "#!/bin/sh\n", executable=False),
    Seed("executable", "models/dense.h", "// A layer.\n", executable=True),
    # Found through a file that is allowed by its name, which only compiling can tell.
    Seed("isolation", "common/ako/helper.h", "// H.\n#if __has_include(<cstdint>)\n"
         "#define HELPER <asio.hpp>\n#include HELPER\n#endif\n"),
    Seed("isolation", "src/modes/ako_mode.cpp", "#define HELPER <asio/buffer.hpp>\n"
         "#include HELPER\n"),
    Seed("isolation", "src/rows/link_schedule.h", "// Next.\nstd::vector<int> not_included;\n"),
)

# Nothing of these may be in reach of the algorithm, under whichever of its names.
_HIDDEN = ("asio.hpp", "asio/buffer.hpp", "Eigen/Core",
           "eigen3/Eigen/Core", "cblas.h", "openblas-pthread/cblas.h", "yaml-cpp/yaml.h",
           "fmt/core.h", "spdlog/spdlog.h", "nlohmann/json.hpp", "CLI/CLI.hpp", "zlib.h")


def _write(root: pathlib.Path, name: str, text: str, executable: bool) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as out:
        out.write(text)
    path.chmod(0o755 if executable else 0o644)


def _findings(seed: Seed | None, compiler: str) -> list[tidy_test.Finding]:
    with tempfile.TemporaryDirectory(prefix="ako-tidy-") as folder:
        root = pathlib.Path(folder)
        for name, text in _TIDY.items():
            _write(root, name, text, name in _EXECUTABLE)
        if seed:
            executable = seed.path in _EXECUTABLE if seed.executable is None else seed.executable
            _write(root, seed.path, seed.text, executable)
        tree = tidy_test.Tree(root)
        found = [finding for rule in tidy_test.RULES for finding in rule(tree)]
        # Compiling takes seconds, so it is done where it matters.
        if not seed or seed.rule == "isolation":
            found += tidy_test.isolated(tree, compiler)
        return found


def _faults_of_reader() -> list[str]:
    """Does the reader of C++ see functions as they are?"""
    faults = []
    within = _function(70) + _function(3, "void S::g() const noexcept")
    lengths = [function.body_lines for function in cpp_text.functions(within)]
    if lengths != [70, 3]:
        faults.append(f"functions of 70 and 3 lines were read as {lengths}")
    tricky = ("// T.\nnamespace ako {\nclass A : public B {\n  public:\n    A() : b_{1} {}\n"
              "    int c() const { return f([] { return '{'; }); }\n"
              "  private:\n    int b_ = {};\n"
              '};\nconst char* names[] = {\n    "a",\n};\nvoid d(X x = {}) {\n    if (x) {\n'
              "        e();\n    }\n}\n}  // namespace ako\n")
    names = [(found.name, found.body_lines) for found in cpp_text.functions(tricky)]
    if names != [("A", 0), ("c", 0), ("d", 3)]:
        faults.append(f"the functions A, c and d were read as {names}")
    types = ('namespace a {\nclass M("x") B {\n    enum class C { d };\n};\nnamespace {\n'
             "struct E {\n};\n}\nstruct F;\nE f() {\n    struct G {};\n}\n}\n")
    names = [(found.name, found.anonymous) for found in cpp_text.types(types)]
    if names != [("a::B::C", False), ("a::B", False), ("a::E", True)]:
        faults.append(f"the types a::B::C, a::B and E were read as {names}")
    return faults


# Every kind of declaration, with what it is to be counted as.
_CLASS = """
template <class T, auto N = f<3>()>
class AKO_CAPABILITY("x") Counted final : public Base<T>, Other<void(int)> {
  public:
    using Say = std::function<void(const std::string&)>;
    static constexpr int limit = 3;  // none: a constant; nor this: int a; int b();
    enum class Kind { a, b };
    struct Part {
        int x = 0, y = 0;
        bool operator==(const Part&) const = default;
    };
    class Announced;
    explicit Counted(int a = {}, Say say = [] { return 1; }) : a_{a}, say_(say) {}
    Counted(const Counted&) = delete;
    ~Counted() override;
    Counted& operator=(Counted&& other) noexcept = default;
    bool operator()(int a) const { return a < 3; }
    bool operator<(const Counted& other) const;
    explicit operator bool() const { return !!a_; }
    template <class U>
    auto mapped(const std::map<int, U>& map) const -> std::vector<U>;
    static Counted of(int a);
    virtual std::span<const float> pure(int a) AKO_REQUIRES(mutex_) = 0;
    void guarded() try {
        a_ = 3;
    } catch (const std::exception&) {
    }
    friend bool same(const Counted& a, const Counted& b);

  private:
    std::function<void(int)> say_;
    std::array<int, 3> a_{1, 2, 3};
    int b_ AKO_GUARDED_BY(mutex_) = f(1, 2), c_{3};
    void (*call_)(int) = nullptr;
    std::function<int()> made_ = [] { return 3; };
    struct {
        int inner = 0;
    } group_;
    static int shared_;
};
"""


def _faults_of_class_reader() -> list[str]:
    """Are the methods and members of a class counted as they are?"""
    read = [tuple(found)[1:] for found in class_size.class_sizes(_CLASS)]
    expected = [("Counted", 11, 7, False), ("Part", 1, 2, True), ("", 0, 1, True)]
    faults = [] if read == expected else [f"the classes {expected} were read as {read}"]
    for text in (_class(35, 25), _class(0, 26, "struct Plain")):
        found = _findings(Seed("", "net/codec.cpp", text), "")
        faults += [f"a class that is not too large: {finding}" for finding in found]
    return faults


def _faults_of_rooms() -> list[str]:
    """Does every room see only those before it? Then no two see each other."""
    order = list(tidy_test.ROOMS)
    return [f"{room} sees {other}, which does not come before it"
            for place, room in enumerate(order) for other in tidy_test.ROOMS[room].sees.split()
            if other not in order[:place]]


def run(compiler: str) -> int:
    """Prints what is wrong; the exit status."""
    faults = [f"a finding without a seed: {finding}" for finding in _findings(None, compiler)]
    faults += _faults_of_reader() + _faults_of_class_reader() + _faults_of_rooms()
    for seed in _SEEDS:
        rules = {finding.rule for finding in _findings(seed, compiler)}
        if rules != {seed.rule}:
            faults.append(f"{seed.rule} in {seed.path} was found as {sorted(rules) or 'nothing'}: "
                          f"{seed.text[:60]!r}")
    with isolation.Isolation(compiler) as alone:
        if said := alone.refused(".", _include("<vector>") + _include("<openssl/evp.h>")):
            faults.append(f"the standard library and OpenSSL are out of reach: {said}")
        for target in _HIDDEN:
            if not alone.refused(".", _include(f"<{target}>")):
                faults.append(f"<{target}> is in reach of the algorithm")
    for fault in faults:
        print(fault)
    print(f"tidy self-test: {len(_SEEDS) + len(_HIDDEN)} seeds, {len(faults)} faults")
    return 1 if faults else 0

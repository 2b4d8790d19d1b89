"""Just enough reading of C++ for the tidy test: comments and strings blanked, includes, functions.

Works on clang-formatted code; it is a reader of text, no compiler.
"""

import re
from typing import Iterator, NamedTuple

# One alternative per thing that may hide a brace or a quote; raw strings before plain ones.
_HIDING = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
# A preprocessor line with those that a backslash joins to it.
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\\\n]|\\.|\\\n)*", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_SCOPE = re.compile(r"^(?:inline |typedef |static |constexpr )*"
                    r"(?:namespace|class|struct|union|enum|extern)\b")
# The name with what comes before it: enum class, alignas(64), a macro with an attribute.
_SCOPE_NAME = re.compile(r"\b(?:namespace|class|struct|union|enum(?:\s+class)?)\s+"
                         r"(?:\w+\s*\([^)]*\)\s*)*([\w:]+(?:\s*<[^{]*>)?)")
_TEMPLATE = re.compile(r"^template\s*")
_NAME = re.compile(r"(?!__attribute__)\b([~\w:]+|operator\s*\S+)\s*\((?!\()")


class Include(NamedTuple):
    line: int
    quoted: bool
    target: str


class Function(NamedTuple):
    line: int
    name: str
    body_lines: int


class Type(NamedTuple):
    line: int
    name: str          # with its namespaces and classes, but for the anonymous
    anonymous: bool    # is it seen in its own source file alone?


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _spaces(found: re.Match) -> str:
    return re.sub(r"[^\n]", " ", found.group())


def blanked(text: str) -> str:
    """The text with comments, strings and characters turned to spaces; lines keep their places."""
    return _HIDING.sub(_spaces, text)


def without_directives(code: str) -> str:
    """Blanked code without its preprocessor lines; lines keep their places."""
    return _DIRECTIVE.sub(_spaces, code)


def includes(text: str) -> Iterator[Include]:
    for found in _INCLUDE.finditer(text):
        yield Include(_line(text, found.start(1)), found.group(1) == '"', found.group(2))


def without_template(header: str) -> str:
    """`template <class T, auto N = f<3>()> void f()` without its first bracket."""
    start = _TEMPLATE.match(header)
    if not start or not header.startswith("<", start.end()):
        return header
    depth = 0
    for position in range(start.end(), len(header)):
        depth += {"<": 1, ">": -1}.get(header[position], 0)
        if depth == 0:
            return without_template(header[position + 1:].lstrip())
    return header


def _is_scope(header: str) -> bool:
    header = re.sub(r"\[\[.*?\]\]", "", header).strip()
    return bool(_SCOPE.match(without_template(header)))


class _Block(NamedTuple):
    kind: str                # "scope": of a namespace or a type; "function"; "block": any other
    start: int
    header: str
    outer: tuple[str, ...]   # the headers of those around it


def _blocks(code: str) -> Iterator[tuple[_Block, int]]:
    """Every pair of braces that stands in namespaces and types alone, with where it ends."""
    open_braces: list[_Block] = []
    header_start = 0
    parentheses = 0
    for position, character in enumerate(code):
        in_scope = all(block.kind == "scope" for block in open_braces[-1:])
        if in_scope and character in "()":
            parentheses += 1 if character == "(" else -1
        elif in_scope and character == ";" and parentheses == 0:
            header_start = position + 1
        elif character == "{":
            header = code[header_start:position].strip()
            # An access label is no part of what follows it.
            header = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", header)
            kind = "block"
            if in_scope and parentheses == 0:
                if _is_scope(header):
                    kind = "scope"
                    header_start = position + 1
                elif "(" in header:
                    kind = "function"
            open_braces.append(_Block(kind, position, header,
                                      tuple(block.header for block in open_braces)))
        elif character == "}" and open_braces:
            block = open_braces.pop()
            # `a_{1}, b_{2} {`: the braces of a constructor's initialisers neither are a body nor
            # end the header.
            if parentheses == 0 and code[position + 1:].lstrip()[:1] in ("{", ","):
                continue
            in_scope = all(around.kind == "scope" for around in open_braces[-1:])
            if parentheses == 0 and in_scope:
                header_start = position + 1
            if in_scope:
                yield block, position


def functions(text: str) -> Iterator[Function]:
    """Every function that stands in a namespace or a class, lambdas and local classes within it
    being part of it. `body_lines` are the lines between its braces."""
    code = without_directives(blanked(text))
    for block, end in _blocks(code):
        if block.kind == "function":
            name = _NAME.search(block.header)
            body_lines = max(0, code.count("\n", block.start, end) - 1)
            yield Function(_line(code, block.start), name.group(1) if name else block.header,
                           body_lines)


def _scope_name(header: str) -> str:
    """`template <class T> class Grid<T> final : Base`: Grid<T>; empty for what has no name."""
    header = re.sub(r"\[\[.*?\]\]|\binline\b", "", without_template(header))
    found = _SCOPE_NAME.search(header)
    return found.group(1).replace(" ", "") if found else ""


def types(text: str) -> Iterator[Type]:
    """Every class, struct, union and enum with a name that is defined in a namespace or a type."""
    code = without_directives(blanked(text))
    for block, _ in _blocks(code):
        name = _scope_name(block.header)
        if block.kind != "scope" or not name or block.header.startswith(("namespace", "extern")):
            continue
        outer = [_scope_name(header) for header in block.outer if not header.startswith("extern")]
        yield Type(_line(code, block.start), "::".join(filter(None, [*outer, name])),
                   "" in outer)

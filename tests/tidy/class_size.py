"""How large the classes of a C++ file are: the methods and data members that a body declares.

    class_size.py FILE...    prints `file:line: name: methods, members` of every class

Methods are all member functions, whatever their access: constructors, operators, what is defaulted
or deleted. Members are the data of one object: neither static constants nor those of nested types,
which are classes of their own. Like cpp_text it reads clang-formatted text and is no compiler.
Functions on values; no state.
"""

import pathlib
import re
import sys
from typing import Iterator, NamedTuple

import cpp_text

# Where a class may begin; `<class T` and `enum class` are none.
_KEYWORD = re.compile(r"(?<!\w)(class|struct|union)(?!\w)")
_NO_CLASS = re.compile(r"(?:[<,]|\benum|\bfriend)\s*$")
_ATTRIBUTES = r"(?:\s*\[\[[^\]]*\]\]|\s*(?:alignas|[A-Z][A-Z0-9_]+)\s*\([^()]*\))*"
_HEAD = re.compile(_ATTRIBUTES + r"\s*(?P<name>[\w:]*(?:\s*<[^{};()]*>)?)\s*(?:\bfinal\b)?"
                   r"\s*(?::(?!:)[^{;]*)?\{")
_ACCESS = re.compile(r"(public|private|protected)\s*:(?!:)")
_TYPE = re.compile(r"(?:class|struct|union|enum)\b")
# Neither a method nor a member.
_NEITHER = re.compile(r"(?:using|typedef|friend|static_assert)\b")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+|[^(]+?(?=\s*\())")
# What has brackets and declares nothing by them.
_BRACKETED = re.compile(r"\[\[[^\]]*\]\]|\b(?:alignas|decltype|explicit|[A-Z][A-Z0-9_]+)"
                        r"\s*\((?:[^()]|\([^()]*\))*\)")
_OPEN, _CLOSE = "([{", ")]}"


class ClassSize(NamedTuple):
    line: int
    name: str      # as its head says it; "" of one without a name
    methods: int
    members: int
    plain: bool    # a struct of public data, with no method but defaulted operators


class _Declaration(NamedTuple):
    text: str      # without a template's parameters
    method: bool
    members: int


def _end_of_braces(code: str, start: int) -> int:
    """The place of the brace that closes the one at `start`."""
    depth = 0
    for position in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[position], 0)
        if depth == 0:
            return position
    return len(code)


def _before_value(text: str) -> str:
    """`int a = 3` as far as `int a`, `A() : b_(1)` as far as `A()`: what stands before the value,
    the body or the initialisers."""
    depth = 0
    for position, character in enumerate(text):
        if depth == 0 and (character in "={" or character == ":" and ":" not in (
                text[position - 1:position], text[position + 1:position + 2])):
            return text[:position]
        depth += (character in _OPEN) - (character in _CLOSE)
    return text


def _declarator(text: str) -> str:
    """A declaration with no value and no template's arguments, in which parentheses are those of a
    function's parameters."""
    text = _before_value(_BRACKETED.sub(" ", _OPERATOR.sub("operator_", text)))
    while (shorter := re.sub(r"<[^<>]*>", "", text.replace("->", "  "))) != text:
        text = shorter
    return text


def _is_method(text: str) -> bool:
    declarator = _declarator(text)
    return "(" in declarator and not re.search(r"\(\s*[*&]", declarator)


def _without_values(text: str) -> str:
    """`a{1, 2}, b = f(x, y)` as `a, b = f`: what stands in no brackets, not even `<>`."""
    kept, depth = [], 0
    text = _BRACKETED.sub(" ", text).replace("->", "  ")
    for character in text:
        depth -= character in _CLOSE or character == ">"
        if depth == 0 and character not in _CLOSE + ">":
            kept.append(character)
        depth += character in _OPEN or character == "<"
    return "".join(kept)


def _declaration(text: str) -> _Declaration:
    text = cpp_text.without_template(text.strip())
    if not text or _NEITHER.match(text):
        return _Declaration(text, False, 0)
    if defined := re.match(r"(?:class|struct|union|enum)\b[^{}();]*\{", text):
        # A type; `struct {} a;` declares a member besides.
        behind = text[_end_of_braces(text, defined.end() - 1) + 1:].strip()
        return _Declaration(text, False, len(behind.split(",")) if behind else 0)
    if _TYPE.match(text) and re.fullmatch(r"(?:enum\s+)?\w+\s+[\w:]+(?:\s*:\s*[\w:]+)?", text):
        return _Declaration(text, False, 0)  # announced, to be defined elsewhere
    if _is_method(text):
        return _Declaration(text, True, 0)
    if re.match(r"(?:inline\s+|constexpr\s+)*static\b", text):
        return _Declaration(text, False, 0)
    return _Declaration(text, False, len(_without_values(text).split(",")))


def _ends_with_brace(text: str, behind: str) -> bool:
    """Does a declaration end with this brace, which is the end of a function's body, and not one of
    a value or an initialiser?"""
    if behind.startswith((",", "{", "catch")):
        return False
    text = cpp_text.without_template(text.strip())
    return not _TYPE.match(text) and _is_method(text)


def _declarations(body: str) -> Iterator[_Declaration]:
    start = position = depth = 0
    while position < len(body):
        character = body[position]
        if depth == 0 and not body[start:position].strip() and (
                label := _ACCESS.match(body, position)):
            start = position = label.end()
            continue
        if depth == 0 and character == "{":
            position = _end_of_braces(body, position)
            if _ends_with_brace(body[start:position], body[position + 1:].lstrip()):
                yield _declaration(body[start:position + 1])
                start = position + 1
        elif depth == 0 and character == ";":
            yield _declaration(body[start:position])
            start = position + 1
        else:
            depth += (character in _OPEN) - (character in _CLOSE)
        position += 1


def class_sizes(text: str) -> Iterator[ClassSize]:
    """Every class, struct and union that the text defines, nested and local ones too."""
    code = cpp_text.without_directives(cpp_text.blanked(text))
    for keyword in _KEYWORD.finditer(code):
        head = _HEAD.match(code, keyword.end())
        if not head or _NO_CLASS.search(code, 0, keyword.start()):
            continue
        body = code[head.end():_end_of_braces(code, head.end() - 1)]
        found = [each for each in _declarations(body) if each.text]
        methods = [each for each in found if each.method]
        public = keyword.group() != "class" and not re.search(
            r"(?<!\w)(?:private|protected)\s*:(?!:)", body)
        own_methods = [each for each in methods
                       if not re.search(r"\boperator\b.*=\s*default$", each.text, re.DOTALL)]
        yield ClassSize(code.count("\n", 0, keyword.start()) + 1, head.group("name").strip(),
                        len(methods), sum(each.members for each in found),
                        public and not own_methods)


def main() -> None:
    for name in sys.argv[1:]:
        for found in class_sizes(pathlib.Path(name).read_text()):
            print(f"{name}:{found.line}: {found.name or '(no name)'}: {found.methods}, "
                  f"{found.members}{', plain' if found.plain else ''}")


if __name__ == "__main__":
    main()

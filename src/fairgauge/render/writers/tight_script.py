"""Scripts without what only their readers need: comments, and blanks that mean nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BEFORE_PATTERN = "(,=:[!&|?{};+>"
"""After what a slash begins a regular expression and is no division."""


def tight(script: str) -> str:
    """Return a script without comments and without blanks that mean nothing.

    >>> tight('const next = a + +b, text = "x + y"; // both')
    'const next=a+ +b,text="x + y";'
    >>> tight("const shown = `of ${a + b}: ${ c }`, bare = text.replace(/ +/g, ' ');")
    "const shown=`of ${a+b}: ${c}`,bare=text.replace(/ +/g,' ');"
    """
    return "".join(part if whole else _tight(part) for part, whole in _parts(script)).strip()


def _tight(code: str) -> str:
    code = re.sub(r"[ \t]+", " ", code)
    code = re.sub(r" ?([=<>!&|?:;,(){}\[\]*%^~]) ?", r"\1", code)
    code = re.sub(r"(?<![+-]) ?([+-])(?! ?[+-]) ?", r"\1", code)
    code = re.sub(r" ?([+-]) ([+-]) ?", r"\1 \2", code)
    code = re.sub(r"\s*\n\s*", "\n", code)
    code = re.sub(r"(?<=[;,{(\[=&|?:])\n", "", code)
    return re.sub(r"\n(?=[})\].,?:&|])", "", code)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a script, and whether each stays as it is: texts and patterns do."""
    i, start, last = 0, 0, ""
    while i < len(text):
        mark = text[i]
        if text.startswith("//", i):
            yield text[start:i], False
            i = start = text.find("\n", i) if "\n" in text[i:] else len(text)
            continue
        word = re.search(r"\b(return|typeof)\s*$", text[start:i])
        of_pattern = mark == "/" and (last in _BEFORE_PATTERN or bool(word))
        if mark == "`":
            yield text[start:i], False
            end = _end(text, i)
            yield from _template(text[i:end])
        elif mark in "\"'" or of_pattern:
            yield text[start:i], False
            end = _end(text, i)
            yield text[i:end], True
        else:
            last = mark if not mark.isspace() else last
            i += 1
            continue
        i, start, last = end, end, '"'
    yield text[start:], False


def _template(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in backticks: what it computes is code."""
    i = start = 1
    while i < len(text) - 1:
        if text[i] == "\\":
            i += 2
        elif text.startswith("${", i):
            end = _end(text, i + 1)
            yield text[start - (start == 1) : i + 2], True
            yield from ((part.strip(" ") if not whole else part, whole)
                        for part, whole in _parts(text[i + 2 : end - 1]))  # fmt: skip
            i = start = end - 1 + 1
            yield "}", True
        else:
            i += 1
    yield text[start - (start == 1) :], True


def _end(text: str, i: int) -> int:
    """Return where a text, a pattern or braces end that begin at a place."""
    mark, i, in_class = text[i], i + 1, False
    while True:
        at = text[i]
        if mark == "{" and at == "}":
            return i + 1
        if mark == "{" and at in "\"'`{":
            i = _end(text, i)
            continue
        if at == "\\":
            i += 1
        elif mark == "`" and text.startswith("${", i):
            i = _end(text, i + 1)
            continue
        elif mark == "/" and at in "[]":
            in_class = at == "["
        elif at == mark and not in_class:
            flags = re.compile(r"[a-z]*" if mark == "/" else "").match(text, i + 1)
            assert flags is not None
            return flags.end()
        i += 1

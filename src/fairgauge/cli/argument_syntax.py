"""Reading what is written on the command line: names, value sets, cuts, references.

A backslash takes the meaning from ``=``, ``:``, ``*`` and ``,`` in a name; any other backslash is
one of the name.
"""

from __future__ import annotations

import contextlib
import math
import re
from typing import TYPE_CHECKING, Any

from fairgauge.errors import Problem, SpecError, quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.spec.rules import Rule

_ESCAPED = re.compile(r"\\([=:*,])")
_CUT = re.compile(r">\s*([+-]?[0-9.].*)", re.DOTALL)


def unescape(text: str) -> str:
    r"""Return a name as it is meant.

    >>> unescape(r"a\=b")
    'a=b'
    """
    return _ESCAPED.sub(r"\1", text)


def split(text: str, separator: str) -> list[str]:
    r"""Split at every separator that is not escaped; the parts keep their escapes.

    >>> split(r"Black,Asian\, other", ",")
    ['Black', 'Asian\\, other']
    """
    return re.split(rf"(?<!\\){re.escape(separator)}", text)


def names(texts: Iterable[str]) -> list[str]:
    """Read names separated by commas, in one or several options."""
    return [unescape(part) for text in texts for part in split(text, ",")]


def sensitive(text: str, path: str, problems: list[Problem]) -> Any:
    r"""Read ``COL``, ``COL=V1,V2`` or ``COL:40,60``.

    >>> sensitive("age:40,60", "", [])
    {'column': 'age', 'cuts': [40.0, 60.0]}
    """
    found = re.search(r"(?<!\\)[=:]", text)
    if found is None:
        return unescape(text)
    column, rest = unescape(text[: found.start()]), text[found.end() :]
    if found[0] == "=":
        return {"column": column, "values": names([rest])}
    cuts = [_number(part) for part in split(rest, ",")]
    if any(isinstance(each, str) for each in cuts):
        message = (
            f"the cut points after {quote(column + ':')} must be numbers, not {quote(rest)}; "
            r"if the colon belongs to the column's name, write \:"
        )
        problems.append(Problem(path, message))
        return unescape(text)
    return {"column": column, "cuts": cuts}


def intersection(text: str) -> list[str]:
    """Read ``A*B``."""
    return [unescape(part) for part in split(text, "*")]


def positive(texts: Iterable[str], path: str, problems: list[Problem]) -> Any:
    """Read values separated by commas, or a cut: ``>50000``.

    >>> positive([">50000"], "", [])
    {'above': 50000.0}
    """
    values = names(texts)
    cuts = [number for value in values if (number := _cut(value)) is not None]
    if cuts and len(values) > 1:
        message = f"a cut such as {quote(f'>{cuts[0]:g}')} stands alone, without other values"
        problems.append(Problem(path, message))
    return {"above": cuts[0]} if cuts else values


def reference(texts: Iterable[str], path: str, problems: list[Problem]) -> Any:
    """Read a word (rest, overall, largest, best), or ``COL=VALUE`` once or more.

    >>> reference(["race=White"], "", [])
    {'race': 'White'}
    """
    found: dict[str, str] = {}
    every = list(texts)
    for text in every:
        column, *value = re.split(r"(?<!\\)=", text, maxsplit=1)
        if not value and len(every) == 1:
            return unescape(text)
        if not value or unescape(column) in found:
            wanted = "either one word, or COL=VALUE once for each column"
            problems.append(Problem(path, f"cannot use {quote(text)} here; say {wanted}"))
            continue
        found[unescape(column)] = unescape(value[0])
    return found


def population(
    texts: Iterable[str], path: str, problems: list[Problem]
) -> dict[str, dict[str, float]]:
    """Read ``COL:VALUE=SHARE,VALUE=SHARE``, one column each.

    >>> population(["race:Black=0.13,White=0.6"], "", [])
    {'race': {'Black': 0.13, 'White': 0.6}}
    """
    found: dict[str, dict[str, float]] = {}
    for text in texts:
        column, *rest = split(text, ":")
        pairs = [split(part, "=") for part in split(":".join(rest), ",")]
        try:
            found[unescape(column)] = {unescape(value): float(share) for value, share in pairs}
        except ValueError:
            problems.append(Problem(path, f"cannot read {quote(text)}; write COL:VALUE=SHARE,..."))
    return found


def rules(texts: Iterable[str], path: str, problems: list[Problem]) -> list[Rule]:
    """Read ``DI >= 0.8`` and ``-0.1 <= RD <= 0.1``."""
    from fairgauge.spec.rules import parse_rule

    found = []
    for i, text in enumerate(texts):
        try:
            found.append(parse_rule(text))
        except SpecError as error:
            at = f"{path}[{i}]"
            problems += [Problem(p.path.replace("rule", at, 1), p.message) for p in error.problems]
    return found


def number(text: str) -> float | int | str:
    """Read a number, whole if it is written so; other text stays as it is, to be refused later."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _number(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text


def _cut(value: str) -> float | None:
    found = _CUT.fullmatch(value)
    bound = _number(found[1]) if found else ""
    return bound if isinstance(bound, float) else None

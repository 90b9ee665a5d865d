"""The syntax of the command line: values parsed from the texts of a flag, and written to them.

A backslash removes the meaning of ``=``, ``:``, ``*`` and ``,`` in a name; any other backslash is
part of the name. A ``parse`` function takes the texts of a flag, the path of its option and the
problems so far, and returns what a specification file would hold; a ``write`` function is its
inverse.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from fairgauge.enums import Closed
from fairgauge.errors import Problem, quote, shown
from fairgauge.identity import name_of_values
from fairgauge.question.features import FeatureKeys
from fairgauge.values import Value, canonical, name_of

Texts = Sequence[str]

_ESCAPED = re.compile(r"\\([=:*,])")
_SPECIAL = re.compile(r"([=:*,])")
_ORDER = re.compile(r"\s+>\s+")
_CUT = re.compile(r">\s*([+-]?[0-9.].*)", re.DOTALL)


def unescape(text: str) -> str:
    r"""Return a name without its escapes.

    >>> unescape(r"a\=b")
    'a=b'
    """
    return _ESCAPED.sub(r"\1", text)


def escape(value: object) -> str:
    r"""Return the text of a value with its special characters escaped.

    >>> print(escape("a=b"), escape(1.0), escape(True))
    a\=b 1 true
    """
    return _SPECIAL.sub(r"\\\1", _text(value))


def split(text: str, separator: str) -> list[str]:
    r"""Split at every separator that is not escaped; the parts keep their escapes.

    >>> split(r"Black,Asian\, other", ",")
    ['Black', 'Asian\\, other']
    """
    return re.split(rf"(?<!\\){re.escape(separator)}", text)


_TWICE = "is given twice; give it once"


def parse_text(texts: Texts, path: str, problems: list[Problem]) -> str:
    """Read a name or a value."""
    del path, problems
    return unescape(texts[0])


def write_text(value: object) -> list[str]:
    """Write a name or a value."""
    return [escape(value)]


def parse_number(texts: Texts, path: str, problems: list[Problem]) -> float | str:
    """Read a number, an int if written so; other text is returned, and refused by the reader.

    >>> parse_number(["7"], "", []), parse_number(["0.5"], "", []), parse_number(["x"], "", [])
    (7, 0.5, 'x')
    """
    del path, problems
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(texts[0])
    return texts[0]


def parse_numbers(
    texts: Texts, path: str, problems: list[Problem]
) -> float | str | list[float | str]:
    """Read numbers, or a word, separated by commas.

    >>> parse_numbers(["0.3,0.5", "0.7"], "", []), parse_numbers(["median"], "", [])
    ([0.3, 0.5, 0.7], 'median')
    """
    numbers = [parse_number([part], path, problems) for part in parse_names(texts, path, problems)]
    return numbers[0] if len(numbers) == 1 else numbers


def parse_count(texts: Texts, path: str, problems: list[Problem]) -> float | str | None:
    """Read the number of a flag that takes a number or a percentage; None if it has none.

    >>> parse_count(["30", "2%"], "", []), parse_count(["2%"], "", [])
    (30, None)
    """
    numbers = [text for text in texts if not text.strip().endswith("%")]
    return _only(numbers, path, problems)


def parse_percentage(texts: Texts, path: str, problems: list[Problem]) -> float | str | None:
    """Read the percentage, as a share, of a flag that takes a number or a percentage.

    >>> parse_percentage(["30", "2%"], "", []), parse_percentage(["30"], "", [])
    (0.02, None)
    """
    percentages = [text for text in texts if text.strip().endswith("%")]
    return _only(percentages, path, problems, percentage=True)


def write_percentage(value: float) -> list[str]:
    """Write a share as a percentage.

    >>> write_percentage(0.07)
    ['7%']
    """
    return [f"{(Decimal(repr(float(value))) * 100).normalize():f}%"]


def _only(
    texts: Texts, path: str, problems: list[Problem], *, percentage: bool = False
) -> float | str | None:
    if not texts:
        return None
    if len(texts) > 1:
        problems.append(Problem(path, _TWICE))
    if not percentage:
        return parse_number(texts, path, problems)
    try:
        return float(Decimal(texts[0].strip().removesuffix("%")) / 100)
    except InvalidOperation:
        return texts[0]


def parse_range(texts: Texts, path: str, problems: list[Problem]) -> list[float | str]:
    """Read two numbers."""
    return [parse_number([text], path, problems) for text in texts]


def parse_names(texts: Texts, path: str, problems: list[Problem]) -> list[str]:
    """Read names separated by commas, in one flag or several."""
    del path, problems
    return [unescape(part) for text in texts for part in split(text, ",")]


def write_names(values: Value | Sequence[Value]) -> list[str]:
    """Write names separated by commas."""
    every = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    return [",".join(map(escape, every))] if every else []


def parse_sensitive(
    texts: Texts, path: str, problems: list[Problem]
) -> list[str | dict[str, object]]:
    r"""Read ``COL``, ``COL=V1,V2``, ``COL:40,60`` or ``COL:40,60:left``.

    >>> parse_sensitive(["sex", "age:40,60", "age:40:left"], "", [])[1:]
    [{'column': 'age', 'cuts': [40.0, 60.0]}, {'column': 'age', 'cuts': [40.0], 'closed': 'left'}]
    """
    return [_feature(text, f"{path}[{i}]", problems) for i, text in enumerate(texts)]


def parse_listed_features(
    texts: Texts, path: str, problems: list[Problem]
) -> list[str | dict[str, object]]:
    r"""Read ``A,B:1,2,C``, where numbers after ``B:`` are cut points of B, and the forms of one.

    >>> parse_listed_features(["sex,age:40,60,race"], "", [])
    ['sex', {'column': 'age', 'cuts': [40.0, 60.0]}, 'race']
    >>> parse_listed_features(["race=Black,Asian"], "", [])
    [{'column': 'race', 'values': ['Black', 'Asian']}]
    """
    listed: list[str] = []
    for text in texts:
        begun = ""
        for part in split(text, ","):
            number = isinstance(_finite(part.partition(":")[0]), float)
            if (begun == ":" and number) or begun == "=":
                listed[-1] += f",{part}"
                continue
            special = re.search(r"(?<!\\)[=:]", part)
            begun = special[0] if special else ""
            listed.append(part)
    return parse_sensitive(listed, path, problems)


def _feature(text: str, path: str, problems: list[Problem]) -> str | dict[str, object]:
    special = re.search(r"(?<!\\)[=:]", text)
    if special is None:
        return unescape(text)
    column, rest = unescape(text[: special.start()]), text[special.end() :]
    if special[0] == "=":
        return {"column": column, "values": parse_names([rest], path, problems)}
    points, *closed = split(rest, ":")
    if rest == "quantiles":
        return {"column": column, "cuts": rest}
    cuts = [_finite(part) for part in split(points, ",")]
    if any(isinstance(cut, str) for cut in cuts) or len(closed) > 1:
        message = (
            f"the cut points after {quote(column + ':')} must be numbers, not {quote(rest)}; "
            r"if the colon belongs to the column's name, write \:"
        )
        problems.append(Problem(path, message))
        return column
    table: dict[str, object] = {"column": column, "cuts": cuts}
    return table | ({"closed": closed[0]} if closed else {})


def write_sensitive(features: Iterable[FeatureKeys]) -> list[str]:
    """Write every feature, and every value set of one, as a text of its own."""
    return [text for feature in features for text in _feature_texts(feature)]


def _feature_texts(feature: FeatureKeys) -> list[str]:
    column = escape(feature["column"])
    if feature.get("cuts"):
        closed = feature.get("closed", Closed.RIGHT)
        side = "" if closed == Closed.RIGHT else f":{closed}"
        return [f"{column}:{','.join(map(_text, feature['cuts']))}{side}"]
    if feature.get("values"):
        return [f"{column}={','.join(map(escape, values))}" for values in feature["values"]]
    return [column]


def parse_intersections(texts: Texts, path: str, problems: list[Problem]) -> list[list[str]]:
    """Read ``A*B``."""
    del path, problems
    return [[unescape(part) for part in split(text, "*")] for text in texts]


def write_intersections(intersections: Iterable[Iterable[str]]) -> list[str]:
    """Write ``A*B``."""
    return ["*".join(map(escape, columns)) for columns in intersections]


def parse_positive(
    texts: Texts, path: str, problems: list[Problem], columns: Sequence[str] = ()
) -> list[str] | dict[str, float] | dict[str, list[str]]:
    """Read values separated by commas, a cut (``>50000``), or ordered levels (``A > B > C``).

    Values after the name of a column of outcomes and ``=`` are those of this column.

    >>> parse_positive([">50000"], "", [])
    {'above': 50000.0}
    >>> parse_positive(["top > middle > bottom"], "", [])
    {'ordered': ['top', 'middle', 'bottom']}
    >>> parse_positive(["y=yes,1", "p=a"], "", [], ["y", "p"]), parse_positive(["y=1"], "", [])
    ({'y': ['yes', '1'], 'p': ['a']}, ['y=1'])
    """
    if len(texts) == 1 and len(levels := _ORDER.split(texts[0].strip())) > 1:
        return {"ordered": list(map(unescape, levels))}
    by_column: dict[str, list[str]] = {}
    column = ""
    for part in (part for text in texts for part in split(text, ",")):
        first, *rest = re.split(r"(?<!\\)=", part, maxsplit=1)
        named = bool(rest) and unescape(first) in columns
        column = unescape(first) if named else column
        by_column.setdefault(column, []).append(unescape(rest[0] if named else part))
    if "" not in by_column:
        return by_column
    values = parse_names(texts, path, problems)
    cuts = [number for value in values if (number := _cut(value)) is not None]
    if cuts and len(values) > 1:
        message = f"a cut such as {quote(f'>{cuts[0]:g}')} stands alone, without other values"
        problems.append(Problem(path, message))
    return {"above": cuts[0]} if cuts else values


def write_positive(value: Value | Sequence[Value] | Mapping[str, Any]) -> list[str]:
    """Write values separated by commas, a cut, or ordered levels."""
    if not isinstance(value, Mapping):
        return write_names(value)
    if "ordered" in value:
        return [" > ".join(map(escape, value["ordered"]))]
    if isinstance(value.get("above"), int | float):
        return [f">{_text(value['above'])}"]
    return [
        f"{escape(column)}={text}" for column, held in value.items() for text in write_names(held)
    ]


def parse_reference(texts: Texts, path: str, problems: list[Problem]) -> str | dict[str, str]:
    """Read a word (others, overall, largest, best), or ``COL=VALUE`` once or more.

    >>> parse_reference(["race=White"], "", [])
    {'race': 'White'}
    """
    named: dict[str, str] = {}
    for text in texts:
        column, *value = re.split(r"(?<!\\)=", text, maxsplit=1)
        if not value and len(texts) == 1:
            return unescape(text)
        name = unescape(column)
        if not value:
            wanted = "either one word, or COL=VALUE once for each column"
            problems.append(Problem(path, f"cannot use {quote(text)} here; give {wanted}"))
        elif name in named:
            either = dict.fromkeys((quote(named[name]), quote(unescape(value[0]))))
            problems.append(Problem(f"{path}.{name}", f"{_TWICE}: {' or '.join(either)}"))
        else:
            named[name] = unescape(value[0])
    return named


def write_reference(value: str | Mapping[str, Value | Sequence[Value]]) -> list[str]:
    r"""Write a word, or ``COL=VALUE`` once for each feature.

    >>> write_reference({"sex*race": ["F", "Black"]})
    ['sex\\*race=F & Black']
    """
    if isinstance(value, Mapping):
        return [f"{escape(name)}={escape(name_of_values(group))}" for name, group in value.items()]
    return [str(value)]


def parse_population(
    texts: Texts, path: str, problems: list[Problem]
) -> dict[str, dict[str, float]]:
    """Read ``COL:VALUE=SHARE,VALUE=SHARE``, one column each.

    >>> parse_population(["race:Black=0.13,White=0.6"], "", [])
    {'race': {'Black': 0.13, 'White': 0.6}}
    """
    shares: dict[str, dict[str, float]] = {}
    for text in texts:
        column, *rest = split(text, ":")
        pairs = [split(part, "=") for part in split(":".join(rest), ",")]
        try:
            given = [(unescape(value), float(share)) for value, share in pairs]
        except ValueError:
            problems.append(Problem(path, f"cannot read {quote(text)}; write COL:VALUE=SHARE,..."))
            continue
        if unescape(column) in shares or len(dict(given)) < len(given):
            problems.append(Problem(f"{path}.{unescape(column)}", _TWICE))
        shares[unescape(column)] = dict(given)
    return shares


def write_population(population: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Write ``COL:VALUE=SHARE,VALUE=SHARE``, one column each."""
    return [
        f"{escape(column)}:{','.join(f'{escape(v)}={s!r}' for v, s in shares.items())}"
        for column, shares in population.items()
    ]


def parse_margins(texts: Texts, path: str, problems: list[Problem]) -> dict[str, float]:
    """Read ``RATE=MARGIN``.

    >>> parse_margins(["accuracy=0.01"], "", [])
    {'accuracy': 0.01}
    """
    margins = {}
    for text in texts:
        name, _, margin = (part.strip() for part in text.rpartition("="))
        if name in margins:
            problems.append(Problem(f"{path}.{name}", _TWICE))
        try:
            number = float(margin)
        except ValueError:
            name = ""
        if not name:
            message = f"cannot read {quote(text)}; write RATE=MARGIN, such as accuracy=0.01"
            problems.append(Problem(path, message))
            continue
        margins[name] = number
    return margins


def write_margins(margins: Mapping[str, float]) -> list[str]:
    """Write ``RATE=MARGIN``."""
    return [f"{name}={margin!r}" for name, margin in margins.items()]


def parse_rules(texts: Texts, path: str, problems: list[Problem]) -> list[str]:
    """Read rules in their text form, which a specification file takes too."""
    del path, problems
    return list(texts)


def write_rules(rules: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write the limits of rules; what else a rule holds has no text form."""
    return [" or ".join(map(_limit, [rule, *rule.get("alternatives", ())])) for rule in rules]


def _limit(rule: Mapping[str, object]) -> str:
    metric, low, high = rule["metric"], rule.get("at_least"), rule.get("at_most")
    if low is not None and high is not None:
        return f"{_text(low)} <= {metric} <= {_text(high)}"
    return f"{metric} >= {_text(low)}" if high is None else f"{metric} <= {_text(high)}"


def _text(value: object) -> str:
    return name_of(canonical(value))


def _finite(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text


def _cut(value: str) -> float | None:
    cut = _CUT.fullmatch(value)
    bound = _finite(cut[1]) if cut else ""
    return bound if isinstance(bound, float) else None


def parse_words(texts: Texts, path: str, problems: list[Problem]) -> object:
    """Read ``KEY=TEXT``; a key of a group's name has its feature and value: ``groups.sex.F``.

    >>> parse_words(["noun=applicants", "groups.sex.F=women"], "words", [])
    {'noun': 'applicants', 'groups': {'sex': {'F': 'women'}}}
    """
    table: dict[str, Any] = {}
    for text in texts:
        key, equals, word = text.partition("=")
        if not equals:
            problems.append(Problem(path, f"must be KEY=TEXT, not {shown(text)}"))
        first, *names = key.split(".", 2)
        place = table
        for part, name in pairwise([first, *names]):
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                problems.append(Problem(f"{path}.{part}", f"is text already, besides {name}"))
                return table
        place[[first, *names][-1]] = word
    return table


def write_words(words: Mapping[str, Any]) -> list[str]:
    """Return the texts that `parse_words` reads."""
    texts = [f"{key}={word}" for key, word in words.items() if key != "groups"]
    for feature, names in words.get("groups", {}).items():
        if isinstance(names, str):
            texts.append(f"groups.{feature}={names}")
        else:
            texts += [f"groups.{feature}.{value}={name}" for value, name in names.items()]
    return texts

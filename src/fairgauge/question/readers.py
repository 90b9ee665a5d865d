"""Readers of plain values: from what is written for an option to what it means.

A reader takes what is written in Python or in a specification file, and where that is; it returns
what the value means and reports what is wrong there. What it returns where there is a problem is
never used: a specification with problems is not made.

On the command line, a backslash removes the meaning of ``=``, ``:``, ``*`` and ``,`` in a name; any
other backslash is part of the name. A ``parse`` function takes the texts of a flag and returns what
a specification file would hold; a ``write`` function is its inverse.

Files of every format are read strictly, and all alike: YAML by the rules of YAML 1.2, so that
``positive: yes`` is the text "yes" and ``01`` the text "01"; dates of TOML become text in ISO form;
a duplicate key is an error.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import math
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, SupportsFloat, TypeGuard, TypeVar

from fairgauge.enums import Closed
from fairgauge.errors import DataError, Problem, SpecError, alternatives, display, quote, suggest
from fairgauge.start.records import dataclass, field, fields
from fairgauge.values import Value, canonical, is_number, name_of, sort_key, to_double, unique_keys

Word = TypeVar("Word", bound=StrEnum)


@dataclass(slots=True, eq=False)
class Location:
    """Where a value of a question is written, with the problems found in the question so far."""

    path: str = ""
    problems: list[Problem] = field(default_factory=list)

    def __getitem__(self, key: object) -> Location:
        """Return the location of a part, such as ``rules[0].metric``."""
        part = f"[{key}]" if isinstance(key, int) else f".{key}" if self.path else str(key)
        return Location(f"{self.path}{part}", self.problems)

    def report(self, message: str) -> None:
        self.problems.append(Problem(self.path, message))

    def expect(self, holds: bool, what: str, value: object) -> bool:
        """Return whether a value is what it must be, and report it where it is not."""
        if not holds:
            self.report(f"must be {what}, not {display(value)}")
        return holds

    def report_unknown_keys(self, table: Iterable[object], allowed: Sequence[str]) -> bool:
        """Report every key of a table that it does not have, and return whether it has any."""
        unknown = [key for key in table if key not in allowed]
        for key in unknown:
            near = suggest(key, allowed)
            self[str(key)].report(f"unknown key.{near} Allowed: {', '.join(allowed)}")
        return bool(unknown)


Reader = Callable[[object, Location], object]


def items(value: object) -> list[object]:
    """Return the items of a list, or a list of one value."""
    if isinstance(value, AbstractSet):
        return sorted(value, key=lambda each: sort_key(canonical(each)))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(value)
    return [value]


def controls_as_strata(asked: Mapping[str, object]) -> dict[str, Any]:
    """Return a question about counts, in which the controls of a decomposition are strata."""
    asked = dict(asked)
    if (controls := asked.pop("controls", None)) is not None:
        asked["strata"] = [*items(asked.get("strata") or ()), *items(controls)]
    return asked


def is_finite(value: object) -> TypeGuard[SupportsFloat]:
    """Return whether a value is a finite number; true and false are none."""
    number = is_number(value) or hasattr(value, "item")  # numpy's scalars
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return number and isinstance(value, SupportsFloat) and math.isfinite(float(value))
    return False


def located(value: object, at: Location) -> list[tuple[object, Location]]:
    """Return the items of a list, or one value, each with its location."""
    return [(each, at if each is value else at[i]) for i, each in enumerate(items(value))]


def plain_meaning(value: object) -> Any:
    """Return a meaning as a specification file has it: tables, lists, text, numbers."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, StrEnum):
        return str(value)
    return [plain_meaning(each) for each in value] if isinstance(value, tuple) else value


NOT_WRITTEN = {"written": False}  # the metadata of a field that no specification file has


def plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a value as a table of a specification file, without the usual ones."""
    return {
        each.name: held if type(held) is str else plain_meaning(held)
        for each in fields(value)
        if each.metadata.get("written", True)
        and (held := getattr(value, each.name)) != each.default
    }


LONGEST, MOST_NUMBERS = 1_000, 1_000
"""The most characters of a text of a question, and thresholds or cuts."""
MOST_REPLICATES, MOST_THRESHOLDS = 100_000, 100
"""The most that a file may ask for."""


def refuse_costly(replicates: object, thresholds: object) -> None:
    """Refuse more than a file may ask for, which costs more than it is long: its reader may."""
    listed = len(thresholds) if isinstance(thresholds, (list, tuple)) else 0
    for name, asked, most in (
        ("replicates", replicates, MOST_REPLICATES), ("threshold", listed, MOST_THRESHOLDS),
    ):  # fmt: skip
        if is_number(asked) and asked > most:
            message = f"a file may ask for {most:,}, not {asked:,}; state more yourself (--{name})"
            raise SpecError(Problem(name, message))


def _texts_in(value: object) -> Iterator[str]:
    """Yield every text and name that plain values hold."""
    if isinstance(value, str):
        yield value
    parts = [*value, *value.values()] if isinstance(value, Mapping) else value
    for each in parts if isinstance(parts, (list, tuple)) else ():
        yield from _texts_in(each)


def refuse_long(value: object, at: Location) -> bool:
    """Report a text that is longer than a question has, and return whether there is one."""
    longest = max(map(len, _texts_in(value)), default=0)
    if longest > LONGEST:
        at.report(f"holds a text of {longest:,} characters; it may have {LONGEST:,}")
    return longest > LONGEST


def read_keys(
    table: Mapping[str, object], keys: Mapping[str, Reader], at: Location
) -> dict[str, Any]:
    """Read what a table has for some keys; without those for which it has nothing."""
    given = {k: read for k, read in keys.items() if table.get(k) is not None}
    short = (k for k in given if not refuse_long(table[k], at[k]))
    return {k: given[k](table[k], at[k]) for k in short}


def read_table(value: object, keys: Mapping[str, Reader], at: Location) -> dict[str, Any]:
    """Read a table, which may have some keys and no others, as `read_keys` does."""
    if not isinstance(value, Mapping):
        at.report(f"must be a table of {', '.join(keys)}, not {display(value)}")
        return {}
    at.report_unknown_keys(value, tuple(keys))
    return read_keys(value, keys, at)


def read_column(value: object, at: Location) -> str | None:
    """Read the name of a column."""
    return str(value) if at.expect(isinstance(value, str), "the name of a column", value) else None


def read_names(value: object, at: Location) -> tuple[str, ...]:
    """Read a name, or a list of names."""
    return tuple(
        str(name) for name, where in located(value, at)
        if where.expect(isinstance(name, str), "a name or a list of names", name)
    )  # fmt: skip


def read_value(value: object, at: Location) -> Value:
    """Read one value of a column: text, a number, true or false."""
    compound = isinstance(value, Sized) and not isinstance(value, (str, bytes))
    if not at.expect(not compound, "one value", value):
        return None
    if (meaning := canonical(value)) is None:
        at.report("must not be missing")
    return meaning


def read_values(value: object, at: Location) -> tuple[Value, ...]:
    """Read one value, or a list of at least one."""
    every = located(value, at)
    if not every:
        at.report("must hold at least one value")
    return tuple(read_value(each, where) for each, where in every)


def read_word(words: type[Word], *more: str) -> Callable[[object, Location], Word]:
    """Return the reader of a closed vocabulary; ``more`` describes what else is allowed."""
    allowed = alternatives([*map(str, words), *more])

    def read(value: object, at: Location) -> Word:
        if isinstance(value, str) and value in list(words):
            return words(value)
        at.report(f"{display(value)} is not allowed.{suggest(value, words)} Use {allowed}")
        return next(iter(words))

    return read


def read_number(
    low: float = -math.inf, high: float = math.inf, *, inside: bool = False, whole: bool = False
) -> Callable[[object, Location], float]:
    """Return the reader of a number between two limits, which are allowed unless ``inside``."""
    noun = "whole number" if whole else "number"
    allowed = f"a {noun}, {low:g} or greater" if low > -math.inf else f"a finite {noun}"
    if high < math.inf:
        allowed = f"a {noun} between {low:,.10g} and {high:,.10g}"

    def fits(number: float) -> bool:
        of_kind = isinstance(number, int) if whole else abs(number) <= sys.float_info.max
        return of_kind and (low < number < high if inside else low <= number <= high)

    def read(value: object, at: Location) -> float:
        number = value.item() if hasattr(value, "item") and not isinstance(value, Sized) else value
        if is_number(number) and fits(number):
            return int(number) if whole else to_double(value)
        at.report(f"must be {allowed}, not {display(value)}")
        return 1 if whole else 0.5

    return read


def read_numbers(value: object, at: Location, *, as_stated: bool = False) -> tuple[float, ...]:
    """Read a finite number, or a list of them; each once, ascending or in the order stated."""
    every, read = located(value, at), read_number(inside=True)
    if not every:
        at.report("must hold at least one number")
    if len(every) > MOST_NUMBERS:
        at.report(f"holds {len(every):,} numbers; it may have {MOST_NUMBERS:,}")
        return ()
    numbers = dict.fromkeys(read(each, where) for each, where in every)
    return tuple(numbers if as_stated else sorted(numbers))


def read_range(value: object, at: Location) -> tuple[float, float]:
    """Read two ascending finite numbers."""
    every = items(value)
    ends = [to_double(end) for end in every if is_finite(end)]
    ascending = len(every) == len(ends) == 2 and ends[0] < ends[1]
    at.expect(ascending, "two ascending numbers, [low, high]", value)
    return (ends[0], ends[1]) if ascending else (0.0, 1.0)


_RANGE = re.compile(r"(?P<stem>.*?)(?P<first>\d+)-(?P=stem)(?P<last>\d+)", re.DOTALL)
_MOST_REPLICATES = 10_000
_RULES = {
    "brr": "balanced repeated replication",
    "fay": "with Fay's coefficient below 1: fay 0.3",
    "jk1": "the jackknife without strata",
    "jkn": "the jackknife within strata, with the factor of every replicate or of all: jkn 0.5",
    "acs": "successive differences, as of the American Community Survey",
}
ALLOWED = "'COLUMNS; RULE', RULE being " + ", ".join(f"{k} ({v})" for k, v in _RULES.items())


@dataclass(frozen=True, slots=True)
class ReplicateWeights:
    """Replicate weights, and what their rule multiplies squared deviations by."""

    columns: tuple[str, ...]  # one of each replicate
    rule: str  # brr, fay, jk1, jkn or acs
    numbers: tuple[float, ...]  # Fay's coefficient; of jkn the factors of replicates
    written: str  # how it was stated

    @property
    def factors(self) -> tuple[float, ...]:
        """Return the factor of every replicate's squared deviation from the full estimate."""
        n = len(self.columns)
        if self.rule == "jkn":
            return self.numbers if len(self.numbers) == n else self.numbers * n
        of_rule = {"brr": 1 / n, "jk1": (n - 1) / n, "acs": 4 / n}
        if self.rule == "fay":
            of_rule["fay"] = 1 / (n * (1 - self.numbers[0]) ** 2)
        return (of_rule[self.rule],) * n


def read_replicates(value: object, at: Location) -> ReplicateWeights | None:
    """Read the columns of replicate weights and their rule."""
    named, _, rule = str(value).rpartition(";")
    word, *written = rule.casefold().replace(",", " ").split() or [""]
    columns = tuple(name for part in named.split(",") for name in _expand(part.strip()))
    wanted = {"fay": (1,), "jkn": (1, len(columns))}.get(word, (0,))
    below = 1 if word == "fay" else math.inf
    numbers = tuple(n for n in map(_finite, written) if n is not None and 0 <= n < below)
    known = isinstance(value, str) and word in _RULES
    if not at.expect(known and len(written) == len(numbers) in wanted, ALLOWED, value):
        return None
    if not 1 < len(columns) <= _MOST_REPLICATES or len(set(columns)) < len(columns):
        at.report(f"names {len(columns)} columns; name two or more, each once, not {quote(named)}")
    return ReplicateWeights(columns, word, numbers, str(value))


def _expand(name: str) -> list[str]:
    if len(name) > LONGEST or (found := _RANGE.fullmatch(name)) is None:
        return [name] if name else []
    stem, first, last = found["stem"], found["first"], found["last"]
    width = len(first) if first.startswith("0") else 0
    numbers = range(int(first), min(int(last), int(first) + _MOST_REPLICATES) + 1)
    return [f"{stem}{number:0{width}d}" for number in numbers]


Texts = Sequence[str]

_CUT = r"(?s)>(=?)\s*([+-]?[0-9.].*)"
_TWICE = "is given twice; give it once"


def unescape(text: str) -> str:
    """Return a name without its escapes."""
    return re.sub(r"\\([=:*,])", r"\1", text)


def escape(value: object) -> str:
    """Return the text of a value with its special characters escaped."""
    return re.sub(r"([=:*,])", r"\\\1", _text(value))


def split(text: str, separator: str) -> list[str]:
    """Split at every separator that is not escaped; the parts keep their escapes."""
    return re.split(rf"(?<!\\){re.escape(separator)}", text)


def parse_number(texts: Texts, _at: Location) -> float | str:
    """Read a number, an int if written so; other text is returned, and refused by the reader."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(texts[0])
    return texts[0]


def parse_numbers(texts: Texts, at: Location) -> float | str | list[float | str]:
    """Read numbers, or a word, separated by commas."""
    numbers = [parse_number([part], at) for part in parse_names(texts, at)]
    return numbers[0] if len(numbers) == 1 else numbers


def parse_names(texts: Texts, _at: Location) -> list[str]:
    """Read names separated by commas, in one flag or several."""
    return [unescape(part) for text in texts for part in split(text, ",")]


def write_names(values: Value | Sequence[Value]) -> list[str]:
    """Write names separated by commas."""
    every = items(values)
    return [",".join(map(escape, every))] if every else []


def parse_sensitive(texts: Texts, at: Location) -> list[str | dict[str, object]]:
    """Read ``COL``, ``COL=V1,V2``, ``COL:40,60``, ``COL:40,60:left`` or ``COL: A > B > C``."""
    return [_feature(text, at[i]) for i, text in enumerate(texts)]


def parse_listed_features(texts: Texts, at: Location) -> list[str | dict[str, object]]:
    """Read ``A,B:1,2,C``, where numbers after ``B:`` are cut points of B, and the forms of one."""
    listed: list[str] = []
    for part in (part for text in texts for part in split(text, ",")):
        number = _finite(part.partition(":")[0])
        if number is not None and listed and re.search(_SPECIAL, listed[-1]):
            listed[-1] += f",{part}"
        else:
            listed.append(part)
    return parse_sensitive(listed, at)


_SPECIAL = r"(?<!\\)[=:]"


def _feature(text: str, at: Location) -> str | dict[str, object]:
    special = re.search(_SPECIAL, text)
    if special is None:
        return unescape(text)
    column, rest = unescape(text[: special.start()]), text[special.end() :]
    if special[0] == "=":
        return {"column": column, "values": parse_names([rest], at)}
    if len(order := split(rest, ">")) > 1:
        return {"column": column, "order": [unescape(part).strip() for part in order]}
    points, *closed = split(rest, ":")
    cuts = [_finite(part) for part in split(points, ",")]
    if None in cuts or len(closed) > 1:
        at.report(
            f"the cut points after {quote(column + ':')} must be numbers, not {quote(rest)}; "
            r"if the colon belongs to the column's name, write \:"
        )
        return column
    table: dict[str, object] = {"column": column, "cuts": cuts}
    return table | ({"closed": closed[0]} if closed else {})


def write_sensitive(features: Iterable[Any]) -> list[str]:
    """Write every feature, and every value set of one, as a text of its own."""
    texts: list[str] = []
    for feature in features:
        table = {"column": feature} if isinstance(feature, str) else feature
        column, closed = escape(table["column"]), table.get("closed", Closed.RIGHT)
        if table.get("cuts"):
            side = "" if closed == Closed.RIGHT else f":{closed}"
            texts.append(f"{column}:{','.join(map(_text, table['cuts']))}{side}")
        elif table.get("order"):
            texts.append(f"{column}: {' > '.join(map(escape, table['order']))}")
        else:
            sets = table.get("values")
            texts += [f"{column}={','.join(map(escape, of))}" for of in sets] if sets else [column]
    return texts


def parse_positive(
    texts: Texts, at: Location, columns: Sequence[str] = ()
) -> list[str] | dict[str, float | str] | dict[str, list[str]]:
    """Read values separated by commas, or a cut (``>50000``, ``>=50000``).

    Values after the name of a column of outcomes and ``=`` are those of this column.
    """
    by_column: dict[str, list[str]] = {}
    column = ""
    for part in (part for text in texts for part in split(text, ",")):
        first, *rest = re.split(r"(?<!\\)=", part, maxsplit=1)
        named = bool(rest) and unescape(first) in columns
        column = unescape(first) if named else column
        by_column.setdefault(column, []).append(unescape(rest[0] if named else part))
    if "" not in by_column:
        return by_column
    values = parse_names(texts, at)
    cuts = [cut for value in values if (cut := as_cut(value))]
    if cuts and len(values) > 1:
        alone = quote(write_positive(cuts[0])[0])
        at.report(f"a cut such as {alone} stands alone, without other values")
    return cuts[0] if cuts else values


def as_cut(text: str) -> dict[str, float | str]:
    """Return the cut that a text is, as a specification file has it, or nothing."""
    cut = re.fullmatch(_CUT, text)
    number = _finite(cut[2]) if cut else None
    if cut is None or number is None:
        return {}
    return {"above": number, "closed": "left"} if cut[1] else {"above": number}


def write_positive(value: Value | Sequence[Value] | Mapping[str, Any]) -> list[str]:
    """Write values separated by commas, or a cut."""
    if not isinstance(value, Mapping):
        return write_names(value)
    if isinstance(value.get("above"), int | float):
        return [f">{'=' if 'closed' in value else ''}{_text(value['above'])}"]
    return [f"{escape(name)}={text}" for name, held in value.items() for text in write_names(held)]


def parse_reference(texts: Texts, at: Location) -> str | dict[str, str]:
    """Read a word (others, overall, largest, best), or ``COL=VALUE`` once or more."""
    named: dict[str, str] = {}
    for text in texts:
        column, *value = map(unescape, re.split(r"(?<!\\)=", text, maxsplit=1))
        if not value and len(texts) == 1:
            return column
        if not value:
            wanted = "give either one word, or COL=VALUE once for each column"
            at.report(f"cannot use {quote(text)} here; {wanted}")
        elif column in named:
            either = dict.fromkeys((quote(named[column]), quote(value[0])))
            at[column].report(f"{_TWICE}: {' or '.join(either)}")
        else:
            named[column] = value[0]
    return named


def parse_margins(texts: Texts, at: Location) -> dict[str, float]:
    """Read ``RATE=MARGIN``."""
    margins: dict[str, float] = {}
    for text in texts:
        name, _, margin = (part.strip() for part in text.rpartition("="))
        number = _finite(margin)
        if name in margins:
            at[name].report(_TWICE)
        if not name or number is None:
            at.report(f"cannot read {quote(text)}; write RATE=MARGIN, such as accuracy=0.01")
        else:
            margins[name] = number
    return margins


def _text(value: object) -> str:
    return name_of(canonical(value))


def _finite(text: str) -> float | None:
    with contextlib.suppress(ValueError):
        return value if math.isfinite(value := float(text)) else None
    return None


def parse_words(texts: Texts, at: Location) -> object:
    """Read ``KEY=TEXT``; a key of a group's name has its feature and value: ``groups.sex.F``."""
    table: dict[str, Any] = {}
    for text in texts:
        key, equals, word = text.partition("=")
        if not equals:
            at.report(f"must be KEY=TEXT, not {display(text)}")
        first, *names = key.split(".", 2)
        place = table
        for part, name in pairwise([first, *names]):
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                at[part].report(f"is text already, besides {name}")
                return table
        place[[first, *names][-1]] = word
    return table


def write_words(words: Mapping[str, Any]) -> list[str]:
    """Return the texts that `parse_words` reads."""
    texts: list[str] = []
    for key, word in words.items():
        nested = isinstance(word, Mapping)
        texts += [f"{key}.{t}" for t in write_words(word)] if nested else [f"{key}={word}"]
    return texts


_LARGEST = 256_000  # bytes: it is written by hand, and a larger YAML file takes seconds to read


def parse(path: Path) -> object:
    """Read a file by its suffix: .toml, .yaml, .yml or .json."""
    from fairgauge.object_stores import read_limited  # most questions are in no file

    kinds: dict[str, Literal["TOML", "YAML", "JSON"]]
    kinds = {".toml": "TOML", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}
    message = f"has no suffix of a specification file; use {', '.join(kinds)}"
    try:
        if kind := kinds.get(path.suffix.lower()):
            return loads(read_limited(path, _LARGEST, "a specification").decode("utf-8-sig"), kind)
    except UnicodeDecodeError:
        message = "is not UTF-8 text"
    except Unreadable as error:
        message = str(error)
    except DataError as error:
        raise SpecError(Problem("", str(error))) from None
    raise SpecError(Problem(str(path), message))


class Unreadable(ValueError):  # noqa: N818 - a reason, which the caller adds to the file's name
    """A text is not in its format; the message gives the reason, as the predicate of a sentence."""


def loads(text: str, kind: Literal["TOML", "YAML", "JSON"]) -> object:
    """Read a text in a format, in time bounded by its length whatever it holds."""
    import tomllib  # most questions are in no file

    try:
        if kind == "JSON":
            return json.loads(text, object_pairs_hook=unique_keys)
        return _dates_as_text(tomllib.loads(text) if kind == "TOML" else _read_yaml(text))
    except RecursionError:
        raise Unreadable("is nested too deeply") from None
    except ValueError as error:
        reason = " ".join(str(error).split())[:300]
        raise Unreadable(f"is not valid {kind}: {reason}") from None


def _read_yaml(text: str) -> object:
    import yaml  # most questions are in no YAML file

    class Loader(yaml.SafeLoader):
        """YAML 1.2's plain values, no key twice, no aliases (which could make a file explode)."""

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise yaml.YAMLError(f"aliases (*name) are not supported, line {mark.line + 1}")
            return super().compose_node(parent, index)

        def construct_mapping(
            self, node: yaml.MappingNode, deep: bool = True
        ) -> dict[Hashable, object]:
            found: dict[Hashable, object] = {}
            for key_node, value_node in node.value:
                line = f"line {key_node.start_mark.line + 1}"
                if not isinstance(key_node, yaml.ScalarNode):
                    raise yaml.YAMLError(f"a key must be text, {line}")
                key = key_node.value
                if key in found:
                    raise yaml.YAMLError(f"the key {quote(key)} is given twice, {line}")
                found[key] = self.construct_object(value_node, deep=deep)
            return found

    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in _PLAIN_YAML:
        resolved = re.compile(f"^(?:{pattern})$")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", resolved, first)
    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ValueError(f"{getattr(error, 'problem', error)}{line}") from None


_NUMBER_YAML = r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?"
_PLAIN_YAML = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", rf"{_NUMBER_YAML}|[-+]?\.(?:inf|Inf)|\.(?:nan|NaN)", list("-+.0123456789")),
)


def _dates_as_text(value: object) -> object:
    # dates in ISO form: groups are named by text, and TOML has dates of its own
    if isinstance(value, dict):
        return {str(key): _dates_as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_dates_as_text(each) for each in value]
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value

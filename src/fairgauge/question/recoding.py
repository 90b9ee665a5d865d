"""Recoding: which values of a column are one category, and which mean that nothing is known.

Engines count the values as they are; `Recoding.apply` maps the few different ones that they found,
so that every engine recodes alike and no row is rewritten.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from fairgauge import errors
from fairgauge.errors import MOST_CELLS, DataError, SpecError, display, listing, quote
from fairgauge.question.readers import Location, Unreadable, items, loads, parse, read_value
from fairgauge.start.records import dataclass
from fairgauge.values import Json, Value, is_number, name_of, plain_number, sort_key, typed_texts

UNKNOWN = "unknown"
"""The key of the values that mean that nothing is known."""
_FORMS = (
    'must map columns to categories and their values, such as {"sex": {"Male": ["M", "male"], '
    '"unknown": ["Decline to answer"]}}, or name a file of it'
)


@dataclass(frozen=True, slots=True)
class Recoding:
    """The categories of one column."""

    column: str  # the column
    # every category with the values that it has in the data, or with ranges of its numbers
    # (`ranges_of`); those of `unknown` mean that nothing is known. The empty text stands for
    # missing values, too. They are in one order, however they were written, so that the same
    # recoding is equal and has one digest
    categories: tuple[tuple[str, tuple[Value, ...]], ...]

    @property
    def category_of(self) -> dict[str, str]:
        return {name_of(value): name for name, values in self.categories for value in values}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the categories, without that of unknown values."""
        return tuple(name for name, _ in self.categories if name != UNKNOWN)

    @property
    def unknown(self) -> tuple[Value, ...]:
        """Return the values that mean that nothing is known."""
        return tuple(value for name, each in self.categories if name == UNKNOWN for value in each)

    @property
    def ranges(self) -> list[tuple[str, str, float, float]]:
        """Return every range of numbers that is listed: its category, its text, and its ends."""
        listed = self.category_of.items()
        return [(of, text, low, high) for text, of in listed for low, high in ranges_of(text)]

    def categories_of(self, values: Iterable[Value]) -> list[str | None]:
        """Return the category of each value: by its name, or else by the range that it is in."""
        category_of, ranges = self.category_of, self.ranges
        found = []
        for value in values:
            name = category_of.get("" if value is None else name_of(value))
            if name is None and ranges and (number := _number(value)) is not None:
                texts = {c: text for c, text, low, high in ranges if low <= number <= high}
                if len(texts) > 1:
                    raise DataError(
                        f"column {quote(self.column)} has {name_of(value)}, which is in the ranges "
                        f"{' and '.join(map(quote, texts.values()))} of different categories "
                        "(recode): list it in the category that it belongs to"
                    )
                name = next(iter(texts), None)
            found.append(name)
        return found

    def apply(self, values: Sequence[Value]) -> list[Value]:
        """Return the category of each value; values of none stay as they are."""
        found: list[Value] = [
            value if name is None else None if name == UNKNOWN else name
            for value, name in zip(values, self.categories_of(values), strict=True)
        ]
        if not self.names:
            return found
        # categories are texts, and a column is numbers only if all of it is, as in a file of texts
        return typed_texts([None if value is None else name_of(value) for value in found])

    def joined(self, more: Mapping[str, Iterable[Value]]) -> dict[str, list[Value]]:
        """Return the categories with further values, each once; several that are one become it.

        A category that is among the unknown values is none.
        """
        found = {name: list(values) for name, values in self.categories}
        for name, values in more.items():
            named = [n for n in map(name_of, values) if n in found]
            if name == UNKNOWN:
                named = [UNKNOWN, *(n for n in named if n != UNKNOWN)]
            into, *others = named or [name]
            held = found.setdefault(into, [])
            held += [value for other in others for value in found.pop(other)]
            names = {*map(name_of, held)}
            held += [value for value in values if name_of(value) not in names]
        return found

    def unseen(self, values: Iterable[Value]) -> list[str]:
        """Return the listed values that a column does not have; blanks may have been missing."""
        seen = {name_of(value): _number(value) for value in values if value is not None}
        listed = self.category_of
        within = {
            text: [name for name, n in seen.items()
                   if name not in listed and n is not None and low <= n <= high]
            for _, text, low, high in self.ranges
        }  # fmt: skip
        for text in listed:
            if text in seen and (numbers := within.get(text)):
                raise DataError(
                    f"column {quote(self.column)} has {quote(text)} as a value, and the numbers "
                    f"{listing(sorted(numbers))} in this range; list also these numbers in recode"
                )
        absent = (name for name in listed if name not in seen and not within.get(name))
        return [name for name in absent if name.strip()]


Recodings: TypeAlias = tuple[Recoding, ...]

_A_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = (
    rf"(?P<sign>[<>\u2264\u2265]=?)\s*(?P<end>{_A_NUMBER})"
    rf"|(?P<low>{_A_NUMBER})(?:\s*\+|\s*(?:-|\u2013|to)\s*(?P<high>{_A_NUMBER}))?"
)


def ranges_of(text: str) -> list[tuple[float, float]]:
    """Return the ranges of numbers that a text names, with their ends; none of other texts."""
    found = []
    for part in " ".join(text.split()).split(" or "):
        if (read := re.fullmatch(_RANGE, part)) is None:
            return []
        if sign := read["sign"]:
            side = -math.inf if sign[0] in "<\u2264" else math.inf
            end = float(read["end"])
            end = math.nextafter(end, side) if sign in "<>" else end
            found.append((min(side, end), max(side, end)))
        else:
            low = float(read["low"])
            alone = low if part == read["low"] else math.inf
            found.append((low, float(read["high"]) if read["high"] else alone))
    return found if any(low < high for low, high in found) else []


def _number(value: Value) -> float | None:
    return plain_number(value) if isinstance(value, str) else value if is_number(value) else None


def has_categories(recoding: Recoding | None) -> bool:
    """Return whether values are recoded to categories, so that their column is not cut."""
    return recoding is not None and bool(recoding.names)


def read_recodings(value: object, at: Location) -> Recodings:
    """Read tables of categories, paths of files and texts of TOML; those of a column join."""
    given: dict[str, list[object]] = {}
    for item in items(value):
        for column, categories in _tables(item, at).items():
            given.setdefault(column, []).append(categories)
    every = sorted(given.items())
    return tuple(Recoding(column, _categories(column, of, at[column])) for column, of in every)


def _tables(item: object, at: Location) -> Mapping[str, object]:
    try:
        if isinstance(item, (str, Path)):
            text = str(item)
            if "=" not in text and Path(item).suffix:
                item = parse(Path(item))
            else:
                try:
                    item = loads(text, "TOML")
                except Unreadable:  # a line that was copied from a report, which wrapped it
                    item = loads(" ".join(text.split("\n")), "TOML")
            if isinstance(item, Mapping) and isinstance(item.get("recode"), Mapping):
                item = item["recode"]  # [recode.sex], as in the file of a whole audit
    except SpecError as error:
        at.problems += error.problems
        return {}
    except Unreadable as error:
        at.report(f"{error}; {_FORMS}")
        return {}
    if isinstance(item, Mapping):
        return {str(column): categories for column, categories in item.items()}
    at.report(f"{_FORMS}, not {display(item)}")
    return {}


def _categories(
    column: str, given: Iterable[object], at: Location
) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    category_of: dict[str, str] = {}
    found: dict[str, list[Value]] = {}
    listed: list[tuple[str, object]] = []
    for categories in given:
        if isinstance(categories, Mapping) and categories and "cuts" not in categories:
            listed += ((str(name), values) for name, values in categories.items())
        else:
            wanted = 'must map categories to their values, such as {"Male": ["M", "male"]}'
            cut = "numbers are cut where their column is named (sensitive, strata)"
            at.report(f"{wanted}, not {display(categories)}; {cut}")
    for name, values in listed:
        kept = found.setdefault(name, [])
        for i, each in enumerate(items(values)):
            value = read_value(each, at[name][i])
            if (text := name_of(value)) not in category_of:
                category_of[text] = name
                kept.append(value)
            elif (before := category_of[text]) != name:
                message = f"{quote(text)} of {quote(column)} is in {quote(before)}, too"
                at[name].report(f"{message}; list it once")
    names = sorted(found, key=lambda name: (name == UNKNOWN, name))
    return tuple((name, tuple(sorted(found[name], key=sort_key))) for name in names)


def not_numbers(
    column: str, texts: Iterable[str], listed: Sequence[Value] = (), *, recoded: bool = True
) -> str:
    """Return that a column must hold numbers, which texts are none, and what to do.

    ``texts`` may be cut off after some more than are shown. ``listed`` are the values that are
    listed as unknown already; a column that is not ``recoded`` has no such list.
    """
    every = sorted(set(texts))
    infinite = [text for text in every if text.strip(" +-").casefold() in ("inf", "infinity")]
    words = [text for text in every if not re.search(r"\d", text) and text not in infinite]
    bounds = [text for text in every if ranges_of(text)]  # what is withheld, such as <5
    of = ""
    if errors.may_name_people(every):
        of, every = "values of the form ", sorted(set(map(errors.form_of, every)))
    found, more = every[:MOST_CELLS], " and others" if len(every) > MOST_CELLS else ""
    message = (
        f"column {quote(column)} must hold numbers, but has {of}{listing(found)}{more}; write "
        "plain numbers with a point for the decimals, and an empty cell for none"
    )
    if recoded and words and not errors.may_name_people(words):
        line = write_recodings({column: {UNKNOWN: [*listed, *words[:MOST_CELLS]]}})[0]
        message += f", or list it as unknown: {recoding_flag(line)}"
    if bounds:
        condition = shlex.quote(f"{column} != {bounds[0]}")
        message += f", or exclude what is withheld: --where {condition} (where)"
    return message


def recoding_flag(line: str) -> str:
    """Return a line of recodings as a flag to paste, and the name of the option."""
    return f"--recode {shlex.quote(line)} (recode)"


def write_recodings(recodings: Mapping[str, Mapping[str, Iterable[Value]]]) -> list[str]:
    """Write each recoding as a line of TOML, which a specification file and the flag take."""
    return [
        f"{_toml_key(column)} = {toml_value({n: [*values] for n, values in categories.items()})}"
        for column, categories in recodings.items()
    ]


def toml_value(value: Json) -> str:
    """Return a value as TOML, which JSON writes alike but for tables and characters unseen."""
    if isinstance(value, dict):
        keys = (f"{_toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{{', '.join(keys)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    written = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in written)


def _toml_key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else toml_value(name)

"""Streams of rows: the same rows make tables of documents, CSV, workbooks and data frames.

`layouts.toml` names the columns of each table. Its rows are a field of the result, or a stream: a
function of the kind's module in `documents`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import product
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from fairgauge.enums import ReferenceKind
from fairgauge.errors import DataError, needing, quote, suggest
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.results.codec import INFINITIES, to_dict
from fairgauge.results.estimates import Group
from fairgauge.results.report import Report
from fairgauge.results.shown_result import ShownResult, plug_in_packages
from fairgauge.start.compiled import toml_table
from fairgauge.start.records import dataclass, fields, is_dataclass
from fairgauge.statements.sections import size_beside_rates

Value: TypeAlias = "str | float | None"


def layouts() -> dict[str, Any]:
    """Return the layouts of all kinds of results by their names."""
    return toml_of_all(plug_in_packages(), "layouts.toml")


@cache
def toml_of_all(plug_ins: tuple[str, ...], *names: str) -> dict[str, Any]:
    """Return files of tables of this package, with those that plug-ins have under their names."""
    found: dict[str, object] = {}
    for package, name in product((__package__, *plug_ins), names):
        path = files(package).joinpath(name)
        if path.is_file():
            _merge(found, toml_table(path.read_text(encoding="utf-8")))
    return found


def _merge(into: dict[str, Any], more: Mapping[str, object]) -> None:
    for key, value in more.items():
        if isinstance(into.get(key), dict) and isinstance(value, dict):
            _merge(into[key], value)
        else:
            into[key] = value


def fields_with_rows(of: type[ShownResult]) -> dict[str, list[str]]:
    """Return the fields of a result that hold records, each with the names of their columns.

    Those of its own class come first: every result of counts has diagnostics, too.
    """
    found = {}
    hints = get_type_hints(of).items()
    for each, hint in sorted(hints, key=lambda field: field[0] not in of.__annotations__):
        record = next(iter(get_args(hint)), None)
        if get_origin(hint) is tuple and isinstance(record, type) and is_dataclass(record):
            found[each] = [column.name for column in fields(record)]
    return found


@cache
def streams_of(kind: str) -> Mapping[str, Callable[[Any], Any]]:
    """Return the streams that a kind has besides the fields of its results."""
    path, _, name = layouts().get(kind, {}).get("streams", "").partition(":")
    if not path:
        return {}
    own = import_module(path if "." in path else f"fairgauge.render.documents.{path}")
    found: Mapping[str, Callable[[object], object]] = getattr(own, name or "STREAMS")
    return found


def field(root: object, path: str) -> Any:
    """Return what stands at a dotted path of a record; a row of a stream is a mapping."""
    for name in path.split("."):
        if root is None:
            return None
        root = root.get(name) if isinstance(root, Mapping) else getattr(root, name)
    return root


def stream(kind: str, name: str, root: object) -> Any:
    """Return what a stream yields of a result, or of a part of it, whose methods are streams."""
    if made := streams_of(kind).get(name):
        return made(root)
    found = field(root, name)
    return found() if callable(found) else found


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A table of rows, all with the same columns: some hold texts, the others numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    texts: frozenset[str]


def tables_of(shown: ShownResult) -> Mapping[str, Any]:
    """Return the layouts of the tables of a result by their names, the default one first."""
    kind = shown.KIND.name
    if kind not in layouts():  # of a plug-in without layouts
        rows = fields_with_rows(type(shown))
        return {name: {"columns": columns} for name, columns in rows.items()}
    found: Mapping[str, object] = layouts()["csv"].get(kind, {})
    return {**found, "counted": layouts()["csv"]["shared"]} if hasattr(shown, "counted") else found


def table_of(shown: ShownResult, name: str | None = None) -> FlatTable:
    """Return one table of a result, by default its first.

    Those of a stream that ``open`` names are columns of the user, which hold texts.
    """
    tables = tables_of(shown)
    if not tables:
        raise DataError(f"{shown.KIND.called} has no table of numbers")
    name = next(iter(tables)) if name is None else name
    if name not in tables:
        allowed = ", ".join(tables)
        raise DataError(f"no table {quote(name)}.{suggest(name, list(tables))} Allowed: {allowed}")
    records = list(stream(shown.KIND.name, tables[name].get("rows", name), shown))
    rows = [flat(each) for each in records]
    columns = list(tables[name]["columns"])
    if "says" in columns:  # a sentence is no plain value
        for row, each in zip(rows, records, strict=True):
            row["says"] = getattr(each, "says", row.get("says"))
    more = stream(shown.KIND.name, tables[name]["open"], shown) if "open" in tables[name] else ()
    every = (*columns, *more)
    texts = frozenset((*layouts()["csv"]["texts"], *tables[name].get("texts", ()), *more))
    return FlatTable(every, tuple(tuple(row.get(each) for each in every) for row in rows), texts)


def flat(record: Any) -> dict[str, Value]:
    """Return the plain values of a record: a reason as its code, methods joined."""
    fields = to_dict(record) if is_dataclass(record) else record
    found: dict[str, Value] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            found[name] = str(value["code"]) if "code" in value else ", ".join(value) or None
        elif isinstance(value, (list, tuple)):
            found[name] = ", ".join(map(str, value)) or None
        else:
            found[name] = INFINITIES.get(value, value) if isinstance(value, str) else value
    return found


_FORMULA = tuple("=+-@")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A text such as the group ``-1``: there is nothing to compute."""
_NEEDS_QUOTES = frozenset('",;|')


def write_csv(shown: ShownResult, *, table: str | None = None) -> str:
    """Write a table as CSV with a header; texts can do no harm in a spreadsheet."""
    found = table_of(shown, table)
    return "\n".join([",".join(map(cell, row)) for row in (found.columns, *found.rows)]) + "\n"


def cell(value: Value) -> str:
    """Return a cell as it stands in CSV, with nothing that a spreadsheet would compute.

    >>> cell("=1+1"), cell("-1"), cell(-0.5), cell(None), cell("a;b"), cell(True)
    ("'=1+1", '-1', '-0.5', '', '"a;b"', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        if isinstance(value, float) and math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return repr(value)
    text = printable(value)
    as_read = unicodedata.normalize("NFKC", text).lstrip()
    if as_read.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = f"'{text}"  # a spreadsheet shows it instead of computing it
    if _NEEDS_QUOTES.intersection(text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def to_pandas(shown: ShownResult, table: str | None = None) -> object:
    """Return a table of a result, by default its first, as a `pandas.DataFrame`.

    Raises ``MissingExtra``: pandas is not installed.
    Raises ``DataError``: there is no such table.
    """
    pandas = _library("pandas")
    found = table_of(shown, table)
    frame = pandas.DataFrame(list(found.rows), columns=list(found.columns))
    return frame.astype({c: "object" if c in found.texts else "float64" for c in found.columns})


def to_polars(shown: ShownResult, table: str | None = None) -> object:
    """Return a table of a result, by default its first, as a `polars.DataFrame`.

    Raises ``MissingExtra``: polars is not installed.
    Raises ``DataError``: there is no such table.
    """
    polars = _library("polars")
    found = table_of(shown, table)
    text, number_ = polars.String, polars.Float64
    schema = {c: text if c in found.texts else number_ for c in found.columns}
    return polars.DataFrame(list(found.rows), schema=schema, orient="row", strict=False)


def contrasts(report: Report, by: str) -> object:
    """Return the differences or ratios of every group, group against reference, as a frame.

    Columns are rates; rows are as of `rate_frame`. Native metrics alone, so that one sign holds.
    """
    rows: dict[tuple[object, ...], dict[str, float | None]] = {}
    for each in report.estimates:
        rate = compared_rate(each.definition)
        if each.set != "native" or each.scope.kind != "overall":
            continue
        if rate is not None and each.metric == f"{rate.name}.{by}":
            of = each.class_ if each.class_scope.is_single else None
            key = (each.feature, each.group, of, each.threshold)
            rows.setdefault(key, {})[rate.name] = each.value
    if not rows:
        raise DataError(f"this report has no native {by}s; audit with metrics={quote('standard')}")
    # numbers of scores have no threshold: they stand beside those of each
    at = {
        key: rows.get((*key[:3], None), {}) | row for key, row in rows.items() if key[3] is not None
    }
    return _index_rows(at or rows)


def rate_frame(report: Report, groups: Sequence[Group]) -> object:
    """Return the rates of groups, a row each, as a `pandas.DataFrame`.

    The index is feature and group, with class and threshold where there are several; the column
    ``n`` and one column for each rate; ``n`` counts the rows whose prediction is known (of labels
    alone: whose label is). Undefined rates are NaN.
    """
    rows: dict[tuple[object, ...], dict[str, float | None]] = {}
    for group in groups:
        single = group.class_scope.is_single
        if group.stratum is None and single and group.reference_kind is not ReferenceKind.OTHERS:
            key = (group.feature, group.group, group.class_, group.threshold)
            rates = {name: rate.value for name, rate in group.rates.items()}
            rows.setdefault(key, {"n": size_beside_rates(group, report.catalogue)}).update(rates)
    return _index_rows(rows)


def _index_rows(rows: Mapping[tuple[object, ...], dict[str, float | None]]) -> object:
    pandas = _library("pandas")
    names = ["feature", "group", "class", "threshold"]
    kept = [i for i in range(4) if i < 2 or len({key[i] for key in rows}) > 1]
    keys = [tuple(key[i] for i in kept) for key in rows]
    index = pandas.MultiIndex.from_tuples(keys, names=[names[i] for i in kept])
    return pandas.DataFrame(list(rows.values()), index=index, dtype="float64")


def _library(name: str) -> Any:
    with needing(name, f"a {name} frame"):
        return import_module(name)

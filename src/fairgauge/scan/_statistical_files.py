"""Files of statistics packages: SPSS, Stata and SAS, with value labels and declared missing values.

pyreadstat reads them. A column of codes with labels holds the labels; what the file declares to be
missing is missing, and recorded with its reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairgauge.errors import DataError, MissingExtra, quote
from fairgauge.object_stores import Place
from fairgauge.scan._column_arrays import open_columns
from fairgauge.scan._duckdb_files import check_same_columns
from fairgauge.scan._file_records import RECORDS
from fairgauge.scan.source import Source, check_unique_names

READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
_CATALOGUE = ".sas7bcat"
Columns = dict[str, list[object]]


def open_statistical(paths: Sequence[Place], name: str) -> Source:
    """Open files of a statistics package that have the same columns.

    Raises
    ------
    DataError
        A file is damaged, is not local, or has other columns than the first.
    MissingExtra
        pyreadstat is not installed.
    """
    tables = [_read(path) for path in paths]
    for path, table in zip(paths[1:], tables[1:], strict=True):
        check_same_columns(tables[0], table, paths[0], path)
    whole = {c: [value for table in tables for value in table[c]] for c in tables[0]}
    return open_columns(whole, name)


def _read(path: Place) -> Columns:
    if not isinstance(path, Path):
        raise DataError(f"{quote(path)} is read from this machine alone; copy it here")
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra("reading SPSS, Stata and SAS files", "survey", error) from None
    kind = path.suffix.lower()
    more: dict[str, Any] = {} if kind == ".por" else {"user_missing": True}
    if kind == ".xpt":
        more = {}
    catalogue = path.with_suffix(_CATALOGUE)
    if kind == ".sas7bdat" and catalogue.is_file():
        more["catalog_file"] = str(catalogue)
    try:
        read = getattr(pyreadstat, READERS[kind])
        columns, about = read(str(path), output_format="dict", **more)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        raise DataError(f"cannot read {quote(path)}: {' '.join(str(error).split())}") from None
    check_unique_names(about.column_names, quote(path))
    declared = RECORDS[str(path)].declared_missing = {}
    return {
        name: _values(name, list(columns[name]), about, declared) for name in about.column_names
    }


def _values(name: str, values: list[Any], about: Any, declared: dict[str, dict[str, int]]) -> Any:
    """Return a column: labels in place of codes, None where it is missing."""
    labels = {_code(k): str(v) for k, v in about.variable_value_labels.get(name, {}).items()}
    ranges = about.missing_ranges.get(name, ()) if about.missing_ranges else ()
    letters = set(about.missing_user_values.get(name, ()) if about.missing_user_values else ())
    known: list[Any] = [None if _is_nothing(value) else _code(value) for value in values]
    reasons: Counter[str] = Counter()
    for i, value in enumerate(known):
        if value is not None and (value in letters or any(_within(value, e) for e in ranges)):
            reasons[labels.get(value, str(value))] += 1
            known[i] = None
    if reasons:
        declared[name] = dict(reasons)
    held = {value for value in known if value is not None}
    if not labels or 2 * len(held & labels.keys()) < len(held):
        return known  # numbers, of which a few have a name at most
    names = Counter(labels[code] for code in labels)
    shown = {
        code: f"{label} ({code})" if names[label] > 1 else label for code, label in labels.items()
    }
    return [None if value is None else shown.get(value, str(value)) for value in known]


def _is_nothing(value: Any) -> bool:
    return value is None or value != value or value == ""


def _code(value: Any) -> Any:
    """Return a whole number as one, so that a code is written as its codebook has it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _within(value: Any, limits: Mapping[str, Any]) -> bool:
    low, high = limits["lo"], limits["hi"]
    if isinstance(value, str) != isinstance(low, str):
        return False
    return bool(low <= value <= high)

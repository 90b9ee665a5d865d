"""Files of typed cells: workbooks, and files of SPSS, Stata and SAS.

pyreadstat reads the latter. A column of codes with labels holds the labels; what the file declares
to be missing is missing, and recorded with its reasons.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from fairgauge.errors import DataError, listing, needing, quote
from fairgauge.object_stores import Place
from fairgauge.scan._column_arrays import open_columns
from fairgauge.scan._duckdb_relation import check_same_columns
from fairgauge.scan.source import MOST_COLUMNS, RECORDS, FileRecord, Source, check_unique_names

READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
_CATALOGUE = ".sas7bcat"
_WEIGHT = re.compile(r".*(weight|wgt|wgtp|wt)\d*|wt\w*", re.IGNORECASE)
Columns = dict[str, list[object]]


def open_statistical(paths: Sequence[Place], name: str) -> Source:
    """Open files of a statistics package that have the same columns."""
    tables = {path: _read_with_pyreadstat(path) for path in paths}
    check_same_columns(tables)
    whole = {c: [v for table in tables.values() for v in table[c]] for c in tables[paths[0]]}
    named = {c: codes for path in paths for c, codes in RECORDS[str(path)].named_values.items()}
    return open_columns(whole, name, named)


def _read_with_pyreadstat(path: Place) -> Columns:
    if not isinstance(path, Path):
        raise DataError(f"{quote(path)} is read from this machine alone; copy it here")
    with needing("survey", "reading SPSS, Stata and SAS files"):
        import pyreadstat
    kind = path.suffix.lower()
    more: dict[str, Any] = {} if kind in (".por", ".xpt") else {"user_missing": True}
    catalogue = path.with_suffix(_CATALOGUE)
    if kind == ".sas7bdat" and catalogue.is_file():
        more["catalog_file"] = str(catalogue)
    try:
        read = getattr(pyreadstat, READERS[kind])
        columns, about = read(str(path), output_format="dict", **more)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OSError) as error:
        raise DataError(f"cannot read {quote(path)}: {' '.join(str(error).split())}") from None
    check_unique_names(about.column_names, quote(path))
    labels = about.column_names_to_labels
    record = RECORDS[str(path)] = FileRecord(labels={c: of for c, of in labels.items() if of})
    record.weights += filter(_WEIGHT.fullmatch, about.column_names)
    return {
        name: _label_values(name, list(columns[name]), about, record) for name in about.column_names
    }


def _label_values(name: str, values: list[Any], about: Any, record: FileRecord) -> list[object]:
    labels = {
        _whole_as_int(k): str(v) for k, v in about.variable_value_labels.get(name, {}).items()
    }
    ranges = about.missing_ranges.get(name, ()) if about.missing_ranges else ()
    letters = set(about.missing_user_values.get(name, ()) if about.missing_user_values else ())
    known: list[Any] = [
        None if value is None or value != value or value == "" else _whole_as_int(value)
        for value in values
    ]
    reasons: Counter[str] = Counter()
    for i, value in enumerate(known):
        of_type = (e for e in ranges if isinstance(value, str) == isinstance(e["lo"], str))
        within = value is not None and any(e["lo"] <= value <= e["hi"] for e in of_type)
        if value is not None and (within or value in letters):
            reasons[labels.get(value, str(value))] += 1
            known[i] = None
    if reasons:
        record.declared_missing[name] = dict(reasons)
    held = {value for value in known if value is not None}
    if not labels or 2 * len(held & labels.keys()) < len(held):
        return known  # numbers, of which a few have a name at most
    names = Counter(labels.values())
    codes = sorted(labels, key=lambda code: (isinstance(code, str), code))
    shown = {c: f"{labels[c]} ({c})" if names[labels[c]] > 1 else labels[c] for c in codes}
    record.named_values[name] = shown
    return [None if value is None else shown.get(value, str(value)) for value in known]


def _whole_as_int(value: Any) -> Any:
    # a whole number as one, so that a code is written as its codebook has it
    return int(value) if isinstance(value, float) and value.is_integer() else value


# rows above the header that are looked at
_MOST_ABOVE = 50


def open_workbook(path: Place, name: str, sheet: str = "") -> Source:
    """Open a sheet of a workbook; the first row that names every column is its header."""
    if not isinstance(path, Path):
        raise DataError(f"{quote(path)} is read from this machine alone; copy it here")
    sheets = _read_sheets(path)
    with_rows = {title: rows for title, rows in sheets.items() if any(map(_filled_cells, rows))}
    if sheet and sheet not in sheets:
        raise DataError(f"{quote(path)} has no sheet {quote(sheet)}; it has {listing(sheets)}")
    if not sheet and len(with_rows) > 1:
        raise DataError(
            f"{quote(path)} has {len(with_rows)} sheets with rows, {listing(with_rows)}; name one "
            f"(--sheet {quote(next(iter(with_rows)))}, or {quote(f'{path}#SHEET')} in Python)"
        )
    sheet = sheet or next(iter(with_rows), next(iter(sheets)))
    columns = _sheet_columns(sheets[sheet], quote(path))
    if empty := [column for column, values in columns.items() if not _filled_cells(values)]:
        written = _sheet_columns(_read_sheets(path, results=False)[sheet], quote(path))
        if lost := [c for c in empty if any(str(v).startswith("=") for v in written[c])]:
            raise DataError(
                f"{quote(path)} holds formulas without their results ({listing(lost)}); open it in "
                "a spreadsheet program, and save it"
            )
    return open_columns(columns, name)


def _read_sheets(path: Path, *, results: bool = True) -> dict[str, list[list[Any]]]:
    with needing("xlsx", "reading workbooks"):
        import openpyxl
    try:
        with path.open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=results)
            return {each.title: _sheet_rows(each) for each in book.worksheets}
    except (OSError, ValueError, KeyError, SyntaxError, BadZipFile) as error:
        raise DataError(f"cannot read {quote(path)}: {type(error).__name__}") from None


def _sheet_rows(sheet: Any) -> list[list[Any]]:
    sheet.reset_dimensions()  # programs state A1 alone, and openpyxl would read no more
    return [
        [None if value in _FAILED else value for value in row]
        for row in sheet.iter_rows(values_only=True)
    ]


_FAILED = ("#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


def _filled_cells(row: Sequence[Any]) -> list[Any]:
    return [value for value in row if value not in (None, "")]


def _sheet_columns(rows: Sequence[Sequence[Any]], where: str) -> dict[str, list[Any]]:
    # the last cell that is filled; a row of a sheet may go on with empty ones
    filled = (i for row in rows for i, value in enumerate(row, 1) if value not in (None, ""))
    width = max(filled, default=0)
    at = next(
        (i for i, row in enumerate(rows[:_MOST_ABOVE]) if len(_filled_cells(row)) == width), None
    )
    if not width or at is None or width > MOST_COLUMNS:
        raise DataError(f"{where} has no row that names every column; name each column in one row")
    names = [str(value).strip() for value in rows[at][:width]]
    check_unique_names(names, where)
    below = [row[:width] for row in rows[at + 1 :] if _filled_cells(row)]
    if not below:
        raise DataError(f"{where} has no rows below its header, {listing(names)}")
    columns = zip_longest(names, *below)  # rows end before columns that are empty in all of them
    return {name: values for name, *values in columns}

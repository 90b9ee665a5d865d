"""Files of typed cells: workbooks, and files of SPSS, Stata and SAS.

pyreadstat reads the latter. A column of codes with labels holds the labels; what the file declares
to be missing is missing, and recorded with its reasons.
"""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from fairgauge.errors import DataError, listing, needing, quote
from fairgauge.object_stores import Place, address, check_workbook, most_unpacked
from fairgauge.scan._column_arrays import open_columns
from fairgauge.scan._duckdb_relation import check_same_columns
from fairgauge.scan.source import MOST_COLUMNS, RECORDS, FileRecord, Source, check_unique_names
from fairgauge.start.records import dataclass
from fairgauge.values import to_double

READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
_CATALOGUE, _DATA_SET = ".sas7bcat", b"HEADER RECORD*******MEMB"
_WEIGHT = re.compile(r".*(weight|wgt|wgtp|wt)\d*|wt\w*", re.IGNORECASE)
Columns = dict[str, list[object]]


def open_statistical(paths: Sequence[Place], name: str) -> Source:
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
    # pyreadstat would make durations times of day, and leaves months numbers
    more: dict[str, object] = {"disable_datetime_conversion": True}
    if kind not in (".por", ".xpt"):
        more["user_missing"] = True
    catalogue = path.with_suffix(_CATALOGUE)
    try:
        read = getattr(pyreadstat, READERS[kind])
        columns, about = read(address(path), output_format="dict", **more)
        if kind == ".sas7bdat" and catalogue.is_file():  # which pyreadstat joins to frames alone
            of_file = pyreadstat.read_sas7bcat(address(catalogue), output_format="dict")[1]
            for column, of in about.variable_to_label.items():
                about.variable_value_labels[column] = of_file.value_labels.get(of, {})
        if kind == ".xpt":  # pyreadstat reads on into the next data set, whose header is near
            widths = about.variable_storage_width.values()
            end = 10_000 + sum(1_000 + about.number_rows * width for width in widths)
            with path.open("rb") as file:
                several = file.read(end).count(_DATA_SET) > 1
            if several:
                raise ValueError("it holds several data sets; write each to a file")  # noqa: TRY301
        labels = about.column_names_to_labels
        record = RECORDS[str(path)] = FileRecord(labels={c: of for c, of in labels.items() if of})
        record.weights += filter(_WEIGHT.fullmatch, about.column_names)
        found = {
            name: _label_values(name, list(columns[name]), about, record, kind)
            for name in about.column_names
        }
    except Exception as error:  # what another program's file holds may be anything
        raise DataError(f"cannot read {quote(path)}: {' '.join(str(error).split())}") from None
    check_unique_names(about.column_names, quote(path))
    return found


# formats by what is shown of a moment, which SPSS and SAS store alike; SAS counts days of some
_SHAPES: Mapping[str, Callable[[dt.datetime], object]] = {
    r"DATETIME|YMDHMS|DATEAMPM|MDYAMPM|NLDATM\w*|(B|E|IS)8601D[NTZ]": lambda moment: moment,
    r"MOYR|(DT)?MONYY|YYMON|YYMM[CDNPS]?|MMYY[CDNPS]?": lambda moment: str(moment)[:7],
    r"QYR|(DT)?YYQ\w*": lambda moment: f"{str(moment)[:4]}-Q{(moment.month + 2) // 3}",
    "WKYR": lambda moment: _week_of_year(moment.year, (moment.timetuple().tm_yday - 1) // 7),
    r"[AEJS]?DATE|(DD|YY)MM(DD|YY)[BCDNPS]?|MMDDYY[BCDNPS]?|WEEK\w*|WORDDAT[EX]|NLDATE\w*|"
    r"JUL(DAY|IAN)|(B|E|IS)8601DA|DT\w+|YEAR|MONTH|MONNAME|DAY|DOWNAME|QTRR?": dt.datetime.date,
    "TOD": dt.datetime.time,
}
_DURATION = r"[DM]?TIME|TIMEAMPM|HHMM|HOUR|MMSS|NLTIM\w*|(B|E|IS)8601T[MZ]"
_IN_SECONDS = r"D(ATE)?T\w+|DATEAMPM|MDYAMPM|NLDATM\w*|(B|E|IS)8601D[NTZ]|TOD"


def _moment_reader(suffix: str, written: str) -> Callable[[float], object] | None:
    # how a number is read that is a moment, a part of one or a duration; None of other numbers
    if suffix == ".dta":
        return _stata_reader(written)
    name = re.sub(r"[\d.]*$", "", written.upper())
    if re.fullmatch(_DURATION, name):
        return lambda seconds: dt.timedelta(seconds=seconds)
    shape = next((of for pattern, of in _SHAPES.items() if re.fullmatch(pattern, name)), None)
    sas = suffix in (".sas7bdat", ".xpt")
    if shape is None or (name == "MONTH" and not sas):  # in SPSS from 1 to 12
        return None
    epoch = dt.datetime(1960, 1, 1) if sas else dt.datetime(1582, 10, 14)
    unit = "days" if sas and not re.fullmatch(_IN_SECONDS, name) else "seconds"
    return lambda number: shape(epoch + dt.timedelta(**{unit: number}))


def _stata_reader(written: str) -> Callable[[float], object] | None:
    if not (found := re.match(r"%-?\d*(?:t([cCdwmqh])|d)", written)):
        return None
    epoch, unit = dt.datetime(1960, 1, 1), found[1] or "d"
    if unit in "cC":
        if re.fullmatch(r"[HMSAPhmsap.:_]+", written[found.end() :]):  # which show no day
            return lambda number: dt.timedelta(milliseconds=number)
        return lambda number: epoch + dt.timedelta(milliseconds=number)
    return {
        "d": lambda days: epoch.date() + dt.timedelta(days),
        "w": lambda weeks: _week_of_year(1960 + int(weeks // 52), int(weeks % 52)),
        "m": lambda n: f"{1960 + int(n // 12)}-{int(n % 12) + 1:02}",
        "q": lambda n: f"{1960 + int(n // 4)}-Q{int(n % 4) + 1}",
        "h": lambda n: f"{1960 + int(n // 2)}-H{int(n % 2) + 1}",
    }[unit]


def _week_of_year(year: int, week: int) -> dt.date:
    # the first day of a week: those of both programs begin on 1 January, and ISO's on a Monday
    return dt.date(year, 1, 1) + dt.timedelta(weeks=week)


def _label_values(
    name: str, values: list[Any], about: Any, record: FileRecord, kind: str
) -> list[object]:
    labels = {
        _whole_as_int(k): str(v) for k, v in about.variable_value_labels.get(name, {}).items()
    }
    ranges = about.missing_ranges.get(name, ()) if about.missing_ranges else ()
    letters = set(about.missing_user_values.get(name, ()) if about.missing_user_values else ())
    if about.readstat_variable_types.get(name) == "float":  # of Stata, whose .7 is one of 32 bits
        values = [to_double(np.float32(v)) if isinstance(v, float) else v for v in values]
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
        # numbers, of which a few have a name at most
        reader = _moment_reader(kind, (about.original_variable_types or {}).get(name) or "")
        read: dict[Any, object] = {}
        if reader is not None:
            for value in held:
                with suppress(OverflowError, ValueError, TypeError):  # past the year 9999, a text
                    read[value] = reader(value)
        return [read.get(value, value) for value in known]
    codes = sorted(labels, key=lambda code: (isinstance(code, str), code))
    # labels that name two codes, or are another code themselves, stand with their own
    names = Counter(each for c in held | labels.keys() for each in {labels.get(c), str(c)})
    shown = {c: f"{labels[c]} ({c})" if names[labels[c]] > 1 else labels[c] for c in codes}
    record.named_values[name] = shown
    return [None if value is None else shown.get(value, str(value)) for value in known]


def _whole_as_int(value: object) -> Any:
    # a whole number as one, so that a code is written as its codebook has it
    return int(value) if isinstance(value, float) and value.is_integer() else value


# the rows of a sheet of Excel, and places of one that may be empty
_MOST_ROWS, _MOST_EMPTY = 1_048_576, 1_000_000
# rows above the header that are looked at
_MOST_ABOVE = 50


def open_workbook(path: Place, name: str, part: str = "") -> Source:
    """Open a sheet of a workbook; the first row that names every column is its header.

    ``part``: ``SHEET``, ``SHEET#N`` or ``#N``, where N is the row of the header.
    """
    if not isinstance(path, Path):
        raise DataError(f"{quote(path)} is read from this machine alone; copy it here")
    sheets, uncomputed = _read_sheets(path)
    filled_sheets = {t: held for t, held in sheets.items() if any(map(_filled_cells, held.rows))}
    with_rows = [t for t, held in filled_sheets.items() if held.is_visible] or [*filled_sheets]
    stated = None if part in sheets else re.fullmatch(r"(?s)(.*)#([1-9]\d{0,6})", part)
    sheet, header_row = (stated[1], int(stated[2])) if stated else (part, 0)
    if sheet and sheet not in sheets:
        raise DataError(f"{quote(path)} has no sheet {quote(sheet)}; it has {listing(sheets)}")
    if not sheet and len(with_rows) > 1:
        raise DataError(
            f"{quote(path)} has {len(with_rows)} sheets with rows, {listing(with_rows)}; name one "
            f"(--sheet {quote(with_rows[0])}, or {quote(f'{path}#SHEET')} in Python)"
        )
    sheet = sheet or next(iter(with_rows or sheets))
    held = sheets[sheet]
    places, at = _find_columns(held.rows, quote(path), header_row)
    below = held.rows[at + 1 :]
    filled = [row for row in below if _filled_cells(row)]
    if not filled:
        raise DataError(f"{quote(path)} has no rows below its header, {listing(places)}")
    columns = {
        column: [row[i] if i < len(row) else None for row in filled] for column, i in places.items()
    }
    if tall := [
        cell + first for cell, first, last in held.merged if at + 1 < int(first) < int(last)
    ]:
        raise DataError(
            f"{quote(path)} has merged cells of several rows below its header (from "
            f"{listing(map(bytes.decode, tall), 3)}); unmerge them, and write the value in each row"
        )
    RECORDS[str(path)] = FileRecord(lines_above=at)
    empty = [column for column, values in columns.items() if not _filled_cells(values)]
    if held.has_formulas and (empty or uncomputed):
        again = _read_sheets(path, results=False)[0][sheet].rows[at + 1 :]
        lost = []
        for column in columns if uncomputed else empty:
            i = places[column]
            pairs = [(a[i], b[i]) for a, b in zip(below, again, strict=True) if i < len(a)]
            # what differs is the result of a formula; writers that compute none store nothing, or 0
            results = [value for value, formula in pairs if value != formula]
            if results and not any(results):
                lost.append(column)
        if lost:
            raise DataError(
                f"{quote(path)} holds formulas without their results ({listing(lost)}); open it in "
                "a spreadsheet program, and save it"
            )
    return open_columns(columns, name)


@dataclass(slots=True)
class _Sheet:
    """The cells of a sheet, and the columns and rows of its merged cells, as A and 1."""

    rows: list[list[Any]]
    merged: list[tuple[bytes, ...]]
    has_formulas: bool
    is_visible: bool


def _read_sheets(path: Path, *, results: bool = True) -> tuple[dict[str, _Sheet], bool]:
    # the sheets, and whether their formulas are still to be computed
    with needing("xlsx", "reading workbooks"):
        from openpyxl.reader.excel import ExcelReader
    try:
        with warnings.catch_warnings(action="ignore"), path.open("rb") as file:
            most = most_unpacked(file)
            with ZipFile(file) as archive:
                check_workbook(archive, most)
            reader: Any = ExcelReader(file, read_only=True, data_only=results, keep_links=False)
            reader.read_chartsheet = lambda *_: None  # which has no cells, and is read as a whole
            reader.read()
            book = reader.wb
            if not book.worksheets:  # as of Strict Open XML
                raise ValueError("no sheet is found; save it as an Excel workbook")  # noqa: TRY301
            sheets = {each.title: _read_sheet(each, book) for each in book.worksheets}
            return sheets, bool(book.calculation and book.calculation.fullCalcOnLoad)
    except DataError as error:
        raise DataError(f"{quote(path)}: {error}") from None
    except BadZipFile:
        why = "it is no workbook, or has a password; save it without one"
        raise DataError(f"cannot read {quote(path)}: {why}") from None
    except Exception as error:  # a part of an archive that others wrote may be anything
        why = f"{type(error).__name__}: {error}"[:200]
        raise DataError(f"cannot read {quote(path)}: {why}") from None


def _cell_value(cell: Any, epoch: dt.datetime) -> Any:
    value = cell.value
    if isinstance(value, dt.datetime) and value.year <= epoch.year + 1:
        from openpyxl.utils.datetime import to_excel

        shown = set(re.sub(r"\[.*?\]", "", cell.number_format.lower()))
        if shown & {*"hs"} and not shown & {*"dy"}:  # 32 hours, which openpyxl takes for a day
            return dt.timedelta(days=to_excel(value, epoch))
    if type(value) is int and abs(value) >= 2**63:  # of more digits than Excel has
        return str(value)
    return None if value in _FAILED else value


_MERGED = re.compile(rb'<(?:\w+:)?mergeCell [^<>]*\bref="([A-Z]{1,3})(\d{1,7}):[A-Z]+(\d{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")


def _read_sheet(sheet: Any, book: Any) -> _Sheet:
    sheet.reset_dimensions()  # programs state A1 alone, and openpyxl would read no more
    rows: list[list[Any]] = []
    read = filled = 0  # places, and those with a cell
    for row in sheet.iter_rows(max_row=_MOST_ROWS + 1):
        rows.append([_cell_value(cell, book.epoch) for cell in row])
        read, filled = read + len(row) + 1, filled + len(_filled_cells(rows[-1]))
        if len(rows) > _MOST_ROWS or read > max(_MOST_EMPTY, 100 * filled):
            raise DataError(
                f"sheet {quote(sheet.title)} has cells far beyond those that it fills, or more "
                "rows than Excel has; delete them, or save the sheet as CSV"
            )
    # openpyxl streams a sheet without its merged cells
    written = book._archive.read(sheet._worksheet_path)  # noqa: SLF001
    has_formulas, visible = _FORMULA.search(written) is not None, sheet.sheet_state == "visible"
    return _Sheet(rows, _MERGED.findall(written), has_formulas, visible)


_FAILED = ("", "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


def _filled_cells(row: Sequence[object]) -> list[Any]:
    return [value for value in row if value is not None]


def _are_texts(cells: Sequence[object]) -> bool:
    return bool(cells) and all(isinstance(each, str) for each in cells)


def _find_columns(
    rows: Sequence[Sequence[Any]], where: str, header_row: int
) -> tuple[dict[str, int], int]:
    # the places of the columns in a row, and where their header is
    above = max(header_row - 1, 0)
    if above >= max(len(rows), 1):
        raise DataError(f"{where} has no row {header_row:,}; it has {len(rows):,}")
    rows = rows[above:] or [[]]
    ends = {i: n for n, row in enumerate(rows) for i, value in enumerate(row) if value is not None}

    def cells(n: int) -> dict[int, Any]:  # of the columns that end in a row or below
        held = dict(enumerate(rows[n]))
        return {i: held.get(i) for i in sorted(ends) if ends[i] >= n}

    looked_at = range(min(len(rows), 1 if header_row else _MOST_ABOVE))
    at = max(looked_at, key=lambda n: len(_filled_cells(rows[n])))
    # the index of a frame has no name; of texts alone, a row is of values where one stands below
    held = cells(at).items()
    again = (i < len(row) and row[i] == value for row in rows[at + 1 :] for i, value in held)
    if not _are_texts([value for _, value in held]) or any(again):
        at = next((n for n in looked_at[:at] if _are_texts([*cells(n).values()][1:])), at)
    names = [*cells(at).values()]
    # below cells that may name all columns but some, the first row that is filled is of values
    few_above = all(len(_filled_cells(row)) < 2 for row in rows[:at])
    is_header = few_above or _are_texts(names[1:] or names)
    if not names or None in names[1:] or len(names) > MOST_COLUMNS or not is_header:
        raise DataError(f"{where} has no row that names every column; name each column in one row")
    names = ["" if value is None else str(value).strip() for value in names]
    check_unique_names(names, where)
    return dict(zip(names, cells(at), strict=True)), above + at

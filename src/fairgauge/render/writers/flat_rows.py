"""Results as flat rows: estimates, groups, findings and others, as CSV and as data frames."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from fairgauge.enums import ReferenceKind
from fairgauge.errors import DataError, MissingExtra, nearest, quote
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.results.check import Check, Decision
from fairgauge.results.codec import number, to_dict
from fairgauge.results.comparison import Comparison, ModelComparison
from fairgauge.results.definitions import saved_fields
from fairgauge.results.describers import function_at
from fairgauge.results.disparities import singled_out
from fairgauge.results.estimates import Group
from fairgauge.results.finding import Finding
from fairgauge.results.monitor_results import MonitorReport
from fairgauge.results.report import Report
from fairgauge.results.sections import size_beside_rates
from fairgauge.results.shown_result import ShownResult
from fairgauge.results.threshold_choice import ThresholdChoice

Cell: TypeAlias = "str | float | None"
Row: TypeAlias = "dict[str, Cell]"

_SUBJECT = ("feature", "group", "reference", "reference_kind", "scope", "stratum", "class_scope",
            "class", "average", "threshold")  # fmt: skip
_INTERVAL = ("value", "low", "high", "confidence", "method")
ESTIMATES = ("metric", "set", *_SUBJECT, *_INTERVAL, "p_value", "p_adjusted", "n_group",
             "n_reference", "rate_group", "rate_reference", "status", "reason", "says")  # fmt: skip
GROUPS = ("feature", "group", "reference_kind", "scope", "stratum", "class_scope", "class",
          "average", "threshold", "n", "weight", "share", "tp", "fp", "fn", "tn", "rate", "value",
          "numerator", "denominator", "weighted_denominator", "low", "high", "status",
          "reason")  # fmt: skip
VERDICTS = ("rule", "metric", "feature", "group", "class_scope", "class", "average", "threshold",
            "outcome", "value", "low", "high", "reason")  # fmt: skip
PAIRS = ("feature", "rate", "group", "other", "class_scope", "class", "average", "threshold",
         "rate_group", "rate_other", "difference", "low", "high", "ratio", "ratio_low",
         "ratio_high", "pairs", "p_adjusted", "status", "reason")  # fmt: skip
FINDINGS = ("metric", "rate", "why", *_SUBJECT, *_INTERVAL, "p_value", "p_adjusted",
            "family_tests", "rate_group", "rate_reference", "n_group", "n_reference", "ratio",
            "ratio_low", "ratio_high", "adjusted", "adjusted_low", "adjusted_high", "adjusted_for",
            "beside", "beside_value", "beside_low", "beside_high", "others", "says")  # fmt: skip
"""The intervals are those that findings show, the simultaneous ones; the order is the reports'."""
TEXTS = frozenset(
    ("metric", "set", "feature", "group", "other", "reference", "reference_kind", "scope",
     "stratum", "class_scope", "class", "average", "method", "status", "reason", "says", "rule",
     "rate", "outcome", "direction", "why", "adjusted_for", "beside", "others", "model",
     "since", "variant", "verdict")
)  # fmt: skip
"""The columns that hold text; the others hold numbers."""


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A table of rows, all with the same columns: some hold texts, the others numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: frozenset[str] = TEXTS


def table_of(shown: ShownResult, name: str | None = None) -> FlatTable:
    """Return one table of a result, by default its first."""
    tables = shown.KIND.tables
    if not tables:
        raise DataError(f"{shown.KIND.called} has no table of numbers")
    name = next(iter(tables)) if name is None else name
    if name not in tables:
        allowed = ", ".join(tables)
        raise DataError(f"no table {quote(name)}.{nearest(name, list(tables))} Allowed: {allowed}")
    made = tables[name]
    if isinstance(made, type):
        return table_of_records(made, getattr(shown, name))
    table: FlatTable = function_at(made)(shown)
    return table


def table_of_records(kind: type, records: Sequence[Any], without: Container[str] = ()) -> FlatTable:
    """Return a row for every record of a class, with its saved fields as columns, but for some."""
    names = tuple(each.name for each in saved_fields(kind) if each.name not in without)
    return _table(names, map(_flat, map(to_dict, records)))


def _table(columns: tuple[str, ...], rows: Iterable[Mapping[str, Cell]]) -> FlatTable:
    return FlatTable(columns, tuple(tuple(row.get(name) for name in columns) for row in rows))


def _flat(fields: Mapping[str, Any]) -> Row:
    """Return plain values without what is nested: a reason as its message, methods joined."""
    found: Row = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            message = value.get("message")
            found[name] = str(message) if message is not None else None
        elif isinstance(value, list):
            found[name] = ", ".join(map(str, value)) or None
        else:
            found[name] = number(value)
    return found


def _of_records(name: str, columns: tuple[str, ...]) -> Callable[[Report], FlatTable]:
    """Return what makes a table of a report, with a row for every record that it has of a name."""
    return lambda report: _table(columns, map(_flat, map(to_dict, getattr(report, name))))


estimates_of = _of_records("estimates", ESTIMATES)
verdicts_of = _of_records("verdicts", VERDICTS)
pairs_of = _of_records("pairs", PAIRS)


def groups_of(report: Report) -> FlatTable:
    """Return a row for every rate of every group, and of all groups together."""
    return _table(GROUPS, _rates(report))


def _rates(report: Report) -> Iterator[Row]:
    for group in (*report.groups, *report.totals):
        fields = to_dict(group)
        rates = fields.pop("rates")
        own = _flat(fields) | _flat(fields["counts"] or {})
        for name, rate in rates.items():
            yield own | _flat(rate) | {"rate": name}
        if not rates:
            yield own


def findings_of(report: Report) -> FlatTable:
    """Return a row for every finding, with the contrasts that it states beside its own."""
    return _table(FINDINGS, map(_finding, report.findings))


def _finding(finding: Finding) -> Row:
    row = _flat(to_dict(finding.estimate)) | _flat(to_dict(finding))
    for name in ("ratio", "adjusted", "beside"):
        contrast = getattr(finding, name)
        if contrast is not None:
            shown = singled_out(contrast)
            value = "beside_value" if name == "beside" else name
            row |= {value: shown.value, f"{name}_low": shown.low, f"{name}_high": shown.high}
    row["beside"] = finding.beside.metric if finding.beside else None
    row["family_tests"] = finding.family.tests if finding.family else None
    row["others"] = ", ".join(str(other.group) for other in finding.others) or None
    return row


CHANGES = ("candidate", "metric", "feature", "group", "reference", "scope", "stratum",
           "class_scope", "class", "average", "threshold", "old_group", "old_reference", "old",
           "old_low", "old_high", "new", "new_low", "new_high", "by", "change", "low", "high",
           "confidence", "method", "direction", "distance", "distance_low", "distance_high",
           "change_p_value", "change_p_adjusted", "p_value", "p_adjusted", "significant", "changed",
           "crossed", "other_side", "margin", "outcome", "n", "n_reference", "status",
           "reason")  # fmt: skip
"""``distance_low`` and ``distance_high`` are of the adjusted interval."""


def changes_of(comparison: Comparison | ModelComparison) -> FlatTable:
    """Return one row for every disparity, and for every rate of every candidate.

    ``group`` and ``reference`` are those of the new report; the old one may have had others: of a
    metric of all groups, or of a reference that is chosen by the data.
    """
    saved = comparison.to_dict()
    changes: list[tuple[str | None, Any]] = [(None, each) for each in saved.get("changes", ())]
    for candidate in saved.get("candidates", ()):
        every = (*candidate["disparities"], *candidate["rates"])
        changes += [(candidate["name"], each) for each in every]
    rows = []
    for name, fields in changes:
        of_rate = {"metric": fields.get("rate"), "by": "difference", "n": fields.get("n_group")}
        row: Row = {"candidate": name} | of_rate | _flat(fields) | _flat(fields["interval"] or {})
        before = _flat(fields.get("before") or {})
        row |= {"old_group": before.get("group"), "old_reference": before.get("reference")}
        for column, key in (("distance", "distance_adjusted"), ("old", "old_interval"),
                            ("new", "new_interval")):  # fmt: skip
            ends = fields.get(key) or {}
            row |= {f"{column}_{end}": ends.get(end) for end in ("low", "high")}
        rows.append(row)
    return _table(CHANGES, rows)


FRONTIER = ("feature", "threshold", "performance", "performance_low", "performance_high", "group",
            "disparity", "disparity_low", "disparity_high", "value_meets", "outcome", "today",
            "chosen")  # fmt: skip
"""``value_meets`` is by the value alone, ``outcome`` by the whole interval."""


def frontier_of(choice: ThresholdChoice) -> FlatTable:
    """Return one row for every feature and threshold."""
    rows = []
    for of, each in ((f, point) for f in choice.features for point in f.frontier):
        chosen = of.common is not None and each.threshold == of.common.threshold
        row: Row = {"feature": of.feature, "threshold": each.threshold, "group": each.group}
        row |= {"value_meets": each.value_meets, "outcome": str(each.outcome)}
        row |= {"today": each.threshold == choice.today, "chosen": chosen}
        for name, value, interval in (
            ("performance", each.performance, each.performance_interval),
            ("disparity", each.disparity, each.disparity_interval),
        ):
            low, high = interval or (None, None)
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return _table(FRONTIER, rows)


CHECKED_TABLES = ("source", "table", "reference", "printed_reference", "unknown", "ratios",
                  *map(str, Decision), "errors", "notes")  # fmt: skip
FAULTS = ("source", "table", "level", "code", "row", "category")
RATIOS = ("source", "table", "name", "n", "selected", "fewest_selected", "most_selected", "rate",
          "printed", "ratio", "low", "high", "confidence", "deciding_low", "deciding_high",
          "p_value", "flips", "lowest_possible", "highest_possible", "decision", "verdict",
          "verdict_reason")  # fmt: skip


def tables_of(check: Check) -> FlatTable:
    """Return one row for every published table."""
    rows = []
    for table in check.to_dict()["tables"]:
        levels = [fault["level"] for fault in table["faults"]]
        row = {**table, **(table["decisions"] or {}), "table": table["name"]}
        rows.append(row | {"errors": levels.count("error"), "notes": levels.count("note")})
    return _table(CHECKED_TABLES, rows)


def faults_of(check: Check) -> FlatTable:
    """Return one row for every fault of every published table."""
    rows = (
        {**fault, "source": table["source"], "table": table["name"]}
        for table in check.to_dict()["tables"]
        for fault in table["faults"]
    )
    return _table(FAULTS, rows)


def ratios_of(check: Check) -> FlatTable:
    """Return one row for every category of every published table."""
    rows = []
    for table in check.to_dict()["tables"]:
        for group in table["groups"]:
            low, high = group["possible"] or (None, None)
            row = {**_flat(group), "source": table["source"], "table": table["name"]}
            row |= {"lowest_possible": low, "highest_possible": high}
            if (verdict := group["verdict"]) is not None:
                reason = verdict["reason"]["message"]
                row |= {"verdict": verdict["outcome"], "verdict_reason": reason}
                row |= {"deciding_low": verdict["low"], "deciding_high": verdict["high"]}
            fewest, most = group["selected_range"] or (None, None)
            rows.append(row | {"fewest_selected": fewest, "most_selected": most})
    return _table(RATIOS, rows)


_OF_PERIODS: dict[type[str | float | int | bool], tuple[str, ...]] = {
    str: ("period", "model", "rule", "metric", "feature", "group", "class",
          "reference"),
    float: ("value", "low", "high", "rate_group", "rate_reference", "evidence", "threshold",
            "running", "running_low", "running_high", "tolerated_low", "tolerated_high"),
    int: ("n_group", "n_reference"),
    bool: ("alarm", "sparse"),
}  # fmt: skip
PERIOD_TYPES = {name: kind for kind, names in _OF_PERIODS.items() for name in names}
"""The columns of the periods of a monitor, each with its type."""


def periods_of(report: MonitorReport) -> FlatTable:
    """Return one row for every period of every comparison; ``alarm`` is true from the alarm on.

    Of two groups that mirror each other there is one comparison.

    A tolerated range without a lower or upper limit has none in its column.
    """
    return FlatTable(tuple(PERIOD_TYPES), tuple(_periods(report)))


def _periods(report: MonitorReport) -> Iterator[tuple[Cell, ...]]:
    for each in report.comparisons:
        raised = each.alarm.period if each.alarm else None
        place = {point.period: t for t, point in enumerate(each.points)}
        for t, point in enumerate(each.points):
            yield (
                point.period, report.model, each.rule, each.metric, each.feature, each.group,
                each.class_, each.reference or None, point.value, point.low, point.high,
                point.rate_group, point.rate_reference, point.evidence, each.threshold,
                point.running, point.running_low, point.running_high,
                _limit(each.low), _limit(each.high),
                point.n_group, point.n_reference, raised is not None and t >= place[raised],
                point.sparse,
            )  # fmt: skip


def _limit(value: float) -> float | None:
    return value if math.isfinite(value) else None


_FORMULA = tuple("=+-@")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A text such as the group ``-1``: there is nothing to compute."""
_NEEDS_QUOTES = frozenset('",;|')


def write_csv(shown: ShownResult, *, table: str | None = None) -> str:
    """Write a table as CSV with a header; texts can do no harm in a spreadsheet."""
    return table_text(table_of(shown, table))


def table_text(found: FlatTable) -> str:
    """Return a table as CSV, its header with columns of the user among others."""
    lines = [",".join(map(cell, row)) for row in (found.columns, *found.rows)]
    return "\n".join(lines) + "\n"


def cell(value: Cell) -> str:
    """Return a cell as it stands in CSV, with nothing that a spreadsheet would compute.

    >>> cell("=1+1"), cell("-1"), cell(-0.5), cell(None), cell("a;b"), cell(True)
    ("'=1+1", '-1', '-0.5', '', '"a;b"', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return _number(value)
    text = printable(value)
    as_read = unicodedata.normalize("NFKC", text).lstrip()
    if as_read.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = f"'{text}"  # a spreadsheet shows it instead of computing it
    if _NEEDS_QUOTES.intersection(text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def _number(value: float) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def to_pandas(shown: ShownResult, table: str | None = None) -> Any:
    """Return a table of a result, by default its first, as a `pandas.DataFrame`.

    Raises
    ------
    MissingExtra
        pandas is not installed.
    DataError
        There is no such table.
    """
    pandas = _library("pandas")
    found = table_of(shown, table)
    frame = pandas.DataFrame(list(found.rows), columns=list(found.columns))
    return frame.astype(
        {name: "object" if name in found.texts else "float64" for name in found.columns}
    )


def to_polars(shown: ShownResult, table: str | None = None) -> Any:
    """Return a table of a result, by default its first, as a `polars.DataFrame`.

    Raises
    ------
    MissingExtra
        polars is not installed.
    DataError
        There is no such table.
    """
    polars = _library("polars")
    found = table_of(shown, table)
    schema = {
        name: polars.String if name in found.texts else polars.Float64 for name in found.columns
    }
    return polars.DataFrame(list(found.rows), schema=schema, orient="row", strict=False)


def by_group(report: Report) -> Any:
    """Return the rates of every group, a row each, as a `pandas.DataFrame`.

    The index is feature and group, with class and threshold where there are several; the column
    ``n`` and one column for each rate; ``n`` counts the rows whose prediction is known (of labels
    alone: whose label is). Undefined rates are NaN.
    """
    return _rate_frame(report, report.groups)


def overall(report: Report) -> Any:
    """Return the rates of all groups of each feature together, as a `pandas.DataFrame`."""
    return _rate_frame(report, report.totals)


def contrasts(report: Report, by: str) -> Any:
    """Return the differences or ratios of every group, group against reference, as a frame.

    Columns are rates; rows are as of `by_group`. Native metrics alone, so that one sign holds.
    """
    pandas = _library("pandas")
    rows: dict[tuple[Any, ...], dict[str, float | None]] = {}
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
    return _indexed(pandas, rows)


def _rate_frame(report: Report, groups: Sequence[Group]) -> Any:
    pandas = _library("pandas")
    rows: dict[tuple[Any, ...], dict[str, float | None]] = {}
    for group in groups:
        single = group.class_scope.is_single
        if group.stratum is None and single and group.reference_kind is not ReferenceKind.OTHERS:
            key = (group.feature, group.group, group.class_, group.threshold)
            rates = {name: rate.value for name, rate in group.rates.items()}
            size = size_beside_rates(group, report.catalogue)
            rows.setdefault(key, {"n": size}).update(rates)
    return _indexed(pandas, rows)


def _indexed(pandas: Any, rows: dict[tuple[Any, ...], dict[str, float | None]]) -> Any:
    """Return rows as a frame whose index holds class and threshold only where they differ."""
    names = ["feature", "group", "class", "threshold"]
    kept = [i for i in range(4) if i < 2 or len({key[i] for key in rows}) > 1]
    index = pandas.MultiIndex.from_tuples(
        [tuple(key[i] for i in kept) for key in rows], names=[names[i] for i in kept]
    )
    return pandas.DataFrame(list(rows.values()), index=index, dtype="float64")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"a {name} frame", name, error) from None

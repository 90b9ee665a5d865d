"""Checking published audits: arithmetic, reference, intervals, verdicts, and what is not stated."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from fairgauge.api.audit import audit
from fairgauge.cube.build import Counted, build
from fairgauge.cube.plan import plan
from fairgauge.enums import Outcome, RateTest, ReferenceRule
from fairgauge.errors import Problem, SpecError, nearest, quote
from fairgauge.published.check_results import Check, CheckedGroup, CheckedTable
from fairgauge.published.faults import Fault, FaultCode
from fairgauge.published.margins import check_margins
from fairgauge.published.printed_numbers import is_whole
from fairgauge.published.published_table import ColumnRole, RowKind
from fairgauge.published.smallest_reference import SmallestReference
from fairgauge.published.sources import read_sources
from fairgauge.published.table_arithmetic import (
    MIN_SHARE,
    check_arithmetic,
    highest,
    printed_reference,
)
from fairgauge.spec.features import Feature
from fairgauge.spec.readers import read_word
from fairgauge.spec.specification import Spec
from fairgauge.stats.fisher import fisher
from fairgauge.stats.significance import chi_square_p
from fairgauge.stats.unknown_people import ratio_bounds
from fairgauge.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from fairgauge.cube.cube import Cube
    from fairgauge.published.published_table import PublishedRow, PublishedTable
    from fairgauge.report.report import Report

_METRIC = "selection_rate.ratio"


@dataclass(frozen=True, slots=True)
class _CheckOptions:
    """The options of a check; ``references`` are the categories to compare with, where named."""

    limit: float | None
    smallest: SmallestReference
    confidence: float
    references: tuple[str, ...]
    test: RateTest


def check(
    source: str | Path | Iterable[str | Path],
    *,
    limit: float | None = None,
    columns: Mapping[str, str] | None = None,
    min_share: float = MIN_SHARE,
    reference: str | Sequence[str] = (),
    test: str = "fisher",
    confidence: float = 0.95,
) -> Check:
    r"""Check published tables of selection rates: what is wrong in them, and what they show.

    Every printed number is held against the numbers it is made of. Ratios are computed again from
    the counts, with confidence intervals and, where a limit is given, a verdict of three values.

    Parameters
    ----------
    source : path, several paths, a folder, or the text of a table
        CSV, TSV, XLSX, Markdown, HTML or plain text; of a folder, every such file in it, where what
        cannot be read is stated and no error. A text of several lines is a table that was pasted.
    limit : number in (0, 1], optional
        The smallest ratio that is allowed, such as 0.8. New York's Local Law 144 has none.
    columns : mapping of roles to headers, optional
        What the columns hold, where headers do not show it: ``category`` (several separated by
        commas), ``n``, ``selected``, ``rate``, ``ratio``.
    min_share : share in [0, 1), default 0.02
        A category of a smaller share of the people is never the reference that ratios are computed
        to, and need not have a ratio; nor is one of fewer than 20 people.
    reference : name of a category, or several, optional
        The category that ratios are computed to: of each table the first one that it has. Default:
        the one with the highest selection rate.
    test : {"fisher", "pearson", "yates"}
        What p-values are of: Fisher's exact test, or the chi-square test without (Pearson) or with
        continuity correction (Yates).
    confidence : share in (0, 1), default 0.95

    Returns
    -------
    Check
        The tables with their faults, groups and verdicts.

    Raises
    ------
    DataError
        A file cannot be read, or its columns cannot be distinguished.
    SpecError
        An option is out of its range, or names a column that a table does not have.

    Examples
    --------
    >>> import fairgauge as fg
    >>> found = fg.check("sex  applicants  hired  ratio\nMale  80  48  1\nFemale  40  12  0.55")
    >>> found.errors, round(found.tables[0].groups[1].ratio, 2)
    (1, 0.5)
    """
    chosen = _check_options(limit, min_share, confidence, columns or {}, test)
    references = (reference,) if isinstance(reference, str) else tuple(reference)
    asked = _CheckOptions(limit, SmallestReference(min_share), confidence, references, chosen)
    sources, unread = read_sources(source, columns or {})
    _check_references(references, [table for each in sources for table in each.tables])
    checked = tuple(
        _checked(table, each.name, between, asked)
        for each in sources
        for table, between in zip(each.tables, check_margins(each.tables), strict=True)
    )
    return Check(
        version=__version__,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        limit=limit,
        level=confidence,
        smallest_reference=asked.smallest,
        references=references,
        test=chosen,
        tables=checked,
        unread=tuple(unread),
    )


def _check_options(
    limit: float | None, min_share: float, confidence: float, columns: Mapping[str, str], test: str
) -> RateTest:
    problems: list[Problem] = []
    chosen = read_word(RateTest)(test, "test", problems)
    if limit is not None and not 0 < limit <= 1:
        problems.append(Problem("limit", f"must be above 0 and at most 1, not {quote(limit)}"))
    if not 0 <= min_share < 1:
        problems.append(Problem("min_share", f"must be in [0, 1), not {quote(min_share)}"))
    if not 0 < confidence < 1:
        problems.append(Problem("confidence", f"must be in (0, 1), not {quote(confidence)}"))
    for role in columns:
        if role not in list(ColumnRole):
            allowed = ", ".join(ColumnRole)
            problems.append(Problem(f"columns.{role}", f"unknown role; use {allowed}"))
    if problems:
        raise SpecError(problems)
    return chosen


def _check_references(references: tuple[str, ...], tables: list[PublishedTable]) -> None:
    """Refuse a reference that no table has, or has without counts of people."""
    known = list(dict.fromkeys(row.name for table in tables for row in _distinct(table)))
    for name in references:
        if name not in known:
            message = f"no table has counts of a category {quote(name)}.{nearest(name, known)}"
            raise SpecError(Problem("reference", message))


def _checked(
    table: PublishedTable,
    source: str | None,
    between: list[Fault],
    asked: _CheckOptions,
) -> CheckedTable:
    faults = (*check_arithmetic(table, asked.smallest.share), *between)
    counted = _distinct(table)
    printed = printed_reference(table)
    unknown = _unknown(table)
    reference = intervals = verdicts = other = None
    rows = {row.name: row for row in counted}
    named = next((name for name in asked.references if name in rows), None)
    if named is not None:
        faults = tuple(fault for fault in faults if not _of_choice(fault, named, printed))
    if len(counted) > 1:
        ask = partial(_audit, _cube(table, counted), asked)
        verdicts = ask(named or ReferenceRule.BEST)
        compared = (each.reference.group for each in verdicts.estimates if each.reference)
        reference = rows.get(next(compared, None) or "")
    if reference is not None and verdicts is not None:
        intervals = verdicts if named else ask(reference.name)
        if not named:
            other = _other_reference(ask, intervals, counted, printed, reference)
    best = highest(table, asked.smallest.share)
    possible = _possible(counted, table, asked.smallest) if unknown and not named else {}
    return CheckedTable(
        source=source,
        name=table.name,
        columns=tuple((str(role), header) for role, header in table.columns.items()),
        reference=reference.name if reference is not None else (best.name if best else None),
        printed_reference=None if printed is None else printed.name,
        other_reference=other,
        unknown=unknown,
        groups=tuple(
            _group(row, intervals, verdicts, reference, possible, counted, best, asked.test)
            for row in table.groups
        ),
        faults=faults,
    )


def _of_choice(fault: Fault, named: str, printed: PublishedRow | None) -> bool:
    """Return whether a fault is the printed reference's not being the best, which was asked for."""
    of_choice = (FaultCode.REFERENCE_NOT_HIGHEST, FaultCode.REFERENCE_IS_SMALL)
    return fault.code in of_choice and printed is not None and printed.name == named


def _distinct(table: PublishedTable) -> list[PublishedRow]:
    """Return the groups with counts that can be counted, the first of each name."""
    found: dict[str, PublishedRow] = {}
    for row in table.groups:
        n, selected = row.n, row.selected
        if n is None or selected is None or not (is_whole(n.value) and is_whole(selected.value)):
            continue
        if 0 <= selected.value <= n.value and n.value > 0:
            found.setdefault(row.name, row)
    return list(found.values())


def _counts(row: PublishedRow) -> tuple[int, int]:
    assert row.n is not None
    assert row.selected is not None
    return int(row.n.value), int(row.selected.value)


def _cube(table: PublishedTable, rows: list[PublishedRow]) -> Cube:
    feature = " × ".join(table.dimensions)
    asked = Spec(prediction="selected", positive=(1,), sensitive=(Feature(feature),))
    cells = [
        (row.name, outcome, float(count))
        for row in rows
        for (n, selected) in [_counts(row)]
        for outcome, count in ((1, selected), (0, n - selected))
    ]
    keys = [[cell[i] for cell in cells] for i in range(2)]
    counts = [cell[2] for cell in cells]
    return build(
        plan(asked),
        [Counted(keys, {"rows": counts})],
        rows=int(sum(counts)),
        known={feature: [row.name for row in rows], "selected": [0, 1]},
    )


def _audit(cube: Cube, asked: _CheckOptions, reference: str) -> Report:
    """Audit the counts of a table; ``best`` allows for the choice of the reference by the data."""
    feature = cube.plan.axes[0].column
    return audit(
        cube,
        metrics=[_METRIC],
        reference=reference if reference is ReferenceRule.BEST else {feature: reference},
        min_share=asked.smallest.share or None,
        min_n=asked.smallest.people,
        rules=[] if asked.limit is None else [f"{_METRIC} >= {asked.limit!r}"],
        confidence=asked.confidence,
    )


def _other_reference(
    ask: Callable[[str], Report],
    report: Report,
    rows: list[PublishedRow],
    printed: PublishedRow | None,
    reference: PublishedRow,
) -> tuple[str, tuple[str, ...]] | None:
    """Return another reference in use: the printed one, else the best of all, however small."""
    best = max(rows, key=lambda row: row.share or 0.0)
    other = printed if printed in rows and printed is not reference else best
    if other is None or other is reference or other.share == reference.share:
        return None
    before = {each.group: each.outcome for each in report.verdicts}
    changed = [
        each.group
        for each in ask(other.name).verdicts
        if each.group in before and each.outcome is not before[each.group]
    ]
    return other.name, tuple(str(group) for group in changed)


def _unknown(table: PublishedTable) -> int | None:
    numbers = [row.n.value for row in table.of(RowKind.UNKNOWN) if row.n is not None]
    return int(sum(numbers)) if numbers else None


def _possible(
    rows: list[PublishedRow], table: PublishedTable, smallest: SmallestReference
) -> dict[str, tuple[float, float]]:
    """Return the ratios that are possible when unknown people are in any category."""
    people = sum(_counts(row)[0] for row in rows)
    if len(rows) < 2:
        return {}
    unknown = [row for row in table.of(RowKind.UNKNOWN) if row.n is not None]
    selected = [row.selected.value for row in unknown if row.selected is not None]
    low, high = ratio_bounds(
        [_counts(row)[1] for row in rows],
        [_counts(row)[0] for row in rows],
        float(_unknown(table) or 0),
        sum(selected) if len(selected) == len(unknown) else None,
        [smallest.admits(_counts(row)[0], people) for row in rows],
    )
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return {row.name: pair for row, pair in zip(rows, ends, strict=True) if pair[0] == pair[0]}


def _group(
    row: PublishedRow,
    intervals: Report | None,
    verdicts: Report | None,
    reference: PublishedRow | None,
    possible: Mapping[str, tuple[float, float]],
    counted: list[PublishedRow],
    highest_row: PublishedRow | None,
    test: RateTest,
) -> CheckedGroup:
    plain = CheckedGroup(
        name=row.name,
        n=None if row.n is None or not is_whole(row.n.value) else int(row.n.value),
        selected=(
            None
            if row.selected is None or not is_whole(row.selected.value)
            else int(row.selected.value)
        ),
        rate=row.share if row.share is not None or row.rate is None else row.rate.value,
        printed=None if row.ratio is None else row.ratio.text,
        possible=possible.get(row.name),
    )
    if intervals is None or verdicts is None or reference is None:
        ratio = _printed_ratio(row, highest_row)
        return replace(plain, ratio=ratio, is_reference=ratio is not None and row is highest_row)
    if row is reference:
        return replace(plain, ratio=1.0 if row.share else None, is_reference=True)
    if row not in counted:
        return plain
    estimate = next((each for each in intervals.estimates if each.group == row.name), None)
    if estimate is None:
        return plain
    verdict = next((each for each in verdicts.verdicts if each.group == row.name), None)
    (n, selected), (other_n, other_selected) = _counts(row), _counts(reference)
    flips = None
    if selected * other_n < other_selected * n:
        flips = (selected + 1) * other_n > (other_selected - 1) * n
    return replace(
        plain,
        ratio=estimate.value,
        interval=estimate.interval,
        p_value=_p_value(test, (selected, n, other_selected, other_n)),
        flips=flips,
        verdict=verdict,
    )


def _p_value(test: RateTest, counts: tuple[int, int, int, int]) -> float:
    if test is RateTest.FISHER:
        return float(fisher(*counts))
    return float(chi_square_p(*counts, continuity=test is RateTest.YATES))


def _printed_ratio(row: PublishedRow, highest_row: PublishedRow | None) -> float | None:
    """Return the ratio of printed rates, where there are no counts."""
    if row.rate is None or row.selected is not None:
        return None
    if highest_row is None or highest_row.rate is None or not highest_row.rate.value:
        return None
    return row.rate.value / highest_row.rate.value


def exit_code(found: Check) -> int:
    """Return 1 for an error in a table or a failed limit, 3 for what is undecided, else 0.

    A table of a folder that cannot be read is undecided.
    """
    if found.errors or found.verdict is Outcome.FAIL:
        return 1
    unread = any(each.is_table for each in found.unread)
    return 3 if unread or found.verdict is Outcome.INCONCLUSIVE else 0

"""Checking published audits: arithmetic, reference, intervals, verdicts, and what is not stated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from fairgauge.api._published_ratios import CheckOptions, TableRatios, whichever_unknown
from fairgauge.enums import RateTest
from fairgauge.errors import Problem, SpecError, listing, nearest, quote
from fairgauge.published.printed_numbers import is_whole
from fairgauge.published.published_table import (
    ColumnRole,
    CountedCategory,
    PublishedRow,
    PublishedTable,
    RowKind,
    counted_categories,
)
from fairgauge.published.sources import read_sources
from fairgauge.published.table_arithmetic import (
    MIN_SHARE,
    admitted_rows,
    check_arithmetic,
    has_chosen_reference,
    highest,
    printed_reference,
)
from fairgauge.published.table_margins import check_margins
from fairgauge.question.options import Options
from fairgauge.question.readers import read_word
from fairgauge.question.rules import Rule
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import read_part
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.results.check import (
    Check,
    CheckedGroup,
    CheckedTable,
    Fault,
    FaultCode,
    Findings,
    SmallestReference,
)
from fairgauge.results.shown_result import made_now
from fairgauge.stats.significance import chi_square_p, fisher
from fairgauge.stats.unknown_people import pair_bounds, ratio_bounds


def check(
    source: str | Path | Iterable[str | Path],
    *,
    config: Config = None,
    rules: str | Rule | Sequence[str | Rule] | None = None,
    min_n: int | None = None,
    min_share: float | None = None,
    confidence: float | None = None,
    reference: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    test: str = "fisher",
) -> Check:
    r"""Check published tables of selection rates: what is wrong in them, and what they show.

    Every printed number is held against the numbers it is made of. Ratios are computed again from
    the counts, with confidence intervals and, where a rule is given, a verdict of three values.

    Parameters
    ----------
    source : path, several paths, a folder, or the text of a table
        CSV, TSV, XLSX, Markdown, HTML or plain text; of a folder, every such file in it, where what
        cannot be read is stated and no error. A text of several lines is a table that was pasted.
    config : str, Path or mapping, optional
        A specification file, or its keys, of which ``rules``, ``min_n``, ``min_share`` and
        ``confidence`` hold here unless they are given.
    rules : str or Rule, optional
        The one rule that every ratio must keep to, such as ``"selection_rate.ratio >= 0.8"``. New
        York's Local Law 144 has none.
    min_n : number of people, default 20
        A category of fewer people is never the reference that ratios are computed to.
    min_share : share in (0, 1), default 0.02
        Nor is one of a smaller share of the people, which need not have a ratio either.
    confidence : share in (0, 1), default 0.95
        The confidence level.
    columns : mapping of roles to headers, optional
        What the columns hold, where headers do not show it: ``category`` (several separated by
        commas), ``n``, ``selected``, ``rate``, ``ratio``.
    reference : name of a category, or several, optional
        The category that ratios are computed to: of each table the first one that it has. Default:
        the one with the highest selection rate.
    test : {"fisher", "pearson", "yates"}
        What p-values are of: Fisher's exact test, or the chi-square test without (Pearson) or with
        continuity correction (Yates).

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
    chosen = _check_options(columns or {}, test)
    references = (reference,) if isinstance(reference, str) else tuple(reference)
    given: dict[str, Any] = {
        "rules": rules, "min_n": min_n, "min_share": min_share, "confidence": confidence,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    asked = _asked(with_config(config, cast("Options", given)), references, chosen)
    sources, unread = read_sources(source, columns or {})
    _check_references(references, [table for each in sources for table in each.tables])
    checked = tuple(
        _checked(table, each.name, between, asked)
        for each in sources
        for table, between in zip(each.tables, check_margins(each.tables), strict=True)
    )
    return Check(
        **made_now(),
        limit=asked.limit,
        level=asked.confidence,
        smallest_reference=asked.smallest,
        references=references,
        test=chosen,
        tables=checked,
        unread=tuple(unread),
    )


def _check_options(columns: Mapping[str, str], test: str) -> RateTest:
    problems: list[Problem] = []
    chosen = read_word(RateTest)(test, "test", problems)
    for role in columns:
        if role not in list(ColumnRole):
            allowed = ", ".join(ColumnRole)
            problems.append(Problem(f"columns.{role}", f"unknown role; use {allowed}"))
    if problems:
        raise SpecError(problems)
    return chosen


def _asked(
    options: Mapping[str, object], references: tuple[str, ...], test: RateTest
) -> CheckOptions:
    """Read the options that a check shares with audits."""
    spec = read_part(("rules", "min_n", "min_share", "confidence"), options)
    smallest = SmallestReference(spec.min_share or MIN_SHARE, spec.min_n or FEWEST_ROWS)
    return CheckOptions(_limit(spec.rules), smallest, spec.confidence, references, test)


def _limit(rules: Sequence[Rule]) -> float | None:
    """Return the smallest ratio that a rule allows; None without a rule."""
    if not rules:
        return None
    (first, *others) = rules
    if others or first != Rule("selection_rate.ratio", low=first.low) or not 0 < first.low <= 1:
        message = (
            "published tables decide one rule, 'selection_rate.ratio >= LIMIT' with a limit above "
            f"0 and at most 1, not {listing([quote(str(rule)) for rule in rules])}"
        )
        raise SpecError(Problem("rules", message))
    return first.low


def _check_references(references: tuple[str, ...], tables: list[PublishedTable]) -> None:
    """Refuse a reference that no table has, or has without people and a rate."""
    known = list(dict.fromkeys(row.name for table in tables for row in counted_categories(table)))
    for name in references:
        if name not in known:
            message = f"no table has counts of a category {quote(name)}.{nearest(name, known)}"
            raise SpecError(Problem("reference", message))


def _checked(
    table: PublishedTable,
    source: str | None,
    between: Findings,
    asked: CheckOptions,
) -> CheckedTable:
    arithmetic = check_arithmetic(table, asked.smallest.share)
    faults = (*arithmetic.faults, *between.faults)
    counted = {each.name: each for each in counted_categories(table)}
    printed = printed_reference(table)
    named = next((name for name in asked.references if name in counted), None)
    if named is None and printed is not None and has_chosen_reference(table):
        named = printed.name if printed.name in counted else None
    if named is not None:
        faults = tuple(fault for fault in faults if not _of_choice(fault, named, printed))
    ratios = None
    if len(counted) > 1:
        name = " × ".join(table.dimensions)
        ratios = TableRatios(name, list(counted.values()), asked, named, table.unknown or 0)
    reference = None if ratios is None else ratios.reference
    best = highest(table, asked.smallest.share)
    if named is None:
        faults += _tie(table, ratios, best, asked.smallest.share)
    possible = _possible(list(counted.values()), table, asked.smallest, named)
    return CheckedTable(
        source=source,
        name=table.name,
        columns={str(role): header for role, header in table.columns.items()},
        reference=reference.name if reference is not None else (best.name if best else None),
        printed_reference=None if printed is None else printed.name,
        other_reference=None if ratios is None else ratios.other_reference(printed),
        unknown=table.unknown,
        groups=tuple(
            _group(row, counted.get(row.name), ratios, possible, best, table.unknown, asked)
            for row in table.groups
        ),
        faults=faults,
        numbers_checked=arithmetic.numbers_checked + between.numbers_checked,
    )


def _tie(
    table: PublishedTable, ratios: TableRatios | None, best: PublishedRow | None, min_share: float
) -> tuple[Fault, ...]:
    """Note that several categories have the highest rate, which of them is taken, and why."""
    chosen: CountedCategory | PublishedRow | None = None if ratios is None else ratios.reference
    others: Sequence[CountedCategory | PublishedRow] = []
    if ratios is not None and ratios.reference is not None:
        others, rate = ratios.tied, ratios.reference.rate
        by_people = bool(others) and ratios.reference.n > ratios.tied[0].n
        printed = not all(each.is_exact for each in (ratios.reference, *ratios.tied))
    elif best is not None and best.rate_range is not None and best.rate_range[0] > 0:
        chosen, rate, printed, by_people = best, _rate(best) or 0.0, True, False
        others = [
            row
            for row in admitted_rows(table, min_share)
            if row is not best and row.rate_range == best.rate_range
        ]
    if chosen is None or not others:
        return ()
    fault = Fault.of(
        FaultCode.REFERENCE_TIED,
        None,
        rate=rate,
        chosen=chosen.name,
        others=tuple(each.name for each in others),
        by_people=by_people,
        by_ratio=chosen is best and printed_reference(table) is best,
        printed=printed,
    )
    return (fault,)


def _of_choice(fault: Fault, named: str, printed: PublishedRow | None) -> bool:
    """Return whether a fault is the printed reference's not being the best, which was asked for."""
    of_choice = (
        FaultCode.REFERENCE_NOT_HIGHEST, FaultCode.HIGHER_RATE, FaultCode.REFERENCE_IS_SMALL
    )  # fmt: skip
    return fault.code in of_choice and printed is not None and printed.name == named


def _possible(
    counted: Sequence[CountedCategory],
    table: PublishedTable,
    smallest: SmallestReference,
    named: str | None,
) -> dict[str, tuple[float, float]]:
    """Return the ratios that are possible over everything that the table does not state.

    People of unknown category may be in any category, and where rounded rates stand in the place of
    selected people, their number may be any that agrees. Ratios are to the highest rate wherever
    the unknown are, or to the category that is ``named``.
    """
    unknown = table.unknown
    exact = all(each.is_exact for each in counted)
    if len(counted) < 2 or (exact and not unknown):
        return {}
    rows = [row for row in table.of(RowKind.UNKNOWN) if row.n is not None]
    selected = [row.selected.value for row in rows if row.selected is not None]
    n = [each.n for each in counted]
    chosen = sum(selected) if len(selected) == len(rows) else None
    bounds = partial(
        ratio_bounds,
        n=n,
        unknown=float(unknown or 0),
        unknown_selected=chosen,
        fewest=max(smallest.people, smallest.share * (sum(n) + (unknown or 0))),
    )
    if named is not None:
        reference = next(each for each in counted if each.name == named)
        return {
            each.name: pair_bounds(
                ((each.fewest, each.most), each.n),
                ((reference.fewest, reference.most), reference.n),
                float(unknown or 0),
                chosen,
            )
            for each in counted
            if each is not reference
        }
    fewest, most = ([getattr(each, of) for each in counted] for of in ("fewest", "most"))
    if exact:
        low, high = (bound.tolist() for bound in bounds(fewest))
    else:
        alone = [
            (
                bounds([*most[:at], fewest[at], *most[at + 1 :]])[0][at],
                bounds([*fewest[:at], most[at], *fewest[at + 1 :]])[1][at],
            )
            for at in range(len(counted))
        ]
        low, high = np.transpose(alone).tolist()
    ends = zip(counted, low, high, strict=True)
    return {each.name: (low, high) for each, low, high in ends if not math.isnan(low + high)}


def _group(
    row: PublishedRow,
    counted: CountedCategory | None,
    ratios: TableRatios | None,
    possible: Mapping[str, tuple[float, float]],
    highest_row: PublishedRow | None,
    unknown: int | None,
    asked: CheckOptions,
) -> CheckedGroup:
    plain = CheckedGroup(
        name=row.name,
        n=None if row.n is None or not is_whole(row.n.value) else int(row.n.value),
        selected=(
            None
            if row.selected is None or not is_whole(row.selected.value)
            else int(row.selected.value)
        ),
        selected_range=(
            (counted.fewest, counted.most) if counted is not None and row.selected is None else None
        ),
        rate=_rate(row),
        printed=None if row.ratio is None else row.ratio.text,
        possible=possible.get(row.name),
    )
    reference = None if ratios is None else ratios.reference
    if ratios is None or reference is None:
        ratio = _printed_ratio(row, highest_row)
        return replace(plain, ratio=ratio, is_reference=row is highest_row)
    chosen = None if counted is None else ratios.chosen.get(counted.name)
    verdict = None if chosen is None else chosen.verdict
    if row is reference.row:
        ratio = 1.0 if reference.most else None
        return replace(plain, ratio=ratio, is_reference=True, verdict=verdict)
    if counted is None or row is not counted.row:
        return plain
    given = ratios.given.get(row.name)
    if given is None:
        return plain
    value = given.value
    if value is None and given.interval is not None and reference.rate:
        value = counted.rate / reference.rate
    if verdict is not None and value is not None and unknown and plain.possible is not None:
        verdict = whichever_unknown(verdict, value, plain.possible, unknown, asked.limit or 0.0)
    return replace(
        plain,
        ratio=value,
        interval=given.interval,
        p_value=_p_value(asked.test, counted, reference),
        flips=_flips(counted, reference),
        verdict=verdict,
    )


def _rate(row: PublishedRow) -> float | None:
    """Return the selection rate of the counts, else as it is printed."""
    if row.share is not None:
        return float(row.share)
    return None if row.rate is None else row.rate.value


def _p_value(test: RateTest, one: CountedCategory, other: CountedCategory) -> float:
    """Return the p-value of equal selection rates: the largest over the counts that agree."""
    tested = [
        (one.most, one.n, other.fewest, other.n),
        (one.fewest, one.n, other.most, other.n),
    ]
    apart = [x * m - y * n for x, n, y, m in tested]
    if min(apart) <= 0 <= max(apart):
        return 1.0 if len(set(tested)) > 1 else _tested(test, tested[0])
    return max(_tested(test, counts) for counts in tested)


def _tested(test: RateTest, counts: tuple[int, int, int, int]) -> float:
    if test is RateTest.FISHER:
        return float(fisher(*counts))
    return float(chi_square_p(*counts, continuity=test is RateTest.YATES))


def _flips(one: CountedCategory, other: CountedCategory) -> bool | None:
    """Return whether one more selection here and one fewer there reverses which rate is higher.

    None where this rate is not the lower one, or the counts that agree give both answers.
    """
    answers = {
        (selected + 1) * other.n > (others - 1) * one.n
        if selected * other.n < others * one.n
        else None
        for selected, others in ((one.fewest, other.most), (one.most, other.fewest))
    }
    return answers.pop() if len(answers) == 1 else None


def _printed_ratio(row: PublishedRow, highest_row: PublishedRow | None) -> float | None:
    """Return the ratio of printed rates, where there are no counts."""
    if row.rate is None or row.selected is not None:
        return None
    if highest_row is None or highest_row.rate is None or not highest_row.rate.value:
        return None
    return row.rate.value / highest_row.rate.value

"""Checking published audits: arithmetic, reference, intervals, verdicts, and what is not stated.

Ratios are computed again by audits of the counts that a table prints.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from fairgauge import Cube, audit
from fairgauge.errors import Problem, SpecError, listing, nearest, quote
from fairgauge.plugins import (
    FEWEST_ROWS,
    Config,
    Counted,
    Estimate,
    Feature,
    Options,
    Outcome,
    Reason,
    ReasonCode,
    ReferenceRule,
    Report,
    Rule,
    Spec,
    Verdict,
    WorstCase,
    build,
    fisher,
    interval_reached,
    made_now,
    open_at_any_size,
    pair_bounds,
    plan,
    preset,
    preset_names,
    quotient,
    ratio_bounds,
    read_part,
    with_config,
)
from fairgauge_check.check_result import (
    Check,
    CheckedGroup,
    CheckedTable,
    Decision,
    Fault,
    FaultCode,
    Findings,
    SmallestReference,
)
from fairgauge_check.printed_numbers import Printed, is_whole
from fairgauge_check.published_table import ColumnRole, PublishedRow, PublishedTable, RowKind
from fairgauge_check.sources import read_sources
from fairgauge_check.table_arithmetic import (
    MIN_SHARE,
    check_arithmetic,
    check_margins,
    highest,
    printed_reference,
)

_METRIC = "selection_rate.ratio"
_CHOSEN_GROUP = re.compile(r"\bair\b|^\s*ratio (to|vs\.?) (?!the highest)", re.IGNORECASE)
"""Headers of ratios to a chosen group, not to that of the highest rate."""


def check(
    source: str | Path | Iterable[str | Path],
    *,
    config: Config = None,
    preset: str | None = None,
    rules: str | Rule | Sequence[str | Rule] | None = None,
    min_n: int | None = None,
    min_share: float | None = None,
    confidence: float | None = None,
    reference: str | Sequence[str] = (),
    columns: str | Path | Mapping[str, str | Sequence[str]] | None = None,
) -> Check:
    r"""Check published tables of selection rates: what is wrong in them, and what they show.

    Every printed number is held against the numbers it is made of. Ratios are computed again from
    the counts, with confidence intervals and, where a rule is given, a verdict of three values.

    Parameters
    ----------
    source : path, several paths, a folder, or the text of a table
        CSV, TSV, XLSX, Markdown or HTML; of a folder, every such file in it and in its folders,
        where what cannot be read is stated and no error. A text of several lines is the text of
        such a table.
    config : str, Path or mapping, optional
        A specification file, or its keys, of which ``preset``, ``rules``, ``min_n``, ``min_share``
        and ``confidence`` hold here unless they are given.
    preset : name of a preset of selection rates, optional
        Its rule and its smallest reference hold unless they are given. Default: the one of a
        report of fairgauge.
    rules : str or Rule, optional
        The one rule that every ratio must keep to, such as ``"selection_rate.ratio >= 0.8"``. New
        York's Local Law 144 has none.
    min_n : number of people, default 20
        A category of fewer people is never the reference that ratios are computed to.
    min_share : share in (0, 1), default 0.02
        Nor is one of a smaller share of the people, which need not have a ratio either.
    confidence : share in (0, 1), default 0.95
        The confidence level.
    columns : mapping of roles to headers, or the path of a TOML file of one, optional
        What the columns hold: ``n``, ``selected``, ``not_selected``, ``rate``, ``denial_rate``,
        ``ratio``, ``denial_ratio`` and ``group`` (one header, or a list; by default all columns in
        front of the first of numbers). Of several headers of a role the first one that a table has
        counts. Default: the headers that fairgauge prints itself.
    reference : name of a category, or several, optional
        The category that ratios are computed to: of each table the first one that it has. Default:
        the one with the highest selection rate, unless the header of the printed ratios means a
        chosen group (AIR, Ratio to White) and no preset calls for the highest rate.

    Returns
    -------
    Check
        The tables with their faults, groups and verdicts.

    Raises
    ------
    DataError
        A file cannot be read, or no table of it has columns that are stated.
    SpecError
        An option is out of its range.

    Examples
    --------
    >>> from fairgauge_check import check
    >>> text = "sex,applied,hired,ratio\nMale,80,48,1\nFemale,40,12,0.55"
    >>> stated = {"n": "applied", "selected": "hired", "ratio": "ratio"}
    >>> found = check(text, columns=stated)
    >>> found.errors, round(found.tables[0].groups[1].ratio, 2)
    (1, 0.5)
    """
    references = (reference,) if isinstance(reference, str) else tuple(reference)
    given: dict[str, Any] = {
        "preset": preset, "rules": rules, "min_n": min_n, "min_share": min_share,
        "confidence": confidence,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    sources, unread = read_sources(source, columns)
    options = with_config(config, cast("Options", given))
    asked = _asked(_with_preset(options, [t for _, tables in sources for t in tables]), references)
    known = dict.fromkeys(row.name for _, tables in sources for table in tables
                          for row in table.groups if row.counts)  # fmt: skip
    for name in references:
        if name not in known:
            message = f"no table has counts of a category {quote(name)}.{nearest(name, [*known])}"
            raise SpecError(Problem("reference", message))
    return Check(
        **made_now(),
        limit=asked.limit,
        level=asked.confidence,
        smallest_reference=asked.smallest,
        references=references,
        tables=tuple(
            _checked(table, name, between, asked)
            for name, tables in sources
            for table, between in zip(tables, check_margins(tables), strict=True)
        ),
        unread=tuple(unread),
    )


def _with_preset(
    options: Mapping[str, object], tables: Sequence[PublishedTable]
) -> Mapping[str, object]:
    """Return options with the preset of reports of fairgauge, unless another one is asked for."""
    presets = dict.fromkeys(table.preset for table in tables)
    if options.get("preset") is not None or not any(presets):
        return options
    if len(presets) > 1:
        words = listing(each or "none" for each in presets)
        message = f"the tables are of {words}; check each file by itself, or name one (--preset)"
        raise SpecError(Problem("preset", message))
    (name,) = presets
    known = name not in preset_names() or _METRIC in preset(str(name)).options["metrics"]
    return {**options, "preset": name} if known else options


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a check.

    Attributes
    ----------
    references : the categories to compare with, where named.
    best : whether a preset or a specification asks for the highest rate, whatever headers mean.
    """

    limit: float | None
    smallest: SmallestReference
    confidence: float
    references: tuple[str, ...]
    best: bool


def _asked(options: Mapping[str, object], references: tuple[str, ...]) -> CheckOptions:
    names = [each for each in preset_names() if _METRIC in preset(each).options["metrics"]]
    chosen = str(options.get("preset"))
    if chosen in preset_names() and chosen not in names:
        message = f"{quote(chosen)} has no ratios of selection rates; use {' or '.join(names)}"
        raise SpecError(Problem("preset", message))
    spec = read_part(("preset", "rules", "min_n", "min_share", "confidence", "reference"), options)
    limit = None
    if spec.rules:
        (first, *others) = spec.rules
        limit = first.low
        if others or first != Rule(_METRIC, low=limit) or not 0 < limit <= 1:
            message = (
                "published tables decide one rule, 'selection_rate.ratio >= LIMIT' with a limit "
                "above 0 and at most 1, not "
                f"{listing([quote(str(rule)) for rule in spec.rules])}"
            )
            raise SpecError(Problem("rules", message))
    smallest = SmallestReference(spec.min_share or MIN_SHARE, spec.min_n or FEWEST_ROWS)
    best = spec.reference is ReferenceRule.BEST
    return CheckOptions(limit, smallest, spec.confidence, references, best)


def _checked(
    table: PublishedTable, source: str | None, between: Findings, asked: CheckOptions
) -> CheckedTable:
    counted = {row.name: row for row in reversed(table.groups) if row.counts}
    table = replace(table, references=asked.references)
    printed = printed_reference(table)
    named = next((name for name in asked.references if name in counted), None)
    of_group = _CHOSEN_GROUP.search(table.columns.get(ColumnRole.RATIO, "")) and not asked.best
    if named is None and of_group and printed is not None:
        named = printed.name if printed.name in counted else None
        table = replace(table, references=(printed.name,))
        if asked.limit is not None:
            between = _with_choice(between, table, asked, printed.name)
    arithmetic = check_arithmetic(table, asked.smallest.share, asked.smallest.people)
    ratios = None
    if len(counted) > 1:
        rows = [row for row in table.groups if row is counted.get(row.name)]
        ratios = TableRatios(table, rows, asked, named)
        best = ratios.reference
        if best is None or (named is None and _may_be_higher(table, best, asked.smallest.share)):
            ratios = None
    top = highest(table, asked.smallest.share) if ratios is None else ratios.reference
    return CheckedTable(
        source=source,
        name=table.name,
        columns={str(role): header for role, header in table.columns.items()},
        reference=None if top is None else top.name,
        printed_reference=None if printed is None else printed.name,
        is_chosen=named is not None,
        unknown=table.unknown,
        groups=tuple(_decided(_group(row, ratios, top), asked.limit) for row in table.groups),
        faults=(*arithmetic.faults, *between.faults),
        numbers_checked=arithmetic.numbers_checked + between.numbers_checked,
    )


def _with_choice(
    between: Findings, table: PublishedTable, asked: CheckOptions, chosen: str
) -> Findings:
    """Add what would not pass by the highest rate, where printed ratios are to a chosen group."""
    best = _checked(replace(table, references=()), None, between, replace(asked, best=True))
    decided = (Decision.FAIL, Decision.INCONCLUSIVE)
    others = tuple(group.name for group in best.groups if group.decision in decided)
    rates = {group.name: group.rate or 0 for group in best.groups}
    if not others or best.reference is None or rates[best.reference] <= rates[chosen]:
        return between
    fault = Fault.of(FaultCode.REFERENCE_IS_CHOSEN, None, reference=chosen, highest=best.reference,
                     categories=others)  # fmt: skip
    return replace(between, faults=(*between.faults, fault))


def _may_be_higher(table: PublishedTable, reference: PublishedRow, min_share: float) -> bool:
    """Return whether a category without counts may have a higher rate than the best of others."""
    share = reference.share or 0
    return any(
        not row.counts and row.rates and row.rates[0][1] > share and table.is_large(row, min_share)
        for row in table.groups
    )


class TableRatios:
    """The ratios of the categories of a table whose counts are printed, at least two.

    They are to the category that is ``named``, or to that with the highest rate among large ones.
    """

    def __init__(
        self,
        table: PublishedTable,
        rows: Sequence[PublishedRow],
        asked: CheckOptions,
        named: str | None,
    ) -> None:
        self._feature, self._asked, self._named = " × ".join(table.dimensions), asked, named
        self._rows = {row.name: row for row in rows}
        self._counts = {row.name: row.counts or (0, 0) for row in rows}
        self._people = sum(n for n, _ in self._counts.values()) + (table.unknown or 0)
        self._unknown = [row for row in table.of(RowKind.UNKNOWN) if row.n is not None]

    @cached_property
    def reference(self) -> PublishedRow | None:
        """Return the category that ratios are computed to; None where none is large enough."""
        if self._named is not None:
            return self._rows[self._named]
        named = (each.reference.group for each in self._chosen.estimates if each.reference)
        return self._rows.get(next(named, None) or "")

    def holds(self, row: PublishedRow) -> bool:
        """Return whether it is of a row, and not of another one of the same name."""
        return self._rows.get(row.name) is row

    @cached_property
    def given(self) -> Mapping[str | None, Estimate]:
        """Return the ratios as if the reference had been chosen before the data were seen."""
        assert self.reference is not None
        report = self._audit({self._feature: self.reference.name})
        return {estimate.group: estimate for estimate in report.estimates}

    @cached_property
    def verdicts(self) -> Mapping[str | None, Verdict]:
        """Return the verdicts with an allowance for the choice of the reference by the data."""
        return {each.group: self._with_share(each) for each in self._chosen.verdicts}

    @cached_property
    def possible(self) -> Mapping[str, tuple[float, float]]:
        """Return the ratios that are possible wherever the people of unknown category belong."""
        unknown = sum(row.n.value for row in self._unknown if row.n)
        selected = [row.selected.value for row in self._unknown if row.selected]
        rows = self._unknown
        if not unknown or any(row.selected and row.counts is None for row in rows):
            return {}
        chosen = sum(selected) if len(selected) == len(rows) else None
        n, x = zip(*self._counts.values(), strict=True)
        if self._named is None:
            asked = self._asked.smallest
            fewest = max(asked.people, asked.share * self._people)
            low, high = ratio_bounds(x, n, unknown, chosen, fewest)
            ends = zip(self._counts, low.tolist(), high.tolist(), strict=True)
            return {name: (low, high) for name, low, high in ends if not math.isnan(low + high)}
        reference, base = self._counts[self._named]
        return {
            name: pair_bounds(((x, x), n), ((base, base), reference), unknown, chosen)
            for name, (n, x) in self._counts.items()
            if name != self._named
        }

    def verdict(self, row: PublishedRow, ratio: float | None) -> Verdict | None:
        """Return what the limit comes to, wherever the people of unknown category belong.

        As in an audit, what they could change is inconclusive: the interval reaches as far as the
        ratio does.
        """
        verdict, possible = self.verdicts.get(row.name), self.possible.get(row.name)
        limit, unknown = self._asked.limit, int(sum(r.n.value for r in self._unknown if r.n))
        if verdict is None or possible is None or ratio is None or limit is None:
            return verdict
        if verdict.reason.code is ReasonCode.CROSSES and possible[0] < limit <= possible[1]:
            reason = open_at_any_size(
                verdict.reason, open_rows=unknown, unit="people", what="known category"
            )
            return replace(verdict, reason=reason)
        if verdict.interval is None or verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
            return verdict
        worst = WorstCase(*possible, unknown, wider=self._wider(row, unknown))
        low, high = interval_reached(verdict.interval, worst, ratio, ratio=True)
        if (low >= limit) if verdict.outcome is Outcome.PASS else (high < limit):
            return verdict
        reason = Reason.of(
            ReasonCode.MISSING_GROUPS, rows=unknown, unit="people", alone=str(verdict.outcome),
            low=low, high=high, what="known category",
        )  # fmt: skip
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)

    def _wider(self, row: PublishedRow, unknown: int) -> tuple[float, float]:
        """Return how much larger the standard error of a log ratio is with more rejected people.

        At the smallest ratio all people of unknown category are of its category, at the largest of
        the other one.
        """
        assert self.reference is not None
        names = (row.name, self.reference.name)
        n, x = np.array([self._counts[name] for name in names], dtype=float).T
        now, more = quotient(1, x) - 1 / n, quotient(1, x) - 1 / (n + unknown)
        low, high = np.sqrt(np.fmax(quotient(now[::-1] + more, now.sum()), 1.0)).tolist()
        return low, high

    @property
    def _of_share(self) -> int:
        return math.ceil(self._people * self._asked.smallest.share)

    def _with_share(self, verdict: Verdict) -> Verdict:
        """Return a verdict that states of which people the minimum is a share, where it is one."""
        reason, asked = verdict.reason, self._asked.smallest
        if reason.code is not ReasonCode.SMALL_GROUP or self._of_share < asked.people:
            return verdict
        stated = Reason.of(reason.code, n=reason["n"], minimum=reason["minimum"],
                           share=asked.share, total=self._people, unit="people")  # fmt: skip
        return replace(verdict, reason=replace(stated, side=reason.side))

    @cached_property
    def _chosen(self) -> Report:
        best = self._named is None
        return self._audit("best" if best else {self._feature: str(self._named)})

    def _audit(self, reference: str | Mapping[str, str]) -> Report:
        """Audit counts; ``best`` as the reference allows for its choice by the data."""
        limit = self._asked.limit
        return audit(
            self._cube,
            metrics=[_METRIC],
            reference=reference,
            min_n=max(self._asked.smallest.people, self._of_share),
            rules=[] if limit is None else [f"{_METRIC} >= {limit!r}"],
            confidence=self._asked.confidence,
        )

    @cached_property
    def _cube(self) -> Cube:
        asked = Spec(prediction="selected", positive=(1,), sensitive=(Feature(self._feature),))
        cells = [
            (name, outcome, float(count))
            for name, (n, selected) in self._counts.items()
            for outcome, count in ((1, selected), (0, n - selected))
        ]
        names, outcomes, counts = map(list, zip(*cells, strict=True))
        return build(
            plan(asked),
            [Counted([names, outcomes], {"rows": counts})],
            rows=int(sum(counts)),
            known={self._feature: [*self._counts], "selected": [0, 1]},
        )


def _group(row: PublishedRow, ratios: TableRatios | None, top: PublishedRow | None) -> CheckedGroup:
    rate, counts = row.stated_rate, row.counts
    plain = CheckedGroup(
        name=row.name,
        n=_whole(row.n),
        selected=_whole(row.selected),
        rate=None if rate is None else float(rate),
        printed=None if row.ratio is None else row.ratio.text,
        is_reference=row is top,
    )
    if top is None:
        return plain
    if ratios is None:  # of printed rates
        rated = row.rate and top.rate and top.rate.exact and row.selected is None
        ratio = float(row.rate.exact / top.rate.exact) if rated and row.rate and top.rate else None
        return replace(plain, ratio=ratio)
    possible = ratios.possible.get(row.name)
    if row is top:
        return replace(plain, ratio=1.0 if row.share else None, possible=possible)
    given, base = ratios.given.get(row.name), top.counts
    if given is None or counts is None or base is None or not ratios.holds(row):
        return plain
    return replace(
        plain,
        ratio=given.value,
        interval=given.interval,
        p_value=float(fisher(counts[1], counts[0], base[1], base[0])),
        possible=possible,
        verdict=ratios.verdict(row, given.value),
    )


def _decided(group: CheckedGroup, limit: float | None) -> CheckedGroup:
    if limit is None or (group.is_reference and group.verdict is None):
        return group
    known = Decision.NOT_COMPUTED if group.verdict is None else Decision(str(group.verdict.outcome))
    return replace(group, decision=known)


def _whole(printed: Printed | None) -> int | None:
    return int(printed.value) if printed is not None and is_whole(printed.value) else None

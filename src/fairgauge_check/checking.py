"""Checking published audits: arithmetic, reference, intervals, verdicts, and what is not stated.

Ratios are computed again by audits of the counts that a table allows. Where the numbers of selected
people are printed, there is one table of counts. Where rounded rates stand in their place, it may
be any table that agrees with them: the lower limit of a ratio is that of the fewest people selected
in its category and the most in the reference, the upper limit that of the opposite, so that the
interval holds for every table in between. Which rate is the highest may be open, too: the interval
that decides then holds for every reference that such a table may have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import starmap
from pathlib import Path
from typing import Any, cast

import numpy as np

from fairgauge import Cube, audit
from fairgauge.errors import Problem, SpecError, listing, nearest, quote, refuse
from fairgauge.plugins import (
    FEWEST_GROUPS,
    FEWEST_ROWS,
    Config,
    Counted,
    Feature,
    Interval,
    IntervalMethod,
    Options,
    Outcome,
    Parameter,
    RateTest,
    Reason,
    ReasonCode,
    ReferenceRule,
    Report,
    Rule,
    Spec,
    Verdict,
    WorstCase,
    build,
    chi_square_p,
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
    read_word,
    tukey_level,
    with_config,
)
from fairgauge_check.check_result import (
    AlternativeReference,
    Check,
    CheckedGroup,
    CheckedTable,
    Fault,
    FaultCode,
    Findings,
    SmallestReference,
    means_chosen_group,
)
from fairgauge_check.printed_numbers import is_whole
from fairgauge_check.published_table import (
    ColumnRole,
    CountedCategory,
    PublishedRow,
    PublishedTable,
    RowKind,
    counted_categories,
)
from fairgauge_check.sources import read_sources
from fairgauge_check.table_arithmetic import (
    MIN_SHARE,
    admitted_rows,
    check_arithmetic,
    highest,
    printed_reference,
    printed_references,
)
from fairgauge_check.table_margins import check_margins


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
    test: str = "fisher",
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
        Its rule and its smallest reference hold unless they are given.
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
    problems: list[Problem] = []
    chosen = read_word(RateTest)(test, "test", problems)
    refuse(problems)
    references = (reference,) if isinstance(reference, str) else tuple(reference)
    given: dict[str, Any] = {
        "preset": preset, "rules": rules, "min_n": min_n, "min_share": min_share,
        "confidence": confidence,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    asked = _asked(with_config(config, cast("Options", given)), references, chosen)
    sources, unread = read_sources(source, columns)
    parts = [
        (table, each.name, between)
        for each in sources
        for table, between in zip(each.tables, check_margins(each.tables), strict=True)
    ]
    _check_references(references, [part for part, _, _ in parts])
    checked = tuple(_checked(*part, asked) for part in parts)
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


def _asked(
    options: Mapping[str, object], references: tuple[str, ...], test: RateTest
) -> CheckOptions:
    """Read the options that a check shares with audits."""
    names = [each for each in preset_names() if _METRIC in preset(each).options["metrics"]]
    chosen = str(options.get("preset"))
    if chosen in preset_names() and chosen not in names:
        message = f"{quote(chosen)} has no ratios of selection rates; use {' or '.join(names)}"
        raise SpecError(Problem("preset", message))
    spec = read_part(("preset", "rules", "min_n", "min_share", "confidence", "reference"), options)
    smallest = SmallestReference(spec.min_share or MIN_SHARE, spec.min_n or FEWEST_ROWS)
    best = spec.reference is ReferenceRule.BEST
    return CheckOptions(_limit(spec.rules), smallest, spec.confidence, references, test, best=best)


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
    table: PublishedTable, source: str | None, between: Findings, asked: CheckOptions
) -> CheckedTable:
    header = table.columns.get(ColumnRole.RATIO, "")
    of_group = not asked.best and means_chosen_group(header)
    table = replace(table, references=asked.references, of_group=of_group)
    arithmetic = check_arithmetic(table, asked.smallest.share)
    faults = (*arithmetic.faults, *between.faults)
    counted = {each.name: each for each in counted_categories(table)}
    equal = printed_references(table)
    printed = equal[0] if equal else None
    named = next((name for name in asked.references if name in counted), None)
    of_group = of_group or (
        not asked.best and means_chosen_group(header, printed.categories if printed else ())
    )
    if named is not None and printed is not None and printed.name != named:
        code = FaultCode.OTHER_PRINTED_REFERENCE
        faults += (Fault.of(code, None, printed=printed.name, named=named),)
    as_printed = named is None and of_group and printed is not None and printed.name in counted
    if as_printed and printed is not None:
        named = printed.name
    if named is not None or of_group:
        faults = tuple(fault for fault in faults if not _of_choice(fault, named, printed))
    if named is None and of_group:  # without counts
        code = FaultCode.REFERENCE_NOT_HIGHEST
        faults = tuple(fault for fault in faults if fault.code is not code)
    ratios = None
    if len(counted) > 1:
        name = " × ".join(table.dimensions)
        beside = table.unknown or 0
        ratios = TableRatios(name, list(counted.values()), asked, named, beside)
    reference = None if ratios is None else ratios.reference
    best = highest(table, asked.smallest.share)
    if named is None:
        faults += _tie(table, ratios, best, asked.smallest.share)
    best_name = None if reference is None else reference.name
    if of_group or (printed and printed.name != best_name):
        faults += _not_shown(equal)
    possible = _possible(list(counted.values()), table, asked.smallest, named, best_name)
    by_unknown = possible
    if not all(each.is_exact for each in counted.values()):
        at_rates = [each.at_rate for each in counted.values()]
        by_unknown = _possible(at_rates, table, asked.smallest, named, best_name)
    checked = CheckedTable(
        source=source,
        name=table.name,
        columns={str(role): header for role, header in table.columns.items()},
        reference=reference.name if reference is not None else (best.name if best else None),
        printed_reference=None if printed is None else printed.name,
        compares_as_printed=as_printed and ratios is not None,
        other_reference=None if ratios is None else ratios.other_reference(printed),
        unknown=table.unknown,
        groups=tuple(
            _kept_open(
                _group(row, counted.get(row.name), ratios, possible, best, table.unknown, asked),
                by_unknown.get(row.name),
                table.unknown,
                asked.limit,
            )
            for row in table.groups
        ),
        faults=faults,
        numbers_checked=arithmetic.numbers_checked + between.numbers_checked,
    )
    if not checked.compares_as_printed:
        return checked
    others = [
        _checked(table, source, between, replace(asked, references=(other.name,)))
        for other in equal[1:]
        if other.name in counted
    ]
    checked = _with_open_reference(checked, others)
    best_instead = _checked(table, source, between, replace(asked, best=True))
    return replace(checked, other_reference=_higher(checked, best_instead))


def _by_both(
    one: CheckedGroup,
    other: CheckedGroup,
    code: ReasonCode,
    names: tuple[str, str],
    /,
    **parameters: Parameter,
) -> CheckedGroup:
    """Return a category of one reading of a table, with an open verdict if the other has another.

    The reference has a verdict where another category is the reference of the other reading.
    """
    words = dict(zip(names, map(_base_outcome, (one, other)), strict=True))
    verdict = one.verdict
    if verdict is None and one.is_reference and other.verdict is not None:
        verdict = replace(other.verdict, value=None, interval=None)
    agree = len({*words.values()}) == 1 or {*words.values()} <= {str(Outcome.PASS), "reference"}
    if verdict is None or agree:
        return one
    reason = Reason.of(code, **words, **parameters)
    verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, remains=None, reason=reason)
    return replace(one, verdict=verdict)


def _with_open_reference(table: CheckedTable, others: Sequence[CheckedTable]) -> CheckedTable:
    """Return a table whose verdicts are open where another reference would give another verdict."""

    def opened(at: int, group: CheckedGroup) -> CheckedGroup:
        if group.verdict is not None and group.verdict.outcome is Outcome.INCONCLUSIVE:
            return group
        found = (
            _by_both(
                group, other.groups[at], ReasonCode.REFERENCE_NOT_SHOWN, ("to_chosen", "to_other"),
                chosen=table.reference, other=other.reference,
            )
            for other in others
        )  # fmt: skip
        return next((each for each in found if each is not group), group)

    return replace(table, groups=tuple(starmap(opened, enumerate(table.groups))))


def _base_outcome(group: CheckedGroup) -> str:
    if group.verdict is not None:
        return str(group.verdict.outcome)
    return "reference" if group.is_reference else "not_computed"


def _higher(table: CheckedTable, best: CheckedTable) -> AlternativeReference | None:
    """Return the reference of a check by the highest rate, if higher than that of a chosen group.

    Its changes are of the verdicts by the highest rate; of the chosen group one that is no pass.
    """
    rates = {group.name: group.rate or 0.0 for group in best.groups}
    if best.reference is None or table.reference is None:
        return None
    if rates[best.reference] <= rates[table.reference]:
        return None
    before, after = (
        {group.name: group.verdict.outcome for group in each.groups if group.verdict}
        for each in (table, best)
    )
    changes = (name for name in after if after[name] is not before.get(name, Outcome.PASS))
    return AlternativeReference(
        name=best.reference,
        same_rate=False,
        changes=tuple(name for name in changes if after[name] is not Outcome.NOT_EVALUATED),
        not_evaluated=(),
    )


def _not_shown(equal: Sequence[PublishedRow]) -> tuple[Fault, ...]:
    """Note that several references fit the printed ratios equally, and which is taken."""
    if len(equal) < 2:
        return ()
    people, rates = ([*map(of, equal)] for of in (lambda row: row.n and row.n.exact, _rate))
    by = "name"
    for name, values in (("rate", rates), ("people", people)):
        if None not in values and values[0] > max(values[1:]):
            by = name
    chosen, *others = (row.name for row in equal)
    code = FaultCode.REFERENCE_NOT_SHOWN
    return (Fault.of(code, None, chosen=chosen, others=tuple(others), by=by),)


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


def _of_choice(fault: Fault, named: str | None, printed: PublishedRow | None) -> bool:
    """Return whether a fault is the printed reference's not being the best, which was chosen."""
    of_choice = (
        FaultCode.REFERENCE_NOT_HIGHEST, FaultCode.HIGHER_RATE, FaultCode.REFERENCE_IS_SMALL
    )  # fmt: skip
    return fault.code in of_choice and named == (None if printed is None else printed.name)


def _possible(
    counted: Sequence[CountedCategory],
    table: PublishedTable,
    smallest: SmallestReference,
    named: str | None,
    reference: str | None,
) -> dict[str, tuple[float, float]]:
    """Return the ratios that are possible; categories that are no reference make none smaller."""
    found = _possible_to(counted, table, smallest, named)
    known = [each for each in counted if each.row.may_be_reference]
    if named is not None or not known or len(known) == len(counted):
        return found
    most = _possible_to(counted, table, smallest, reference)
    most |= _possible_to(known, table, smallest, None)
    return {name: (low, most.get(name, (low, math.inf))[1]) for name, (low, _) in found.items()}


def _possible_to(
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
    if any(r.n and r.selected and not 0 <= r.selected.value <= r.n.value for r in rows):
        return {}  # such people are impossible, an error
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
        worst = WorstCase(*plain.possible, unknown, wider=_wider(counted, reference, unknown))
        verdict = whichever_unknown(verdict, value, worst, asked.limit or 0.0)
    return replace(
        plain,
        ratio=value,
        interval=given.interval,
        p_value=_p_value(asked.test, counted, reference),
        flips=_flips(counted, reference),
        verdict=verdict,
    )


def _wider(one: CountedCategory, other: CountedCategory, unknown: int) -> tuple[float, float]:
    """Return how much larger the standard error of a log ratio is with more rejected people.

    At the smallest ratio all people of unknown category are of its category, at the largest of the
    other one.
    """
    x, n = np.array([[each.rate * each.n, each.n] for each in (one, other)]).T
    now, more = quotient(1, x) - 1 / n, quotient(1, x) - 1 / (n + unknown)
    low, high = np.sqrt(np.fmax(quotient(now[::-1] + more, now.sum()), 1.0)).tolist()
    return low, high


def _rate(row: PublishedRow) -> float | None:
    """Return the selection rate of the counts, else as it is printed."""
    return None if row.stated_rate is None else float(row.stated_rate)


def _p_value(test: RateTest, one: CountedCategory, other: CountedCategory) -> float:
    """Return the p-value of equal selection rates: the largest over the counts that agree."""
    tested = [(one.most, one.n, other.fewest, other.n), (one.fewest, one.n, other.most, other.n)]
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


_METRIC = "selection_rate.ratio"
_DECIDED = ({Outcome.PASS}, {Outcome.FAIL})


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
    test: RateTest
    best: bool


@dataclass(frozen=True, slots=True)
class ComputedRatio:
    """The ratio of a category to the reference.

    Attributes
    ----------
    interval : its confidence interval, over all tables of counts that agree with printed rates.
    verdict : what the limit comes to, None without a limit.
    value : of the counts; None where rates stand in their place.
    """

    interval: Interval | None
    verdict: Verdict | None
    value: float | None = None


class TableRatios:
    """The ratios of a table of at least two categories.

    Parameters
    ----------
    feature : what the categories are of.
    categories : those with people.
    asked : the options of the check.
    named : the category that ratios are to be computed to; that with the highest rate among large
        ones where none is named.
    others : people of unknown category or without a row, who count among all of whom a category
        has a share.
    """

    def __init__(
        self,
        feature: str,
        categories: Sequence[CountedCategory],
        asked: CheckOptions,
        named: str | None,
        others: int = 0,
    ) -> None:
        self._feature = feature
        self._categories = {each.name: each for each in categories}
        self._asked = asked
        self._named = named
        self._people = sum(each.n for each in categories) + others

    @cached_property
    def reference(self) -> CountedCategory | None:
        """Return the category that ratios are computed to; None where none is large enough."""
        if self._named is not None:
            return self._categories[self._named]
        if self._as_audited:
            named = (
                estimate.reference.group for estimate in self._best.estimates if estimate.reference
            )
            return self._categories.get(next(named, None) or "")
        return min(self._candidates, key=_order)

    @cached_property
    def tied(self) -> list[CountedCategory]:
        """Return the other categories with the highest rate that may be the reference."""
        if self._named is not None or self.reference is None or not self.reference.most:
            return []
        rest = [candidate for candidate in self._candidates if candidate is not self.reference]
        return sorted((each for each in rest if each.rate == self.reference.rate), key=_order)

    @cached_property
    def given(self) -> Mapping[str, ComputedRatio]:
        """Return the ratios as if the reference had been chosen before the data were seen."""
        return {} if self.reference is None else self._compared_with(self.reference.name)

    @cached_property
    def chosen(self) -> Mapping[str, ComputedRatio]:
        """Return the ratios with an allowance for the choice of the reference by the data.

        The reference has one where printed rates allow that another rate is the highest.
        """
        if self._named is not None or self.reference is None:
            return self.given
        if self._as_audited:
            return self._ratios(self._best)
        return self._whichever_is_best()

    def other_reference(self, printed: PublishedRow | None) -> AlternativeReference | None:
        """Return another reference in use, and the categories whose verdict it would change.

        It is the printed one, else the best of all others, however small, if its rate is as high.
        None with a named reference.
        """
        if self._named is not None or self.reference is None or not self.reference.most:
            return None
        others = [each for each in self._categories.values() if each is not self.reference]
        best = min((each for each in others if each.row.may_be_reference), key=_order, default=None)
        own = None if printed is None else self._categories.get(printed.name)
        other = own if own in others else best
        if other is None or (other is not own and other.rate < self.reference.rate):
            return None
        before = _outcomes(self.given)
        after = _outcomes(self._compared_with(other.name))
        changed = [name for name in after if name in before and after[name] is not before[name]]
        lost = [name for name in changed if after[name] is Outcome.NOT_EVALUATED]
        return AlternativeReference(
            name=other.name,
            same_rate=other.rate == self.reference.rate,
            changes=tuple(name for name in changed if name not in lost),
            not_evaluated=tuple(lost),
        )

    @cached_property
    def _best(self) -> Report:
        """Audit counts that are known with the highest rate as the reference."""
        return self._audit(self._fewest, ReferenceRule.BEST)

    @property
    def _fewest(self) -> dict[str, int]:
        return {name: each.fewest for name, each in self._categories.items()}

    @property
    def _most(self) -> dict[str, int]:
        return {name: each.most for name, each in self._categories.items()}

    @property
    def _exact(self) -> bool:
        return all(each.is_exact for each in self._categories.values())

    @property
    def _as_audited(self) -> bool:
        """Return whether an audit chooses the reference as a check does.

        Names decide nothing in an audit; a published row "Decline to answer" is no reference.
        """
        return self._exact and all(each.row.may_be_reference for each in self._categories.values())

    @cached_property
    def _admitted(self) -> list[CountedCategory]:
        """Return the categories that are large enough to be the reference."""
        admits = self._asked.smallest.admits
        return [each for each in self._categories.values() if admits(each.n, self._people)]

    @property
    def _candidates(self) -> list[CountedCategory]:
        """Return the categories of which the reference is one: as in an audit, else the largest."""
        if found := [each for each in self._admitted if each.row.may_be_reference]:
            return found
        largest = max(each.n for each in self._categories.values())
        return [each for each in self._categories.values() if each.n == largest]

    def _compared_with(
        self, reference: str, confidence: float | None = None, fewest: int | None = None
    ) -> dict[str, ComputedRatio]:
        """Return the ratios to a category over all tables of counts that agree with the rates.

        ``fewest`` are the people selected in it at the least, as its rate allows by default.
        """
        least = self._fewest | {reference: self._most[reference]}
        low = self._ratios(self._audit(least, reference, confidence))
        if self._exact:
            return low
        floor = self._fewest[reference] if fewest is None else fewest
        greatest = self._most | {reference: floor}
        high = self._ratios(self._audit(greatest, reference, confidence))
        return {name: self._joined([low[name], high[name]]) for name in low}

    def _whichever_is_best(self) -> dict[str, ComputedRatio]:
        """Return the ratios to the highest rate over all tables that agree with the rates.

        Every category that has the highest rate in one of these tables is the reference in turn.
        Intervals hold simultaneously for all pairs of categories that are large enough (Tukey), as
        they do where the counts are known.
        """
        number, level = len(self._admitted), self._asked.confidence
        strict = tukey_level(number, level) if number >= FEWEST_GROUPS else level
        highest = max(Fraction(candidate.fewest, candidate.n) for candidate in self._candidates)
        compared = [
            self._compared_with(candidate.name, strict, math.ceil(highest * candidate.n))
            for candidate in self._candidates
            if Fraction(candidate.most, candidate.n) >= highest
        ]
        found = {}
        for name in self._categories:
            ratios = [each[name] for each in compared if name in each]
            if ratios:
                joined = ratios[0] if self._exact else self._joined(ratios)
                found[name] = _at_level(joined, level) if strict != level else joined
        return found

    def _joined(self, ratios: Sequence[ComputedRatio]) -> ComputedRatio:
        """Return a ratio from those in the tables where it is least and greatest."""
        intervals = [each.interval for each in ratios if each.interval is not None]
        interval = None
        if intervals and len(intervals) == len(ratios):
            low, high = min(each.low for each in intervals), max(each.high for each in intervals)
            interval = replace(intervals[0], low=low, high=high)
        verdicts = [each.verdict for each in ratios if each.verdict is not None]
        if len(verdicts) < len(ratios):
            return ComputedRatio(interval, None)
        undecided = (each for each in verdicts if each.outcome is Outcome.NOT_EVALUATED)
        verdict = next(undecided, verdicts[0])
        outcomes = {each.outcome for each in verdicts}
        if verdict.outcome is not Outcome.NOT_EVALUATED and outcomes not in _DECIDED:
            reason = Reason.of(ReasonCode.CROSSES, limit=self._asked.limit)
            verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
        return ComputedRatio(interval, replace(verdict, value=None, interval=interval))

    def _ratios(self, report: Report) -> dict[str, ComputedRatio]:
        verdicts = {verdict.group: self._with_share(verdict) for verdict in report.verdicts}
        return {
            estimate.group: ComputedRatio(
                estimate.interval, verdicts.get(estimate.group), estimate.value
            )
            for estimate in report.estimates
            if estimate.group is not None
        }

    @property
    def _of_share(self) -> int:
        """Return the people that are the smallest share of all."""
        return math.ceil(self._people * self._asked.smallest.share)

    def _with_share(self, verdict: Verdict) -> Verdict:
        """Return a verdict that states of which people the minimum is a share, where it is one."""
        reason, asked = verdict.reason, self._asked.smallest
        if reason.code is not ReasonCode.SMALL_GROUP or self._of_share < asked.people:
            return verdict
        stated = Reason.of(
            reason.code,
            n=reason["n"],
            minimum=reason["minimum"],
            share=asked.share,
            total=self._people,
            unit="people",
        )
        return replace(verdict, reason=replace(stated, side=reason.side))

    def _audit(
        self, selected: Mapping[str, int], reference: str, confidence: float | None = None
    ) -> Report:
        """Audit counts; ``best`` as the reference allows for its choice by the data."""
        best = reference is ReferenceRule.BEST
        return audit(
            self._cube(selected),
            metrics=[_METRIC],
            reference=reference if best else {self._feature: reference},
            min_n=max(self._asked.smallest.people, self._of_share),
            rules=[] if self._asked.limit is None else [f"{_METRIC} >= {self._asked.limit!r}"],
            confidence=confidence or self._asked.confidence,
        )

    def _cube(self, selected: Mapping[str, int]) -> Cube:
        asked = Spec(prediction="selected", positive=(1,), sensitive=(Feature(self._feature),))
        cells = [
            (each.name, outcome, float(count))
            for each in self._categories.values()
            for chosen in [selected[each.name]]
            for outcome, count in ((1, chosen), (0, each.n - chosen))
        ]
        keys = [[cell[i] for cell in cells] for i in range(2)]
        counts = [cell[2] for cell in cells]
        return build(
            plan(asked),
            [Counted(keys, {"rows": counts})],
            rows=int(sum(counts)),
            known={self._feature: [*self._categories], "selected": [0, 1]},
        )


def whichever_unknown(verdict: Verdict, value: float, worst: WorstCase, limit: float) -> Verdict:
    """Return a verdict that holds whichever categories the people of unknown category are in.

    As in an audit, what they could change is inconclusive: the interval reaches as far as the ratio
    does.
    """
    if {verdict.outcome} not in _DECIDED or verdict.interval is None:
        return verdict
    low, high = interval_reached(verdict.interval, worst, value, ratio=True)
    if (low >= limit) if verdict.outcome is Outcome.PASS else (high < limit):
        return verdict
    reason = Reason.of(
        ReasonCode.MISSING_GROUPS,
        rows=worst.rows,
        unit="people",
        alone=str(verdict.outcome),
        low=low,
        high=high,
        what="known category",
    )
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)


def _kept_open(
    group: CheckedGroup,
    by_unknown: tuple[float, float] | None,
    unknown: int | None,
    limit: float | None,
) -> CheckedGroup:
    """Return a group whose verdict states, as in an audit, if no number of people would decide it.

    That is where the ratios that people of unknown category make possible include the limit.
    """
    verdict = group.verdict
    if verdict is None or verdict.reason.code is not ReasonCode.CROSSES:
        return group
    if not unknown or limit is None or by_unknown is None:
        return group
    if not by_unknown[0] < limit <= by_unknown[1]:
        return group
    reason = open_at_any_size(
        verdict.reason, open_rows=unknown, unit="people", what="known category"
    )
    return replace(group, verdict=replace(verdict, reason=reason))


def _at_level(ratio: ComputedRatio, level: float) -> ComputedRatio:
    """Return a ratio whose interval holds at a level together with those of all pairs."""
    if ratio.interval is None:
        return ratio
    methods = (IntervalMethod.TUKEY, *ratio.interval.methods)
    interval = replace(ratio.interval, level=level, methods=methods)
    verdict = None if ratio.verdict is None else replace(ratio.verdict, interval=interval)
    return replace(ratio, interval=interval, verdict=verdict)


def _order(category: CountedCategory) -> tuple[float, int, str]:
    """Return the key by which the reference is chosen: the rate, then the people, then the name."""
    return -category.rate, -category.n, category.name


def _outcomes(ratios: Mapping[str, ComputedRatio]) -> dict[str, Outcome]:
    return {name: each.verdict.outcome for name, each in ratios.items() if each.verdict}

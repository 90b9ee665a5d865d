"""Checking published audits: arithmetic, reference, intervals, verdicts, and what is not stated.

Ratios are computed again by audits of the counts that a table prints.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from fairgauge import audit, count
from fairgauge.errors import Problem, SpecError, listing, quote, suggest
from fairgauge.plugins import (
    FEWEST_ROWS,
    Config,
    Favourable,
    Options,
    Outcome,
    Reason,
    ReasonCode,
    ReferenceRule,
    Rule,
    Verdict,
    find_kit,
    fisher,
    is_of_harms,
    kit_names,
    made_now,
    pair_bounds,
    read_part,
    sums_of_others,
    with_config,
)
from fairgauge_check.arithmetic import (
    MIN_SHARE,
    best_row,
    check_arithmetic,
    check_margins,
    printed_reference,
)
from fairgauge_check.check_result import (
    Check,
    CheckedGroup,
    CheckedTable,
    Decision,
    Fault,
    FaultCode,
    sort_findings,
)
from fairgauge_check.printed import ColumnRole, PublishedRow, PublishedTable, RowKind
from fairgauge_check.reading import read_sources

_METRIC = "selection_rate.ratio"
_CATEGORY = "category"
_OF_COUNTS = ("groups_that_overlap", "rates_with_counts")


def check(
    source: str | Path | Iterable[str | Path],
    *,
    config: Config = None,
    preset: str | None = None,
    rules: str | Rule | Sequence[str | Rule] | None = None,
    min_n: int | None = None,
    min_share: float | None = None,
    confidence: float | None = None,
    favourable: str | None = None,
    reference: str | Sequence[str] = (),
    columns: str | Path | Mapping[str, str | Sequence[str]] | None = None,
    per: int | None = None,
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
        A specification file, or its keys, of which the options below hold unless they are given.
    preset : name of a preset of selection rates, optional
        Its rule and its smallest reference hold. Default: the one of a report of fairgauge.
    rules : str or Rule, optional
        The one rule that every ratio must keep to, such as ``"selection_rate.ratio >= 0.8"``; of a
        harm, such as ``"selection_rate.ratio <= 1.25"``.
    min_n : number of people, default 20
        A category of fewer people is never the reference that ratios are computed to.
    min_share : share in (0, 1), default 0.02
        Nor is one of a smaller share of the people, which need not have a ratio either.
    confidence : share in (0, 1), default 0.95
        The confidence level.
    favourable : "positive" or "negative", optional
        "negative" states that those selected are harmed (arrested, suspended): the reference is
        then the lowest rate. Default: positive; where the name of a column is of a harm, nothing
        passes until it is stated.
    per : number of people, optional
        Rates are printed per so many people, such as 1000. Default: of each, or percentages.
    columns : mapping of roles to headers, or the path of a TOML file of one, optional
        What the columns hold: ``n``, ``selected``, ``rate``, ``ratio`` and ``group`` (one header,
        or a list; by default all columns in front of the first of numbers). Of several headers of
        a role the first one that a table has counts. Default: the headers of fairgauge itself.
    reference : name of a category, or several, optional
        The category that ratios are computed to: of each table the first one that it has. Default:
        the best selection rate; of a report whose preset does not call for that, its own.

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
    given = {"preset": preset, "rules": rules, "min_n": min_n, "min_share": min_share}
    given |= {"confidence": confidence, "favourable": favourable}
    stated = {name: value for name, value in given.items() if value is not None}
    if per is not None and not (isinstance(per, int) and per > 0):
        raise SpecError(Problem("per", f"must be a whole number above 0, not {quote(str(per))}"))
    sources, unread = read_sources(source, columns, per)
    options = dict(with_config(config, cast("Options", stated)))
    every = [table for _, tables in sources for table in tables]
    asked, best = _asked(options, every, references)
    known = dict.fromkeys(row.name for table in every for row in table.groups if row.counts)
    for name in references:
        if name not in known:
            message = f"no table has counts of a category {quote(name)}.{suggest(name, [*known])}"
            raise SpecError(Problem("reference", message))
    found = (
        _check_table(table, sort_findings(check_margins(table, of)), asked, name, best=best)
        for name, of in sources
        for table in of
    )
    return replace(asked, tables=tuple(found), unread=tuple(unread))


def _asked(
    options: dict[str, object], tables: Sequence[PublishedTable], references: tuple[str, ...]
) -> tuple[Check, bool]:
    # a check without tables, and whether its reference must have the highest rate; the preset of
    # reports of fairgauge holds unless another one is asked for
    known = [each for each in kit_names() if _METRIC in find_kit(each).options["metrics"]]
    asked, presets = options.get("preset"), dict.fromkeys(table.grid.preset for table in tables)
    if asked is None and len(presets) > 1:
        words = listing(each or "none" for each in presets)
        message = f"the tables are of {words}; check each file by itself, or name one"
        raise SpecError(Problem("preset", f"{message} (--preset)"))
    options["preset"] = preset = asked or next(iter(presets), None)
    if preset in kit_names() and preset not in known:
        if asked is not None:
            message = f"{quote(preset)} has no ratios of selection rates; use {' or '.join(known)}"
            raise SpecError(Problem("preset", message))
        options["preset"] = None
    names = ("preset", "rules", "min_n", "min_share", "confidence", "favourable", "reference")
    spec = read_part(names, options)
    known_sides = {None: None, Favourable.POSITIVE: False, Favourable.NEGATIVE: True}
    if spec.favourable not in known_sides:
        message = f"of a published table is positive or negative, not {spec.favourable}"
        raise SpecError(Problem("favourable", message))
    harm, limit = known_sides[spec.favourable], None
    if spec.rules:
        limit = spec.rules[0].high if harm else spec.rules[0].low
        rule = Rule(_METRIC, high=limit) if harm else Rule(_METRIC, low=limit)
        if not (limit and spec.rules == (rule,) and (limit >= 1 if harm else 0 < limit <= 1)):
            found = listing([quote(str(rule)) for rule in spec.rules])
            message = (
                f"published tables decide one rule, '{_METRIC} >= LIMIT' with a limit above 0 and "
                "at most 1, or, of a harm (--favourable negative), "
                f"'{_METRIC} <= LIMIT' with a limit of at least 1, not {found}"
            )
            raise SpecError(Problem("rules", message))
    made = Check(
        **made_now(),
        limit=limit,
        level=spec.confidence,
        min_share=spec.min_share or MIN_SHARE,
        min_n=spec.min_n or FEWEST_ROWS,
        references=references,
        harm=harm,
        tables=(),
    )
    return made, spec.reference is ReferenceRule.BEST


def _check_table(
    table: PublishedTable,
    margins: tuple[list[Fault], int],
    asked: Check,
    source: str | None,
    *,
    best: bool,
) -> CheckedTable:
    # of several rows of one name the first one
    counted = {row.name: row for row in reversed(table.groups) if row.counts}
    table = replace(table, references=asked.references, harm=asked.harm)
    named_so = (table.columns.get(role, "") for role in (ColumnRole.SELECTED, ColumnRole.RATE))
    harmful = next((header for header in named_so if is_of_harms(header)), None)
    if asked.harm is None and harmful is None:
        table = replace(table, harm=False)
    printed = printed_reference(table)
    named = next((name for name in asked.references if name in counted), None)
    if named is None and table.grid.own and not best and printed is not None:
        named = printed.name if printed.name in counted else None
        table = replace(table, references=(printed.name,))
    faults, checked = check_arithmetic(table, asked.min_share, asked.min_n)
    if table.harm is None:
        faults.append(Fault.of(FaultCode.HARM_NOT_STATED, None, column=harmful))
    top = best_row(table, asked.min_share)
    computed: Mapping[str, Mapping[str, Any]] = {}
    by_counts = _compare_by_counts(table, counted, asked, named)
    share = by_counts[0].share or 0 if by_counts else 0
    # a category without counts may have a better rate than the best of others
    better = [row for row in table.groups if not row.counts and row.rates
              and (row.rates[0][0] < share if table.harm else row.rates[0][1] > share)
              and table.is_large(row, asked.min_share)]  # fmt: skip
    if by_counts is not None and (named is not None or not better):
        top, computed, doubts = by_counts
        # numbers that others are made of are counts, and no percentages
        faults += [e for e in doubts if not (checked and e.code is FaultCode.RATES_WITH_COUNTS)]
    elif top is not None and top.rate and top.rate.exact:
        rated = [row for row in reversed(table.groups) if row.rate and row.selected is None]
        counted = {row.name: row for row in rated}
        computed = {row.name: {"ratio": float(row.rate.exact / top.rate.exact)}
                    for row in rated if row.rate}  # fmt: skip
    groups = (
        CheckedGroup(
            name=row.name,
            n=int(row.n.exact) if row.n and row.n.is_whole else None,
            selected=int(row.selected.exact) if row.selected and row.selected.is_whole else None,
            rate=None if row.stated_rate is None else float(row.stated_rate),
            printed=None if row.ratio is None else row.ratio.text,
            is_reference=row is top,
            **(computed.get(row.name, {}) if row is counted.get(row.name) else {}),
        )
        for row in table.groups
    )
    faults += margins[0]
    checked_table = CheckedTable(
        source=source,
        name=table.name,
        columns={str(role): header for role, header in table.columns.items()},
        reference=None if top is None else top.name,
        printed_reference=None if printed is None else printed.name,
        is_chosen=named is not None,
        unknown=table.unknown,
        faults=tuple(faults),
        numbers_checked=checked + margins[1],
    )
    wrong = checked_table.withholds
    decided = (_decide_group(group, asked.limit, wrong=wrong) for group in groups)
    return replace(checked_table, groups=tuple(decided))


def _compare_by_counts(
    table: PublishedTable, counted: Mapping[str, PublishedRow], asked: Check, named: str | None
) -> tuple[PublishedRow, Mapping[str, Mapping[str, object]], list[Fault]] | None:
    # The reference is ``named``, or has the highest rate among large ones; None where there is
    # none. People of unknown category are rows without a group, as in an audit. Beside the
    # reference and what is computed are the doubts about the counts.
    if len(counted) < 2 or not any(row.selected and row.selected.exact for row in counted.values()):
        return None
    unknown = [row for row in table.of(RowKind.UNKNOWN) if row.n is not None]
    rows = (*counted.values(), *unknown)
    pairs = [row.counts or (int(row.people), None) for row in rows]
    names = [row.name if row.kind is RowKind.GROUP else None for row in rows]
    cube = count(
        {_CATEGORY: names, "people": [n for n, _ in pairs], "selected": [x for _, x in pairs]},
        prediction="selected", successes="selected", sensitive=_CATEGORY, count="people",
    )  # fmt: skip
    people = sum(row.people for row in (*counted.values(), *unknown))
    sign, favourable = ("<=", "negative") if asked.harm else (">=", "positive")
    audited = partial(
        audit,
        cube,
        metrics=[_METRIC],
        min_n=max(asked.min_n, math.ceil(people * asked.min_share)),
        favourable=favourable,
        rules=[f"{_METRIC} {sign} {asked.limit!r}"] if asked.limit else [],
        # whom a table compares with is its own matter, and doubts of its counts are its faults
        accept=["reference_decides", "unfavourable_positive", *_OF_COUNTS],
        confidence=asked.level,
    )
    # the best as reference allows for its choice by the data
    report = audited(reference="best" if named is None else {_CATEGORY: named})
    name = named or next((e.reference.group for e in report.estimates if e.reference), None) or ""
    if name not in counted:
        return None
    open_ = int(sum(row.people for row in unknown if row.counts is None))
    verdicts = {str(each.group): each for each in report.verdicts}
    n, x = counted[name].counts or (0, 0)
    computed: dict[str, dict[str, object]] = {name: {"ratio": 1.0 if x else None}}
    for each in audited(reference={_CATEGORY: name}).estimates:
        other, verdict = str(each.group), verdicts.get(str(each.group))
        if other not in counted or (own := counted[other].counts) is None:
            continue
        computed[other] = {
            "ratio": each.value,
            "interval": (verdict and verdict.interval) or each.interval,
            "p_value": float(fisher(own[1], own[0], x, n)),
            "verdict": verdict and _reword_for_people(verdict, own, (n, x), open_, asked),
        }
    known = [(row, *row.counts) for row in rows if row.counts]  # of unknown category, too
    doubts = [
        Fault.of(FaultCode.GROUPS_THAT_OVERLAP, None if several else (one.number, one.name),
                 values=(one.name, *(known[i][0].name for i in several)),
                 parts=tuple(known[i][0].name for i in parts))
        for (at, *several), parts in sums_of_others([[x, n - x] for _, n, x in known])
        for one, *_ in known[at : at + 1]
    ]  # fmt: skip
    doubts += [Fault.of(FaultCode.RATES_WITH_COUNTS, None) for note in report.diagnostics
               if note.code == "rates_with_counts"]  # fmt: skip
    return counted[name], computed, doubts


def _reword_for_people(
    verdict: Verdict, own: tuple[int, int], other: tuple[int, int], open_: int, asked: Check
) -> Verdict:
    # An audit takes back a pass beside rows without a decision. A fail is taken back here, too,
    # because it could be the groups alone that these rows lack.
    reason, interval, ((n, x), (m, y)) = verdict.reason, verdict.interval, (own, other)
    limit = asked.limit or 0
    facts = {name: reason.get(name) for name in ("rows", "alone", "low", "high")}
    if open_ and interval and verdict.outcome is Outcome.FAIL:
        ends = pair_bounds(x, n, y, m, open_)
        low, high = (end / (x / n / (y / m)) if x and y else math.nan for end in ends)
        low = interval.low * low if x and y else min(interval.low, ends[0])
        high = interval.high * high if x and y else max(interval.high, ends[1])
        if low > limit if asked.harm else high < limit:
            return verdict
        low, high = (low, interval.high) if asked.harm else (interval.low, high)
        facts = {"rows": open_, "alone": "fail", "low": low, "high": high}
        verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE)
    elif reason.code is not ReasonCode.MISSING_OUTCOMES:
        return verdict
    named = Reason.of(ReasonCode.MISSING_GROUPS, unit="people", what="known category", **facts)
    return replace(verdict, reason=named)


def _decide_group(group: CheckedGroup, limit: float | None, *, wrong: bool) -> CheckedGroup:
    # a group with what is known of its ratio: nothing passes in a table with an error
    verdict = group.verdict
    if limit is None or (group.is_reference and verdict is None):
        return group
    if verdict is not None and wrong and verdict.outcome is Outcome.PASS:
        return replace(group, decision=Decision.INCONCLUSIVE, verdict=None)
    known = Decision.NOT_COMPUTED if verdict is None else Decision(str(verdict.outcome))
    return replace(group, decision=known)

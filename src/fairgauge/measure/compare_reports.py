"""Comparing two reports: a candidate with the model in use, or this month with the last.

A change of a difference is a difference, a change of a ratio is a ratio (a difference of
logarithms). Its limits are MOVER's of the two intervals: of different rows, which are independent,
or of the same rows, with the correlation of the two estimates that makes them widest. Reports do
not hold that correlation, so that of the same rows only what no correlation explains is tested.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from fairgauge.catalogue.comparisons import Contrast, Metric, is_of_all_groups
from fairgauge.catalogue.lookup import SCORING_RATE
from fairgauge.cube.cube import SCHEMA as CUBE_SCHEMA
from fairgauge.enums import (
    ClassKind,
    DiagnosticCode,
    Direction,
    Level,
    Outcome,
    ScopeKind,
    Status,
    Turn,
)
from fairgauge.errors import CubeError, DataError, Problem, SpecError, listing, quote, refuse
from fairgauge.question.options import BY_NAME, OPTIONS
from fairgauge.question.readers import items
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.comparison import (
    BADNESS,
    MANY_MORE,
    Alone,
    Change,
    Comparison,
    Difference,
    GroupChange,
    Origin,
    Place,
    Subject,
    UnmatchedVerdict,
    VerdictChange,
    What,
    Which,
    places_deciding,
    places_of,
    subject_of,
    with_joint_names,
)
from fairgauge.results.estimates import Estimate, as_number
from fairgauge.results.report import Report, read_report
from fairgauge.results.scopes import OVERALL, Diagnostic, Interval
from fairgauge.results.shown_result import read_saved
from fairgauge.results.verdicts import Verdict
from fairgauge.stats.arrays import Array, quiet
from fairgauge.stats.contrasts import fold, mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm
from fairgauge.values import canonical, matches, name_of
from fairgauge.version import __version__

_MAKE = "fairgauge audit DATA ... -o report.json makes one"
Key = tuple[object, ...]


def _refuse_estimated(*reports: Report) -> None:
    """Refuse reports of groups of which only probabilities are known."""
    names = {each.feature for report in reports for each in report.estimators}
    if names:
        message = (
            f"{listing(sorted(names))}: estimates from probabilities have intervals of what is "
            "assumed as well, of which no change follows; compare reports of recorded groups, or "
            "hold both against the same rules"
        )
        raise SpecError(Problem("compare", message))


def compare_reports(
    old: Report | str | Path, new: Report | str | Path, *, same_rows: bool | None = None
) -> Comparison:
    """Return what changed between two reports; see `fairgauge.compare`.

    Raises
    ------
    DataError
        A file is missing or unreadable, or holds no report.
    SpecError
        The reports are about different labels, favourable values or tasks.
    """
    before, after = with_joint_names(_report(old), _report(new))
    _refuse_estimated(before, after)
    _refuse_unlike(before, after)
    differences = tuple(_differences(before, after))
    same, refused = _rows(before, after, same_rows)
    asked = [d.key for d in differences if d.key in BY_NAME and not BY_NAME[d.key].comparable]
    asked += ["recode"] if _outcomes_recoded(before) != _outcomes_recoded(after) else []
    if asked:
        same = same_rows if same_rows is not None else same or _same_table(before, after)
        refused = Reason.of(ReasonCode.ASKED_DIFFERENTLY, keys=", ".join(asked))
    own = tuple({rate.name: rate for rate in (*before.own, *after.own)}.values())
    pairs, lonely = _paired(before.estimates, after.estimates)
    changed = changes(pairs, refused)
    verdicts = verdict_changes(before, after, changed)
    return Comparison(
        version=__version__,
        old=_origin(before, old),
        new=_origin(after, new),
        same_rows=same,
        refused=refused,
        differences=differences,
        turn=overall_turn(before.verdict, after.verdict, verdicts),
        flips=verdicts.flips,
        stayed=verdicts.stayed,
        unmatched=verdicts.unmatched,
        changes=changed,
        alone=(*lonely, *verdicts.alone),
        groups=tuple(_groups(before, after)),
        own=own,
        spec=after.spec,
        scoring=SCORING_RATE in after.catalogue.reworded,
        diagnostics=tuple(_new_warnings(before, after)),
    )


def _report(asked: Report | str | Path) -> Report:
    if isinstance(asked, Report):
        return asked
    if not isinstance(asked, (str, Path)):
        kind = type(asked).__name__
        raise DataError(f"cannot compare a {kind}; compare two reports, or the files of two")
    if str(asked).endswith(".fairgauge"):
        raise DataError(
            f"{quote(asked)} is a sealed bundle; fairgauge verify checks it, and the report in it "
            f"is compared: unzip -p {shlex.quote(str(asked))} report.json > report.json"
        )
    try:
        saved = read_saved(asked)
    except CubeError:
        raise DataError(f"{quote(asked)} is no report of fairgauge; {_MAKE}") from None
    if saved["schema"] == CUBE_SCHEMA:
        data = quote(asked)
        raise DataError(
            f"{data} holds counts, not a report; fairgauge audit {data} -o report.json makes one"
        )
    if saved["schema"] != Report.KIND.schema:
        raise DataError(f"{quote(asked)} is no report of fairgauge; {_MAKE}")
    return read_report(saved, str(asked))


def _refuse_unlike(old: Report, new: Report) -> None:
    """Refuse reports whose numbers mean different things."""
    problems = []

    def note(path: str, before: object, after: object) -> None:
        message = (
            f"{before} in the old report, {after} in the new one: their numbers mean different "
            "things and cannot be compared; audit both alike"
        )
        problems.append(Problem(path, message))

    labels = [report.spec.get("label") for report in (old, new)]
    positives = [report.spec.get("positive") for report in (old, new)]
    if None not in labels and labels[0] != labels[1]:
        note("label", *map(quote, labels))
    if not _alike(*positives):
        note("positive", *map(_positive, positives))
    if old.task != new.task:
        note("task", quote(old.task), quote(new.task))
    refuse(problems)


def _alike(old: object, new: object) -> bool:
    """Return whether favourable values mean the same: 1, 1.0, "1" and true do."""
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        return bool(old == new)
    sides = [[canonical(value) for value in items(each or [1])] for each in (old, new)]
    return all(
        any(matches(value, other) for other in sides[1 - i]) for i in (0, 1) for value in sides[i]
    )


def _positive(asked: object) -> str:
    if isinstance(asked, Mapping) and "ordered" in asked:
        return f"ordered {listing(items(asked['ordered']))}"
    if isinstance(asked, Mapping):
        return f"above {asked.get('above')}"
    return listing(items(asked or [1]))


def _differences(old: Report, new: Report) -> Iterator[Difference]:
    """Yield what was asked differently: first what intervals of changes cannot bridge."""
    specs = (dict(old.spec), dict(new.spec))
    options = [option for option in OPTIONS if not option.described]
    ranked = sorted(options, key=lambda option: (option.comparable, not option.effect))
    keys = [option.name for option in ranked]
    keys += [key for key in specs[0] | specs[1] if key not in BY_NAME]
    for key in keys:
        before, after = (_asked(spec, key) for spec in specs)
        if key == "recode":
            before, after = _unlike(before, after), _unlike(after, before)
        if before != after and not (key == "positive" and _alike(before, after)):
            yield Difference(key, before, after, BY_NAME[key].effect if key in BY_NAME else "")
    for before, after in ((b, a) for b in old.own for a in new.own if b.name == a.name):
        if before != after:
            what = "the two reports define it differently"
            yield Difference(before.name, before.formula, after.formula, what)
    if old.version != new.version:
        yield Difference("fairgauge", old.version, new.version)


def _unlike(recodings: object, others: object) -> object:
    """Return the recodings of columns that others recode differently, or not at all."""
    if not isinstance(recodings, Mapping) or not isinstance(others, Mapping):
        return recodings
    return {column: each for column, each in recodings.items() if others.get(column) != each}


def _outcomes_recoded(report: Report) -> list[object]:
    """Return how labels and predictions are recoded: other recodings are other outcomes."""
    recodings = _asked(report.spec, "recode")
    found = recodings if isinstance(recodings, Mapping) else {}
    return [found.get(report.spec.get(role)) for role in ("label", "prediction")]


def _asked(spec: Mapping[str, object], key: str) -> object:
    """Return what a report asked, in the words of today: a report may be older than an option."""
    value, option = spec.get(key), BY_NAME.get(key)
    if option is None:
        return value
    if value is None:
        return option.type.plain(option.default)
    problems: list[Problem] = []
    meaning = option.type.read(value, key, problems)
    return str(value) if problems else option.type.plain(meaning)


def _rows(old: Report, new: Report, stated: bool | None) -> tuple[bool, Reason | None]:
    """Return whether both reports are of the same rows, and why no change has an interval then."""
    if stated is not None:
        return stated, _same_rows("stated") if stated else None
    if old.data.fingerprint == new.data.fingerprint:
        return True, _same_rows("fingerprint")
    sizes = [_sizes(report) for report in (old, new)]
    shared = sizes[0].keys() & sizes[1].keys()
    if old.data.rows == new.data.rows and all(sizes[0][key] == sizes[1][key] for key in shared):
        return True, _same_rows("sizes")
    return False, None


def _same_table(old: Report, new: Report) -> bool:
    """Return whether both count one table, as where one counts its people and one its rows."""
    tables = [(r.data.source, r.data.rows, _asked(dict(r.spec), "where")) for r in (old, new)]
    return tables[0] == tables[1]


def _same_rows(evidence: str) -> Reason:
    return Reason.of(ReasonCode.SAME_ROWS, evidence=evidence)


def _sizes(report: Report) -> dict[Key, float]:
    groups = (group for group in report.groups if group.scope == OVERALL)
    return {(group.feature, group.group): group.n for group in groups}


def _paired(
    old: Iterable[Estimate], new: Iterable[Estimate]
) -> tuple[list[tuple[Estimate, Estimate]], list[Alone]]:
    """Return the estimates that both reports have, and what only one of them has.

    That of the class with the largest difference is that of one class, which may be another one in
    each report: every class is compared with itself.
    """
    old, new = (
        [e for e in side if e.class_scope.kind is not ClassKind.WORST] for side in (old, new)
    )
    single = all(len({e.threshold for e in side} - {None}) <= 1 for side in (old, new))
    before, after = (_keyed(side, single=single) for side in (old, new))
    for key, each in list(before.items()):  # two groups that took turns as the reference
        other = None if each.reference is None else each.reference.group
        turned = (*key[:2], other, *key[3:])
        if key not in after and turned in after and turned not in before:
            seen = _from_other_side(after[turned])
            if seen is not None and seen.group == each.group:
                del after[turned]
                after[key] = seen
    pairs = [(each, after[key]) for key, each in before.items() if key in after]
    lonely = Counter(
        (*_lonely([e for key, e in before.items() if key not in after], new, "old"),
         *_lonely([e for key, e in after.items() if key not in before], old, "new"))
    )  # fmt: skip
    return pairs, [
        Alone(what=what, feature=feature, name=name, report=report, count=count)
        for (what, feature, name, report), count in lonely.items()
    ]


def _from_other_side(each: Estimate) -> Estimate | None:
    """Return the same comparison of two groups with the group as the reference; None of others."""
    row, reference, interval = each.definition, each.reference, each.interval
    single = reference is not None and reference.group is not None
    if not single or not isinstance(row, Contrast) or each.bounds is not None:
        return None
    assert reference is not None

    def other(value: float) -> float:
        if row.by == "difference":
            return -value
        return 1 / value if value else math.inf

    return replace(
        each,
        group=reference.group,
        group_id=reference.group_id,
        reference=replace(reference, group=each.group, group_id=each.group_id),
        value=None if each.value is None else other(each.value),
        interval=interval and Interval(other(interval.high), other(interval.low), interval.level),
        simultaneous=None,
        n_group=each.n_reference,
        n_reference=each.n_group,
        rate_group=each.rate_reference,
        rate_reference=each.rate_group,
    )


def _keyed(estimates: Iterable[Estimate], *, single: bool) -> dict[Key, Estimate]:
    """Return estimates by what they are of.

    A single threshold may be another in each report. An average is over the classes of its report.
    """
    listed = list(estimates)
    classes = frozenset(each.class_ for each in listed)
    found: dict[Key, Estimate] = {}
    seen: Counter[Key] = Counter()
    for each in listed:
        at = None if single else each.threshold
        over = classes if each.class_scope.kind is ClassKind.AVERAGE else None
        key = (*subject_of(each), each.scope, each.class_scope, over, at)
        seen[key] += 1
        found[*key, seen[key]] = each
    return found


def _lonely(
    estimates: Iterable[Estimate], others: Iterable[Estimate], report: Which
) -> Iterator[tuple[What, str | None, str, Which]]:
    """Yield, for each estimate without a counterpart, what the other report lacks."""
    every = list(others)
    features = {e.feature for e in every}
    metrics = {e.metric for e in every}
    groups = {(e.feature, e.group) for e in every}
    references = {(e.feature, e.reference.group) for e in every if e.reference}
    scopes, classes = ({e.scope for e in every}, {e.class_scope for e in every})
    thresholds = {e.threshold for e in every}
    for each in estimates:
        of_all = is_of_all_groups(each.definition)
        if each.feature is not None and each.feature not in features:
            yield "feature", None, each.feature, report
        elif each.metric not in metrics:
            yield "metric", None, each.metric, report
        elif not of_all and (each.feature, each.group) not in groups:
            known = (each.feature, each.group) in references
            yield "reference" if known else "group", each.feature, str(each.group), report
        elif each.scope not in scopes:
            yield "stratum", None, each.stratum or str(each.scope.kind), report
        elif each.class_scope not in classes:
            yield "class", None, str(each.class_), report
        elif each.class_scope.average is not None:
            yield "average", None, str(each.class_scope.average), report
        elif each.threshold not in thresholds:
            yield "threshold", None, name_of(each.threshold), report
        else:
            name = each.metric if of_all else f"{each.metric} of {each.group}"
            yield "estimate", each.feature, name, report


def _origin(report: Report, asked: Report | str | Path) -> Origin:
    data = report.data
    return Origin(
        name=None if isinstance(asked, Report) else Path(asked).name,
        source=data.source,
        fingerprint=data.fingerprint,
        created=report.created,
        version=report.version,
        rows=data.rows,
        cases=data.cases,
        used=data.used,
        used_at_least=any(each.code is DiagnosticCode.USED_AT_LEAST for each in report.diagnostics),
        excluded=dict(data.excluded),
        unclear=max(map(_unclear_rows, report.diagnostics), default=0),
        uneven=max(map(_unevenness, report.diagnostics), default=0.0),
        verdict=report.verdict,
    )


def _unclear_rows(note: Diagnostic) -> int:
    """Return how many rows a warning states whose outcome or group is unclear; of people none."""
    rows = note.get("rows") or 0
    if note.code not in _UNCLEAR or note.level is not Level.WARNING:
        return 0
    return rows if isinstance(rows, int) else sum(rows)


_UNCLEAR = (
    DiagnosticCode.UNDECIDED_OUTCOMES, DiagnosticCode.UNLISTED_OUTCOMES,
    DiagnosticCode.APPROVED_AS_REFUSED, DiagnosticCode.CLASSES_OF_MISSING,
    DiagnosticCode.PREDICTION_NOT_A_LABEL, DiagnosticCode.MISSING_MARKER, DiagnosticCode.RECODING,
    DiagnosticCode.OPEN_DECISIONS,
)  # fmt: skip
"""Warnings of rows whose outcome or group may be another one or none."""
_DOUBTFUL = (
    DiagnosticCode.DOUBLED_ROWS, DiagnosticCode.COPIED_FILES, DiagnosticCode.SPELT_OTHERWISE,
    DiagnosticCode.UNCOUNTED_ROWS, DiagnosticCode.CODED_NUMBERS, DiagnosticCode.SAME_NAMES,
    DiagnosticCode.REVERSED_SCORES, DiagnosticCode.REVERSED_PREDICTIONS,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME,
)  # fmt: skip
"""Other warnings of rows that may be wrong."""
_UNEVEN = DiagnosticCode.MISSING_OUTCOMES, DiagnosticCode.UNEQUALLY_MISSING


def _unevenness(note: Diagnostic) -> float:
    """Return by how much more often one group, or one outcome, lacks something than another."""
    return note["most_share"] - note["least_share"] if note.code in _UNEVEN else 0.0


def _new_warnings(old: Report, new: Report) -> Iterator[Diagnostic]:
    """Yield the warnings of rows that are missing, unclear or doubtful of the new report alone.

    They are of rows that are missing more unevenly than in the old one, too.
    """

    def subject(note: Diagnostic) -> tuple[object, ...]:
        return note.code, note.feature, *map(note.get, ("column", "value", "values", "what"))

    known = {subject(e): _unevenness(e) for e in old.diagnostics if e.level is Level.WARNING}
    for each in new.diagnostics:
        stated = each.code in (*_UNCLEAR, *_UNEVEN, *_DOUBTFUL)
        usual = known.get(subject(each))
        worse = usual is None or _unevenness(each) - usual >= MANY_MORE
        if stated and each.level is Level.WARNING and worse:
            yield each


def _groups(old: Report, new: Report) -> Iterator[GroupChange]:
    """Yield the groups of both reports, over all strata, each once."""
    sides = [
        {(g.feature, g.group): g for g in reversed(report.groups) if g.scope == OVERALL}
        for report in (old, new)
    ]
    order = dict.fromkeys(
        (g.feature, g.group) for report in (old, new) for g in report.groups if g.scope == OVERALL
    )
    for feature, group in order:
        before, after = (side.get((feature, group)) for side in sides)
        yield GroupChange(
            feature=feature,
            group=group,
            old_n=before.n if before else None,
            new_n=after.n if after else None,
            old_share=before.share if before else None,
            new_share=after.share if after else None,
        )


_ROUNDING = 1e-9
_WIDEST = -1.0
"""The correlation of two estimates with which the interval of their difference is widest."""


def changes(
    pairs: Sequence[tuple[Estimate, Estimate]],
    refused: Reason | None = None,
) -> tuple[Change, ...]:
    """Return the change of every disparity, the most important first.

    Parameters
    ----------
    pairs : sequence of (old, new)
        The same disparity of two reports.
    refused : Reason, optional
        Why no change can have an interval, if none can. Of the same rows, a change has one that
        is shown whatever the correlation of the two estimates.

    Returns
    -------
    tuple of Change
        Those that are significantly further from "no difference", those significantly closer, those
        that changed sides or otherwise significantly, then the others by size; within these, all
        rows before single strata.

    Notes
    -----
    Change and distance are two questions. A change is statistically significant if its adjusted
    p-value is at most 1 - confidence; a direction if that of the larger of two p-values is: of the
    change, and of the change of the distance from "no difference" (MOVER of the folded intervals,
    so that a change of sides counts as what it is). P-values invert the limits, taken to widen with
    the normal quantile. All changes are one family (Holm), in which two groups that are each
    other's reference are one comparison; both estimates must have enough data.

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702; Zou (2007), Psychological Methods 12,
    399-413 (correlated sides).
    """
    if not pairs:
        return ()
    scales = [_scale(new.definition) for _, new in pairs]
    same = refused is not None and refused.code is ReasonCode.SAME_ROWS
    reasons = [
        (None if same else refused) or _why_no_interval(*pair, scale)
        for pair, scale in zip(pairs, scales, strict=True)
    ]
    compared = np.array([reason is None for reason in reasons])
    mirrored = _mirrored(pairs)
    numbers = _measured(pairs, compared, scales, mirrored, _WIDEST if same else 0.0)
    if same:
        shown = [_is_shown(each, new) for each, (_, new) in zip(numbers, pairs, strict=True)]
        reasons = [
            each or (None if ok else refused) for each, ok in zip(reasons, shown, strict=True)
        ]
        numbers = [each if ok else each.untested() for each, ok in zip(numbers, shown, strict=True)]
    made = map(_change, pairs, reasons, scales, numbers)
    folded = (
        replace(each, mirror_of=each.new.mirror_of if i in mirrored else None)
        for i, each in enumerate(made)
    )
    return tuple(sorted(folded, key=_importance))


def _mirrored(pairs: Sequence[tuple[Estimate, Estimate]]) -> dict[int, int]:
    """Return the pairs that only mirror another in both reports, each with that other."""
    places = {_place(new, new.group): i for i, (_, new) in enumerate(pairs)}
    found = {}
    for i, (old, new) in enumerate(pairs):
        other = places.get(_place(new, new.mirror_of)) if new.mirror_of is not None else None
        if other is not None and (old.mirror_of or pairs[other][0].mirror_of):
            found[i] = other
    return found


def _place(each: Estimate, group: str | None) -> tuple[object, ...]:
    return (each.metric, each.feature, group, each.scope, each.class_scope, each.threshold)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of one change; NaN where there are none."""

    log: bool
    change: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    away: float
    distance_p_adjusted: float
    crossing_p_adjusted: float
    crossed: bool
    bounded: bool

    def untested(self) -> _Numbers:
        """Return the change without an interval and p-values."""
        nan = math.nan
        return replace(
            self, low=nan, high=nan, p_value=nan, p_adjusted=nan, distance_p_adjusted=nan,
            crossing_p_adjusted=nan,
        )  # fmt: skip


def _is_shown(numbers: _Numbers, new: Estimate) -> bool:
    """Return whether some p-value of a change is at most 1 - confidence."""
    level = 1 - (new.confidence or 1.0)
    p = numbers.p_adjusted, numbers.distance_p_adjusted, numbers.crossing_p_adjusted
    return any(each <= level for each in p)


def _why_no_interval(old: Estimate, new: Estimate, scale: _Neutral) -> Reason | None:
    """Return why a change has no interval, None where it has one."""
    for word, each in (("old", old), ("new", new)):
        if each.value is None:
            inner = () if each.reason is None else (each.reason,)
            return Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, report=word, reasons=inner)
        if each.bounds is not None:
            return Reason.of(ReasonCode.PROTECTED)
        if each.interval is None:
            return Reason.of(ReasonCode.OLD_OR_NEW_WITHOUT_INTERVAL, report=word)
    if not _same_reference(old, new, scale):
        return Reason.of(ReasonCode.DIFFERENT_REFERENCES)
    if old.confidence != new.confidence:
        return Reason.of(ReasonCode.DIFFERENT_LEVELS)
    return None


def _same_reference(old: Estimate, new: Estimate, scale: _Neutral) -> bool:
    """Return whether both are of the same comparison.

    A metric of all groups has no reference: it names the two groups that are furthest apart.
    """
    return scale.of_all_groups or old.reference == new.reference


@quiet
def _measured(
    pairs: Sequence[tuple[Estimate, Estimate]],
    compared: Array,
    scales: Sequence[_Neutral],
    mirrored: Mapping[int, int],
    correlation: float,
) -> list[_Numbers]:
    """Compute all changes at once; ``compared`` marks those that have an interval."""
    neutral = np.array([scale.neutral for scale in scales])
    log, bounded = (np.array([getattr(s, name) for s in scales]) for name in ("log", "bounded"))

    def scaled(side: int, read: Callable[[Estimate], float | None]) -> Array:
        raw = np.array([read(pair[side]) for pair in pairs], dtype=np.float64)
        return np.where(log, np.log(np.where(log, raw, 1.0)), raw - np.nan_to_num(neutral))

    old, new = (scaled(side, lambda e: e.value) for side in (0, 1))
    limits = [(scaled(side, lambda e: e.low), scaled(side, lambda e: e.high)) for side in (0, 1)]
    gap = np.where(old == new, 0.0, new - old)
    low, high = mover_difference(new, *limits[1], old, *limits[0], correlation)
    away = np.where(np.abs(old) == np.abs(new), 0.0, np.abs(new) - np.abs(old))
    away_low, away_high = mover_difference(
        np.abs(new), *fold(*limits[1]), np.abs(old), *fold(*limits[0]), correlation
    )
    known = compared & ~np.isnan(low) & ~np.isnan(high)
    levels = [new.confidence for _, new in pairs]
    p = np.where(known, _p_values(gap, low, high, levels), np.nan)
    of_distance = np.maximum(p, _p_values(away, away_low, away_high, levels))
    of_sides = np.array([max(_p_of(old), _p_of(new)) for old, new in pairs])
    of_sides = np.where(np.isnan(p), np.nan, np.where(old * new < 0, of_sides, 1.0))
    enough = np.array([_enough_data(*pair) for pair in pairs])
    adjusted = [
        _adjusted(np.where(enough, each, np.nan), mirrored) for each in (p, of_distance, of_sides)
    ]
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    columns = [log, *(np.where(log, np.exp(each), each) for each in (gap, low, high)), p,
               adjusted[0], np.where(np.isnan(neutral), np.nan, away), *adjusted[1:],
               old * new < 0, bounded]  # fmt: skip
    return [_Numbers(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


def _adjusted(p: Array, mirrored: Mapping[int, int]) -> Array:
    """Return adjusted p-values of a family in which what mirrors another is no comparison more."""
    single = p.copy()
    single[list(mirrored)] = np.nan
    adjusted = holm(single)
    adjusted[list(mirrored)] = adjusted[list(mirrored.values())]
    return np.asarray(adjusted)


def _enough_data(old: Estimate, new: Estimate) -> bool:
    return old.status is Status.OK and new.status is Status.OK


def _p_of(each: Estimate) -> float:
    return 1.0 if each.p_value is None else each.p_value


class _Neutral(NamedTuple):
    """What "no difference" is of a metric, and how its values are compared.

    Attributes
    ----------
    neutral : the value that means "no difference"; NaN where none does.
    log : whether logarithms are compared.
    bounded : whether its range has two ends.
    of_all_groups : whether it is one number of all groups of a feature.
    """

    neutral: float
    log: bool
    bounded: bool
    of_all_groups: bool = False


def _scale(row: Metric) -> _Neutral:
    ratio = row.neutral == 1 and row.range[0] >= 0
    return _Neutral(
        row.neutral,
        log=ratio,
        bounded=all(map(math.isfinite, row.range)),
        of_all_groups=row.scope == "feature",
    )


def _p_values(gap: Array, low: Array, high: Array, confidence: Sequence[float | None]) -> Array:
    """Invert the limits: the level at which they would reach "no change"."""
    half = np.where(gap > 0, gap - low, high - gap)
    quantile = np.array([critical(each) if each else np.nan for each in confidence])
    z = np.where(gap == 0, 0.0, quantile * np.abs(gap) / half)
    return np.array([math.erfc(each / math.sqrt(2)) for each in z.tolist()])


def _change(
    pair: tuple[Estimate, Estimate], reason: Reason | None, scale: _Neutral, made: _Numbers
) -> Change:
    old, new = pair
    same = _same_reference(old, new, scale)
    direction = _direction(made.away) if same else None
    level = 1 - (new.confidence or 1.0)
    known = not math.isnan(made.low)
    if reason is None and not known:
        reason = Reason.of(ReasonCode.BOTH_UNBOUNDED)
    return Change(
        old=old,
        new=new,
        by="ratio" if made.log else "difference",
        change=as_number(made.change),
        interval=Interval(made.low, made.high, new.confidence or math.nan) if known else None,
        p_value=as_number(made.p_value),
        p_adjusted=as_number(made.p_adjusted),
        changed=made.p_adjusted <= level,
        direction=direction,
        distance_p_adjusted=as_number(made.distance_p_adjusted) if direction else None,
        significant=bool(direction) and made.distance_p_adjusted <= level,
        crossed=made.crossed and same,
        other_side=direction is not None and made.crossing_p_adjusted <= level,
        size=_size(pair, made),
        reason=reason,
    )


def _direction(away: float) -> Direction | None:
    if math.isnan(away):
        return None
    if abs(away) <= _ROUNDING:
        return Direction.AS_FAR
    return Direction.FURTHER if away > 0 else Direction.CLOSER


def _size(pair: tuple[Estimate, Estimate], found: _Numbers) -> float:
    """Return how far a disparity went, in units that can be compared between metrics."""
    far = abs(math.log(found.change)) if found.log and found.change > 0 else abs(found.change)
    if not math.isfinite(far):
        return 0.0  # infinite values mean that a count is 0, not how a group fares
    if found.log or found.bounded:
        return far
    rates = [r for e in pair for r in (e.rate_group, e.rate_reference) if r is not None]
    known = [abs(number) for number in rates if math.isfinite(number)]
    usual = sum(known) / len(known) if known else 0.0
    return far / (usual or max(abs(e.value or 0.0) for e in pair) or 1.0)


def _importance(each: Change) -> tuple[bool, bool, bool, bool, bool, float]:
    inside = each.new.scope.kind is ScopeKind.STRATUM
    closer = each.significant and each.direction is Direction.CLOSER
    return (not each.significant, closer, not each.other_side, not each.changed, inside, -each.size)


_Key: TypeAlias = tuple[str | int | None, ...]

_FIRST = (Turn.WORSE, Turn.OTHER, Turn.BETTER)
_BY_INTERVAL = (ReasonCode.INSIDE, ReasonCode.BELOW, ReasonCode.ABOVE)


def turned(old: Outcome, new: Outcome, proven: Collection[Direction]) -> Turn | None:
    """Return what became of an outcome; None where it stayed or one side was not judged.

    An outcome may change by sampling variation: it is worse, or better, only where a disparity is
    statistically significantly.

    Parameters
    ----------
    old, new : the outcome in each report.
    proven : in which directions disparities went statistically significantly.

    Examples
    --------
    >>> turned(Outcome.PASS, Outcome.FAIL, {Direction.FURTHER})
    <Turn.WORSE: 'worse'>
    >>> turned(Outcome.PASS, Outcome.INCONCLUSIVE, ())
    <Turn.OTHER: 'other'>
    """
    if old == new or Outcome.NONE in (old, new):
        return None
    before, after = BADNESS[old], BADNESS[new]
    if after > before and Direction.FURTHER in proven:
        return Turn.WORSE
    if after < before and Direction.CLOSER in proven and new is not Outcome.NOT_EVALUATED:
        return Turn.BETTER
    return Turn.OTHER


class VerdictChanges(NamedTuple):
    """The verdicts of two reports held against each other.

    Attributes
    ----------
    flips : the verdicts that changed, those that got worse first.
    stayed : how many did not.
    unmatched : the verdicts that only one of the reports has, of rules that both have.
    alone : the rules that only one of the reports has.
    """

    flips: tuple[VerdictChange, ...]
    stayed: int
    unmatched: tuple[UnmatchedVerdict, ...]
    alone: tuple[Alone, ...]


def verdict_changes(old: Report, new: Report, changes: Iterable[Change]) -> VerdictChanges:
    """Hold the verdicts of two reports against each other.

    A verdict on a metric of all groups is matched by its feature, whichever groups are now furthest
    apart; any other by its group. It is worse by a change of what decides it now, and better by one
    of what decided it before: of several classes or thresholds, these may be two.
    """
    further: set[Place] = set()
    closer: set[Place] = set()
    other_reference: set[Subject] = set()
    for each in changes:
        subject = subject_of(each.new)
        if each.significant and each.new.scope.kind is not ScopeKind.STRATUM:
            if each.direction is Direction.FURTHER:
                further |= places_of(each.new)
            else:
                closer |= places_of(each.old)
        if each.old.reference != each.new.reference and subject[2] is not None:
            other_reference.add(subject)
    before, after = (_by_subject(report.verdicts) for report in (old, new))
    _match_unfeatured(before, after)
    shared = [key for key in before if key in after]
    found = []
    for key in shared:
        metric, feature, group = subject_of(after[key])
        sides = {(metric, feature, side) for side in (group, after[key].mirror or group)}
        comparable = not sides & other_reference
        directions = {Direction.FURTHER} if further & places_deciding(after[key]) else set()
        directions |= {Direction.CLOSER} if closer & places_deciding(before[key]) else set()
        flip = _flip(before[key], after[key], directions, comparable=comparable)
        found += [flip] if flip else []
    stayed = len(shared) - len(found)
    found.sort(key=lambda each: _FIRST.index(each.turn))
    unmatched = (
        *_unmatched(before, after, "old", new),
        *_unmatched(after, before, "new", old),
    )
    rules = (*_rules(old, new, "old"), *_rules(new, old, "new"))
    return VerdictChanges(tuple(found), stayed, unmatched, rules)


def overall_turn(old: Outcome, new: Outcome, changed: VerdictChanges) -> Turn | None:
    """Return what became of the verdict as a whole: worse only where one of its verdicts is.

    It is better only where nothing that did not pass is without a counterpart.
    """
    turns = {each.turn for each in changed.flips}
    proven = {Direction.FURTHER} if Turn.WORSE in turns else set()
    gone = (each.verdict.outcome for each in changed.unmatched if each.report == "old")
    if Turn.BETTER in turns and all(outcome is Outcome.PASS for outcome in gone):
        proven.add(Direction.CLOSER)
    return turned(old, new, proven)


def _flip(
    old: Verdict, new: Verdict, proven: Collection[Direction], *, comparable: bool
) -> VerdictChange | None:
    """Return how a verdict changed, None where it did not.

    With ``comparable``, both hold a group against the same reference: an interval that went from
    one side of a limit to the other then proves a direction.
    """
    if old.outcome == new.outcome:
        return None
    directions = set(proven)
    if {old.outcome, new.outcome} == {Outcome.PASS, Outcome.FAIL} and all(
        each.reason.code in _BY_INTERVAL and comparable for each in (old, new)
    ):
        fails = new.outcome is Outcome.FAIL
        directions.add(Direction.FURTHER if fails else Direction.CLOSER)
    turn = turned(old.outcome, new.outcome, directions) or Turn.OTHER
    flip = VerdictChange(old=old, new=new, turn=turn)
    if turn is Turn.BETTER and flip.is_of_missing_rows:  # nor is a fail gone with its rows
        return replace(flip, turn=Turn.OTHER)
    return flip


def _by_subject(verdicts: Iterable[Verdict]) -> dict[_Key, Verdict]:
    """Return verdicts by rule and subject; rules of the same words by their order."""
    found: dict[_Key, Verdict] = {}
    seen: Counter[tuple[str | None, ...]] = Counter()
    for each in verdicts:
        metric, feature, group = subject_of(each)
        if each.mirror is not None and group is not None:  # whichever of both sides is judged
            group = min(group, each.mirror)
        key = (each.rule, metric, feature, group)
        seen[key] += 1
        found[*key, seen[key]] = each
    return found


def _match_unfeatured(before: dict[_Key, Verdict], after: dict[_Key, Verdict]) -> None:
    """Give a verdict on a named group that no feature has the key of the other report's verdict."""
    for mine, theirs in ((before, after), (after, before)):
        for key, verdict in list(mine.items()):
            if verdict.feature is not None or verdict.group is None or key in theirs:
                continue
            twins = [
                other for other, each in theirs.items()
                if other not in mine and (each.rule, each.group) == (verdict.rule, verdict.group)
            ]  # fmt: skip
            if len(twins) == 1:
                mine[twins[0]] = mine.pop(key)


def _unmatched(
    mine: Mapping[_Key, Verdict],
    theirs: Mapping[_Key, Verdict],
    name: Which,
    other: Report,
) -> Iterator[UnmatchedVerdict]:
    """Yield the verdicts of one report that the other has not, though it has the rule."""
    rules = {verdict.rule for verdict in theirs.values()}
    lacking = "new" if name == "old" else "old"
    for key, verdict in mine.items():
        if key not in theirs and verdict.rule in rules:
            reason = _why_unmatched(verdict, other, lacking)
            yield UnmatchedVerdict(verdict=verdict, report=name, reason=reason)


def _why_unmatched(verdict: Verdict, other: Report, name: str) -> Reason:
    groups = {(group.feature, group.group) for group in other.groups}
    if verdict.feature not in {feature for feature, _ in groups}:
        return Reason.of(ReasonCode.ABSENT, what="feature", report=name)
    of_all_groups = is_of_all_groups(verdict.definition)
    if not of_all_groups and (verdict.feature, verdict.group) not in groups:
        return Reason.of(ReasonCode.ABSENT, what="group", report=name)
    references = {
        each.reference.group
        for each in other.estimates
        if (each.metric, each.feature) == (verdict.metric, verdict.feature) and each.reference
    }
    if verdict.group in references and not of_all_groups:
        return Reason.of(ReasonCode.IS_REFERENCE, report=name)
    return Reason.of(ReasonCode.NOT_JUDGED, report=name)


def _rules(report: Report, other: Report, name: Which) -> tuple[Alone, ...]:
    known = {verdict.rule for verdict in other.verdicts}
    counts = Counter(verdict.rule for verdict in report.verdicts if verdict.rule not in known)
    return tuple(
        Alone(what="rule", feature=None, name=rule, report=name, count=count)
        for rule, count in counts.items()
    )

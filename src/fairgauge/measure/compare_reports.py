"""Comparing two reports: a candidate with the model in use, or this month with the last.

A change of a difference is a difference, a change of a ratio is a ratio (a difference of
logarithms). Its limits are MOVER's of the two intervals: of different rows, which are independent,
or of the same rows, with the correlation of the two estimates that makes them widest. Reports do
not hold that correlation, so that of the same rows only what no correlation explains is tested.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.comparisons import Metric, is_of_all_groups
from fairgauge.catalogue.lookup import SCORING_RATE
from fairgauge.enums import (
    DOUBTS,
    CandidateVerdict,
    ClassKind,
    DiagnosticCode,
    Direction,
    Fairness,
    IntervalMethod,
    Level,
    Outcome,
    ScopeKind,
    Status,
)
from fairgauge.errors import CubeError, DataError, Problem, listing, quote, refuse
from fairgauge.identity import FeatureId, GroupId, group_names, unique_names
from fairgauge.inference.paired_changes import DisparityChanges
from fairgauge.measure._changes import MeasuredDisparities, adjusted_together, changed_disparities
from fairgauge.question.options import BY_NAME, OPTIONS
from fairgauge.question.readers import items
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.comparison import (
    MANY_MORE,
    Alone,
    Candidate,
    Change,
    Difference,
    GroupChange,
    Origin,
    UnmatchedVerdict,
    VerdictChange,
    What,
    Which,
    subject_of,
    subjects_of,
)
from fairgauge.results.estimates import DisparityChange, Estimate, Group
from fairgauge.results.report import Report
from fairgauge.results.scopes import OVERALL, Diagnostic, stated_doubts
from fairgauge.results.shown_result import load, made_now
from fairgauge.results.verdicts import Verdict
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Array, Limits, quiet
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import Quantity
from fairgauge.stats.significance import two_sided
from fairgauge.values import canonical, matches

_MAKE = "fairgauge audit DATA ... -o report.json makes one"
_Named = TypeVar("_Named", Estimate, Group, Verdict)
_Key: TypeAlias = tuple[object, ...]
_Groups: TypeAlias = dict[tuple[str, str], Group]
_SIDES: tuple[Which, Which] = ("old", "new")
_BY_INTERVAL = (ReasonCode.INSIDE, ReasonCode.BELOW, ReasonCode.ABOVE)
_DOUBTFUL = DOUBTS | {
    DiagnosticCode.MISSING_OUTCOMES, DiagnosticCode.UNEQUALLY_MISSING,
    DiagnosticCode.COPIED_FILES, DiagnosticCode.UNCOUNTED_ROWS,
}  # fmt: skip
"""Warnings of rows that are missing, unclear, or may be wrong."""


def compare_reports(
    old: Report | str | Path, new: Report | str | Path, *, same_rows: bool | None = None
) -> Change:
    """Return what changed between two reports; see `fairgauge.compare`."""
    before, after = _name_jointly(_report(old), _report(new))
    _refuse_unlike(before, after)
    differences = tuple(_differences(before, after))
    groups = [
        {(g.feature, g.group): g for g in reversed(report.groups) if g.scope == OVERALL}
        for report in (before, after)
    ]
    refused = _why_same_rows(before, after, groups, same_rows)
    same = refused is not None
    apart = {option.name for option in OPTIONS if not option.comparable}
    asked = [each.key for each in differences if each.key in apart]
    if asked:
        tables = [
            (r.data.source, r.data.rows, _option_or_default(r.spec, "where"))
            for r in (before, after)
        ]
        same = same_rows if same_rows is not None else same or tables[0] == tables[1]
        refused = Reason.of(ReasonCode.ASKED_DIFFERENTLY, keys=", ".join(asked))
    reports = before, after
    estimates = _estimates_by_key(reports)
    verdicts = [*map(_verdicts_by_key, reports)]
    matched = [(each, estimates[1].get(key)) for key, each in estimates[0].items()]
    changed = changes([(old, new) for old, new in matched if new is not None], refused)
    shared = _verdict_changes(verdicts, changed)
    flips = [each for each in shared if each.old.outcome != each.new.outcome]
    known = {_subject(e): _gap(e) for e in before.diagnostics if e.level is Level.WARNING}
    origin = _origin(after, new)
    candidate = Candidate(name=origin.name or "new", rows=origin.rows, disparities=changed)
    result = Change(
        **made_now(),
        task=after.task,
        spec=after.spec,
        confidence=float(after.spec.get("confidence") or _USUAL),
        old=_origin(before, old),
        new=origin,
        candidates=(candidate,),
        same_rows=same,
        refused=refused,
        differences=differences,
        flips=tuple(sorted(flips, key=lambda flip: not flip.worse)),
        stayed=tuple(each for each in shared if each.old.outcome == each.new.outcome),
        **_unmatched(reports, estimates, verdicts),
        sizes=tuple(_sizes(groups)),
        own=tuple({rate.name: rate for rate in (*before.own, *after.own)}.values()),
        scoring=SCORING_RATE in after.catalogue.reworded,
        diagnostics=tuple(
            {
                _subject(note): note
                for report in reports
                for note in report.diagnostics
                if note.level is Level.WARNING and note.code in _DOUBTFUL
                if stated_doubts([note], 0)
                or (report is after and _gap(note) - known.get(_subject(note), -1.0) >= MANY_MORE)
            }.values()
        ),
    )
    # the new report has a verdict in the words of candidates, without margins
    closer = any(each.significant and each.direction is Direction.CLOSER for each in changed)
    verdict = CandidateVerdict.BETTER_WHERE_TESTED if closer else CandidateVerdict.NONE
    fairness = Fairness.FAIRER if closer else Fairness.CANNOT_TELL
    if result.worse:
        verdict = CandidateVerdict.WORSE
        fairness = Fairness.MIXED if closer else Fairness.LESS_FAIR
    elif result.why_incomplete:
        verdict = CandidateVerdict.CANNOT_TELL
    return replace(result, candidates=(replace(candidate, verdict=verdict, fairness=fairness),))


def _subject(note: Diagnostic) -> tuple[object, ...]:
    return note.code, note.feature, *map(note.get, ("column", "value", "values", "what"))


def _gap(note: Diagnostic) -> float:
    return (note.get("most_share") or 0.0) - (note.get("least_share") or 0.0)


def _report(asked: Report | str | Path) -> Report:
    if isinstance(asked, Report):
        return asked
    if not isinstance(asked, (str, Path)):
        kind = type(asked).__name__
        raise DataError(f"cannot compare a {kind}; compare two reports, or the files of two")
    try:
        found = load(asked)
    except CubeError:
        found = None
    if not isinstance(found, Report):
        raise DataError(f"{quote(asked)} is no report of fairgauge; {_MAKE}")
    return found


def _refuse_unlike(old: Report, new: Report) -> None:
    problems = []
    estimated = sorted({each.feature for report in (old, new) for each in report.estimators})
    if estimated:
        message = (
            f"{listing(estimated)}: estimates from probabilities have intervals of what is "
            "assumed as well, of which no change follows; compare reports of recorded groups, or "
            "hold both against the same rules"
        )
        problems.append(Problem("compare", message))
    labels, positives = ([r.spec.get(k) for r in (old, new)] for k in ("label", "positive"))
    unlike = {
        "label": None not in labels and labels[0] != labels[1] and [*map(quote, labels)],
        "positive": not _alike(*positives)
        and [
            f"above {e.get('above')}" if isinstance(e, Mapping) else listing(items(e or [1]))
            for e in positives
        ],
        "task": old.task != new.task and [quote(old.task), quote(new.task)],
    }
    problems += [
        Problem(
            path,
            f"{sides[0]} in the old report, {sides[1]} in the new one: their numbers mean "
            "different things and cannot be compared; audit both alike",
        )
        for path, sides in unlike.items()
        if sides
    ]
    refuse(problems)


def _alike(old: object, new: object) -> bool:
    # whether favourable values mean the same: 1, 1.0, "1" and true do
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        return bool(old == new)
    sides = [[canonical(value) for value in items(each or [1])] for each in (old, new)]
    return all(
        any(matches(value, other) for other in sides[1 - i]) for i in (0, 1) for value in sides[i]
    )


def _differences(old: Report, new: Report) -> Iterator[Difference]:
    # what was asked differently: first what intervals of changes cannot bridge
    ranked = sorted(OPTIONS, key=lambda option: (option.comparable, not option.effect))
    keys = [option.name for option in ranked if not option.described]
    keys += [key for key in {**old.spec, **new.spec} if key not in BY_NAME]
    for key in keys:
        before, after = (_option_or_default(report.spec, key) for report in (old, new))
        if before != after and not (key == "positive" and _alike(before, after)):
            yield Difference(key, before, after, BY_NAME[key].effect if key in BY_NAME else "")
    for before, after in ((b, a) for b in old.own for a in new.own if b.name == a.name):
        if before != after:
            what = "the two reports define it differently"
            yield Difference(before.name, before.formula, after.formula, what)
    if old.version != new.version:
        yield Difference("fairgauge", old.version, new.version)


def _option_or_default(spec: Mapping[str, object], key: str) -> object:
    value, option = spec.get(key), BY_NAME.get(key)
    return option.type.plain(option.default) if value is None and option else value


def _why_same_rows(
    old: Report, new: Report, sizes: Sequence[_Groups], stated: bool | None
) -> Reason | None:
    # why both are taken to be of the same rows: without their correlation, no test
    evidence = "stated" if stated else ""
    if stated is None and old.data.fingerprint == new.data.fingerprint:
        evidence = "fingerprint"
    elif stated is None and old.data.rows == new.data.rows:
        shared = sizes[0].keys() & sizes[1].keys()
        evidence = "sizes" if all(sizes[0][k].n == sizes[1][k].n for k in shared) else ""
    return Reason.of(ReasonCode.SAME_ROWS, evidence=evidence) if evidence else None


def _estimates_by_key(reports: Sequence[Report]) -> list[dict[_Key, Estimate]]:
    # That of the class with the largest difference is that of one class, which may be another one
    # in each report: every class is compared with itself. A single threshold may be another in each
    # report. An average is over the classes of its report.
    sides = [
        [each for each in report.estimates if each.class_scope.kind is not ClassKind.WORST]
        for report in reports
    ]
    single = all(len({e.threshold for e in side} - {None}) <= 1 for side in sides)

    def key(each: Estimate, classes: frozenset[str | None]) -> _Key:
        over = classes if each.class_scope.kind is ClassKind.AVERAGE else None
        at = None if single else each.threshold
        return (*subject_of(each), each.scope, each.class_scope, over, at)

    return [
        {key(each, classes): each for each in side}
        for side in sides
        for classes in [frozenset(each.class_ for each in side)]
    ]


def _verdicts_by_key(report: Report) -> dict[_Key, Verdict]:
    # of two groups that mirror each other, whichever side is judged; rules that are decided in two
    # ways have one text, and are matched in their order
    by_key: dict[_Key, Verdict] = {}
    seen: Counter[_Key] = Counter()
    for each in report.verdicts:
        key = each.rule, *min(subjects_of(each), key=str)
        by_key[*key, seen[key]] = each
        seen[key] += 1
    return by_key


def _unmatched(
    reports: Sequence[Report],
    estimates: Sequence[dict[_Key, Estimate]],
    verdicts: Sequence[dict[_Key, Verdict]],
) -> dict[str, Any]:
    lonely: list[Counter[tuple[What, str | None, str, Which]]] = [Counter(), Counter()]
    unmatched = []
    for i, which in enumerate(_SIDES):
        absence, known = absence_in(reports[1 - i]), {e.rule for e in verdicts[1 - i].values()}
        alone = [each for key, each in estimates[i].items() if key not in estimates[1 - i]]
        lonely[0].update((*absence(each), which) for each in alone)
        for key, verdict in verdicts[i].items():
            if verdict.rule not in known:
                lonely[1]["rule", None, verdict.rule, which] += 1
            elif key not in verdicts[1 - i]:
                what, _, _ = absence(verdict)
                code = _ABSENT.get(what, ReasonCode.NOT_JUDGED)
                of = {"what": what} if code is ReasonCode.ABSENT else {}
                reason = Reason.of(code, **of, report=_SIDES[1 - i])
                unmatched.append(UnmatchedVerdict(verdict=verdict, report=which, reason=reason))
    return {
        "unmatched": tuple(unmatched),
        "alone": tuple(
            Alone(what=what, feature=feature, name=name, report=which, count=count)
            for counts in lonely
            for (what, feature, name, which), count in counts.items()
        ),
    }


def absence_in(report: Report) -> Callable[[Estimate | Verdict], tuple[What, str | None, str]]:
    """Return what states which part of an estimate or a verdict a report lacks: the first of all.

    That is a feature, metric, group, or that the group is the reference there; or the comparison.
    """
    estimates = report.estimates
    groups: set[tuple[str | None, str | None]] = {(e.feature, e.group) for e in report.groups}
    groups |= {(each.feature, each.group) for each in estimates}
    features, metrics = {feature for feature, _ in groups}, {each.metric for each in estimates}
    metrics |= {name for group in report.groups for name in group.rates}
    references = {(e.metric, e.feature, e.reference.group) for e in estimates if e.reference}

    def absence(each: Estimate | Verdict) -> tuple[What, str | None, str]:
        if each.feature is not None and each.feature not in features:
            return "feature", None, each.feature
        if each.metric not in metrics:
            return "metric", None, each.metric
        if not is_of_all_groups(each.definition):
            if (each.metric, each.feature, each.group) in references:
                return "reference", each.feature, str(each.group)
            if (each.feature, each.group) not in groups:
                return "group", each.feature, str(each.group)
        return "estimate", each.feature, each.metric

    return absence


def _origin(report: Report, asked: Report | str | Path) -> Origin:
    data, notes = report.data, {each.code for each in report.diagnostics}
    return Origin(
        name=None if isinstance(asked, Report) else Path(asked).name,
        source=data.source,
        fingerprint=data.fingerprint,
        created=report.created,
        version=report.version,
        rows=data.rows,
        cases=data.cases,
        used=data.used,
        used_at_least=DiagnosticCode.USED_AT_LEAST in notes,
        rounded=DiagnosticCode.PROTECTED in notes,
        excluded=dict(data.excluded),
        verdict=report.verdict,
    )


def _sizes(groups: Sequence[_Groups]) -> Iterator[GroupChange]:
    for place in dict.fromkeys(place for side in groups for place in reversed(side)):
        before, after = (side.get(place) for side in groups)
        yield GroupChange(
            feature=place[0],
            group=place[1],
            old_n=before.n if before else None,
            new_n=after.n if after else None,
            old_share=before.share if before else None,
            new_share=after.share if after else None,
        )


_USUAL = 0.95
_WIDEST = -1.0
"""The correlation of two estimates with which the interval of their difference is widest."""


def changes(
    pairs: Sequence[tuple[Estimate, Estimate]], refused: Reason | None = None
) -> tuple[DisparityChange, ...]:
    """Return the change of every disparity, the most important first.

    ``refused`` is why no change can have an interval: of the same rows, one has that is shown
    whatever the correlation of the two estimates. The limits of a change are MOVER's of the two
    intervals, and widen with the normal quantile. From there on a change is tested as one of two
    models on the same rows is: all changes are one family (Holm), in which two groups that are each
    other's reference are one comparison; both estimates must have enough data.

    References: Zou & Donner (2008), Statistics in Medicine 27, 1693-1702; Zou (2007), Psychological
    Methods 12, 399-413 (correlated sides).
    """
    if not pairs:
        return ()
    same = refused is not None and refused.code is ReasonCode.SAME_ROWS
    by_metric: dict[tuple[Metric, float | None], list[tuple[Estimate, Estimate]]] = {}
    before, after = (_mirrors(side) for side in zip(*pairs, strict=True))
    mirrors = dict(before.items() & after.items())
    for old, new in pairs:
        if new.mirror_of is None or _side(new) not in mirrors:
            by_metric.setdefault((new.definition, new.confidence), []).append((old, new))
    batches = [
        _measure_changes(metric, of, None if same else refused, _WIDEST if same else 0.0, level)
        for (metric, level), of in by_metric.items()
    ]
    confidence = max((level for _, level in by_metric if level is not None), default=_USUAL)
    shown = []
    for each in adjusted_together(batches, confidence, averages=True):
        each = replace(each, mirror=mirrors.get(_side(each)))
        if same and not (each.significant or each.changed or each.other_side):
            each = replace(
                each, interval=None, distance_interval=None, distance_adjusted=None,
                change_p_value=None, change_p_adjusted=None, p_value=None, p_adjusted=None,
                reason=each.reason or refused,
            )  # fmt: skip
        if each.direction is None:
            each = replace(each, crossed=False, other_side=False)
        shown.append(each)
    return tuple(sorted(shown, key=_importance))


def _side(each: Estimate | DisparityChange) -> _Key:
    return each.metric, each.feature, each.group


def _mirrors(estimates: Iterable[Estimate]) -> dict[_Key, str | None]:
    # the other of just two groups that are each other's reference
    mirrored = [each for each in estimates if each.mirror_of is not None]
    others = {_side(each): each.mirror_of for each in mirrored}
    return others | {_side(replace(each, group=each.mirror_of)): each.group for each in mirrored}


def _reason_no_interval(old: Estimate, new: Estimate) -> Reason | None:
    for word, each in (("old", old), ("new", new)):
        if each.value is None:
            inner = () if each.reason is None else (each.reason,)
            return Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, report=word, reasons=inner)
        if each.bounds is not None and not (each.interval and each.interval.of_sites):
            return Reason.of(ReasonCode.PROTECTED)
        if each.interval is None:
            return Reason.of(ReasonCode.OLD_OR_NEW_WITHOUT_INTERVAL, report=word)
    if not _same_reference(old, new):
        return Reason.of(ReasonCode.DIFFERENT_REFERENCES)
    if old.confidence != new.confidence:
        return Reason.of(ReasonCode.DIFFERENT_LEVELS)
    return None


def _same_reference(old: Estimate, new: Estimate) -> bool:
    # a metric of all groups has no reference: it names the two groups that are furthest apart
    return new.definition.scope == "feature" or old.reference == new.reference


def _quantity(value: Array, limits: Limits, level: float, p: Array | None = None) -> Quantity:
    # a number with its limits; without a p-value of its own, these are inverted
    z = critical(level)

    @quiet
    def at(other: ArrayLike) -> Limits:
        low, high = (value + (limit - value) * (np.asarray(other) / z) for limit in limits)
        return low, high

    half = np.where(value > 0, value - limits[0], limits[1] - value)
    inverted = two_sided(np.where(value == 0, 0.0, z * value / half))
    inverted = np.where(np.isnan(limits[0] + limits[1]), np.nan, inverted)
    return Quantity(value, at, None, inverted if p is None else p)


@quiet
def _measure_changes(
    metric: Metric,
    pairs: Sequence[tuple[Estimate, Estimate]],
    refused: Reason | None,
    correlation: float,
    confidence: float | None,
) -> MeasuredDisparities:
    ratio = metric.neutral == 1 and metric.range[0] >= 0
    level = confidence or _USUAL  # without one there is no interval

    def read(side: int, of: Callable[[Estimate], float | None]) -> Array:
        return np.array([of(pair[side]) for pair in pairs], dtype=np.float64)

    def scaled(side: int, of: Callable[[Estimate], float | None]) -> Array:
        raw = read(side, of)
        return np.log(raw) if ratio else raw - np.nan_to_num(metric.neutral)

    reasons = [refused or _reason_no_interval(*pair) for pair in pairs]
    tested = np.array([reason is None for reason in reasons])
    same = np.array([_same_reference(*pair) for pair in pairs])
    old, new = (scaled(side, attrgetter("value")) for side in (0, 1))
    old_low, old_high, new_low, new_high = (
        np.where(tested, scaled(side, attrgetter(end)), np.nan)
        for side in (0, 1)
        for end in ("low", "high")
    )
    shift = mover_difference(new, new_low, new_high, old, old_low, old_high, correlation)
    total = mover_difference(new, new_low, new_high, -old, -old_high, -old_low, -correlation)
    ends = (old_low, old_high), (new_low, new_high)
    sides = [
        _quantity(value, limits, level, np.nan_to_num(read(i, attrgetter("p_value")), nan=1.0))
        for i, (value, limits) in enumerate(zip((old, new), ends, strict=True))
    ]
    neutral = same & (not math.isnan(metric.neutral))
    rows = [
        np.minimum(read(0, attrgetter(of)), read(1, attrgetter(of)))
        for of in ("n_group", "n_reference")
    ]
    moved = DisparityChanges(
        _quantity(np.where(old == new, 0.0, new - old), shift, level),
        _quantity(np.where(neutral, new + old, np.nan), total, level),
        (read(0, attrgetter("value")), read(1, attrgetter("value"))),
        (rows[0], rows[1]),
        (IntervalMethod.MOVER,),
        (sides[0], sides[1]),
    )
    bases = [
        DisparityChange(
            metric=new.metric, definition=metric, feature=new.feature, group=new.group,
            reference=new.reference, scope=new.scope, class_scope=new.class_scope,
            threshold=old.threshold if new.threshold is None else new.threshold,
            old_interval=old.interval, new_interval=new.interval,
            by="ratio" if ratio else "difference", before=old, after=new,
        )
        for old, new in pairs
    ]  # fmt: skip
    records = changed_disparities(metric, moved, bases, level)
    judged = []
    for each, pair, reason in zip(records, pairs, reasons, strict=True):
        if each.interval is None:
            reason = reason or Reason.of(ReasonCode.BOTH_UNBOUNDED)
        poor = next((side for side in pair if side.status is not Status.OK), None)
        status, why = (Status.OK, reason) if poor is None else (poor.status, reason or poor.reason)
        judged.append(replace(each, status=status, reason=why))
    return MeasuredDisparities(
        tuple(judged),
        moved.distance_tested_at,
        crossing_p=np.where(neutral, moved.crossing_p(), 1.0),
    )


def _importance(each: DisparityChange) -> tuple[bool, bool, bool, bool, bool, float]:
    size = 0.0  # infinite values mean that a count is 0, not how a group fares
    if each.change is not None and math.isfinite(each.size):
        size = each.size
        if each.by != "ratio" and not all(map(math.isfinite, each.definition.range)):
            size /= max(abs(each.old or 0.0), abs(each.new or 0.0)) or 1.0
    inside = each.scope.kind is ScopeKind.STRATUM
    closer = each.significant and each.direction is Direction.CLOSER
    return not each.significant, closer, not each.other_side, not each.changed, inside, -size


def _verdict_changes(
    verdicts: Sequence[dict[_Key, Verdict]], changed: Iterable[DisparityChange]
) -> list[VerdictChange]:
    # a verdict on a metric of all groups is matched by its feature, whichever groups are now
    # furthest apart; any other by its group
    other_reference = {
        subject_of(each)
        for each in changed
        if each.before and each.before.reference != each.reference
    }
    shared, after = [], verdicts[1]
    for then, now in ((each, after[key]) for key, each in verdicts[0].items() if key in after):
        by_interval = all(each.reason.code in _BY_INTERVAL for each in (then, now))
        sides = {then.outcome, now.outcome} == {Outcome.PASS, Outcome.FAIL}
        compared = not (now.group and subjects_of(now) & other_reference)
        shared.append(VerdictChange(old=then, new=now, shown=by_interval and sides and compared))
    return shared


_ABSENT = {
    "feature": ReasonCode.ABSENT,
    "group": ReasonCode.ABSENT,
    "reference": ReasonCode.IS_REFERENCE,
}


def _name_jointly(old: Report, new: Report) -> tuple[Report, Report]:
    # a group gets one name, and a name one group: "A & B & C" may be another group in the other
    groups: dict[FeatureId, dict[GroupId, str]] = {}
    every: tuple[Estimate | Group, ...]
    every = (*old.groups, *old.estimates, *new.groups, *new.estimates)
    for each in every:
        if each.feature_id is not None:
            of_feature = groups.setdefault(each.feature_id, {})
            if each.group_id is not None and each.group is not None:
                of_feature[each.group_id] = each.group
    features = dict(zip(groups, unique_names(list(groups)), strict=True))
    for of_feature in groups.values():
        of_feature.update(zip(of_feature, group_names(list(of_feature)), strict=True))

    def renamed(each: _Named) -> _Named:
        feature = each.feature_id
        if feature is None or feature not in groups:
            return each
        names = groups[feature]
        if isinstance(each, Estimate) and each.reference and each.reference.group_id:
            group = names.get(each.reference.group_id, each.reference.group)
            each = replace(each, reference=replace(each.reference, group=group))
        group = each.group if each.group_id is None else names.get(each.group_id, each.group)
        return replace(each, feature=features[feature], group=group)

    def of_report(report: Report) -> Report:
        names = ("groups", "estimates", "verdicts")
        own: Any = {name: tuple(map(renamed, getattr(report, name))) for name in names}
        return replace(report, **own)

    return of_report(old), of_report(new)

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.comparisons import Contrast, Metric, is_of_all_groups
from fairgauge.catalogue.lookup import SCORING_RATE
from fairgauge.cube.cube import SCHEMA as CUBE_SCHEMA
from fairgauge.enums import (
    ClassKind,
    DiagnosticCode,
    Direction,
    IntervalMethod,
    Level,
    Outcome,
    ScopeKind,
    Status,
    Turn,
)
from fairgauge.errors import CubeError, DataError, Problem, SpecError, listing, quote, refuse
from fairgauge.inference.two.paired_changes import DisparityChanges, Quantity
from fairgauge.measure._change_records import (
    MeasuredDisparities,
    adjusted_together,
    changed_disparities,
)
from fairgauge.question.options import BY_NAME, OPTIONS
from fairgauge.question.readers import items
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.changes import DisparityChange
from fairgauge.results.comparison import (
    BADNESS,
    MANY_MORE,
    Alone,
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
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report, read_report
from fairgauge.results.scopes import OVERALL, Diagnostic, Interval
from fairgauge.results.shown_result import read_saved
from fairgauge.results.verdicts import Verdict
from fairgauge.stats.arrays import Array, Limits, quiet
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import two_sided
from fairgauge.values import canonical, matches, name_of
from fairgauge.version import __version__

_MAKE = "fairgauge audit DATA ... -o report.json makes one"
Key = tuple[object, ...]


def _refuse_estimated(*reports: Report) -> None:
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
    if note.level is not Level.WARNING:
        return 0
    if note.code is DiagnosticCode.SAME_NAMES and not note.get("strata"):  # the largest is as meant
        counted = dict(zip(note["values"], note["rows"], strict=False))
        return sum(n for value, n in counted.items() if value in note["others"])
    if note.code not in _UNCLEAR:
        return 0
    return rows if isinstance(rows, int) else sum(rows)


_UNCLEAR = (
    DiagnosticCode.UNDECIDED_OUTCOMES, DiagnosticCode.APPROVED_AS_REFUSED,
    DiagnosticCode.CLASSES_OF_MISSING, DiagnosticCode.PREDICTION_NOT_A_LABEL,
    DiagnosticCode.MISSING_MARKER,
)  # fmt: skip
"""Warnings of rows whose outcome or group may be another one or none."""
_DOUBTFUL = (
    DiagnosticCode.DOUBLED_ROWS, DiagnosticCode.COPIED_FILES,
    DiagnosticCode.UNCOUNTED_ROWS, DiagnosticCode.CODED_NUMBERS, DiagnosticCode.SAME_NAMES,
    DiagnosticCode.REVERSED_SCORES, DiagnosticCode.REVERSED_PREDICTIONS,
)  # fmt: skip
"""Other warnings of rows that may be wrong."""
_UNEVEN = DiagnosticCode.MISSING_OUTCOMES, DiagnosticCode.UNEQUALLY_MISSING


def _unevenness(note: Diagnostic) -> float:
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


_USUAL = 0.95
_WIDEST = -1.0
"""The correlation of two estimates with which the interval of their difference is widest."""


def changes(
    pairs: Sequence[tuple[Estimate, Estimate]],
    refused: Reason | None = None,
) -> tuple[DisparityChange, ...]:
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
    tuple of DisparityChange
        Those that are significantly further from "no difference", those significantly closer, those
        that changed sides or otherwise significantly, then the others by size; within these, all
        rows before single strata.

    Notes
    -----
    The limits of a change are MOVER's of the two intervals, and widen with the normal quantile.
    From there on a change is tested as one of two models on the same rows is: all changes are one
    family (Holm), in which two groups that are each other's reference are one comparison; both
    estimates must have enough data.

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702; Zou (2007), Psychological Methods 12,
    399-413 (correlated sides).
    """
    if not pairs:
        return ()
    same = refused is not None and refused.code is ReasonCode.SAME_ROWS
    by_metric: dict[tuple[Metric, float | None], list[tuple[Estimate, Estimate]]] = {}
    for pair in pairs:
        by_metric.setdefault((pair[1].definition, pair[1].confidence), []).append(pair)
    batches = [
        _measured(metric, of, None if same else refused, _WIDEST if same else 0.0, level)
        for (metric, level), of in by_metric.items()
    ]
    records = [record for batch in batches for record in batch.records]
    mirrored = _mirrored(records)
    confidence = max((level for _, level in by_metric if level is not None), default=_USUAL)
    made = adjusted_together(batches, [True] * len(records), confidence, mirrored)
    found = []
    for i, each in enumerate(made):
        if i not in mirrored:
            each = replace(each, mirror_of=None)
        if same and not (each.significant or each.changed or each.other_side):
            each = replace(
                each, interval=None, distance_interval=None, distance_adjusted=None,
                change_p_value=None, change_p_adjusted=None, p_value=None, p_adjusted=None,
                reason=each.reason or refused,
            )  # fmt: skip
        if each.direction is None:
            each = replace(each, crossed=False, other_side=False)
        found.append(each)
    return tuple(sorted(found, key=_importance))


def _mirrored(records: Sequence[DisparityChange]) -> dict[int, int]:
    def place(each: DisparityChange, group: str | None) -> tuple[object, ...]:
        return (each.metric, each.feature, group, each.scope, each.class_scope, each.threshold)

    places = {place(each, each.group): i for i, each in enumerate(records)}
    found = {}
    for i, each in enumerate(records):
        other = places.get(place(each, each.mirror_of)) if each.mirror_of is not None else None
        if other is None or each.before is None:
            continue
        before = records[other].before
        if each.before.mirror_of or (before is not None and before.mirror_of):
            found[i] = other
    return found


def _why_no_interval(old: Estimate, new: Estimate) -> Reason | None:
    for word, each in (("old", old), ("new", new)):
        if each.value is None:
            inner = () if each.reason is None else (each.reason,)
            return Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, report=word, reasons=inner)
        if each.bounds is not None:
            return Reason.of(ReasonCode.PROTECTED)
        if each.interval is None:
            return Reason.of(ReasonCode.OLD_OR_NEW_WITHOUT_INTERVAL, report=word)
    if not _same_reference(old, new):
        return Reason.of(ReasonCode.DIFFERENT_REFERENCES)
    if old.confidence != new.confidence:
        return Reason.of(ReasonCode.DIFFERENT_LEVELS)
    return None


def _same_reference(old: Estimate, new: Estimate) -> bool:
    """Return whether both are of the same comparison.

    A metric of all groups has no reference: it names the two groups that are furthest apart.
    """
    return new.definition.scope == "feature" or old.reference == new.reference


@dataclass(frozen=True, slots=True, eq=False)
class _Stated(Quantity):
    """A number with its limits at one level, which widen with the normal quantile.

    ``p`` is the p-value of 0.
    """

    p: Array = field(default_factory=lambda: np.zeros(0))

    def p_value(self, null: float = 0.0) -> Array:
        """Return the p-value of 0."""
        assert null == 0.0
        return self.p


def _stated(value: Array, limits: Limits, level: float, p: Array | None = None) -> _Stated:
    """Return a number with its limits; without a p-value of its own, these are inverted."""
    z = critical(level)

    @quiet
    def at(other: ArrayLike) -> Limits:
        low, high = (value + (limit - value) * (np.asarray(other) / z) for limit in limits)
        return low, high

    half = np.where(value > 0, value - limits[0], limits[1] - value)
    inverted = two_sided(np.where(value == 0, 0.0, z * value / half))
    inverted = np.where(np.isnan(limits[0] + limits[1]), np.nan, inverted)
    return _Stated(value, at, None, inverted if p is None else p)


@quiet
def _measured(
    metric: Metric,
    pairs: Sequence[tuple[Estimate, Estimate]],
    refused: Reason | None,
    correlation: float,
    confidence: float | None,
) -> MeasuredDisparities:
    ratio = metric.neutral == 1 and metric.range[0] >= 0
    level = confidence or _USUAL  # without one there is no interval

    def scaled(side: int, read: Callable[[Estimate], float | None]) -> Array:
        raw = np.array([read(pair[side]) for pair in pairs], dtype=np.float64)
        return np.log(raw) if ratio else raw - np.nan_to_num(metric.neutral)

    reasons = [refused or _why_no_interval(*pair) for pair in pairs]
    tested = np.array([reason is None for reason in reasons])
    same = np.array([_same_reference(*pair) for pair in pairs])
    old, new = (scaled(side, lambda e: e.value) for side in (0, 1))
    old_low, old_high, new_low, new_high = (
        np.where(tested, scaled(side, end), np.nan) for side in (0, 1) for end in (_low, _high)
    )
    shift = mover_difference(new, new_low, new_high, old, old_low, old_high, correlation)
    total = mover_difference(new, new_low, new_high, -old, -old_high, -old_low, -correlation)
    ends = (old_low, old_high), (new_low, new_high)
    sides = [
        _stated(value, (low, high), level, np.array([_p_of(pair[i]) for pair in pairs]))
        for i, (value, (low, high)) in enumerate(zip((old, new), ends, strict=True))
    ]
    neutral = same & (not math.isnan(metric.neutral))
    rows = [
        np.array([min(_n(old, of), _n(new, of)) for old, new in pairs])
        for of in ("n_group", "n_reference")
    ]
    made = DisparityChanges(
        _stated(np.where(old == new, 0.0, new - old), shift, level),
        _stated(np.where(neutral, new + old, np.nan), total, level),
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
            by="ratio" if ratio else "difference", mirror_of=new.mirror_of, before=old, after=new,
        )
        for old, new in pairs
    ]  # fmt: skip
    raw = [np.array([pair[i].value for pair in pairs], dtype=np.float64) for i in (0, 1)]
    records = changed_disparities(metric, made, (raw[0], raw[1]), bases, level)
    return MeasuredDisparities(
        tuple(map(_with_status, records, reasons)),
        made.distance_tested_at,
        crossing_p=np.where(neutral, made.crossing_p(), 1.0),
    )


def _with_status(each: DisparityChange, reason: Reason | None) -> DisparityChange:
    old, new = each.before, each.after
    assert old is not None
    assert new is not None
    poor = next((side for side in (old, new) if side.status is not Status.OK), None)
    if each.interval is None:
        reason = reason or Reason.of(ReasonCode.BOTH_UNBOUNDED)
    if poor is not None:
        reason = reason or poor.reason
    status = Status.OK if poor is None else poor.status
    return replace(each, status=status, reason=reason)


def _low(each: Estimate) -> float | None:
    return each.low


def _high(each: Estimate) -> float | None:
    return each.high


def _n(each: Estimate, of: str) -> float:
    n = getattr(each, of)
    return math.nan if n is None else float(n)


def _p_of(each: Estimate) -> float:
    return 1.0 if each.p_value is None else each.p_value


def _size(each: DisparityChange) -> float:
    change = each.change or 0.0
    far = abs(math.log(change)) if each.by == "ratio" and change > 0 else abs(change)
    if not math.isfinite(far):
        return 0.0  # infinite values mean that a count is 0, not how a group fares
    if each.by == "ratio" or all(map(math.isfinite, each.definition.range)):
        return far
    return far / (max(abs(each.old or 0.0), abs(each.new or 0.0)) or 1.0)


def _importance(each: DisparityChange) -> tuple[bool, bool, bool, bool, bool, float]:
    inside = each.scope.kind is ScopeKind.STRATUM
    closer = each.significant and each.direction is Direction.CLOSER
    return (not each.significant, closer, not each.other_side, not each.changed, inside,
            -_size(each))  # fmt: skip


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


def verdict_changes(old: Report, new: Report, changes: Iterable[DisparityChange]) -> VerdictChanges:
    """Hold the verdicts of two reports against each other.

    A verdict on a metric of all groups is matched by its feature, whichever groups are now furthest
    apart; any other by its group. It is worse by a change of what decides it now, and better by one
    of what decided it before: of several classes or thresholds, these may be two.
    """
    further: set[Place] = set()
    closer: set[Place] = set()
    other_reference: set[Subject] = set()
    for each in changes:
        subject = subject_of(each)
        if each.significant and each.scope.kind is not ScopeKind.STRATUM:
            if each.direction is Direction.FURTHER:
                further |= places_of(each)
            elif each.before is not None:
                closer |= places_of(each.before)
        before_ = each.before and each.before.reference
        if before_ != each.reference and subject[2] is not None:
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

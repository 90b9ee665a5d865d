"""Small groups: comparisons with a side below the smallest size asked for decide nothing.

The largest gap of all groups is at least that of some of them, the lowest rate at most theirs, and
the worst of two rates at least as bad as either: a part that is outside a limit decides, whatever
the groups and parts without enough data are like. A variance or another index is that of the groups
with enough data: otherwise a handful of rows of one more group would hide theirs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from fairgauge.catalogue.across import Across, Joint, is_extreme
from fairgauge.catalogue.comparisons import Combined, Contrast, Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, ReferenceKind, Status, Task
from fairgauge.inference.contrast_intervals import EveryGroup
from fairgauge.inference.interval import certainty, stricter
from fairgauge.measure.measured import Adequate
from fairgauge.measure.slices import Slice, slice_of
from fairgauge.question.specification import Spec
from fairgauge.reasons import Parameter, Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, count_groups, group_fields, known_outcome
from fairgauge.resolve.question_checks import FEW_PUBLISHED
from fairgauge.resolve.resolution import Resolution
from fairgauge.resolve.unrecorded_counts import UnrecordedGroups
from fairgauge.results.estimates import ComparisonKey, Estimate, Group, as_count
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.start.records import replace
from fairgauge.stats.contrasts import fold

_NAMED = (ReferenceKind.GROUP, ReferenceKind.BEST, ReferenceKind.LARGEST)
Small = dict[tuple[str, str | None], Reason]
"""By feature and group; by feature and None where fewer than two of its groups are large enough."""


def small_groups(features: Iterable[GroupCounts | UnrecordedGroups], spec: Spec) -> Small:
    """Return why each group below ``min_n`` or ``min_share`` is too small, by feature and name."""
    small: Small = {}
    if spec.min_n is None and spec.min_share is None:
        return small
    unit = spec.unit.get("unit", "rows")
    for counts in features:
        of_share = math.ceil(counts.every_case * (spec.min_share or 0.0))
        minimum = max(spec.min_n or 0, of_share)
        share: dict[str, Parameter] = {}
        if minimum == of_share:
            share = {"share": spec.min_share, "total": as_count(counts.every_case), "unit": unit}
            known = known_outcome(counts, spec) if isinstance(counts, GroupCounts) else None
            share |= {"known": known} if known else {}
        sizes = dict(zip(counts.groups, counts.cases.tolist(), strict=True))
        for name, cases in sorted(sizes.items(), key=lambda item: item[1]):
            if cases < minimum:
                reason = Reason.of(
                    ReasonCode.SMALL_GROUP, n=as_count(cases), minimum=minimum, **share
                )
                small[counts.feature, name] = reason
                small[counts.feature, None] = reason  # the largest of them, in the end
        if sum(cases >= minimum for cases in sizes.values()) > 1:
            small.pop((counts.feature, None), None)
    return small


def mark_estimates(estimates: Sequence[Estimate], small: Small) -> list[Estimate]:
    """Return the estimates; those of a group that is too small name the side."""
    marked = list(estimates)
    for i, each in enumerate(estimates if small else ()):
        if each.feature is None or not _replaceable(each.status, each.reason):
            continue
        sides = {"group": each.group}
        if each.reference is not None and each.reference.kind in _NAMED:
            sides["reference"] = each.reference.group
        few = ((side, small.get((each.feature, name))) for side, name in sides.items())
        reason = next((reason.on(side) for side, reason in few if reason is not None), None)
        if reason is not None:
            marked[i] = replace(each, status=Status.TOO_FEW, reason=reason)
    return marked


def mark_groups(groups: Sequence[Group], small: Small) -> list[Group]:
    marked = []
    for group in groups:
        reason = small.get((group.feature, group.group))
        if reason is not None and group.reference_kind is None:
            rates = {
                name: replace(rate, status=Status.TOO_FEW, reason=reason)
                if _replaceable(rate.status, rate.reason)
                else rate
                for name, rate in group.rates.items()
            }
            group = replace(group, rates=rates)
        marked.append(group)
    return marked


def _replaceable(status: Status, reason: Reason | None) -> bool:
    # the minimum asked for is then the reason, so that one group does not have two minimums
    few = status is Status.TOO_FEW and reason is not None and reason.code is ReasonCode.FEW_ROWS
    return status is Status.OK or few


def adequate_parts(
    estimates: Iterable[Estimate], slices: Sequence[Slice], small: Small, ruled: Collection[str]
) -> Iterator[tuple[ComparisonKey, Adequate]]:
    """Yield what the data show of ruled metrics of all groups, where they do not suffice."""
    for estimate in estimates:
        if (
            estimate.metric not in ruled
            or estimate.scope != OVERALL
            or not (isinstance(estimate.definition, Across) or is_extreme(estimate.definition))
        ):
            continue
        part = slice_of(estimate, slices)
        if part is not None and part.ranges is None:
            adequate = _adequate_extreme(part, estimate, small)
            if adequate is not None:
                spans = estimate.definition.scope == "feature"
                yield replace(estimate, group=None if spans else estimate.group).key, adequate


def _adequate_extreme(part: Slice, extreme: Estimate, small: Small) -> Adequate | None:
    # what is known of an extreme; its parts hold simultaneously (Bonferroni)
    metric = extreme.definition
    parts: Sequence[Metric] = (metric,)
    if isinstance(metric, (Joint, Combined)) and is_extreme(metric):
        parts = metric.of
        part = Slice(part.counts, part.outcome, stricter(part.spec, len(parts)))
    adequate, reasons = [], []
    for each in parts:
        of_part = _adequate_spread if isinstance(each, Across) else _adequate_contrast
        estimate, few = of_part(part, each, extreme, small)
        adequate += [estimate] if estimate else []
        reasons += few
    return Adequate(tuple(adequate), tuple(dict.fromkeys(reasons))) if reasons else None


def _adequate_contrast(
    part: Slice, metric: Metric, extreme: Estimate, small: Small
) -> tuple[Estimate | None, list[Reason]]:
    assert isinstance(metric, Contrast)
    alike = [
        estimate
        for estimate in part.estimates(metric)
        if (estimate.group, estimate.scope, estimate.reference)
        == (extreme.group, OVERALL, extreme.reference)
    ]
    own = next(iter(mark_estimates(alike, small)), None)
    if own is None:  # against the best group: that of this part is another one
        return None, [extreme.reason] if extreme.reason else []
    if own.status is not Status.OK or own.value is None or own.interval is None:
        return None, [own.reason or Reason.of(ReasonCode.NO_INTERVAL)]
    low, high = map(float, fold(np.array(own.interval.low), np.array(own.interval.high)))
    interval = replace(own.interval, low=low, high=high)
    return replace(own, value=abs(own.value), interval=interval), []


def _adequate_spread(
    part: Slice, metric: Metric, extreme: Estimate, small: Small
) -> tuple[Estimate | None, list[Reason]]:
    assert isinstance(metric, Across)
    from fairgauge.inference.across_groups import insufficient_groups

    names = part.counts.groups
    few = insufficient_groups(metric, _group_evidence(part, np.arange(len(names))), part.spec)
    why = [small.get((part.counts.feature, name)) or few[g] for g, name in enumerate(names)]
    reasons = [reason.on(f"group {names[g]}") for g, reason in enumerate(why) if reason]
    kept = np.flatnonzero([reason is None for reason in why])
    if not len(kept):
        return None, reasons or [Reason.of(ReasonCode.FEWER_THAN_TWO_GROUPS)]
    adequate = _group_evidence(part, kept)
    spread = metric.across(adequate.data.side, 1, part.spec.profile)
    if math.isnan(spread.value[0]):
        return None, reasons or [metric.why_undefined(spread, 0)]
    intervals = part.uncertainty.feature_intervals(metric, adequate, spread)
    certain = certainty(intervals, 0, part.spec.confidence)
    pair = certain["reason"] if certain["status"] is Status.TOO_FEW else None
    estimate = replace(
        extreme,
        **group_fields(part.counts, int(kept[int(spread.first[0])])),
        value=float(spread.value[0]),
        interval=certain.get("interval"),
        status=Status.OK,
        reason=None,
    )
    return estimate, [*reasons, *([pair] if pair else [])]


def _group_evidence(part: Slice, groups: np.ndarray[tuple[int], np.dtype[np.int64]]) -> EveryGroup:
    return EveryGroup(part.side_data(groups, np.zeros_like(groups)), slots=1, adequate=True)


def excluded_groups(
    cube: Cube, resolution: Resolution, rates: Iterable[Statistic]
) -> Iterator[Diagnostic]:
    """State the number and the selection rate of excluded groups, for tables to publish.

    Of a group of the minimum share or more it is a warning.
    """
    # Groups of probabilities have no numbers, and protected counts no exact ones.
    spec = resolution.spec
    selection = [each for each in rates if each.name == "selection_rate"]
    published = spec.preset is not None and spec.preset.published_metrics
    if not (published and spec.exclude_groups and selection) or resolution.task is not Task.BINARY:
        return
    kept = {(counts.feature, name) for counts in resolution.features for name in counts.groups}
    every = count_groups(cube, replace(spec, exclude_groups=()))
    small = small_groups(every, spec)
    for counts in every:
        for outcome in () if counts.protected else resolution.outcomes:
            for each in Slice(counts, outcome, spec).groups(selection):
                rate = each.rates[selection[0].name]
                of = (counts.feature, str(each.group))
                if each.reference_kind is not None or each.scope != OVERALL or of in kept:
                    continue
                rows = rate.denominator or 0
                hits = {"weighted": True} if counts.weighted else {"selected": rate.numerator}
                is_small = of in small and bool(spec.min_share)
                note = Diagnostic.note if is_small else Diagnostic.warning
                yield note(
                    DiagnosticCode.EXCLUDED_GROUP,
                    counts.feature,
                    group=each.group,
                    rows=rows,
                    value=rate.value,
                    few=rows < FEW_PUBLISHED,
                    **hits,
                    **spec.unit,
                    **({"below": spec.min_share} if is_small else {}),
                    **({"threshold": outcome.threshold} if len(resolution.outcomes) > 1 else {}),
                )

"""Bias drift: which metrics are farther from "no bias" than the baseline has them.

The service compares values alone (`--check point`). Its guide describes another rule, by bootstrap
intervals (`--check interval`): an alert only when the interval and the allowed range are disjoint.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from fairgauge_cloud._service_texts import spelled
from fairgauge_cloud.clarify.analysis_files import MetricValue

Values = Mapping[tuple[str, str, str, str], MetricValue]

_RATIOS = ("DI",)
_INTERVAL = re.compile(r"\(([^,]+), ([^,]+)[\])]")
_ROUNDING = 1e-12
"""Sums of logarithms differ in their last digits from one program to the next."""


class DriftCheck(StrEnum):
    """What decides: the value alone, or its interval."""

    POINT = "point"
    INTERVAL = "interval"


@dataclass(frozen=True, slots=True)
class Violation:
    """A metric that drifted away from "no bias": the service's keys, in the service's order."""

    facet: str
    facet_value: str
    metric_name: str
    constraint_check_type: str = field(default="bias_drift_check", init=False)
    description: str


@dataclass(frozen=True, slots=True)
class Drift:
    """What a comparison with a baseline came to."""

    violations: tuple[Violation, ...]
    not_evaluated: tuple[str, ...]
    evaluated: int
    check: DriftCheck

    @property
    def summary(self) -> str:
        """Return the status as the service words it, the counts, and every violation."""
        status = "CompletedWithViolations" if self.violations else "Completed"
        lines = [
            f"{status}: {self.evaluated} metrics compared",
            f"  {len(self.violations)} drifted, {len(self.not_evaluated)} not evaluated",
        ]
        lines += [
            f"  {each.metric_name}  {each.facet} {each.facet_value}: {each.description}"
            for each in self.violations
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the text of ``constraint_violations.json``."""
        found: dict[str, object] = {
            "version": "1.0",
            "violations": [asdict(violation) for violation in self.violations],
        }
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"

    def additions_to_json(self) -> str:
        """Return the text of ``fairgauge_drift.json``: what was compared, and what could not be."""
        found = {
            "schema": "fairgauge.clarify_drift/1",
            "check": str(self.check),
            "evaluated": self.evaluated,
            "not_evaluated": list(self.not_evaluated),
        }
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def compare(
    current: Values,
    baseline: Values,
    check: DriftCheck = DriftCheck.POINT,
    *,
    neutral: bool = False,
) -> Drift:
    """Hold current values against a baseline's."""
    baseline = _aligned(current, baseline)
    violations = []
    open_questions = []
    evaluated = 0
    for key in sorted({*current, *baseline}, key=lambda k: (k[3], *k[:3])):
        reason = _unanswerable(current.get(key), baseline.get(key), check)
        if reason is not None:
            open_questions.append(f"{key[3]} of {key[1]} {key[2]}: {reason}")
            continue
        now, before = current[key], baseline[key]
        evaluated += 1
        if drifted(now, before, check, neutral=neutral):
            text = _description(now, before, check)
            violations.append(Violation(now.facet, now.facet_value, now.metric, text))
    return Drift(tuple(violations), tuple(open_questions), evaluated, check)


def _aligned(current: Values, baseline: Values) -> Values:
    """Name the intervals of the baseline as the current results name them.

    A facet given by a threshold is called ``(100, 225]``, by the largest value of its column; it is
    the same facet when that value moves. Only a facet of one block can be one of these.
    """
    facets: list[dict[tuple[str, str], list[str]]] = []
    for values in (current, baseline):
        blocks: dict[tuple[str, str], list[str]] = {}
        for stage, facet, block, _ in values:
            if block not in blocks.setdefault((stage, facet), []):
                blocks[stage, facet].append(block)
        facets.append(blocks)
    now, before = facets
    renamed = {
        (*key, old[0]): now[key][0]
        for key, old in before.items()
        if len(old) == 1 and len(now.get(key, [])) == 1 and _threshold(old[0]) is not None
        if _threshold(old[0]) == _threshold(now[key][0])
    }
    return {
        (stage, facet, renamed.get((stage, facet, block), block), metric): value
        for (stage, facet, block, metric), value in baseline.items()
    }


def _threshold(block: str) -> float | None:
    """Return the threshold of a block that is an interval: ``(100, 225]`` is above 100."""
    found = _INTERVAL.fullmatch(block)
    try:
        return None if found is None else float(found[1])
    except ValueError:
        return None


def drifted(
    now: MetricValue,
    before: MetricValue,
    check: DriftCheck = DriftCheck.POINT,
    *,
    neutral: bool = False,
) -> bool:
    """Return whether one value is farther from "no bias" than its baseline allows."""
    assert before.value is not None
    as_ratio = neutral and now.metric in _RATIOS
    limit = _distance(before.value, as_ratio=as_ratio)
    if check is DriftCheck.POINT:
        assert now.value is not None
        distance = _distance(now.value, as_ratio=as_ratio)
        return distance > limit and not math.isclose(
            distance, limit, rel_tol=_ROUNDING, abs_tol=_ROUNDING
        )
    assert now.interval is not None
    low, high = (_from_neutral(end, as_ratio=as_ratio) for end in now.interval)
    return low > limit or high < -limit


def _distance(value: float, *, as_ratio: bool) -> float:
    return abs(_from_neutral(value, as_ratio=as_ratio))


def _from_neutral(value: float, *, as_ratio: bool) -> float:
    if not as_ratio:
        return value
    return -math.inf if value <= 0 else math.log(value)


def _unanswerable(
    now: MetricValue | None, before: MetricValue | None, check: DriftCheck
) -> str | None:
    if before is None:
        return "not in the baseline"
    if now is None:
        return "not in the current results"
    if before.value is None:
        return f"the baseline has no value ({before.error or 'null'})"
    if now.value is None:
        return f"there is no value ({now.error or 'null'})"
    if check is DriftCheck.INTERVAL and now.interval is None:
        return "there is no interval"
    return None


def _description(now: MetricValue, before: MetricValue, check: DriftCheck) -> str:
    if check is DriftCheck.POINT:
        return (
            f"Metric value {spelled(now.value)} doesn't meet the baseline constraint requirement "
            f"{spelled(before.value)}"
        )
    assert now.interval is not None
    low, high = (spelled(end) for end in now.interval)
    return (
        f"Metric value {spelled(now.value)}, with the interval [{low}, {high}], lies outside what "
        f"the baseline {spelled(before.value)} allows"
    )

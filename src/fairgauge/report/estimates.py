"""Estimate: a metric, computed for one comparison; and the groups that are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fairgauge.enums import Level, Status, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

POOLED = "pooled"
WORST = "worst"
POPULATION = "population"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One metric of one comparison.

    Attributes
    ----------
    metric, set : catalogue name, and whose metric it is.
    feature, group, reference : who is compared with whom.
    stratum : the stratum held fixed, None for all rows, "pooled" for a pooled metric.
    class_ : the class of a multiclass audit, None otherwise.
    threshold : the score threshold, None without scores.
    value : the estimate; None where undefined, +-inf where the formula says so.
    low, high, confidence, method : its interval, and how it was made.
    p_value, p_adjusted : of "no difference", alone and adjusted for all comparisons.
    n_group, n_reference : the rows that both sides rest on.
    rate_group, rate_reference : the numbers that are compared.
    error : the most that the value can be off because scores were binned, None where it is exact.
    status, reason : whether the value can be relied on, and if not, why.
    says : the comparison in a sentence.
    """

    metric: str
    set: str
    feature: str | None
    group: str
    reference: str | None
    stratum: str | None = None
    class_: str | None = None
    threshold: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    method: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    n_group: float | None = None
    n_reference: float | None = None
    rate_group: float | None = None
    rate_reference: float | None = None
    error: float | None = None
    status: Status = Status.OK
    reason: str | None = None
    says: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return (low, high), or None without an interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class RateValue:
    """A rate of one group.

    Attributes
    ----------
    value : None where undefined.
    low, high, method : its interval, and how it was made.
    shrunken : the value pulled towards the mean of the groups by how little data the group has, for
        looking at many groups and never for a verdict; None with fewer than three groups, and of
        what is no share of rows.
    error : the most that the value can be off because scores were binned, None where it is exact.
    status, reason : whether the value can be relied on, and if not, why.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    shrunken: float | None = None
    error: float | None = None
    status: Status = Status.OK
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two groups of a feature in one rate; the limits of all pairs of the feature hold at once.

    Attributes
    ----------
    feature, rate : of what.
    group, other : the group with the lower rate, and the one with the higher.
    class_, threshold : as of an `Estimate`.
    rate_group, rate_other : the two rates.
    difference, low, high : ``group - other``, never above 0, and its simultaneous limits.
    ratio, ratio_low, ratio_high : ``group / other``, never above 1, and its simultaneous limits;
        None where both rates are 0.
    confidence : the probability that the limits of all pairs of the feature hold at once.
    among : how many pairs those are.
    p_adjusted : of "no difference", adjusted for all pairs (Tukey); below ``1 - confidence``
        exactly where the limits exclude "no difference".
    method : how the limits were made.
    status, reason : whether the pair can be relied on, and if not, why.
    says : the pair in a sentence.
    """

    feature: str
    rate: str
    group: str
    other: str
    class_: str | None = None
    threshold: float | None = None
    rate_group: float
    rate_other: float
    difference: float
    low: float
    high: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    confidence: float
    among: int
    p_adjusted: float
    method: str
    status: Status = Status.OK
    reason: str | None = None
    says: str

    @property
    def sure(self) -> bool:
        """Return whether the groups differ beyond doubt, on enough rows."""
        return self.status is Status.OK and self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The counts and rates of one group.

    Attributes
    ----------
    n, weight, share : its rows (or cases), their weight, and its share of the known rows.
    counts, weighted_counts : tp, fp, fn, tn; None without labels or predictions.
    rates : every rate that applies.
    """

    feature: str
    group: str
    stratum: str | None = None
    class_: str | None = None
    threshold: float | None = None
    n: float = 0
    weight: float | None = None
    share: float | None = None
    counts: Mapping[str, float] | None = None
    weighted_counts: Mapping[str, float] | None = None
    rates: Mapping[str, RateValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCounts:
    """The scores of one group in bins: what ROC and calibration curves and sweeps are drawn from.

    Attributes
    ----------
    low, high : edges of the bins, equal where a bin is a single score.
    positive, negative, unlabelled : rows (or weights) in each bin, by label.
    total : sum of the scores of the rows with a label, in each bin.
    turned : the sum of the ends of the range where the scores are those of the negative value, so
        that a low score speaks for the positive one; None otherwise.
    """

    feature: str
    group: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    positive: tuple[float, ...]
    negative: tuple[float, ...]
    unlabelled: tuple[float, ...]
    total: tuple[float, ...]
    turned: float | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that a reader should know."""

    level: Level
    code: str
    message: str
    where: str | None = None


Compared: TypeAlias = tuple[str, str | None, str, str | None, float | None]
"""What tells comparisons over all rows apart: metric, feature, group, class and threshold."""


@dataclass(frozen=True, slots=True)
class Ungrouped:
    """The least and the greatest value of a comparison, whichever groups some rows are in.

    Attributes
    ----------
    low, high : the values at the worst assignments.
    rows : how many rows have no group.
    """

    low: float
    high: float
    rows: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything computed from a cube."""

    task: Task
    groups: tuple[Group, ...]
    estimates: tuple[Estimate, ...]
    diagnostics: tuple[Diagnostic, ...]
    scores: tuple[ScoreCounts, ...] = ()
    pairs: tuple[Pair, ...] = ()
    ungrouped: Mapping[Compared, Ungrouped] = field(default_factory=dict)


def called(reference: str | None) -> str:
    """Return a reference as it reads in a sentence."""
    return {None: "all", "others": "the rest", "overall": "everyone"}.get(reference, str(reference))


def as_count(number: Any) -> float | Any:
    """Return a count as an int where it is whole, None where it is unknown."""
    value = float(number)
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else value


def as_number(number: Any) -> float | None:
    """Return a number, None where it is unknown."""
    return None if math.isnan(number) else float(number)

"""ModelComparison: candidate models against the model in use on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fairgauge.catalogue.facts import facts_of, own_rates
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.enums import (
    CandidateVerdict,
    Direction,
    Fairness,
    Performance,
    Status,
    Task,
)
from fairgauge.results.definitions import (
    BY_NAME,
    NOT_SAVED,
    defined_by,
    hold_definition,
    saved_fields,
)
from fairgauge.results.plain_values import (
    number,
    plain,
    plain_class,
    plain_interval,
    plain_reason,
    plain_reference,
    plain_scope,
    read_class,
    read_interval,
    read_reason,
    read_reference,
    read_scope,
    reading,
)
from fairgauge.results.scopes import NO_CLASS, OVERALL, ClassScope, Interval, Reference, Scope
from fairgauge.results.shown_result import ShownResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.reasons import Reason
    from fairgauge.results.plain_values import Plain
    from fairgauge.values import Json, Saved

SCHEMA = "fairgauge.models/1"

Among = Literal["all", "positive", "negative"]
"""All rows, or those whose label is the favourable outcome, or is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange:
    """A rate of one group under both models, on the same rows.

    Attributes
    ----------
    rate : its name.
    feature, group : whose; None and "all" of all rows.
    scope, class_scope, threshold : which rows, classes and score threshold.
    old, new : under the model in use and the candidate; None where undefined.
    change : new less old.
    interval : its paired confidence interval, None where there is none.
    ratio, ratio_interval : new divided by old, likewise.
    p_value : of no change.
    n : the (effective) rows that it rests on.
    status, reason : whether the numbers can be relied on, and why not, or why there is no interval.
    definition : the rate itself.
    """

    rate: str
    feature: str | None
    group: str
    scope: Scope = OVERALL
    class_scope: ClassScope = NO_CLASS
    threshold: float | None = None
    old: float | None = None
    new: float | None = None
    change: float | None = None
    interval: Interval | None = None
    ratio: float | None = None
    ratio_interval: Interval | None = None
    p_value: float | None = None
    n: float | None = None
    status: Status = Status.OK
    reason: Reason | None = None
    definition: Statistic = field(default=BY_NAME, compare=False, repr=False, metadata=NOT_SAVED)

    def __post_init__(self) -> None:
        hold_definition(self, self.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityChange:
    """A disparity under both models, on the same rows.

    Attributes
    ----------
    metric, feature, group, reference : the metric, and who is compared with whom; no feature for
        an index of all rows.
    scope, class_scope, threshold : which rows, classes and score threshold.
    old, new : its value under the model in use and the candidate; None where undefined.
    by : whether it changes by a difference (new - old) or by a ratio (new / old).
    change, interval : the change, and its paired confidence interval.
    distance, distance_interval : the change of the distance from "no difference"; negative where
        the candidate is closer; of ratios, of the logarithm's.
    direction : closer to "no difference" or further from it.
    crossed : whether it is on the other side of "no difference" under the candidate.
    p_value, p_adjusted : of "as far as before", alone and adjusted (Holm) for all disparities of
        all candidates.
    distance_adjusted : the interval of the change of the distance at the level at which it is
        tested among all disparities; it excludes 0 just where `p_adjusted` is significant.
    significant : whether the direction is statistically significant.
    needed : rows of this composition that would show the observed direction; None where none would,
        or it is significant.
    n_group, n_reference : (effective) rows of both sides.
    status, reason : whether the numbers can be relied on, and why not, or why there is no interval.
    definition : the metric itself.
    """

    metric: str
    feature: str | None
    group: str
    reference: Reference | None
    scope: Scope = OVERALL
    class_scope: ClassScope = NO_CLASS
    threshold: float | None = None
    old: float | None = None
    new: float | None = None
    by: Literal["difference", "ratio"] = "difference"
    change: float | None = None
    interval: Interval | None = None
    distance: float | None = None
    distance_interval: Interval | None = None
    direction: Direction | None = None
    crossed: bool = False
    p_value: float | None = None
    p_adjusted: float | None = None
    distance_adjusted: Interval | None = None
    significant: bool = False
    needed: float | None = None
    n_group: float | None = None
    n_reference: float | None = None
    status: Status = Status.OK
    reason: Reason | None = None
    definition: Metric = field(default=BY_NAME, compare=False, repr=False, metadata=NOT_SAVED)

    def __post_init__(self) -> None:
        hold_definition(self, self.metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Whether a candidate is as good as the model in use in one rate of all rows.

    Attributes
    ----------
    rate, margin : by how much the rate may be worse.
    change : the rate under both models.
    adjusted : the interval of the change at the level at which the candidate is tested among all
        candidates.
    outcome : non-inferior where that whole interval is within the margin, inferior where it is
        beyond.
    better : whether that whole interval is on the better side of no change.
    p_value, p_adjusted : one-sided, of being worse by more than the margin; adjusted (Holm) for all
        margins of all candidates.
    needed : rows of this composition that would show non-inferiority; None where none would, or the
        test is decided.
    """

    rate: str
    margin: float
    change: RateChange
    outcome: Performance = Performance.CANNOT_TELL
    adjusted: Interval | None = None
    better: bool = False
    p_value: float | None = None
    p_adjusted: float | None = None
    needed: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """Who is decided differently: rows of one group that a candidate accepts, or rejects, instead.

    Attributes
    ----------
    feature, group : whose; None and "all" of all rows.
    among : all rows, or those of one label.
    threshold : the score threshold.
    n : rows; of weighted ones the sum of their weights, as in `gained` and `lost`.
    gained, lost : rows that the candidate alone accepts, and that the model in use alone accepts.
    gained_interval, lost_interval : confidence intervals of their shares.
    """

    feature: str | None
    group: str
    among: Among
    threshold: float | None
    n: float
    gained: float
    lost: float
    gained_interval: Interval | None
    lost_interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A candidate model against the model in use.

    Attributes
    ----------
    name : the column of its decisions or scores.
    rows, undecided : rows that both models decide, and rows that one of them does not; of a count
        column the cases that they stand for.
    verdict : what it is against the model in use.
    fairness, performance : what the verdict is made of.
    needed : rows of this composition that would probably decide the verdict, None where it is
        decided or no number would.
    disparities, rates, margins, reclassified : the numbers.
    """

    name: str
    rows: int
    undecided: int
    verdict: CandidateVerdict = CandidateVerdict.NONE
    fairness: Fairness = Fairness.CANNOT_TELL
    performance: Performance = Performance.NO_MARGIN
    needed: float | None = None
    disparities: tuple[DisparityChange, ...]
    rates: tuple[RateChange, ...]
    margins: tuple[MarginTest, ...]
    reclassified: tuple[Reclassified, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison(ShownResult):
    """Candidate models against the model in use, on the same rows; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that compared, and when.
    task : what labels and decisions are.
    source, fingerprint, rows : what was counted.
    excluded : rows excluded, by reason.
    spec : the whole question.
    current : the column of the model in use.
    confidence : the level of the intervals.
    candidates : the candidates, in the order in which they were named.
    own : the rates of the user's own, as far as they can be shown.
    """

    version: str
    created: str
    task: Task
    source: str
    fingerprint: str
    rows: int
    excluded: Mapping[str, int]
    spec: Mapping[str, Json]
    current: str
    confidence: float
    candidates: tuple[Candidate, ...]
    own: tuple[Statistic, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the comparison stand for."""
        return Catalogue(self.own)

    @property
    def exit_code(self) -> int:
        """Return 0 if a candidate dominates or nothing is to decide, 1 if all are worse, else 3."""
        if self.verdict in (CandidateVerdict.DOMINATES, CandidateVerdict.NONE):
            return 0
        return 1 if self.verdict is CandidateVerdict.WORSE else 3

    @property
    def verdict(self) -> CandidateVerdict:
        """Return the best verdict of a candidate: dominates, trade-off, cannot tell, worse."""
        order = (
            CandidateVerdict.DOMINATES,
            CandidateVerdict.TRADE_OFF,
            CandidateVerdict.CANNOT_TELL,
            CandidateVerdict.WORSE,
            CandidateVerdict.NONE,
        )
        return min((each.verdict for each in self.candidates), key=order.index)

    def __getitem__(self, name: str) -> Candidate:
        """Return the candidate of a name."""
        for each in self.candidates:
            if each.name == name:
                return each
        names = ", ".join(each.name for each in self.candidates)
        raise KeyError(f"no candidate {name!r}; there are {names}")

    def to_dict(self) -> Plain:
        """Return the comparison as plain values, in the order and names of its JSON."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "fairgauge", "version": self.version},
            "created": self.created,
            "task": str(self.task),
            "data": {
                "source": self.source,
                "fingerprint": self.fingerprint,
                "rows": self.rows,
                "excluded": dict(self.excluded),
            },
            "spec": plain(self.spec),
            "current": self.current,
            "confidence": self.confidence,
            "verdict": str(self.verdict),
            "candidates": [_plain_candidate(each) for each in self.candidates],
            "metrics": facts_of((), (rate.name for rate in self.own), self.catalogue),
        }

    @classmethod
    def from_dict(cls, found: Saved) -> ModelComparison:
        """Read what `to_dict` wrote.

        Raises
        ------
        FairgaugeError
            The values are no comparison of models of this version.
        """
        with reading("a comparison of models"):
            comparison = _read(found)
        return defined_by(comparison.catalogue, comparison)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{each.name} {each.verdict}" for each in self.candidates)
        return f"<Comparison with the model {self.current}: {verdicts}; print() shows it>"


_INTERVALS = (
    "interval", "ratio_interval", "distance_interval", "distance_adjusted", "adjusted",
    "gained_interval", "lost_interval",
)  # fmt: skip


def plain_change(each: RateChange | DisparityChange | MarginTest | Reclassified) -> Plain:
    """Return a value as an object: intervals as objects, typed values as in reports."""
    made: Plain = {}
    for item in saved_fields(each):
        value = getattr(each, item.name)
        if item.name in _INTERVALS:
            made[item.name] = None if value is None else plain_interval(value)
        elif isinstance(value, RateChange):
            made[item.name] = plain_change(value)
        elif item.name == "reference":
            made |= plain_reference(value)
        elif isinstance(value, Scope):
            made |= plain_scope(value)
        elif isinstance(value, ClassScope):
            made |= plain_class(value)
        elif item.name == "reason":
            made[item.name] = plain_reason(value)
        else:
            made[item.name] = plain(value)
    return made


def _plain_candidate(each: Candidate) -> Plain:
    return {
        "name": each.name,
        "rows": each.rows,
        "undecided": each.undecided,
        "verdict": str(each.verdict),
        "fairness": str(each.fairness),
        "performance": str(each.performance),
        "needed": each.needed,
        "disparities": [plain_change(one) for one in each.disparities],
        "rates": [plain_change(one) for one in each.rates],
        "margins": [plain_change(one) for one in each.margins],
        "reclassified": [plain_change(one) for one in each.reclassified],
    }


def _read(values: Saved) -> ModelComparison:
    if values["schema"] != SCHEMA:
        raise ValueError(f"its schema is not {SCHEMA}")
    data = values["data"]
    return ModelComparison(
        version=values["tool"]["version"],
        created=values["created"],
        task=Task(values["task"]),
        source=data["source"],
        fingerprint=data["fingerprint"],
        rows=data["rows"],
        excluded=data["excluded"],
        spec=values["spec"],
        current=values["current"],
        confidence=values["confidence"],
        candidates=tuple(_read_candidate(each) for each in values["candidates"]),
        own=own_rates(values.get("metrics", {})),
    )


def _read_candidate(values: Saved) -> Candidate:
    return Candidate(
        name=values["name"],
        rows=values["rows"],
        undecided=values["undecided"],
        verdict=CandidateVerdict(values["verdict"]),
        fairness=Fairness(values["fairness"]),
        performance=Performance(values["performance"]),
        needed=values["needed"],
        disparities=tuple(read_disparity_change(each) for each in values["disparities"]),
        rates=tuple(read_rate_change(each) for each in values["rates"]),
        margins=tuple(
            MarginTest(
                **{
                    **_values(each, MarginTest),
                    "change": read_rate_change(each["change"]),
                    "outcome": Performance(each["outcome"]),
                }
            )
            for each in values["margins"]
        ),
        reclassified=tuple(
            Reclassified(**_values(each, Reclassified)) for each in values["reclassified"]
        ),
    )


def read_rate_change(values: Saved) -> RateChange:
    """Read a change of a rate that `plain_change` wrote."""
    return RateChange(**_values(values, RateChange))


def read_disparity_change(values: Saved) -> DisparityChange:
    """Read a change of a disparity that `plain_change` wrote."""
    direction = values["direction"]
    typed = {"direction": None if direction is None else Direction(direction)}
    return DisparityChange(**_values(values, DisparityChange) | typed)


def _values(values: Saved, of: type) -> dict[str, Any]:
    """Return the fields of a value that `_plain` wrote."""
    found: dict[str, Any] = {}
    for name in (item.name for item in saved_fields(of)):
        if name in _INTERVALS:
            ends = values.get(name)
            found[name] = None if ends is None else read_interval(dict(ends))
        elif name == "scope":
            found[name] = read_scope(values)
        elif name == "class_scope":
            found[name] = read_class(values)
        elif name == "reference":
            found[name] = read_reference(values)
        elif name == "reason":
            found[name] = read_reason(values[name])
        elif name == "status":
            found[name] = Status(values[name])
        else:
            found[name] = number(values[name])
    return found

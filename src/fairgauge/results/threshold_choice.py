"""ThresholdChoice: what every threshold of a score comes to, and which one meets a goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Accepts, Outcome
from fairgauge.errors import DataError, quote
from fairgauge.results.model_comparison import (
    DisparityChange,
    RateChange,
    plain_change,
    read_disparity_change,
    read_rate_change,
)
from fairgauge.results.plain_values import (
    number,
    plain,
    plain_diagnostic,
    plain_interval,
    plain_reference,
    read_diagnostic,
    read_interval,
    read_reference,
    reading,
)
from fairgauge.results.shown_result import ShownResult
from fairgauge.results.verdicts import exit_code
from fairgauge.values import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.results.plain_values import Plain
    from fairgauge.results.scopes import Diagnostic, Interval, Reference
    from fairgauge.values import Saved, Value

SCHEMA = "fairgauge.thresholds/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """What one threshold comes to, in the half of the rows by which none is chosen.

    Attributes
    ----------
    threshold : the threshold, on the scale of the score as given.
    performance, performance_interval : the rate that is kept, of all rows; None where undefined.
    group, reference : the group that decides the outcome, of several the furthest from the goal,
        and what it is compared with.
    disparity, disparity_interval : the metric of the goal, of that group.
    value_meets : whether the value of every group's metric meets the goal.
    outcome : pass where the whole interval of every group's metric meets the goal, fail where one
        is outside it, else inconclusive.
    """

    threshold: float
    performance: float | None
    performance_interval: Interval | None
    group: str
    reference: Reference | None
    disparity: float | None
    disparity_interval: Interval | None
    value_meets: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdEffect:
    """What a choice changes, in the other half of the rows.

    Attributes
    ----------
    thresholds : the threshold of every group; the same of all for a common threshold.
    performance : the kept rate of all rows, today and with the choice.
    disparities : the metric of the goal for every group, likewise.
    choosing_outcome : what the intervals came to in the half that chose; pass where the choice was
        made with a margin.
    choosing_keeps : whether the kept rate was worse by the margin at most there.
    value_meets : whether the value of every group's metric meets the goal in the other half.
    outcome : pass where the whole interval of every group's metric meets the goal there, fail where
        one is outside it, else inconclusive.
    needed_rows : new rows of this composition that would probably (80%) decide at these thresholds,
        if the values are the truth; None where the outcome is decided or no number of rows would.
    """

    thresholds: Mapping[str, float]
    performance: RateChange
    disparities: tuple[DisparityChange, ...]
    choosing_outcome: Outcome
    choosing_keeps: bool
    value_meets: bool
    outcome: Outcome
    needed_rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureThresholds:
    """The thresholds of a score for the groups of one feature.

    Attributes
    ----------
    feature : the sensitive feature, or the intersection.
    columns : the columns that it is made of.
    frontier : every common threshold, in ascending order.
    common : the common threshold closest to today's that meets the goal and keeps the rate in the
        half that chooses: by the whole interval of every group where a threshold does, else by the
        values alone; None where none does.
    by_group : the most accurate thresholds of each group that meet the goal, likewise; they keep
        the rate where some that meet the goal do. None where none meet it, or the goal is one-sided
        or another rate than accuracy is kept. Different thresholds by group are disparate treatment
        in many places.
    reweighing : weights of Kamiran and Calders by group and label, for retraining.
    """

    feature: str
    columns: tuple[str, ...]
    frontier: tuple[OperatingPoint, ...]
    common: ThresholdEffect | None
    by_group: ThresholdEffect | None
    reweighing: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChoice(ShownResult):
    """The thresholds of a score: the frontier, and the choice closest to today that meets a goal.

    ``choice["sex"]`` is that of one feature.

    Attributes
    ----------
    version, created : the fairgauge that made it, and when.
    source, rows : what was counted; of a count column the cases that its rows stand for.
    score : the column of the score.
    accepts : how a score with the favourable decision compares with its threshold; below it where
        the scores are those of another value than the positive one.
    today : the threshold in use.
    goal, kept, margin : the rule, the rate that is kept, and by how much it may be worse.
    confidence, seed : the level of the intervals, and the seed by which rows were halved.
    features : the choice for each sensitive feature and intersection, each by itself.
    diagnostics : warnings of what the question may have meant instead.
    """

    version: str
    created: str
    source: str
    rows: int
    score: str
    accepts: Accepts
    today: float
    goal: str
    kept: str
    margin: float
    confidence: float
    seed: int
    features: tuple[FeatureThresholds, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 1 where no threshold meets the rule or one fails it, 3 undecided, 0 otherwise."""
        outcomes = {each.common.outcome if each.common else Outcome.FAIL for each in self.features}
        worst_first = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
        return exit_code(next(outcome for outcome in worst_first if outcome in outcomes))

    def __getitem__(self, feature: str) -> FeatureThresholds:
        """Return the thresholds for the groups of a feature.

        Raises
        ------
        KeyError
            No thresholds were chosen for it.
        """
        for each in self.features:
            if each.feature == feature:
                return each
        raise KeyError(f"{quote(feature)}; there is {', '.join(e.feature for e in self.features)}")

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the choice stand for."""
        return BUILT_IN

    def apply(
        self, frame: Any, *, feature: str | None = None, by_group: bool = False
    ) -> list[bool | None]:
        """Return the decisions of a choice for the rows of a frame of any engine.

        Parameters
        ----------
        frame : frame
            With the column of the score and, for thresholds by group, of the sensitive feature.
        feature : str, optional
            The feature whose choice is applied; needed where there are several.
        by_group : bool
            Apply the thresholds of each group instead of the common one.

        Raises
        ------
        DataError
            There is no such choice, a column is missing, or a group has no threshold.
        """
        from fairgauge.scan import open_source
        from fairgauge.scan.row_access import numbers_of, read_rows

        of = self._one(feature)
        chosen = of.by_group if by_group else of.common
        if chosen is None:
            raise DataError(f"no threshold meets {self.goal}; there is nothing to apply")
        source = open_source(frame)
        columns = [self.score, *of.columns] if by_group else [self.score]
        missing = [column for column in columns if column not in source.columns]
        if missing:
            raise DataError(f"the data have no column {quote(missing[0])}, which is decided by")
        rows = read_rows(source, columns)
        scores = numbers_of(rows[self.score]).tolist()
        if not by_group:
            (cut,) = set(chosen.thresholds.values())
            cuts: list[float | None] = [cut] * len(scores)
        else:
            names = _groups_of([rows[column] for column in of.columns])
            unknown = sorted({n for n in names if n is not None} - set(chosen.thresholds))
            if unknown:
                raise DataError(f"the group {quote(unknown[0])} has no threshold")
            cuts = [None if name is None else chosen.thresholds[name] for name in names]
        return [
            None if cut is None or score != score else self.accepts.decides(score, cut)
            for score, cut in zip(scores, cuts, strict=True)
        ]

    def _one(self, feature: str | None) -> FeatureThresholds:
        """Return the choice of a feature, or the only one."""
        named = [each for each in self.features if feature in (None, each.feature)]
        if len(named) == 1:
            return named[0]
        every = ", ".join(quote(each.feature) for each in self.features)
        raise DataError(f"name the feature whose thresholds are applied: {every}")

    def to_dict(self) -> Plain:
        """Return the choice as plain values, in the order and names of its JSON."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "fairgauge", "version": self.version},
            "created": self.created,
            "data": {"source": self.source, "rows": self.rows},
            "score": self.score,
            "accepts": str(self.accepts),
            "today": self.today,
            "goal": self.goal,
            "kept": self.kept,
            "margin": self.margin,
            "confidence": self.confidence,
            "seed": self.seed,
            "features": [_plain_feature(each) for each in self.features],
            "diagnostics": [plain_diagnostic(each) for each in self.diagnostics],
        }

    @classmethod
    def from_dict(cls, found: Saved) -> ThresholdChoice:
        """Read what `to_dict` wrote.

        Raises
        ------
        FairgaugeError
            The values are no choice of thresholds of this version.
        """
        with reading("a choice of thresholds"):
            return _read(found)


def _groups_of(columns: Sequence[Sequence[Value]]) -> list[str | None]:
    """Return the name of the group of every row; None where a value is missing."""
    return [
        None if None in values else " & ".join(map(name_of, values))
        for values in zip(*columns, strict=True)
    ]


def _plain_feature(each: FeatureThresholds) -> Plain:
    return {
        "feature": each.feature,
        "columns": list(each.columns),
        "frontier": [_plain_point(point) for point in each.frontier],
        "common": _plain_effect(each.common),
        "by_group": _plain_effect(each.by_group),
        "reweighing": plain(each.reweighing),
    }


def _plain_effect(effect: ThresholdEffect | None) -> Plain | None:
    if effect is None:
        return None
    return {
        "thresholds": dict(effect.thresholds),
        "performance": plain_change(effect.performance),
        "disparities": [plain_change(each) for each in effect.disparities],
        "choosing_outcome": str(effect.choosing_outcome),
        "choosing_keeps": effect.choosing_keeps,
        "value_meets": effect.value_meets,
        "outcome": str(effect.outcome),
        "needed_rows": effect.needed_rows,
    }


def _plain_point(each: OperatingPoint) -> Plain:
    return {
        "threshold": each.threshold,
        "performance": plain(each.performance),
        "performance_interval": _plain_ends(each.performance_interval),
        "group": each.group,
        **plain_reference(each.reference),
        "disparity": plain(each.disparity),
        "disparity_interval": _plain_ends(each.disparity_interval),
        "value_meets": each.value_meets,
        "outcome": str(each.outcome),
    }


def _plain_ends(interval: Interval | None) -> Plain | None:
    return None if interval is None else plain_interval(interval)


def _read_point(values: Saved) -> OperatingPoint:
    intervals = {
        name: None if values[name] is None else read_interval(dict(values[name]))
        for name in ("performance_interval", "disparity_interval")
    }
    return OperatingPoint(
        threshold=values["threshold"],
        performance=number(values["performance"]),
        group=values["group"],
        reference=read_reference(values) if "reference" in values else None,
        disparity=number(values["disparity"]),
        value_meets=values["value_meets"],
        outcome=Outcome(values["outcome"]),
        **intervals,
    )


def _read(values: Saved) -> ThresholdChoice:
    if values["schema"] != SCHEMA:
        raise ValueError(f"its schema is not {SCHEMA}")
    names = ("score", "today", "goal", "kept", "margin", "confidence", "seed")
    return ThresholdChoice(
        version=values["tool"]["version"],
        created=values["created"],
        source=values["data"]["source"],
        rows=values["data"]["rows"],
        accepts=Accepts(values["accepts"]),
        features=tuple(map(_read_feature, values["features"])),
        diagnostics=tuple(map(read_diagnostic, values["diagnostics"])),
        **{name: values[name] for name in names},
    )


def _read_feature(values: Saved) -> FeatureThresholds:
    return FeatureThresholds(
        feature=values["feature"],
        columns=tuple(values["columns"]),
        frontier=tuple(map(_read_point, values["frontier"])),
        common=_read_effect(values["common"]),
        by_group=_read_effect(values["by_group"]),
        reweighing=values["reweighing"],
    )


def _read_effect(values: Saved | None) -> ThresholdEffect | None:
    if values is None:
        return None
    return ThresholdEffect(
        thresholds=values["thresholds"],
        performance=read_rate_change(values["performance"]),
        disparities=tuple(read_disparity_change(each) for each in values["disparities"]),
        choosing_outcome=Outcome(values["choosing_outcome"]),
        choosing_keeps=values["choosing_keeps"],
        value_meets=values["value_meets"],
        outcome=Outcome(values["outcome"]),
        needed_rows=values["needed_rows"],
    )

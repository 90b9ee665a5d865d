"""What is computed from a cube, before it is judged: a report holds what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairgauge import enums, identity
from fairgauge.identity import FeatureId, GroupId
from fairgauge.inference.possible import WorstCase
from fairgauge.reasons import Reason
from fairgauge.results import estimates as estimated
from fairgauge.results.estimates import ComparisonKey, Estimate, Group
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Shown:
    """What people of known group show of probabilities.

    ``random``: whether they are a random sample, which corrects it, or all outcomes are alike.
    ``contradiction``: how they contradict the probabilities; None where they do not.
    ``unplaced``: how many rows have neither probabilities nor a known group.
    ``lacking``: how many rows lack an outcome, or may.
    ``worst``: returns how far an interval reaches at a critical value wherever these are, and with
        ``outcomes`` whatever those lack.
    """

    known: int
    random: bool = False
    contradiction: Reason | None = None
    unplaced: int = 0
    lacking: int = 0
    worst: Callable[..., tuple[float, float]] | None = None


@dataclass(frozen=True, slots=True)
class Adequate:
    """What an extreme is at least, by groups whose data suffice, and why others do not."""

    estimates: tuple[Estimate, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class UnrecordedMeasured:
    """What is measured of features of which only probabilities are known."""

    groups: list[Group] = field(default_factory=list)
    totals: list[Group] = field(default_factory=list)
    estimates: list[Estimate] = field(default_factory=list)
    estimators: list[estimated.ByEstimator] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    together: dict[ComparisonKey, tuple[Callable[[float], Any], int]] = field(default_factory=dict)
    shown: dict[ComparisonKey, Shown] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything computed from a cube.

    ``lacking`` and ``groupless`` hold rows without an outcome or group, which withhold a pass;
    ``shown`` how far intervals of groups that nobody recorded reach.
    """

    task: enums.Task
    groups: tuple[Group, ...]
    estimates: tuple[Estimate, ...]
    diagnostics: tuple[Diagnostic, ...]
    pairs: tuple[estimated.GroupPair, ...] = ()
    totals: tuple[Group, ...] = ()
    worst_cases: Mapping[ComparisonKey, tuple[WorstCase, ...]] = field(default_factory=dict)
    lacking: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    groupless: Mapping[str, tuple[int, float, float]] = field(default_factory=dict)
    uncounted: Mapping[str, int] = field(default_factory=dict)
    adequate: Mapping[ComparisonKey, Adequate] = field(default_factory=dict)
    group_ids: Mapping[str, Mapping[str, GroupId]] = field(default_factory=dict)
    feature_ids: Mapping[str, FeatureId] = field(default_factory=dict)
    estimators: tuple[estimated.ByEstimator, ...] = ()
    score_curves: tuple[estimated.ScoreCurve, ...] = ()
    shown: Mapping[ComparisonKey, Shown] = field(default_factory=dict)
    unit: str | None = None

    def group_id(self, feature: str | None, group: str | None) -> GroupId | None:
        if feature is None or group is None:
            return identity.EVERYONE if group == estimated.EVERYONE else None
        return self.group_ids.get(feature, {}).get(group)

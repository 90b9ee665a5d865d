"""Planned: how many rows an audit needs, or the smallest disparity that a table can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Estimator
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Share, Version
from fairgauge.results.definitions import OfRow
from fairgauge.results.scopes import NO_CLASS, ClassScope
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics


@dataclass(frozen=True, slots=True)
class Needed:
    """The rows that an audit needs.

    Attributes
    ----------
    goal : what should be shown, in words.
    group, reference : rows of both sides, whole numbers; infinite where no number suffices.
    """

    goal: str
    group: float
    reference: float

    @property
    def total(self) -> float:
        """Return the rows of both sides together."""
        return self.group + self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest(OfRow[Metric]):
    """The smallest disparity that a table can show for one group.

    Attributes
    ----------
    metric, feature, group, reference : of what, of whom, against whom.
    class_scope, threshold : as of an `Estimate`; the threshold where there are several.
    rate, n_group, n_reference : the reference's rate, and the rows that both rest on.
    difference, ratio : the smallest of either that would probably be found, a ratio below 1; None
        where none would, however far the rates are apart.
    reason : why the comparison is not evaluated, for want of rows or clusters; None where it is.
    """

    metric: str
    feature: str | None
    group: str
    reference: str | None
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    rate: Share
    n_group: Finite
    n_reference: Finite
    difference: Finite | None
    ratio: Finite | None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfReports(OfRow[Metric | Statistic]):
    """How many people have to be asked for their group until a rule about it is decided.

    Attributes
    ----------
    metric, feature, group, reference, rule : of what, of whom, against whom; the limit.
    class_scope, threshold : as of an `Estimate`.
    expects : the estimator that is taken to be right about what those who are asked will answer;
        ``validated``, where people were asked already.
    expected : its value.
    self_reports : people drawn at random, those included who were asked already; infinite where the
        answers of all would not decide it.
    at_most : the same of people whose probabilities are not known; where these show nothing of the
        group, so many are needed.
    answered : people drawn at random who were asked already; of groups of which too few of them
        are, their answers do not take the place of an assumption.
    """

    metric: str
    feature: str
    group: str
    reference: str | None
    rule: str
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    expects: Estimator
    expected: Finite
    self_reports: float
    at_most: float
    answered: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPairs:
    """The answers that an audit by swapped names needs.

    Attributes
    ----------
    names, items, runs : names a side, items, and answers to each item under each name; names, or
        items, is None where no practical number suffices.
    planned : which number was looked for, names or items.
    deviations : the standard deviations that answers were taken to vary by.
    detects : the difference that is found with the power of the plan.
    power_equivalent : the power to show, where nothing differs, that it is within so much.
    equivalent_from : the number that would show it with the power of the plan; None where no
        practical one does.
    share_names, share_items, share_runs : of the variance.
    """

    names: int | None
    items: int | None
    runs: int
    planned: str
    deviations: Mapping[str, Finite]
    detects: Finite
    power_equivalent: Share | None
    equivalent_from: int | None
    share_names: Share | None
    share_items: Share | None
    share_runs: Share | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(ResultOfMetrics):
    """What an audit needs, or can show; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that planned, and when.
    confidence, power : what both are computed for.
    needed : rows for each goal; empty when a table was given.
    smallest : the smallest disparities that the given table can show.
    self_reports : of groups that nobody recorded, the people to ask for theirs.
    answers : what an audit by swapped names needs; None of any other.
    own : the rates of the user's own, as far as they can be shown.
    """

    KIND: ClassVar = ResultKind(
        name="plan",
        schema="fairgauge.plan/6",
        title="Rows that an audit needs",
        called="a plan of fairgauge",
        page="fairgauge.statements.planning:plan_page",
    )
    DERIVED: ClassVar = ("metrics", "_brief")

    version: Version
    created: str = field(compare=False)
    confidence: Share
    power: Share
    needed: tuple[Needed, ...] = ()
    smallest: tuple[Smallest, ...] = ()
    self_reports: tuple[SelfReports, ...] = ()
    answers: Inline[PlannedPairs | None] = None

    def __repr__(self) -> str:
        shown = len(self.needed) + len(self.smallest) + len(self.self_reports)
        return f"<Planned: {shown:,} goals and disparities; print() shows them>"

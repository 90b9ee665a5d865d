"""Planned: how many rows an audit needs, or the smallest disparity that a table can show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from fairgauge.catalogue.comparisons import Metric
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
class Planned(ResultOfMetrics):
    """What an audit needs, or can show; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that planned, and when.
    confidence, power : what both are computed for.
    needed : rows for each goal; empty when a table was given.
    smallest : the smallest disparities that the given table can show.
    own : the rates of the user's own, as far as they can be shown.
    """

    KIND: ClassVar = ResultKind(
        name="plan",
        schema="fairgauge.plan/7",
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

    def __repr__(self) -> str:
        shown = len(self.needed) + len(self.smallest)
        return f"<Planned: {shown:,} goals and disparities; print() shows them>"

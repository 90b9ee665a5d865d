"""Rates and metrics as plain values: how a saved report describes the names that it uses.

Where a report is read, fairgauge knows its own names by itself; a user's rates are made from these
facts, to be shown and compared, though not to be computed again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from fairgauge.catalogue.cells import Array, ConfusionCounts, Need
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Better, Profile
from fairgauge.reasons import Reason

Record = TypeVar("Record", bound=Any)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateFacts:
    """What is known of a rate without computing it."""

    kind: Literal["rate"] = "rate"
    own: bool
    title: str
    says: str
    formula: str
    range: tuple[float, float]
    better: Better
    share: bool
    signed: bool
    edges: str
    needs: tuple[Need, ...]
    cite: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFacts:
    """What is known of a metric without computing it; ``neutral`` is None where nothing is."""

    kind: Literal["metric"] = "metric"
    own: bool
    title: str
    says: str
    formula: str
    range: tuple[float, float]
    neutral: float | None
    reading: str
    edges: str
    needs: tuple[Need, ...]
    cite: tuple[str, ...]


Facts: TypeAlias = Mapping[str, RateFacts | MetricFacts]
"""The facts of rates and metrics by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedRate(Statistic):
    """A user's rate as a report describes it; it can be shown, and not computed."""

    # `field()` states that there is no default, which otherwise would be the property of the base
    formula: str = field()
    edges: str = field()
    range: tuple[float, float] = field()
    is_share: bool = field()  # type: ignore[misc]
    needs: frozenset[Need] = field()

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del side, profile
        raise self._unknown()

    def size(self, side: ConfusionCounts) -> Array:
        del side
        raise self._unknown()

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        raise self._unknown()

    def _unknown(self) -> LookupError:
        return LookupError(f"{self.name} is only described in a report; give its definition")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownMetric(Metric):
    """A metric of which a result holds no more than its name; its values are plain numbers."""

    @classmethod
    def of(cls, name: str) -> UnknownMetric:
        """Return the metric of a name."""
        return cls(name=name, set="own", title=name, says="", positive="", cite=())

    needs: ClassVar[frozenset[Need]] = frozenset()
    formula: ClassVar[str] = ""
    edges: ClassVar[str] = ""
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    neutral: ClassVar[float] = math.nan


def unknown_rate(name: str) -> DescribedRate:
    """Return the rate of which a result holds no more than its name."""
    return DescribedRate(
        name=name, says="", better=Better.NEITHER, cite=(), own=True, formula="", edges="",
        range=(-math.inf, math.inf), is_share=False, needs=frozenset(),
    )  # fmt: skip


def described(rate: Statistic) -> DescribedRate:
    """Return what a report keeps of a user's rate: everything but how it is computed."""
    return _described(rate.name, _of_rate(rate))


def facts_of(rows: Mapping[str, Statistic | Metric]) -> Facts:
    """Return the facts of rates and metrics by the names that a report has for them."""
    return {name: _of_rate(row) if isinstance(row, Statistic) else _of_metric(row)
            for name, row in rows.items()}  # fmt: skip


def own_rates(facts: Facts) -> tuple[DescribedRate, ...]:
    """Return the user's rates among the facts that a report holds."""
    rates = ((name, fact) for name, fact in facts.items() if isinstance(fact, RateFacts))
    return tuple(_described(name, fact) for name, fact in rates if fact.own)


def record_of(row: Statistic | Metric, record: type[Record], **others: object) -> Record:
    """Return a record of a row: its attributes of the record's names, and others as given.

    The value that means no difference is None where there is none.
    """
    names = {each.name for each in fields(record) if each.default is MISSING} - others.keys()
    values = {name: getattr(row, name) for name in names}
    if math.isnan(values.get("neutral", 0.0)):
        values["neutral"] = None
    made: Record = record(**values, **others)
    return made


@cache
def _of_rate(row: Statistic) -> RateFacts:
    return record_of(row, RateFacts, share=row.is_share, needs=tuple(sorted(row.needs)))


@cache
def _of_metric(row: Metric) -> MetricFacts:
    return record_of(row, MetricFacts, own=row.set == "own", needs=tuple(sorted(row.needs)))


def _described(name: str, facts: RateFacts) -> DescribedRate:
    return DescribedRate(
        name=name,
        says=facts.says,
        better=facts.better,
        cite=facts.cite,
        signed=facts.signed,
        own=True,
        formula=facts.formula,
        edges=facts.edges,
        range=facts.range,
        is_share=facts.share,
        needs=frozenset(facts.needs),
    )

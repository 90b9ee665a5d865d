"""Rates and metrics as plain values: how a saved report describes the names that it uses.

Where a report is read, fairgauge knows its own names by itself; a user's rates are made from these
facts, to be shown and compared, though not to be computed again.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Better

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.enums import Profile
    from fairgauge.reasons import Reason
    from fairgauge.values import Json, Saved

_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedRate(Statistic):
    """A user's rate as a report describes it; it can be shown, and not computed."""

    written: str
    at_edges: str
    limits: tuple[float, float]
    share: bool
    needed: frozenset[Need]

    @property
    def is_share(self) -> bool:  # type: ignore[override]
        return self.share

    @property
    def needs(self) -> frozenset[Need]:
        return self.needed

    @property
    def formula(self) -> str:
        return self.written

    @property
    def edges(self) -> str:
        return self.at_edges

    @property
    def range(self) -> tuple[float, float]:
        return self.limits

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

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset()

    @property
    def formula(self) -> str:
        return ""

    @property
    def edges(self) -> str:
        return ""

    @property
    def range(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def neutral(self) -> float:
        return math.nan


def described(rate: Statistic) -> DescribedRate:
    """Return what a report keeps of a user's rate: everything but how it is computed."""
    return DescribedRate(
        name=rate.name,
        says=rate.says,
        better=rate.better,
        cite=rate.cite,
        signed=rate.signed,
        own=True,
        written=rate.formula,
        at_edges=rate.edges,
        limits=rate.range,
        share=rate.is_share,
        needed=rate.needs,
    )


def facts_of(
    metrics: Iterable[str], rates: Iterable[str], catalogue: Catalogue
) -> dict[str, dict[str, Json]]:
    """Return the facts of rates and metrics by their names; of unknown names there are none."""
    found: dict[str, dict[str, Json]] = {}
    for name in dict.fromkeys(rates):
        with suppress(LookupError):
            found[name] = _of_rate(catalogue.rate(name))
    for name in dict.fromkeys(metrics):
        with suppress(LookupError):
            found[name] = _of_metric(catalogue.metric(name))
    return found


def own_rates(facts: Mapping[str, Saved]) -> tuple[DescribedRate, ...]:
    """Return the user's rates among the facts that a report holds."""
    own = (each for each in facts.items() if each[1]["kind"] == "rate" and each[1]["own"])
    return tuple(_read_rate(name, each) for name, each in own)


def _of_rate(row: Statistic) -> dict[str, Json]:
    return {
        "kind": "rate",
        "own": row.own,
        "title": row.title,
        "says": row.says,
        "formula": row.formula,
        "range": _written(row.range),
        "better": str(row.better),
        "share": row.is_share,
        "signed": row.signed,
        "edges": row.edges,
        "needs": [*sorted(row.needs)],
        "cite": list(row.cite),
    }


def _of_metric(row: Metric) -> dict[str, Json]:
    return {
        "kind": "metric",
        "own": row.set == "own",
        "title": row.title,
        "says": row.says,
        "formula": row.formula,
        "range": _written(row.range),
        "neutral": None if math.isnan(row.neutral) else row.neutral,
        "reading": row.reading,
        "edges": row.edges,
        "needs": [*sorted(row.needs)],
        "cite": list(row.cite),
    }


def _read_rate(name: str, facts: Saved) -> DescribedRate:
    low, high = (float(_INFINITIES.get(limit, limit)) for limit in facts["range"])
    return DescribedRate(
        name=name,
        says=facts["says"],
        better=Better(facts["better"]),
        cite=tuple(facts["cite"]),
        signed=facts["signed"],
        own=True,
        written=facts["formula"],
        at_edges=facts["edges"],
        limits=(low, high),
        share=facts["share"],
        needed=frozenset(facts["needs"]),
    )


def _written(limits: tuple[float, float]) -> list[Json]:
    """Return limits as strict JSON has them."""
    words = {number: word for word, number in _INFINITIES.items()}
    return [words.get(limit, limit) for limit in limits]

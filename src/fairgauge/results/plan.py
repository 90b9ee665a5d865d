"""Planned: how many rows an audit needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fairgauge.results.codec import Share
from fairgauge.results.shown_result import ResultKind, ShownResult
from fairgauge.start.records import dataclass


@dataclass(frozen=True, slots=True)
class Needed:
    """The rows that an audit needs, of both sides; infinite where no number suffices."""

    goal: str
    group: float
    reference: float

    @property
    def total(self) -> float:
        return self.group + self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(ShownResult):
    """What an audit needs; ``assumed`` is what else was given, such as the rate."""

    KIND: ClassVar = ResultKind(name="plan", schema="fairgauge.plan/7",
        title="Rows that an audit needs", called="a plan of fairgauge",
        page="fairgauge.statements.plan:plan_page")  # fmt: skip

    confidence: Share
    power: Share
    assumed: Mapping[str, float]
    needed: tuple[Needed, ...]

"""Verdicts: what a rule comes to for one group, and what all of them come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.enums import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a rule came to for one group of one feature."""

    rule: str
    metric: str
    feature: str | None
    group: str
    outcome: Outcome
    reason: str


def overall(verdicts: Iterable[Verdict]) -> Outcome:
    """Return what all verdicts come to: the worst of them, none without rules."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if not outcomes:
        return Outcome.NONE
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    if outcomes == {Outcome.PASS}:
        return Outcome.PASS
    return Outcome.INCONCLUSIVE

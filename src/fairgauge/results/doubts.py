"""Doubts: what looks like a mistake, and which passes stand on it. No number depends on one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol, Self, TypeAlias

from fairgauge.reasons import Reason
from fairgauge.start.records import dataclass

OF_ONE = "clear identifier of one {}"
"""What rows lack whose identifier probably stands for unknown people, or clusters."""
SPELT = "consistent spelling of "
"""What rows lack, of a feature, in a group whose name is another spelling of a larger one."""
UNSTATED = "stated favourable outcome"
APART = "prediction that differs from the label"
"""What all rows lack where the prediction may be a copy of the label."""
SCORE_APART = "score apart from the label"
"""What all rows lack where the score may be a copy of the label."""
ALIKE = "row of their group with another outcome"
"""What all rows lack where all have one outcome."""


STRATUM = "stratum"
"""What numbers need, beside outcomes, that are adjusted for strata."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Rows that something casts doubt on, and the numbers that stand on them.

    ``needs, only``: the outcomes, or a stratum, that a number must all need to stand on it, and
        whether no other outcomes.
    ``features``: the features whose groups it is of; None where it is of all.
    """

    what: str
    rows: int
    needs: frozenset[str] = frozenset()
    only: bool = False
    features: frozenset[str] | None = None

    def concerns(self, needs: Collection[str], feature: str | None) -> bool:
        """Return whether a number that needs some outcomes, of a feature, stands on it."""
        of_outcomes = self.needs <= {*needs} and (
            not self.only or self.needs >= {*needs} - {STRATUM}
        )
        return of_outcomes and (self.features is None or feature in self.features)


WhyWithheld: TypeAlias = "Callable[[Collection[str], str | None], Reason | None]"
"""Returns why what needs some outcomes, of a feature (None: of all rows), does not pass."""


class Judged(Protocol):
    """What may pass: a verdict on a rule, a gap, thresholds, a candidate, or a comparison."""

    def withheld(self, why: WhyWithheld) -> Self:
        """Return it inconclusive where it passes on something doubted; a fail stays one."""


def not_counted(uncounted: Mapping[str, int]) -> tuple[str, int, str | None] | None:
    """Return what most rows that are in no number lack, how many do, and of what, if of rows."""
    what = max(uncounted, key=lambda each: uncounted[each], default=None)
    return None if what is None else (what, uncounted[what], "rows" if what == "count" else None)

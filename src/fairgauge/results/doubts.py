"""Doubts: what looks like a mistake, and which passes stand on it. No number depends on one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from fairgauge.reasons import ReasonCode

OF_ONE_PERSON = "clear identifier of one person"
"""What rows lack whose identifier probably stands for unknown people."""
SPELT = "consistent spelling of "
"""What rows lack, of a feature, in a group whose name is another spelling of a larger one."""
UNSTATED = "stated favourable outcome"
APART = "prediction that differs from the label"
"""What all rows lack where the prediction may be a copy of the label."""
SCORE_APART = "score apart from the label"
"""What all rows lack where the score may be a copy of the label."""
ALIKE = "row of their group with another outcome"
"""What all rows lack where all have one outcome."""


class Withheld(NamedTuple):
    """Why a pass is withheld, what most rows lack, how many, and of what where not as of others."""

    code: ReasonCode
    what: str
    rows: int
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """Rows that something casts doubt on, and the numbers that stand on them.

    Attributes
    ----------
    what, rows : what rows lack, and how many do.
    needs : the outcomes that a number must all need to stand on it.
    only : whether a number that needs another outcome, too, does not stand on it.
    features : the features whose groups it is of; None where it is of all.
    """

    what: str
    rows: int
    needs: frozenset[str] = frozenset()
    only: bool = False
    features: frozenset[str] | None = None

    def concerns(self, needs: Collection[str], feature: str | None) -> bool:
        """Return whether a number that needs some outcomes, of a feature, stands on it."""
        of_outcomes = self.needs == {*needs} if self.only else self.needs <= {*needs}
        return of_outcomes and (self.features is None or feature in self.features)


@dataclass(frozen=True, slots=True)
class RowsInDoubt:
    """What keeps a pass from being one: rows in no number, by what they lack, and open doubts."""

    uncounted: Mapping[str, int] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()

    def withheld_by(self, needs: Collection[str], feature: str | None) -> Iterator[Withheld]:
        """Yield why what needs some outcomes does not pass: of each kind, what most rows lack."""
        of_rows = [
            Withheld(ReasonCode.NOT_COUNTED, what, n, "rows" if what == "count" else None)
            for what, n in self.uncounted.items()
        ]
        doubted = [each for each in self.doubts if each.concerns(needs, feature)]
        unstated, unclear = ReasonCode.FAVOURABLE_UNSTATED, ReasonCode.UNCLEAR_VALUES
        for every in (
            [Withheld(unstated, each.what, each.rows) for each in doubted if each.what == UNSTATED],
            of_rows,
            [
                Withheld(unclear, d.what, d.rows, "rows" if d.what == OF_ONE_PERSON else None)
                for d in doubted
                if d.what != UNSTATED
            ],
        ):
            most = max(every, key=attrgetter("rows"), default=None)
            if most is not None and most.rows:
                yield most

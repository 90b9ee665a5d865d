"""The smallest category that ratios are computed to."""

from __future__ import annotations

from dataclasses import dataclass

from fairgauge.resolve.references import FEWEST_ROWS


@dataclass(frozen=True, slots=True)
class SmallestReference:
    """How many people a category must have to be the reference of the ratios that are computed.

    Attributes
    ----------
    share : the smallest share of the people of all categories.
    people : the smallest number of people, which is that of every audit.
    """

    share: float
    people: int = FEWEST_ROWS

    def admits(self, n: float, total: float) -> bool:
        """Return whether a category of ``n`` of ``total`` people may be the reference."""
        return n >= self.people and n >= self.share * total

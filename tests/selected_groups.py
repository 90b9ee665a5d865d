"""Counts of groups of which so many of so many are selected, as most tests of verdicts need."""

from collections.abc import Mapping

import fairgauge as fg


def selected(groups: Mapping[str, tuple[float, float]], feature: str = "g") -> fg.Cube:
    """Return counts of groups by the rows that are selected and all rows: ``{"A": (60, 140)}``."""
    cells = {name: {"tp": int(x), "fn": int(n - x)} for name, (x, n) in groups.items()}
    return fg.confusion(feature, cells)

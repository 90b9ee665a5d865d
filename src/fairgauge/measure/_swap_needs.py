"""What would decide a difference between names: more names, items or runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.results.name_swaps import SwapNeeds
from fairgauge.stats.crossed_power import CrossedDesign, fewest

if TYPE_CHECKING:
    from typing import Literal

    from fairgauge.stats.crossed_designs import CrossedDifference

    What = Literal["names", "items", "runs"]

_POWER = 0.8


def needs(
    found: CrossedDifference,
    names: tuple[int, int],
    items: int,
    runs: tuple[float, int],
    margin: float | None,
    confidence: float,
) -> SwapNeeds | None:
    """Return what would probably decide, if the values are as estimated; None where nothing would.

    Parameters
    ----------
    found : the difference and the terms of its variance.
    names, items : of both sides, and how many.
    runs : their variance, and how many each item has.
    margin : of equivalence; what is aimed at where the estimate is within it.
    """
    runs_variance, number = runs
    cell = found.residual.value / found.of_cells
    of_runs = min(runs_variance, number * cell)
    design = CrossedDesign(
        names_sd=_deviation(found.names.value - found.residual.value, found.of_names),
        items_sd=_deviation(found.items.value - found.residual.value, found.of_items),
        cells_sd=_deviation(cell - of_runs / number, 1.0),
        runs_sd=math.sqrt(of_runs),
        names=names,
        items=items,
        runs=number,
    )
    if not design.variance > 0:
        return None
    equal = margin is not None and abs(found.value) < margin

    def decides(planned: CrossedDesign) -> bool:
        if equal:
            assert margin is not None
            return planned.power_to_equal(found.value, margin, confidence) >= _POWER
        return planned.power_to_differ(found.value, confidence) >= _POWER

    whats: tuple[What, ...] = ("names", "items", "runs")
    wanted = {what: fewest(design, what, decides) for what in whats}
    planned: dict[What, CrossedDesign] = {
        what: replace(design, **{what: (n, n) if what == "names" else n})  # type: ignore[arg-type]
        for what, n in wanted.items()
        if n is not None
    }
    if not planned:
        return None
    cheapest: What = min(planned, key=lambda what: planned[what].answers)
    return SwapNeeds(
        names=wanted["names"], items=wanted["items"], runs=wanted["runs"], cheapest=cheapest
    )


def _deviation(variance: float, times: float) -> float:
    return math.sqrt(max(variance, 0.0) / times)

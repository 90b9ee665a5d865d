"""What would decide a difference between names: more names, items or runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.results.name_swaps import SwapNeeds
from fairgauge.stats.power import CrossedDesign, fewest

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
    edits: tuple[float, int] | None,
    margin: float | None,
    confidence: float,
) -> SwapNeeds | None:
    """Return what would probably decide, if the values are as estimated; None where nothing would.

    Parameters
    ----------
    found : the difference and the terms of its variance.
    names, items : of both sides, and how many.
    runs : their variance, and how many each item has.
    edits : the variance of irrelevant edits in place of that of names, and how many there are.
    margin : of equivalence; what is aimed at where the estimate is within it.
    """
    runs_variance, each = runs
    cell = found.residual.value / found.of_cells
    of_runs = min(runs_variance, each * cell)
    design = CrossedDesign(
        names_sd=_deviation(found.names.value - found.residual.value, found.of_names),
        items_sd=_deviation(found.items.value - found.residual.value, found.of_items),
        cells_sd=_deviation(cell - of_runs / each, 1.0),
        runs_sd=math.sqrt(of_runs),
        names=names,
        items=items,
        runs=each,
    )
    if not design.variance > 0:
        return None
    judged = [design]  # as the comparison itself is judged: by the larger p-value of both
    if edits is not None:
        of_edits = _deviation(edits[0] - found.residual.value, found.of_names)
        judged.append(replace(design, names_sd=of_edits, placebos=edits[1]))
    equal = margin is not None and abs(found.value) < margin

    def power(planned: CrossedDesign) -> float:
        if equal:
            assert margin is not None
            return planned.power_to_equal(found.value, margin, confidence)
        return planned.power_to_differ(found.value, confidence)

    def number(what: What) -> int | None:
        """Return how many would decide, more than there are: these have not."""
        fewest_of = [fewest(one, what, lambda planned: power(planned) >= _POWER) for one in judged]
        known = [n for n in fewest_of if n is not None]
        return max(*known, design.number_of(what) + 1) if len(known) == len(judged) else None

    whats: tuple[What, ...] = ("names", "items", "runs")
    wanted = {what: number(what) for what in whats}
    answers: dict[What, int] = {
        what: design.with_number(what, n).answers for what, n in wanted.items() if n is not None
    }
    if not answers:
        return None
    cheapest: What = min(answers, key=lambda what: answers[what])
    return SwapNeeds(
        names=wanted["names"], items=wanted["items"], runs=wanted["runs"], cheapest=cheapest
    )


def _deviation(variance: float, times: float) -> float:
    return math.sqrt(max(variance, 0.0) / times)

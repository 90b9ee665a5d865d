"""Checks of averaged numbers: rates next to the numbers they are of, and exposure as a weight."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import AROUND_NUMBERS, GROUPED, Axis
from fairgauge.enums import DiagnosticCode, Observation, Role
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic

_GROWS_WITH, _STEPS, _MANY = 0.5, 11.0, 30
"""From which correlation with the cases on labels may be parts of them: not steps of a scale, up to
where these are, unless some of many rows have none."""
_FEW, _AS_EXPOSURE, _SURELY = 8.0, 0.3, 4.0
"""Up to where most counts of events are, from which part of the growth in proportion to weights on
these may be exposure, and from how many standard errors on where they are no parts of one."""
_NO_WHOLE = ((0.0, 0.75), (1.0, 1.5), (2.0, 3.0))
"""Between which numbers no whole one is, of those that intervals of labels part."""


def rates_with_counts(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of labels that are rates of the cases of their rows, or how many of these have one."""
    column = spec.label or spec.prediction
    axis = Axis(Role.CODES, column or "", AROUND_NUMBERS)
    if spec.count is None or axis not in cube.levels or spec.count == column:
        return
    rows = _rows_by_interval(cube, axis)
    outcome = next(each for each in cube.plan.outcomes if each.column == column)
    sums = {m: float(s.sum()) for m, s in cube.marginal([outcome]).known([outcome]).sums.items()}
    is_rate = are_rates(rows) or any(cube.seen(Observation.MEANS, column))
    if is_rate or (are_many_numbers(rows) and are_parts_of_cases(sums)):
        yield Diagnostic.warning(
            DiagnosticCode.RATES_WITH_COUNTS, column=column, of=spec.count, share=is_rate
        )


def exposure_as_weight(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of a weight that counts of events grow with, as they do with the time at risk."""
    axis = Axis(Role.CODES, spec.label or "", AROUND_NUMBERS)
    label = cube.plan.axis(Role.LABEL)
    if spec.weight is None or label is None or axis not in cube.levels:
        return
    table = cube.tables[0].known([label])
    of_cells = table.over([each for each in table.axes if each.role in GROUPED])
    sums = {m: s.tolist() for m, s in of_cells.sums.items()}
    if are_events(_rows_by_interval(cube, axis)) and is_exposure(sums):
        code = DiagnosticCode.EXPOSURE_AS_WEIGHT
        yield Diagnostic.warning(code, column=spec.weight, label=spec.label)


def _rows_by_interval(cube: Cube, axis: Axis) -> list[tuple[float, float, float]]:
    table, ends = cube.marginal([axis]).known([axis]), [-math.inf, *axis.cuts, math.inf]
    places, rows = table.codes[:, 0].tolist(), table.sums["rows"].tolist()
    return [(ends[i], ends[i + 1], n) for i, n in zip(places, rows, strict=True) if n > 0]


def are_rates(rows: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether all numbers are from 0 to 1, and some between: (above, up to, rows).

    >>> are_rates([(0.125, 0.25, 7.0)]), are_rates([(0.125, 0.25, 7.0), (1.0, 2.0, 1.0)])
    (True, False)
    """
    of_all = all(high <= 1 and (low >= 0 or high == 0) for low, high, _ in rows)
    return of_all and any(low >= 0 and high < 1 for low, high, _ in rows)


def are_many_numbers(rows: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether numbers are more than the steps of a scale: (above, up to, rows).

    >>> are_many_numbers([(2.8, 4.0, 90.0)]), are_many_numbers([(32.0, 45.3, 2.0)])
    (False, True)
    """
    some_none = any(high == 0 for _, high, _ in rows) and sum(n for *_, n in rows) >= _MANY
    return some_none or any(low >= _STEPS for low, _, _ in rows)


def are_parts_of_cases(sums: Mapping[str, float]) -> bool:
    """Return whether no label exceeds the cases of its row, and they grow together.

    The sums are of cases, each with its row's label y and number of cases n.
    """
    if "left" not in sums or sums["apart"] > sums["left"]:
        return False
    w = sums["n"]
    y, n, gap = sums["y"] / w, sums["size"] / w, sums["left"] / w
    var_y, var_n = sums["yy"] / w - y * y, sums["size2"] / w - n * n
    var_gap = sums["left2"] / w - gap * gap
    spread = math.sqrt(max(var_y, 0.0) * max(var_n, 0.0))
    return spread > 0 and (var_y + var_n - var_gap) / 2 >= _GROWS_WITH * spread


def are_events(rows: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether numbers are whole, not negative, most of them few, and some none.

    >>> are_events([(-0.001, 0.0, 90.0), (0.75, 1.0, 9.0)]), are_events([(1.0, 1.5, 9.0)])
    (True, False)
    """
    between = any(a <= low and high <= b for low, high, _ in rows for a, b in _NO_WHOLE)
    few, every = (sum(n for _, high, n in rows if high <= most) for most in (_FEW, math.inf))
    return (
        not between
        and all(high >= 0 for _, high, _ in rows)
        and any(high == 0 for _, high, _ in rows)
        and 2 * few > every
    )


def is_exposure(sums: Mapping[str, Sequence[float]]) -> bool:
    """Return whether labels grow with the weights, within cells, as events do with exposure.

    Sampling weights do not depend on the labels of a cell: these are then on average as large for
    large weights, and in proportion to them where weights are exposure. Weights below 1 are parts
    of a whole, such as a year, as no sampling weights are.
    """
    grown = expected = variance = 0.0
    for i, w in enumerate(sums["w"]):
        w2, w3, w4, y, y2 = (sums[name][i] for name in ("w2", "w3", "w4", "y", "y_w2"))
        mean = w2 / w if w > 0 else 0.0
        if y <= 0 or w3 <= mean * w2 * (1 + 1e-9):
            continue  # no event, or one weight
        grown += y2 - mean * y
        expected += y / w2 * (w3 - mean * w2)
        spread = max(sums["yy"][i] / w - (y / w) ** 2, 0.0)
        variance += spread * max(w4 - 2 * mean * w3 + mean * mean * w2, 0.0)
    parts = sum(sums["w3"]) < sum(sums["w2"]) < sum(sums["w"])
    sure = grown >= _SURELY * math.sqrt(variance)
    return expected > 0 and grown >= _AS_EXPOSURE * expected and (parts or sure)

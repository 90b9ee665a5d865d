"""pandas frames: every axis as small codes, combined and counted in chunks that stay in cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.cube import Counted, Cube, build
from fairgauge.errors import DataError, listing, quote
from fairgauge.scan.source import LEAST_LOG, Seen, check_counts, check_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.plan import Axis, Moment, Plan

_CHUNK = 65_536
_MOST_CELLS = 4_000_000


@dataclass(frozen=True)
class PandasFrame:
    """A pandas frame."""

    name: str
    frame: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(str(column) for column in self.frame.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        twice = {c for c in plan.columns if self.columns.count(c) > 1}
        if twice:
            raise DataError(f"the frame has the columns {listing(sorted(twice))} twice")
        numbers = {c: _numbers(self._column(c), c) for c in plan.numeric_columns}
        check_numbers(plan, [_seen(column, values) for column, values in numbers.items()])
        factors = [
            _binned(axis, numbers[axis.column]) if axis.bins else _factor(self._column(axis.column))
            for axis in plan.axes
        ]
        measures, excluded = _measures(plan, numbers, len(self.frame))
        counted = [
            _count([factors[i] for i in table], measures, len(self.frame)) for table in plan.tables
        ]
        return build(plan, counted, rows=len(self.frame), excluded=excluded, limit=limit)

    def _column(self, name: str) -> Any:
        return self.frame.iloc[:, self.columns.index(name)]


@dataclass(frozen=True, slots=True)
class Factor:
    """A column as codes (the last one means missing), and the value of each code."""

    codes: NDArray[np.integer[Any]]
    values: Sequence[Any]


def _factor(column: Any) -> Factor:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), list(column.cat.categories)
    else:
        try:
            codes, found = pd.factorize(column)
        except TypeError:
            raise DataError(
                f"column {quote(column.name)} holds values that are not plain (lists, dicts)"
            ) from None
        values = list(found)
    return Factor(codes, [*values, None])


def _binned(axis: Axis, values: NDArray[np.float64]) -> Factor:
    bins = np.zeros(len(values), dtype=np.int32)
    with np.errstate(invalid="ignore"):
        if axis.grid and axis.bounds:
            bins += _grid_codes(values, axis.grid, *axis.bounds)
        for point in axis.cuts:
            bins += values >= point if axis.closed == "left" else values > point
    return Factor(np.where(np.isnan(values), -1, bins), [*range(axis.bins), None])


def _grid_codes(
    values: NDArray[np.float64], grid: int, low: float, high: float
) -> NDArray[np.int32]:
    """Find the nearest edge, then tell below, on and above it."""
    nearest = np.nan_to_num(np.rint((values - low) / (high - low) * grid))
    edge = nearest * (high - low) / grid + low
    codes: NDArray[np.int32] = (2 * nearest + (values >= edge) + (values > edge)).astype(np.int32)
    return codes


def _moment(moment: Moment, numbers: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    x, y = (numbers[column] for column in (moment.columns * 2)[:2])
    if moment.shape == "value":
        return x
    if moment.shape in ("square", "product"):
        return x * y
    if moment.shape == "gap":
        return np.abs(y - x)
    return np.log(np.maximum(x if moment.shape == "log" else 1 - x, LEAST_LOG))


def _numbers(column: Any, name: str) -> NDArray[np.float64]:
    import pandas as pd

    if column.dtype == object:
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = column[numbers.isna() & column.notna()]
        if len(wrong):
            raise DataError(
                f"column {quote(name)} must hold numbers, but has {quote(wrong.iloc[0])}"
            )
        column = numbers
    if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
        raise DataError(f"column {quote(name)} must hold numbers, but has the type {column.dtype}")
    values: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def _seen(column: str, values: NDArray[np.float64]) -> Seen:
    known = values[~np.isnan(values)]
    if not len(known):
        return Seen(column, None, None)
    return Seen(column, float(known.min()), float(known.max()))


def _measures(
    plan: Plan, numbers: dict[str, NDArray[np.float64]], rows: int
) -> tuple[dict[str, NDArray[np.float64] | None], dict[str, int]]:
    """Return what is summed in each row (None for 1), and the rows that cannot be counted."""
    cases = numbers[plan.count] if plan.count else None
    weight = numbers[plan.weight] if plan.weight else None
    has_count = np.isfinite(cases) if cases is not None else None
    has_weight = np.isfinite(weight) if weight is not None else None
    excluded = {
        "missing count": int((~has_count).sum()) if has_count is not None else 0,
        "missing weight": int((~has_weight).sum()) if has_weight is not None else 0,
    }
    ok = None
    for has in (has_count, has_weight):
        ok = has if ok is None else ok if has is None else ok & has
    measures: dict[str, NDArray[np.float64] | None] = {"rows": None if ok is None else ok * 1.0}
    if cases is not None:
        measures["n"] = np.where(ok, cases, 0.0)
    if weight is not None:
        safe = np.where(ok, weight, 0.0)
        times = safe * measures.get("n", 1.0)  # type: ignore[operator]
        measures |= {"w": times, "w2": times * safe}
    for moment in plan.moments:
        value = _moment(moment, numbers)
        for factor in (cases, weight):
            value = value if factor is None else value * factor
        usable = ~np.isnan(value) if ok is None else ok & ~np.isnan(value)
        measures[moment.name] = np.where(usable, value, 0.0)
    fractional = None
    if cases is not None:
        parts = cases[np.isfinite(cases) & (cases != np.floor(cases))]
        fractional = float(parts[0]) if len(parts) else None
    totals = {m: float(v.sum()) for m, v in measures.items() if v is not None}
    check_counts(plan, fractional, totals.get("n", 0.0), totals.get("w", 0.0), rows)
    return measures, excluded


def _count(
    factors: list[Factor], measures: dict[str, NDArray[np.float64] | None], rows: int
) -> Counted:
    sizes = [len(factor.values) for factor in factors]
    total = int(np.prod(sizes, dtype=float)) if factors else 1
    if total > _MOST_CELLS:
        return _count_sparse(factors, sizes, measures)
    sums = {measure: np.zeros(total) for measure in measures}
    for start in range(0, rows, _CHUNK):
        part = slice(start, start + _CHUNK)
        cells = np.zeros(min(_CHUNK, rows - start), dtype=np.int64)
        for factor, size in zip(factors, sizes, strict=True):
            codes = factor.codes[part]
            cells *= size
            cells += codes
            cells += (codes < 0) * size  # -1 is the last value, missing
        for measure, values in measures.items():
            weights = None if values is None else values[part]
            sums[measure] += np.bincount(cells, weights=weights, minlength=total)
    held = np.flatnonzero(sums["rows"])
    positions = np.unravel_index(held, sizes) if factors else ()
    return _counted(factors, positions, {m: s[held] for m, s in sums.items()})


def _count_sparse(
    factors: list[Factor], sizes: list[int], measures: dict[str, NDArray[np.float64] | None]
) -> Counted:
    codes = np.stack(
        [np.where(f.codes < 0, s - 1, f.codes) for f, s in zip(factors, sizes, strict=True)], axis=1
    )
    cells, inverse = np.unique(codes, axis=0, return_inverse=True)
    sums = {
        m: np.bincount(inverse.reshape(-1), weights=v, minlength=len(cells)).astype(np.float64)
        for m, v in measures.items()
    }
    held = np.flatnonzero(sums["rows"])
    return _counted(factors, tuple(cells[held].T), {m: s[held] for m, s in sums.items()})


def _counted(
    factors: list[Factor], positions: Sequence[NDArray[Any]], sums: dict[str, NDArray[np.float64]]
) -> Counted:
    keys = [
        [factor.values[i] for i in column.tolist()]
        for factor, column in zip(factors, positions, strict=True)
    ]
    return Counted(keys, sums)

"""Metrics of a user's own, made from cells.

Nothing is registered: a metric is a value, which is given wherever the name of a metric is. Files
name those of the catalogue alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from fairgauge.catalogue.cells import ALL, BOTH, FN, FP, TN, TP, Array, Cells, ConfusionCounts
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.lookup import is_taken
from fairgauge.catalogue.statistics import DrawnStatistic, Quotient, Rate, Statistic, none_of
from fairgauge.enums import Better, Profile
from fairgauge.errors import Problem, SpecError, display, quote
from fairgauge.reasons import Reason, join_reasons
from fairgauge.start.records import dataclass, field


def rate(
    name: str, *, of: Cells, among: Cells, better: str = "neither", says: str = "",
    cite: str | Sequence[str] = (),
) -> Rate:  # fmt: skip
    """Define a rate: a share of rows, ``of`` among ``among``.

    Use it wherever the name of a metric is taken. It stands for its difference and its ratio
    between group and reference; ``compared("largest_gap")`` is one of its comparisons. Groups list
    it with a Wilson interval, and its comparisons have the intervals of any rate.

    Parameters
    ----------
    name : str
        A Python identifier that no metric or synonym of fairgauge has.
    of, among : Cells
        Sums of `fairgauge.TP`, `fairgauge.FP`, `fairgauge.FN` and `fairgauge.TN`; every row of
        ``of`` must be one of ``among``.
    better : {"neither", "higher", "lower"}
        Which values favour a group.
    says : str, optional
        What it is, as the end of the sentence "the rate is ..."; by default its formula.
    cite : str or sequence of str, optional
        Where it is defined.

    Returns
    -------
    Rate
        A frozen value; it is undefined for a group without rows of ``among``.

    Raises
    ------
    SpecError
        The name is taken or not an identifier, or ``of`` is not a part of ``among``.

    Examples
    --------
    >>> import fairgauge as fg
    >>> missed = fg.rate("missed_share", of=fg.FN, among=fg.TP + fg.FP + fg.FN + fg.TN)
    >>> counts = {"F": {"tp": 20, "fn": 7, "tn": 13}, "M": {"tp": 65, "fn": 5, "tn": 30}}
    >>> report = fg.audit(fg.confusion("sex", counts), metrics=[missed])
    >>> round(report["missed_share.difference", "sex", "F"].value, 3)
    0.125
    """
    _check_cells(name, of=of, among=among)
    _check_varies(name, of, among)
    if not of.within(among):
        message = f"{of} is not a part of {among}; for other ratios of cells use fairgauge.quotient"
        raise SpecError(Problem(f"rate {quote(name)}", message))
    return Rate(of=of, among=among, **_describe(name, better, says or f"{of} among {among}", cite))


def quotient(
    name: str, *, over: Cells, under: Cells, better: str = "neither", says: str = "",
    cite: str | Sequence[str] = (),
) -> Quotient:  # fmt: skip
    """Define a quotient of two sums of cells, such as FN / FP.

    Parameters
    ----------
    name, better, says, cite
        As of `fairgauge.rate`.
    over, under : Cells
        Sums of `fairgauge.TP`, `fairgauge.FP`, `fairgauge.FN` and `fairgauge.TN`, with whole
        coefficients: ``2 * fg.TP + fg.FP``.

    Returns
    -------
    Quotient
        A frozen value; x/0 is infinite and 0/0 undefined.

    Raises
    ------
    SpecError
        The name is taken or not an identifier, or a sum is not one of cells.

    Examples
    --------
    >>> import fairgauge as fg
    >>> print(fg.quotient("alarms_per_hit", over=fg.FP, under=fg.TP).formula)
    FP / TP
    """
    _check_cells(name, over=over, under=under)
    _check_varies(name, over, under)
    bounded = all(above <= below for above, below in zip(over, under, strict=True))
    about = _describe(name, better, says or f"{over} over {under}", cite)
    return Quotient(over=over, under=under, bounded=bounded, **about)


def statistic(
    function: Callable[..., object],
    *,
    name: str | None = None,
    nonzero: Cells | Sequence[Cells] = (),
    range: tuple[float, float] = (-math.inf, math.inf),  # noqa: A002 - the word of the field
    share: bool = False,
    better: str = "neither",
    says: str = "",
    cite: str | Sequence[str] = (),
) -> CellFunction:
    """Define a statistic by any function of the true and false positives and negatives.

    Its intervals are those of its values over tables drawn from the Dirichlet posterior of the
    cells, or over bootstrap tables where ``method`` asks for them.

    Parameters
    ----------
    function : callable
        Takes four arrays of one shape, TP, FP, FN and TN (sums of weights where rows are weighted),
        and returns an array of that shape, computed element by element.
    name : str, optional
        A Python identifier that no metric or synonym of fairgauge has; by default the function's.
    nonzero : Cells or sequence of Cells
        Sums of cells that must not be 0, such as denominators. Where one is, the statistic is
        undefined, with that as the reason, and the function is not called.
    range : pair of float
        The smallest and the largest possible value. A statistic that can be negative has no ratio.
    share : bool
        Whether it is shown in per cent.
    better, says, cite
        As of `fairgauge.rate`.

    Returns
    -------
    CellFunction
        A frozen value, used wherever the name of a metric is taken.

    Raises
    ------
    SpecError
        The name is taken or not an identifier; or the function, which is tried out at once, raises,
        returns an array of another shape, or a value that is not finite or not in the range. The
        same holds in an audit.

    Examples
    --------
    >>> import fairgauge as fg
    >>> def informedness(tp, fp, fn, tn):
    ...     return tp / (tp + fn) - fp / (fp + tn)
    >>> own = fg.statistic(informedness, nonzero=[fg.TP + fg.FN, fg.FP + fg.TN], range=(-1, 1))
    >>> women, men = {"tp": 20, "fp": 5, "fn": 7, "tn": 18}, {"tp": 65, "fp": 10, "fn": 5, "tn": 20}
    >>> report = fg.audit(fg.confusion("sex", {"F": women, "M": men}), metrics=[own])
    >>> round(report["informedness.difference", "sex", "F"].value, 3)
    -0.072
    """
    if not callable(function):
        raise SpecError(Problem("statistic", f"needs a function, not {quote(function)}"))
    named = name or str(getattr(function, "__name__", ""))
    if named == "<lambda>":
        raise SpecError(Problem("statistic", "a lambda has no name; give it one: name='...'"))
    sums = (nonzero,) if isinstance(nonzero, Cells) else tuple(nonzero)
    _check_cells(named, **{f"nonzero[{i}]": cells for i, cells in enumerate(sums)})
    try:
        low, high = (float(limit) for limit in range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        _refuse(named, f"must be two rising numbers, not {quote(range)}", ": range")
    about = _describe(named, better, says or f"the function {named} of TP, FP, FN and TN", cite)
    made = CellFunction(
        function=function, nonzero=sums, range=(low, high), is_share=share, signed=low < 0, **about
    )
    made.try_out()
    return made


def _refuse(name: str, message: str, key: str = "") -> NoReturn:
    raise SpecError(Problem(f"metric {quote(name)}{key}", message))


def _describe(name: str, better: str, says: str, cite: str | Sequence[str]) -> dict[str, Any]:
    if not isinstance(name, str) or not name.isidentifier():
        _refuse(name, "must be a name of letters, digits and underscores that begins with a letter")
    if is_taken(name):
        taken = "is the name of a metric of fairgauge (fairgauge metrics NAME); choose another"
        _refuse(name, taken)
    if better not in list(Better):
        message = f"{quote(better)} is not allowed; use {', '.join(Better)}"
        raise SpecError(Problem("better", message))
    cited = (cite,) if isinstance(cite, str) else tuple(cite)
    return {"name": name, "better": Better(better), "says": says, "cite": cited, "own": True}


def _check_cells(name: str, **sums: object) -> None:
    for key, cells in sums.items():
        if not isinstance(cells, Cells) or not any(cells):
            message = f"must be a sum of fairgauge.TP, FP, FN and TN, not {quote(cells)}"
            _refuse(name, message, f": {key}")
        if not all(isinstance(k, int) and k >= 0 for k in cells):
            _refuse(name, f"must have whole coefficients, 0 or greater, not {cells}", f": {key}")


def _check_varies(name: str, one: Cells, other: Cells) -> None:
    if not one.needs | other.needs:
        _refuse(name, f"{one} / {other} is the same for every group")


# tables without an empty cell, on which every function is tried when it is given
_TRIAL = np.array([[7, 2, 3, 11], [1, 1, 1, 1], [40, 5, 2, 9], [3, 17, 8, 2]], dtype=float)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFunction(DrawnStatistic):
    """A function of arrays of TP, FP, FN and TN, undefined where a sum in ``nonzero`` is 0."""

    function: Callable[[Array, Array, Array, Array], object]
    range: tuple[float, float] = field()  # no default, which would be the property of the base
    nonzero: tuple[Cells, ...] = ()
    is_share: bool = False  # type: ignore[misc]

    sums: ClassVar[tuple[Cells, ...]] = (TP, FP, FN, TN)

    @property
    def formula(self) -> str:
        return f"{self.name}(TP, FP, FN, TN)"

    @property
    def edges(self) -> str:
        sums = " or ".join(f"{cells} = 0" for cells in (*self.nonzero, ALL))
        return f"undefined when {sums}"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        counts = side.counts(BOTH)
        defined = np.all([cells.count(counts) > 0 for cells in (ALL, *self.nonzero)], axis=0)
        values = np.full(defined.shape, np.nan)
        if defined.any():
            values[defined] = self._compute(counts[defined])
        return values

    @property
    def denominators(self) -> tuple[Cells, ...]:
        return (*self.nonzero, ALL)

    def size(self, side: ConfusionCounts) -> Array:
        counts = side.counts(BOTH)
        return np.asarray(np.min([cells.count(counts) for cells in (*self.nonzero, ALL)], axis=0))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        counts = side.counts(BOTH)[at]
        empty = [cells for cells in (ALL, *self.nonzero) if not cells.count(counts)]
        return join_reasons(map(none_of, empty))

    def try_out(self) -> None:
        """Refuse a function that does not work element by element."""
        together = self._compute(_TRIAL)
        alone = np.concatenate([self._compute(row[None]) for row in _TRIAL])
        if not np.allclose(together, alone, rtol=1e-9):
            raise self._refusal(
                "gives other values for arrays than for their elements one by one; "
                "compute it element by element, without sums over the arrays"
            )

    def _compute(self, counts: Array) -> Array:
        try:
            with np.errstate(all="ignore"):
                found = self.function(*(counts[:, i].copy() for i in range(4)))
            values = np.asarray(found, dtype=np.float64)
        except Exception as error:
            raise self._refusal(
                f"raised {type(error).__name__}: {error}; it takes arrays of TP, FP, FN and TN "
                "and computes element by element (np.where instead of if)"
            ) from error
        if values.shape != counts.shape[:1]:
            raise self._refusal(
                f"returned an array of shape {values.shape} for arrays of shape "
                f"{counts.shape[:1]}; it must return one number for each table"
            )
        low, high = self.range
        wrong = np.flatnonzero(~np.isfinite(values) | (values < low) | (values > high))
        if wrong.size:
            at = wrong[0]
            counted = zip(("TP", "FP", "FN", "TN"), counts[at].tolist(), strict=True)
            cells = ", ".join(f"{name} = {count:.6g}" for name, count in counted)
            allowed = f"a number from {low:g} to {high:g}; give its range"
            if not np.isfinite(values[at]):
                allowed = "a finite number; name the sums of cells that must not be 0 (nonzero=...)"
            raise self._refusal(f"returned {values[at]:g} for {cells}; it must return {allowed}")
        return values

    def _refusal(self, why: str) -> SpecError:
        called = getattr(self.function, "__qualname__", repr(self.function))
        return SpecError(Problem("metrics", f"function {quote(called)} of {self.name} {why}"))


class NotAMetric(LookupError):  # noqa: N818 - named for what is wrong
    """Something else stands where a metric is asked for."""


def metric_or_name(asked: object) -> str | Statistic | Metric:
    """Return a metric as it is, or the name of one."""
    if isinstance(asked, (str, Statistic, Metric)):
        return asked
    more = "; make it one: fairgauge.statistic(...)" if callable(asked) else ""
    if isinstance(asked, Mapping):
        more = "; those of your own are made in Python: fairgauge.rate, fairgauge.quotient"
    raise NotAMetric(f"must be a metric or the name of one, not {display(asked)}{more}")

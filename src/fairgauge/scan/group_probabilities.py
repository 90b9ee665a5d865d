"""Groups that are known by probability alone: every row counts in every group by its probability.

Race, for example, is often estimated from name and address. Where A is the group, Z what the
probabilities p = P(A | Z) were made from and Y the outcome, the weighted mean ``sum(p Y) / sum(p)``
estimates ``E[Y | A]`` but for ``E[cov(A, Y | Z)] / P(A)``: without bias where outcome and group are
independent among people of equal probabilities.

References: Chen, Kallus, Mao, Svacha & Udell (2019), Fairness Under Unawareness, FAT* 2019,
339-348.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_SUM = 0.01
"""How far the probabilities of a row may be from 1 together: published ones are rounded."""
_CAVEAT = (
    "{group} is not recorded: each of {people:,} people counts in each of its groups with the "
    "probability of belonging to it (columns {columns}), as one cluster, which makes {rows:,} "
    "rows. The rates are unbiased where the outcome "
    "does not depend on {group} among people with equal probabilities. Where people of a group are "
    "selected less often than others with equal probabilities, its disparity is understated. "
    "Confidence intervals do not cover errors of the probabilities; n counts every person in every "
    "group that is possible."
)


@dataclass(frozen=True, slots=True, eq=False)
class RowsByProbability:
    """Rows in which every person stands once for each group, and the options that they need.

    Attributes
    ----------
    rows : a frame of the kind that was given, with three more columns: the group, the probability
        of belonging to it, and the person.
    options : ``sensitive``, ``weight``, ``cluster`` and ``document`` of `fairgauge.audit`.
    """

    rows: Any
    options: dict[str, Any]


def by_probability(
    data: Any,
    group: str,
    probabilities: Mapping[str, str],
    *,
    weight: str | None = None,
    cluster: str | None = None,
) -> RowsByProbability:
    """Make rows of which every group can be audited that is known by probability alone.

    Every row becomes one row for each group, weighted by the probability of belonging to it. Both
    sides of a comparison then hold the same people; as each person is a cluster, the confidence
    intervals account for it.

    Parameters
    ----------
    data : frame
        A pandas, polars or pyarrow frame, one row for each person.
    group : str
        What the groups are groups of: the name of the new column, such as ``"race"``.
    probabilities : mapping of str to str
        The column that holds the probability of each group. They sum to 1 in every row; a row
        without any is a person of unknown group.
    weight : str, optional
        Column of sampling weights, which multiply the probabilities.
    cluster : str, optional
        Column identifying clusters of non-independent rows, where that is not each row by itself.

    Returns
    -------
    RowsByProbability
        ``rows`` for `fairgauge.audit`, and its ``options``.

    Raises
    ------
    SpecError
        A column is not there, or one of its values is no probability.
    DataError
        The data are no frame in memory.

    References
    ----------
    Chen et al. (2019), Fairness Under Unawareness, FAT* 2019, 339-348.

    Examples
    --------
    >>> import polars as pl
    >>> import fairgauge as fg
    >>> loans = pl.DataFrame({"black": [0.9, 0.2], "white": [0.1, 0.8], "approved": [0, 1]})
    >>> people = fg.by_probability(loans, "race", {"Black": "black", "White": "white"})
    >>> people.rows.select("race", "race: probability", "race: person").rows()[:2]
    [('Black', 0.9, 0), ('Black', 0.2, 1)]
    >>> report = fg.audit(people.rows, prediction="approved", **people.options)
    >>> float(report.by_group()["selection_rate"]["race", "White"].round(3))
    0.889
    """
    frame = _frame(data)
    names = (group, f"{group}: probability", f"{group}: person")
    _check_columns(frame, names, probabilities, weight, cluster)
    shares = _shares(frame, probabilities)
    unknown = [bool(np.isnan(each).all()) for each in shares]
    kept = frame.drop([column for column in probabilities.values() if column != cluster])
    person = frame.get_column(cluster).to_list() if cluster else np.arange(len(frame)).tolist()
    unit = frame.get_column(weight).to_numpy() if weight else np.ones(len(frame))
    parts = [
        _rows(
            kept,
            names,
            name,
            person,
            unit * shares[:, i],
            [share > 0 for share in shares[:, i].tolist()],
        )
        for i, name in enumerate(probabilities)
    ]
    if any(unknown):
        parts.append(_rows(kept, names, None, person, unit, unknown))
    rows = nw.concat(parts)
    caveat = _CAVEAT.format(
        group=group,
        columns=listing(list(probabilities.values())),
        people=len(frame),
        rows=len(rows),
    )
    options = {
        "sensitive": [group],
        "weight": names[1],
        "cluster": names[2],
        "document": {"caveat": caveat},
    }
    return RowsByProbability(rows.to_native(), options)


def _frame(data: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        kind = type(data).__name__
        message = f"cannot use a {kind}; give a pandas, polars or pyarrow frame in memory"
        raise DataError(message) from None


def _check_columns(
    frame: nw.DataFrame[Any],
    names: tuple[str, ...],
    probabilities: Mapping[str, str],
    weight: str | None,
    cluster: str | None,
) -> None:
    problems = []
    asked = {f"probabilities.{name}": column for name, column in probabilities.items()}
    asked |= {path: c for path, c in (("weight", weight), ("cluster", cluster)) if c is not None}
    for path, column in asked.items():
        if column not in frame.columns:
            message = f"no column {quote(column)}.{nearest(column, frame.columns)}"
            problems.append(Problem(path, message))
    if len(probabilities) < 2 or len(set(probabilities.values())) < len(probabilities):
        problems.append(Problem("probabilities", "name two groups or more, each with its column"))
    problems += [
        Problem("group", f"there is a column {quote(name)} already; choose another name")
        for name in names
        if name in frame.columns
    ]
    if problems:
        raise SpecError(problems)


def _shares(frame: nw.DataFrame[Any], probabilities: Mapping[str, str]) -> NDArray[np.float64]:
    """Return the probabilities as an array of shape (rows, groups), NaN in rows without any."""
    columns, problems = [], []
    for name, column in probabilities.items():
        values = frame.get_column(column)
        if not values.dtype.is_numeric():
            problems.append(Problem(f"probabilities.{name}", f"{quote(column)} holds no numbers"))
            continue
        shares = values.cast(nw.Float64).to_numpy().astype(np.float64)
        outside = np.flatnonzero((shares < 0) | (shares > 1))
        if len(outside):
            found = f"{quote(column)} holds {shares[outside[0]]:g} in row {outside[0] + 1}"
            problems.append(
                Problem(f"probabilities.{name}", f"{found}; a probability is between 0 and 1")
            )
        columns.append(shares)
    if problems:
        raise SpecError(problems)
    every = np.stack(columns, axis=1)
    total = every.sum(axis=1)
    wrong = np.flatnonzero(~np.isnan(every).all(axis=1) & ~(np.abs(total - 1) <= _SUM))
    if len(wrong):
        number = (
            "have a missing one" if np.isnan(total[wrong[0]]) else f"sum to {total[wrong[0]]:g}"
        )
        first = f" (the first of {len(wrong):,} such rows)" if len(wrong) > 1 else ""
        message = (
            f"those of row {wrong[0] + 1} {number}{first}; they must "
            "sum to 1. People who are in several groups at once need one sensitive feature for "
            "each group"
        )
        raise SpecError(Problem("probabilities", message))
    return every


def _rows(
    frame: nw.DataFrame[Any],
    names: tuple[str, str, str],
    group: str | None,
    person: list[Any],
    weight: NDArray[np.float64],
    kept: list[bool],
) -> nw.DataFrame[Any]:
    """Return the rows of one group."""
    backend = frame.implementation
    series = (
        nw.new_series(names[0], [group] * len(frame), nw.String, backend=backend),
        nw.new_series(names[1], weight.tolist(), nw.Float64, backend=backend),
        nw.new_series(names[2], person, backend=backend),
    )
    return frame.with_columns(*series).filter(kept)

"""Reading single columns of rows, and turning columns into points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import DataError, quote
from fairgauge.question.recoding import Recodings
from fairgauge.scan.source import Readable, Source
from fairgauge.values import Value, canonical, typed_texts

Array = NDArray[np.float64]


def read_rows(
    source: Source, columns: Sequence[str], most: int | None = None, recode: Recodings = ()
) -> dict[str, list[Value]]:
    """Read some columns of all rows, or of the first ``most``, in canonical values, recoded."""
    wanted = list(dict.fromkeys(columns))
    if not isinstance(source, Readable):
        raise DataError(f"the rows of {quote(source.name)} cannot be read, only counted")
    read, texts = source.fetch(wanted, most)
    found = {}
    for name, values in zip(wanted, read, strict=True):
        plain = [canonical(value) for value in values]
        if texts and all(value is None or isinstance(value, str) for value in plain):
            plain = typed_texts([value if isinstance(value, str) else None for value in plain])
        found[name] = plain
    return found | {r.column: r.apply(found[r.column]) for r in recode if r.column in found}


def numbers_of(values: Sequence[Value]) -> Array:
    """Return numbers, NaN where there is none; texts are read as the scan of a file reads them.

    >>> numbers_of([1, "+0.5", " .5", "NaN", "a", None]).tolist()
    [1.0, 0.5, 0.5, nan, nan, nan]
    """
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: Value) -> float:
    if isinstance(value, str) and "_" in value:  # 1_0 is no number in a file
        return np.nan
    try:
        return np.nan if value is None else float(value)
    except ValueError:
        return np.nan


def feature_matrix(columns: Sequence[Sequence[Value]], *, scaled: bool) -> tuple[Array, list[str]]:
    """Turn columns into points: numbers divided by their standard deviation, texts by category.

    Two rows of different categories lie 1 apart in that column. Rows that miss a value are NaN.
    Unscaled, numbers are taken as they are.

    Returns
    -------
    points : array of shape (rows, dimensions)
    how : what was done with each column, in words
    """
    parts: list[Array] = []
    how = []
    for values in columns:
        if all(value is None or isinstance(value, (bool, int, float)) for value in values):
            numbers = np.array([np.nan if value is None else float(value) for value in values])
            spread = float(np.nanstd(numbers)) if scaled and np.isfinite(numbers).any() else 1.0
            parts.append((numbers / (spread or 1.0))[:, None])
            how.append("divided by its standard deviation" if scaled else "as it is")
        else:
            texts = np.array(["" if value is None else str(value) for value in values])
            missing = np.array([value is None for value in values])
            categories = np.unique(texts[~missing])
            marks = (texts[:, None] == categories) / np.sqrt(2.0)
            marks[missing] = np.nan
            parts.append(marks)
            how.append(f"{len(categories)} categories, different ones 1 apart")
    points = np.concatenate(parts, axis=1) if parts else np.zeros((0, 0))
    return points, how

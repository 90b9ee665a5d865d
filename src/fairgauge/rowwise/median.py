"""The median of the scores of all rows, above which a score is positive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.errors import DataError, quote
from fairgauge.scan.row_access import numbers_of, read_rows

if TYPE_CHECKING:
    from fairgauge.question.specification import Spec
    from fairgauge.scan.source import Source


def median_score(source: Source, spec: Spec) -> float:
    """Return the median of the scores; rows with a count stand for so many scores.

    Raises
    ------
    DataError
        The rows cannot be read, or no row has a score.
    """
    assert spec.score is not None
    columns = read_rows(source, [spec.score, *([spec.count] if spec.count else [])])
    scores = numbers_of(columns[spec.score])
    if spec.count:
        times = np.nan_to_num(numbers_of(columns[spec.count])).astype(np.int64)
        scores = np.repeat(scores, np.maximum(times, 0))
    known = scores[np.isfinite(scores)]
    if not len(known):
        raise DataError(f"column {quote(spec.score)} (score) holds no number in any row")
    return float(np.median(known))

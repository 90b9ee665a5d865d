"""The flip test, which compares rows: every row of a facet with its neighbours outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.catalogue.lookup import find_metric
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.compat.column_reading import DataType
from fairgauge.compat.columns import Column, Kind
from fairgauge.compat.facet_blocks import REST, Blocks, Outcome
from fairgauge.compat.facet_counts import OTHERS, Question, count_question, question_spec
from fairgauge.compat.service_texts import NOT_NUMERIC, error_text
from fairgauge.enums import Profile
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.resolve.resolution import resolve
from fairgauge.rowwise import RowReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.scan.source import Fetched

    Flags = NDArray[np.bool_]

_NUMERIC = (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN)
_GROUP, _PREDICTION = "facet", "prediction"


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The columns by which rows are near each other."""

    columns: Sequence[Column]

    def flip(self, inside: Flags, positive: Flags, profile: Profile = Profile.CLARIFY) -> float:
        """Return the flip test of the rows inside a facet.

        Parameters
        ----------
        inside, positive : array of bool, of shape (rows,)
            Which rows are in the facet, and which are predicted positive.

        Raises
        ------
        ValueError
            A side is empty, or (``clarify``) a feature is not numeric; with smclarify's texts.
        """
        if not inside.any() or inside.all():
            rows = float(inside.sum())
            raise ValueError(error_text("FT", rows, len(inside) - rows, None))
        if profile is Profile.CLARIFY and any(c.kind not in _NUMERIC for c in self.columns):
            raise ValueError(NOT_NUMERIC)
        if not self.columns:
            raise ValueError("there are no features to compare rows by")
        rows_of = _Rows(self.columns, inside, positive)
        cube = count_question(rows_of.question, profile)
        names = [*rows_of.features]
        spec = question_spec(rows_of.question, profile, (1,), features=names, metrics=["FT"])
        metric = find_metric("FT")
        assert isinstance(metric, RowMetric)
        estimates, _ = RowReader(rows_of, cube, spec).metrics([metric], resolve(cube, spec))
        (estimate,) = estimates
        if estimate.value is None:
            raise ValueError(describe_reason(estimate.reason) if estimate.reason else "no value")
        return estimate.value


class _Rows:
    """The rows as a source that can be read one by one."""

    name = "rows"

    def __init__(self, columns: Sequence[Column], inside: Flags, positive: Flags) -> None:
        self.features = {f"feature {i}": column for i, column in enumerate(columns)}
        codes = np.where(inside, 0, REST)
        facet = Blocks(_GROUP, ("inside",), codes, DataType.CATEGORICAL)
        states = Column(_PREDICTION, Kind.INTEGER, positive.astype(np.int64), (0, 1))
        yes = Outcome(states, np.array([False, True]), DataType.CATEGORICAL, "1")
        self.question = Question((facet,), prediction=yes)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return (_GROUP, _PREDICTION, *self.features)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows."""
        del limit
        return count_question(self.question, plan.asked.profile)

    @property
    def at_hand(self) -> bool:
        """Return that the rows are in memory."""
        return True

    def fetch(self, columns: list[str], most: int | None = None) -> Fetched:
        """Return the values of columns, of all rows or of the first ``most``."""
        return [self.values(name)[:most] for name in columns], False

    def values(self, name: str) -> list[Any]:
        """Return the values of a column, a row each."""
        if name == _GROUP:
            inside = self.question.facets[0].codes == 0
            return ["inside" if each else OTHERS for each in inside.tolist()]
        column = self.features.get(name)
        if column is None:
            assert self.question.prediction is not None
            column = self.question.prediction.column
        cells = [*column.levels, None]
        return [cells[code] for code in column.codes.tolist()]

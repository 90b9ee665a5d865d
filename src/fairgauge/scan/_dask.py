"""Dask frames: every part is a pandas frame, counted where it is; the counts are put together."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairgauge.scan._pandas import PandasFrame, Scanned, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    import dask.dataframe as dd
    import pandas as pd

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.scan.row_codes import Batch


@dataclass(frozen=True)
class DaskFrame:
    """A frame of Dask."""

    name: str
    frame: dd.DataFrame

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(str(column) for column in self.frame.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan, all parts at once."""
        dask = import_module("dask")
        count = dask.delayed(_scanned)
        parts = [count(part, plan, limit) for part in self._parts(plan)]
        return joined(plan, dask.compute(*parts), limit)

    @property
    def streams(self) -> bool:
        """Return that rows can be read in batches."""
        return True

    def batches(self, plan: Plan, limit: int) -> Iterator[Batch]:
        """Yield the rows, one part after the other."""
        for part in self._parts(plan):
            yield from PandasFrame(self.name, part.compute()).batches(plan, limit)

    def _parts(self, plan: Plan) -> list[Any]:
        wanted = [c for c in self.frame.columns if str(c) in plan.columns]
        return list(self.frame[wanted].to_delayed())


def _scanned(part: pd.DataFrame, plan: Plan, limit: int) -> Scanned:
    return PandasFrame("Dask frame", part).scanned(plan, limit)

"""A table that reads its columns late holds what it would hold if they were read first."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.compat._coded_column import ColumnTable, from_values

CELLS = st.none() | st.integers(0, 3) | st.sampled_from(["a", "b"]) | st.booleans()


@given(data=st.data(), rows=st.integers(1, 8))
def test_views_hold_the_cells_of_their_rows(data: st.DataObject, rows: int) -> None:
    cells = {
        name: data.draw(st.lists(CELLS, min_size=rows, max_size=rows)) for name in ("x", "y", "z")
    }
    left = ColumnTable.of_columns(from_values(name, cells[name]) for name in ("x", "y"))
    right = ColumnTable.of_columns([from_values("z", cells["z"])])
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    places = np.array(data.draw(st.lists(st.integers(0, rows - 1), max_size=9)), dtype=np.int64)
    whole = left.beside(right)
    assert whole.names == ["x", "y", "z"]
    for view, chosen in (
        (whole, range(rows)),
        (whole.take(kept), np.flatnonzero(kept)),
        (whole.take(places), places),
        (left.take(places).beside(right.take(places)), places),
    ):
        assert view.rows == len(chosen)
        for name in data.draw(st.permutations(["x", "y", "z"])):
            expected: list[Any] = [cells[name][i] for i in chosen]
            column = view.column(name)
            assert column.cells() == expected
            assert [type(cell) for cell in column.cells()] == [
                type(from_values(name, cells[name]).cells()[i]) for i in chosen
            ]
            assert list(column.used) == list(column.levels)
    assert whole.without("y").names == ["x", "z"]


def test_columns_are_read_once_and_together() -> None:
    asked: list[list[str]] = []

    def read(names: list[str]) -> Any:
        asked.append(names)
        return [from_values(name, [1, 2]) for name in names]

    table = ColumnTable(["a", "b", "c"], lambda: 2, read)
    table.columns(["b", "a", "b"])
    table.column("a")
    table.columns(["a", "c"])
    assert asked == [["b", "a"], ["c"]]

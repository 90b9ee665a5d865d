"""Scores of large Parquet files are counted by numpy in batches: the same cube as by DuckDB."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairgauge as fg
from fairgauge.scan import _cell_sums, _duckdb_relation

ASKED = {
    "label": "y", "score": "s", "threshold": 0.5, "weight": "w", "positive": 1,
    "sensitive": ["g", "h", {"column": "age", "cuts": [30, 60]}],
    "intersections": [["g", "h", "age"]],
}  # fmt: skip


def edges() -> list[float | None]:
    """Return scores on, just below and just above every edge, and none, NaN and negative zero."""
    on = [k / 1_000 for k in range(1_001)]
    near = [np.nextafter(each, way) for each in on for way in (0.0, 1.0)]
    return [*on, *map(float, near), -0.0, 0.0, 5e-324, 1.0, None, float("nan"), None]


def people(seed: int = 1) -> pa.Table:
    scores = edges() * 2
    rows = len(scores)
    rng = np.random.default_rng(seed)

    def some(values: list[object]) -> list[object]:
        return [values[i] for i in rng.integers(0, len(values), rows)]

    return pa.table({
        "g": some(["a", "A", "a ", "ü", "", "it's", None]), "h": some(["x", "y"]),
        "age": pa.array(some([18, 30, 31, 60, 61, 89, None]), pa.int16()),
        "y": pa.array(some([0, 1]), pa.int8()), "s": scores,
        "w": some([0.1, 0.25, 1.0, 3.5, 0.0, -0.0, None, float("nan")]),
    })  # fmt: skip


@pytest.fixture
def both(monkeypatch, tmp_path):
    """Count a table by numpy, and by DuckDB."""

    def count(rows: pa.Table, at_once: int = 400, **options: object) -> tuple[fg.Cube, fg.Cube]:
        pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=1_000)
        options = ASKED | options
        monkeypatch.setattr(_duckdb_relation, "_LARGE", 1 << 40)
        by_duckdb = fg.count(tmp_path / "rows.parquet", **options)
        monkeypatch.setattr(_duckdb_relation, "_LARGE", 0)
        monkeypatch.setattr(_duckdb_relation, "_ROWS", at_once)
        used = []
        joined = _cell_sums.join_parts
        monkeypatch.setattr(
            _cell_sums, "join_parts", lambda *given: used.append(1) or joined(*given)
        )
        by_numpy = fg.count(tmp_path / "rows.parquet", **options)
        assert used
        return by_numpy, by_duckdb

    return count


def same(cubes: tuple[fg.Cube, fg.Cube]) -> None:
    ours, theirs = cubes
    assert ours.digest == theirs.digest
    assert (ours.rows, ours.excluded, ours.levels) == (theirs.rows, theirs.excluded, theirs.levels)
    for one, other in zip(ours.tables, theirs.tables, strict=True):
        assert (one.codes == other.codes).all()
        for measure, sums in one.sums.items():
            np.testing.assert_allclose(sums, other.sums[measure], rtol=1e-11, atol=1e-300)


@pytest.mark.each_value
@pytest.mark.parametrize("most", [0, 1 << 20], ids=["each table", "all axes"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": None},
        {"threshold": [0.25, 0.5, 0.5005]},
        {"profile": "clarify"},
        {"strata": ["h"], "sensitive": ["g"], "intersections": []},
        {"sensitive": ["g", "h", "y2", "age"], "intersections": [["g", "h"]]},
        {"weight": None, "count": "n"},
        {"count": "n"}, {"label": "real"}, {"label": "unsigned"}, {"label": "some"},
        {"cluster": "some"},
        {"where": "h = x", "weight": None},
        {"recode": {"g": {"a": ["A", "a "]}}},
    ],
    ids=str,
)  # fmt: skip
def test_one_cube(both, monkeypatch, options, most):
    monkeypatch.setattr(_cell_sums, "_MOST_JOINT", most)
    rows = people()
    n = len(rows)
    whole = np.arange(n)
    more = {
        "y2": whole % 3,
        "n": pa.array([None if i % 11 == 0 else i % 4 for i in range(n)], pa.int32()),
        "real": [None if i % 13 == 0 else float("nan") if i % 7 == 0 else i % 2 for i in range(n)],
        "unsigned": pa.array(whole % 2, pa.uint64()),
        "some": pa.array([None if i % 5 == 0 else i % 2 for i in range(n)], pa.int64()),
    }
    for name, column in more.items():
        rows = rows.append_column(name, pa.array(column))
    same(both(rows, **options))


N = len(edges()) * 2
HARD = {
    "numbers far apart, at the ends of their type": (
        {"far": pa.array([-128, 127] * (N // 2), pa.int8()),
         "wide": pa.array([2**62, -(2**62)] * (N // 2), pa.int64())},
        {"sensitive": ["far", "wide"], "intersections": []},
    ),
    "texts that come late, of many values": (
        {"g": ["first"] * 2_000 + [f"late {i % 9}" for i in range(N - 2_000)]}, {},
    ),
    "labels of which every batch knows more": (
        {"y": [(i // 200) / 2 for i in range(N)]},
        {"positive": [1, 2], "sensitive": ["g"], "intersections": []},
    ),
    "scores of another range": (
        {"s": [None if s is None else s * 9 - 4 for s in edges() * 2]},
        {"score_range": (-4, 5), "threshold": 1},
    ),
    "no score in a batch": ({"s": [None] * 1_500 + (edges() * 2)[1_500:]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_one_cube_of_hard_columns(both, name):
    columns, options = HARD[name]
    rows = people()
    for column, values in columns.items():
        rows = rows.drop_columns([column] if column in rows.column_names else [])
        rows = rows.append_column(column, pa.array(values))
    same(both(rows, **options))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("s", 1.5, r"'s' is the score and must lie in \[0, 1\], but has 1.5"),
        ("s", -1e-9, r"'s' is the score and must lie in \[0, 1\], but has -1e-09"),
        ("s", float("inf"), "'s' must hold numbers, but has 'inf'"),
        ("w", -1.0, "'w' is the weight, but has the value -1"),
        ("w", float("inf"), "'w' is the weight, but has the value inf"),
    ],
)
def test_numbers_that_are_not_allowed(monkeypatch, tmp_path, column, value, message):
    rows = people()
    values = rows[column].to_pylist()
    values[-1] = value
    at = rows.column_names.index(column)
    pq.write_table(rows.set_column(at, column, pa.array(values)), tmp_path / "rows.parquet")
    monkeypatch.setattr(_duckdb_relation, "_LARGE", 0)
    monkeypatch.setattr(_duckdb_relation, "count_by_sql", None)
    with pytest.raises(fg.DataError, match=message):
        fg.count(tmp_path / "rows.parquet", **ASKED)


@pytest.mark.parametrize("how", ["too many cells", "another type"])
def test_duckdb_counts_the_rest(monkeypatch, tmp_path, how):
    rows = people()
    rows = rows.append_column("d", pa.array([Decimal(i % 3) for i in range(len(rows))]))
    pq.write_table(rows, tmp_path / "rows.parquet")
    more = {"strata": ["d"]} if how == "another type" else {}
    expected = fg.count(tmp_path / "rows.parquet", **(ASKED | more))
    monkeypatch.setattr(_duckdb_relation, "_LARGE", 0)
    if how == "too many cells":
        monkeypatch.setattr(_cell_sums, "_MOST_DENSE", 1_000)
    monkeypatch.setattr(_cell_sums, "join_parts", None)
    assert fg.count(tmp_path / "rows.parquet", **(ASKED | more)) == expected


def test_a_file_without_rows_is_refused(monkeypatch, tmp_path):
    pq.write_table(people().slice(0, 0), tmp_path / "rows.parquet")
    monkeypatch.setattr(_duckdb_relation, "_LARGE", 0)
    with pytest.raises(fg.DataError, match="no rows"):
        fg.count(tmp_path / "rows.parquet", **ASKED)


@pytest.mark.parametrize("wrong", ["a page", "a text"])
def test_a_file_that_is_damaged(monkeypatch, tmp_path, wrong):
    path = tmp_path / "rows.parquet"
    rows = people()
    rows = rows.set_column(0, "g", pa.array(["grünes"] * len(rows)))
    pq.write_table(rows, path, compression="none")
    held = bytearray(path.read_bytes())
    if wrong == "a page":
        held[4:40] = b"\xff" * 36
    else:
        held = held.replace("ü".encode(), b"\xfc\xfc")
    path.write_bytes(held)
    monkeypatch.setattr(_duckdb_relation, "_LARGE", 0)
    monkeypatch.setattr(_duckdb_relation, "count_by_sql", None)
    with pytest.raises(fg.DataError, match=r"cannot read '.*rows\.parquet'"):
        fg.count(path, **ASKED)


def test_counting_imports_no_pandas(tmp_path):
    """Arrow's own way to numpy does, which takes longer than to count a million rows."""
    pq.write_table(people(), tmp_path / "rows.parquet")
    code = (
        "import sys, fairgauge as fg; from fairgauge.scan import _duckdb_relation; "
        f"_duckdb_relation._LARGE = 0; fg.count({str(tmp_path / 'rows.parquet')!r}, **{ASKED!r}); "
        "assert 'pyarrow' in sys.modules; assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

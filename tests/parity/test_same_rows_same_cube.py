"""The same rows give the same cube, whatever holds them; each test is a trap engines differ on."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import fairgauge as fg
from fairgauge.cube.plan import plan
from fairgauge.enums import Observation
from fairgauge.errors import DataError
from fairgauge.question.specification import ask
from fairgauge.scan import open_source

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube


def count(data: Any, limit: int = 1_000, **options: Any) -> Cube:
    return open_source(data).count(plan(ask(**options)), limit)


def cells(cube: Cube, measure: str = "rows") -> dict[tuple[Any, ...], float]:
    """Return the cells of the first table by their values."""
    table = cube.tables[0]
    levels = [(*cube.levels[axis], None) for axis in table.axes]
    keys = [tuple(values[i] for values, i in zip(levels, row, strict=True)) for row in table.codes]
    return dict(zip(keys, table.sums[measure].tolist(), strict=True))


def table(**columns: Any) -> pa.Table:
    return pa.table(columns)


NAN, INF = float("nan"), float("inf")


# rows, what is asked of them, and their cells
SCORES = [0.2, 0.5, None, NAN, 0.5000001, -0.0, 1.0, 0.49999999999999994]
TEXTS = ["a", "a ", " a", None, "A", "ä", "a", "a,b", 'say "a"', "two\nlines", "x", "a"]
OF_GROUPS = {"label": "y", "sensitive": "g"}
OF_SCORES = OF_GROUPS | {"score": "s", "threshold": 0.5}
CELLS = {
    "texts with blanks": ({"g": TEXTS, "y": [1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1]}, OF_GROUPS, {
        ("a", 0): 1, ("a", 1): 2, ("a ", 0): 1, (" a", 1): 1, (None, 1): 1, ("A", 0): 1,
        ("ä", 1): 1, ("a,b", 1): 1, ('say "a"', 1): 1, ("two\nlines", 0): 1, ("x", 1): 1,
    }),
    "a missing score is neither above nor below": (
        {"g": ["a"] * 8, "y": [1, 0] * 4, "s": SCORES}, OF_SCORES,
        {("a", 1, 0): 1, ("a", 0, 1): 1, ("a", 1, None): 1, ("a", 0, None): 1, ("a", 1, 1): 2,
         ("a", 0, 0): 2},
    ),
    "Clarify predicts above the threshold only": (
        {"g": ["a"] * 3, "y": [1, 1, 1], "s": [0.5, 0.6, 0.4]}, OF_SCORES | {"profile": "clarify"},
        {("a", 1, 0): 2, ("a", 1, 1): 1},
    ),
    "several thresholds": (
        {"g": ["a"] * 5, "y": [1, 0, 1, 0, 1], "s": [0.1, 0.2, 0.3, 0.7, 0.9]},
        OF_SCORES | {"threshold": [0.1, 0.3, 0.8]},
        {("a", 1, 1): 1, ("a", 0, 1): 1, ("a", 1, 2): 1, ("a", 0, 2): 1, ("a", 1, 3): 1},
    ),
    "whole floats": ({"g": [1.0, 2.0, NAN, 1.0, -0.0, 0.0], "y": [1, 0, 1, 1, 0, 1]}, OF_GROUPS,
                     {(1, 1): 2, (2, 0): 1, (None, 1): 1, (0, 0): 1, (0, 1): 1}),
    "missing integers": ({"g": [1, 2, None, 1], "y": [1, 0, 1, None]}, OF_GROUPS,
                         {(1, 1): 1, (2, 0): 1, (None, 1): 1, (1, None): 1}),
    "dates": ({"g": [dt.date(2024, 2, 29), None, dt.date(1970, 1, 1)], "y": [1, 0, 1]}, OF_GROUPS,
              {("2024-02-29", 1): 1, (None, 0): 1, ("1970-01-01", 1): 1}),
    "names that differ in case": (
        {"Sex": ["a", "b", "b"], "sex": ["x", "x", "y"], "y": [1, 0, 1]},
        {"label": "y", "sensitive": ["Sex", "sex"]},
        {("a", "x", 1): 1, ("b", "x", 0): 1, ("b", "y", 1): 1},
    ),
    "one row": ({"g": ["a"], "y": [1]}, OF_GROUPS, {("a", 1): 1}),
    "nothing": ({"g": pa.nulls(2, pa.string()), "y": [1, 0]}, OF_GROUPS,
                {(None, 1): 1, (None, 0): 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_cells(rows_as, name):
    columns, asked, expected = CELLS[name]
    assert cells(count(rows_as(table(**columns)), **asked)) == expected


NOON = dt.datetime(2024, 2, 29, 12, 30, 5)
ATHENS = NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))
OF_TYPES = {
    "seconds": (pa.array([NOON, None], pa.timestamp("s")), ["2024-02-29T12:30:05", None]),
    "microseconds": (pa.array([NOON, None], pa.timestamp("us")), ["2024-02-29T12:30:05", None]),
    "a time zone": (pa.array([ATHENS, None], pa.timestamp("us", "Europe/Athens")),
                    ["2024-02-29T10:30:05+00:00", None]),
    "beyond floats": ([2**53 + 1, 2**53, -(2**62)], [2**53 + 1, 2**53, -(2**62)]),
    "texts like numbers": (["1", "01", "1.0", None], ["1", "01", "1.0", None]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_TYPES)
def test_columns_of_types_keep_their_values(typed, name):
    held, values = OF_TYPES[name]
    found = cells(count(typed(table(g=held, y=[*range(len(values))])), **OF_GROUPS))
    assert found == {(value, i): 1 for i, value in enumerate(values)}


@pytest.mark.parametrize(
    "values", [[True, False, None], [True, False], ["a", "", None], pa.nulls(2)], ids=str
)
def test_truths_empty_texts_and_nulls_of_json_keep_their_types(typed_or_json, values):
    rows = typed_or_json(table(g=values, y=[*range(len(values))]))
    listed = pa.array(values).to_pylist()
    found = cells(count(rows, **OF_GROUPS))
    assert found == {(value, i): 1 for i, value in enumerate(listed)}
    assert {type(group) for group, _ in found} == {*map(type, listed)}
    found = cells(count(rows, label="g", sensitive="y"))
    assert found == dict.fromkeys(enumerate(listed), 1)


def test_clusters_may_have_more_values_than_groups(rows_as):
    ids = ["u7", None, "u1", "u2", "u7", "u3", "u4", "u5", "u6", "u1"]
    rows = table(g=["a", "b"] * 5, y=[1, 0, 1, 1, 1, 0, 1, 0, 0, 1], u=ids)
    cube = count(rows_as(rows), limit=2, label="y", sensitive="g", cluster="u")
    cluster = cube.tables[1]
    assert [axis.column for axis in cluster.axes] == ["g", "y", "u"]
    assert cube.levels[cluster.axes[2]] == tuple(f"u{i}" for i in range(1, 8))
    levels = [(*cube.levels[axis], None) for axis in cluster.axes]
    found = {tuple(v[i] for v, i in zip(levels, row, strict=True)) for row in cluster.codes}
    assert found == {*zip(rows["g"].to_pylist(), rows["y"].to_pylist(), ids, strict=True)}
    assert sorted(cluster.sums["rows"]) == [1] * 8 + [2]


@pytest.mark.parametrize(("closed", "places"), [("right", [1, 2, 2, 4]), ("left", [2, 2, 3, 4])])
def test_cuts_keep_their_edges_and_empty_intervals(rows_as, closed, places):
    rows = table(y=[1, 0, 1, 0, 1], x=[25, 26, 45, 46, None])
    cut = {"column": "x", "cuts": [10, 25, 45, 45.5], "closed": closed}
    cube = count(rows_as(rows), label="y", sensitive=cut)
    expected = dict.fromkeys(zip([*places, None], [1, 0, 1, 0, 1], strict=True), 1)
    assert cells(cube) == expected
    assert cube.levels[cube.plan.axes[0]] == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(("closed", "side"), [("left", "right"), ("right", "left")])
def test_cuts_at_whole_numbers_in_a_row_are_searched_as_others(rows_as, closed, side):
    """Engines round the number, where others are compared with one cut after another."""
    cuts = [-30, *range(-9, 12), 20]
    numbers = [end + beside for end in cuts for beside in (-0.5, -1e-9, 0.0, 1e-9)]
    rows = table(y=[1] * len(numbers), x=numbers)
    asked = {"column": "x", "cuts": cuts, "closed": closed}
    found = cells(count(rows_as(rows), label="y", sensitive=asked))
    expected = Counter(np.searchsorted(cuts, numbers, side).tolist())
    assert found == {(at, 1): n for at, n in expected.items()}


def test_decimals(typed):
    rows = table(
        g=pa.array([Decimal("1.50"), Decimal("2.00"), None], pa.decimal128(9, 2)),
        y=pa.array([Decimal(1), Decimal(0), Decimal(1)], pa.decimal128(5, 0)),
        w=pa.array([Decimal("0.10"), Decimal("0.20"), Decimal("0.70")], pa.decimal128(5, 2)),
    )
    cube = count(typed(rows), label="y", sensitive="g", weight="w")
    assert cells(cube, "w") == {(1.5, 1): 0.1, (2, 0): 0.2, (None, 1): 0.7}


def test_weights_that_cannot_be_used_leave_out_their_rows(typed):
    rows = table(
        g=["a", "a", "b", "b", "c", "b", "only here"],
        y=[1, 0, 1, 0, 1, 1, 1],
        w=[0.1, 0.2, None, NAN, NAN, 0.7, None],
    )
    cube = count(typed(rows), label="y", sensitive="g", weight="w")
    assert cells(cube, "w") == {("a", 1): 0.1, ("a", 0): 0.2, ("b", 1): 0.7}
    assert cells(cube, "w2") == {("a", 1): 0.01, ("a", 0): 0.04, ("b", 1): 0.49}
    assert (cube.rows, cube.excluded) == (7, {"missing weight": 4})
    assert cube.levels[cube.plan.axes[0]] == ("a", "b")


COUNTS = {"g": ["a", "b", "b", "c", "a", "c"], "y": [1, 0, 1, 1, 1, 1],
          "n": [3, 0, None, 2, 5, None], "w": [0.5, 1, 1, None, 0, None]}  # fmt: skip
OF_CASES = {
    "weight 0 is of rows and no cases": (
        {"g": ["a", "a", "b", "b"], "y": [1, 1, 1, 0], "w": [0, 0.5, 0, 0]}, {"weight": "w"},
        {"rows": {("a", 1): 2, ("b", 1): 1, ("b", 0): 1},
         "n": {("a", 1): 1, ("b", 1): 0, ("b", 0): 0},
         "w": {("a", 1): 0.5, ("b", 1): 0, ("b", 0): 0}}, {},
    ),
    "where every row weighs something a row is a case": (
        {"g": ["a", "b", "b"], "y": [1, 1, 0], "w": [0.5, 2, None]}, {"weight": "w"},
        {"n": None, "w": {("a", 1): 0.5, ("b", 1): 2}}, {"missing weight": 1},
    ),
    "counts and weights together": (
        COUNTS, {"count": "n", "weight": "w"},
        {"cases": {("a", 1): 8, ("b", 0): 0}, "n": {("a", 1): 3, ("b", 0): 0},
         "w": {("a", 1): 1.5, ("b", 0): 0}, "w2": {("a", 1): 0.75, ("b", 0): 0}},
        {"missing count": 2, "missing weight": 2},  # rows, and cases
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_CASES)
def test_rows_that_count_and_weigh(rows_as, name):
    columns, asked, sums, excluded = OF_CASES[name]
    cube = count(rows_as(table(**columns)), label="y", sensitive="g", **asked)
    for measure, expected in sums.items():
        assert (cells(cube, measure) if measure in cube.tables[0].sums else None) == expected
    assert cube.excluded == excluded


def test_rows_without_a_count_or_weight_that_meet_a_condition(rows_as):
    data = rows_as(table(**COUNTS, h=["x", "x", "x", "x", "y", "z"]))
    asked = {"label": "y", "sensitive": "g", "count": "n", "weight": "w"}
    cube = fg.count(data, **asked, where="h = x or z")
    assert cells(cube, "cases") == {("a", 1): 3, ("b", 0): 0}
    assert (cube.rows, cube.excluded) == (5, {"missing count": 2, "missing weight": 2})
    cube = fg.count(data, **asked, where="h = x")
    assert (cube.rows, cube.excluded) == (4, {"missing count": 1, "missing weight": 2})
    cube = fg.count(data, **asked, where="w >= 0")
    assert cube.excluded == {"missing count": 2}
    assert [(e.rows, e.cases) for e in cube.seen(Observation.UNDECIDED, "w")] == [(1, 2)]


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("count", [1, -2], "'k' is the count, but has the value -2"),
        ("count", [1.0, 2.5], "'k' is the count and must hold whole numbers, but has '2.5'"),
        ("count", [0, None], "'k' is the count, and every count is 0 or missing"),
        ("weight", [1.5, -0.5], "'k' is the weight, but has the value -0.5"),
        ("weight", [1.5, INF], "'k' is the weight, but has the value inf"),
        ("weight", [INF, None], "'k' is the weight, but has the value inf"),
        ("count", [1.0, INF], "'k' is the count, but has the value inf"),
        ("weight", [0.0, None], "'k' is the weight, and the weights sum to 0"),
        ("score", [0.5, 1.5], r"'k' is the score and must lie in \[0, 1\], but has 1.5"),
        ("score", [-0.1, 0.5], r"'k' is the score and must lie in \[0, 1\], but has -0.1"),
        ("score", [0.5, INF], "'k' must hold numbers, but has 'inf'"),
        ("cut", [50.0, INF], "'k' must hold numbers, but has 'inf'"),
        ("cut", [50.0, -INF], "'k' must hold numbers, but has '-inf'"),
        ("cut", ["old", "40"], "column 'k' must hold numbers, but has "),
    ],
)
def test_numbers_that_are_not_allowed(rows_as, column, values, message):
    rows = table(g=["a", "b"], y=[1, 0], k=values)
    cut = {"sensitive": {"column": "k", "cuts": [40]}}
    asked = cut if column == "cut" else {"sensitive": "g", column: "k"}
    with pytest.raises(DataError, match=message):
        count(rows_as(rows), label="y", **asked)


@pytest.mark.each_value
@pytest.mark.parametrize(
    "name",
    ['say "sex"', "it's", "a b", "a.b", "größe ✓", "a,b;c", "$", "k0", "json", "*", "a\nb", "[0]"],
)
def test_names_of_columns(rows_as, name):
    rows = pa.table([["a", "b"], [1, 0]], names=[name, "y"])
    assert cells(count(rows_as(rows), label="y", sensitive=name)) == {("a", 1): 1, ("b", 0): 1}


def test_no_rows(typed):
    rows = table(g=pa.array([], pa.string()), y=pa.array([], pa.int64()))
    with pytest.raises(DataError, match="the data have no rows"):
        count(typed(rows), label="y", sensitive="g")


def test_too_many_values(rows_as):
    rows = table(g=["a", "b"] * 1_500, y=[float(i) for i in range(3_000)])
    with pytest.raises(DataError, match=r"'y' \(label\) has more than 20 distinct values; cut"):
        count(rows_as(rows), limit=20, label="y", sensitive="g")


def test_the_limit_itself_is_allowed(rows_as):
    rows = table(g=[f"g{i % 20}" for i in range(3_000)], y=[1, 0, 1] * 1_000)
    found = cells(count(rows_as(rows), limit=20, label="y", sensitive="g"))
    assert len(found) == 40
    assert sum(found.values()) == 3_000


DECIMALS = [0.7, 0.1, 0.9, 0.3, 0.07, 0.0000007, 0.1234567, 0.0, 1.0, 0.5, None, 0.7, 0.7]
SINGLES = {
    "threshold": {"score": "s", "threshold": [0.1, 0.7, 0.9]},
    "closed left": {"sensitive": {"column": "s", "cuts": [0.1, 0.3, 0.7], "closed": "left"}},
    "closed right": {"sensitive": {"column": "s", "cuts": [0.1, 0.3, 0.7]}},
    "groups": {"sensitive": "s"},
    "weight": {"weight": "s"},
    "bounds": {"score": "s", "threshold": 0.5, "score_range": (0, 0.9)},
}


@pytest.mark.each_value
@pytest.mark.parametrize("asked", SINGLES.values(), ids=SINGLES)
def test_floats_of_single_precision_are_the_decimals_that_they_are_printed_as(with_singles, asked):
    """0.7 in single precision is below 0.7: a threshold counted other rows than of a CSV file."""
    decimals = [v for v in DECIMALS if v != 1 or "score_range" not in asked]
    more = {"g": ["a", "b", "b"] * len(decimals), "y": [1, 0, 1] * len(decimals)}
    double = table(**more, s=decimals * 3)
    single = double.set_column(2, "s", double["s"].cast(pa.float32()))
    asked = {"label": "y", "sensitive": "g"} | asked
    assert count(with_singles(single), **asked) == count(double, **asked)


@pytest.mark.each_value
@pytest.mark.parametrize("where", ["s >= 0.7", "s > 0.7", "s <= 0.3", "s = 0.7", "s != 0.1"])
def test_conditions_on_floats_of_single_precision(with_singles, where):
    double = table(g=["a", "b", "b"] * len(DECIMALS), y=[1] * 3 * len(DECIMALS), s=DECIMALS * 3)
    single = double.set_column(2, "s", double["s"].cast(pa.float32()))
    asked = {"label": "y", "positive": 1, "sensitive": "g", "where": where}
    assert fg.count(with_singles(single), **asked) == fg.count(double, **asked)


def test_other_floats_of_single_precision_are_themselves(with_singles):
    """A threshold that was computed in single precision is met by the scores that are it."""
    drawn = np.random.default_rng(3).random(200).astype(np.float32)
    scores = pa.array([*drawn, np.nan, 3e-9, 1.0], pa.float32(), mask=[False] * 202 + [True])
    rows = table(g=["a", "b"] * 101 + ["a"], y=[1, 0] * 101 + [1], s=scores)
    exact = rows.set_column(2, "s", scores.cast(pa.float64()))
    asked = {"label": "y", "sensitive": "g", "score": "s", "threshold": float(max(drawn[:9]))}
    found = [cells(count(each, **asked)) for each in (with_singles(rows), exact)]
    assert found[0] == found[1]


def test_lists_are_no_groups(typed):
    rows = table(g=pa.array([["a"], ["b"]], pa.list_(pa.string())), y=[1, 0])
    with pytest.raises(DataError, match=r"(?s)'g' .*not plain|cannot count"):
        count(typed(rows), label="y", sensitive="g")


def _extension(kind: str, stored: pa.Array) -> pa.Array:
    made = getattr(pa, kind)
    return pa.ExtensionArray.from_storage(made(pa.string()) if kind == "json_" else made(), stored)


UUIDS = [uuid.uuid4(), uuid.UUID(int=7)]
WIDE = [Decimal("1.00"), Decimal("2.50"), None, Decimal("1.00")]
NANO = ["2024-01-02", "2024-01-02T00:00:00.000000001", None, "2024-01-02T00:00:00.000001"]
RUNS = pa.array([1, 2, 3, 4], pa.int32())
OF_ARROW = {
    "uuid": lambda: (
        _extension("uuid", pa.array([u.bytes for u in UUIDS] + [None] * 2, pa.binary(16))),
        [str(u) for u in UUIDS] + [None] * 2,
    ),
    "json": lambda: (_extension("json_", pa.array(["1", '{"a": 2}', None, "1"])),
                     ["1", '{"a": 2}', None, "1"]),
    "bool8": lambda: (_extension("bool8", pa.array([1, 0, None, 1], pa.int8())),
                      [True, False, None, True]),
    "decimal32": lambda: (pa.array(WIDE, pa.decimal32(5, 2)), [1, 2.5, None, 1]),
    "decimal64": lambda: (pa.array(WIDE, pa.decimal64(12, 2)), [1, 2.5, None, 1]),
    "float16": lambda: (pa.array([0.1, 0.7, None, 1000.0], pa.float32()).cast(pa.float16()),
                        [0.1, 0.7, None, 1000]),
    "nanoseconds": lambda: (pa.array([0, 1, None, 1000], pa.int64())
                            .cast(pa.duration("ns")), NANO),
    "runs": lambda: (pa.RunEndEncodedArray.from_arrays(RUNS, pa.array(["a", "b", None, "a"])),
                     ["a", "b", None, "a"]),
    "runs of numbers": lambda: (pa.RunEndEncodedArray.from_arrays(RUNS, pa.array([1, 2, None, 1])),
                                [1, 2, None, 1]),
    "numbers by code": lambda: (pa.array([30, 50, None, 30]).dictionary_encode(),
                                [30, 50, None, 30]),
    "views by code": lambda: (
        pa.DictionaryArray.from_arrays([0, 1, None, 0], pa.array(["a", "b"], pa.string_view())),
        ["a", "b", None, "a"],
    ),
    "missing by code": lambda: (
        pa.DictionaryArray.from_arrays([0, 1, 2, None], pa.array(["a", None, "b"])),
        ["a", None, "b", None],
    ),
}  # fmt: skip
"""Columns of types that not every engine groups by itself, each with the values that it has."""
NOT_HELD = {
    "bool8": {"pandas_default", "parquet"},  # a whole number there
    "missing by code": {"pandas_default", "parquet"}, "float16": {"duckdb_relation"},
    "views by code": {"parquet"}, "runs": {"polars_frame", "polars_lazy", "parquet", "dask_frame"},
    "runs of numbers": {"polars_frame", "polars_lazy", "parquet", "dask_frame"},
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ARROW)
def test_types_of_arrow(of_arrow, name):
    """One value has one text, as a group and as a cluster, whatever hands it over."""
    kind, rows_as = of_arrow
    if kind in NOT_HELD.get(name, ()):
        pytest.skip(f"{kind} has no such type")
    held, values = OF_ARROW[name]()
    if name == "nanoseconds":
        start = pa.scalar(dt.datetime(2024, 1, 2)).cast(pa.timestamp("ns"))
        held = pc.add(start, held)
    data = rows_as(table(g=held, h=["x", "x", "y", "y"], y=[1, 0, 1, 1]))
    plain = table(g=pa.array(values), h=["x", "x", "y", "y"], y=[1, 0, 1, 1])
    for asked in ({"sensitive": "g"}, {"sensitive": "h", "cluster": "g"}, {"sensitive": "h",
                  "strata": "g"}):  # fmt: skip
        assert count(data, label="y", **asked) == count(plain, label="y", **asked)
    if all(isinstance(each, (int, float)) for each in values if each is not None):
        cut = {"column": "g", "cuts": [0.7, 2]}
        assert count(data, label="y", sensitive=cut) == count(plain, label="y", sensitive=cut)


def test_scores_that_are_decimals(typed):
    """The casts of some engines miss the nearest double, so that 0.035 is not above 0.035."""
    values = [Decimal(i).scaleb(-3) for i in range(0, 1000, 7)]
    more = {"g": ["a", "b", "b"] * len(values), "y": [1, 0, 1] * len(values)}
    exact = table(**more, s=[*map(float, values)] * 3)
    cuts = [float(each) for each in values[5:50:5]]
    asked = {"label": "y", "sensitive": "g", "score": "s", "threshold": cuts}
    found = typed(table(**more, s=pa.array(values * 3, pa.decimal128(9, 3))))
    assert count(found, **asked) == count(exact, **asked)


def _many(rows: int) -> pa.Table:
    draw = random.Random(5)

    def some(values: list[Any]) -> list[Any]:
        return [draw.choice(values) for _ in range(rows)]

    return table(
        a=some(["x", "y", None]), b=some([1, 2, 3]), c=some(["p", "q"]), d=some([0.5, 1.5]),
        y=some([0, 1]), p=some([0, 1, None]), age=some([*range(18, 90), None]),
        w=some([0.25, 1.5, 2.75]), s=[draw.random() for _ in range(rows)],
    )  # fmt: skip


def test_more_features_than_are_counted_together(rows_as):
    rows = _many(500)
    options = {
        "label": "y", "prediction": "p", "weight": "w", "strata": "c",
        "sensitive": ["a", "b", "d", {"column": "age", "cuts": [30, 60]}],
        "intersections": [("a", "b"), ("b", "age")],
    }  # fmt: skip
    cube = count(rows_as(rows), **options)
    assert len(cube.tables) == 8  # six margins, and the codes among ages and weights
    assert cube == count(rows, **options)
    assert {table.sums["rows"].sum() for table in cube.tables} == {500}


def test_scores_in_fine_bins_and_their_moments(rows_as):
    metrics = ["roc_auc.difference", "brier_score.difference"]
    options = {"label": "y", "score": "s", "threshold": 0.5, "sensitive": "a", "metrics": metrics}
    rows = _many(400)
    assert count(rows_as(rows), **options) == count(rows, **options)


def test_powers_of_labels_and_predictions(rows_as):
    """Missing numbers count nowhere, and powers of huge ones stay finite in every engine."""
    drawn = random.Random(3)
    y = [round(drawn.gauss(50, 9), 4) for _ in range(200)]
    p = [round(each + drawn.gauss(1, 4), 4) for each in y]
    y[:4], p[2:6] = [None, 1e100, -1e100, 2.5], [3e99, None, 7.5, None]
    groups = ["a", "b"] * 98 + ["huge", "huge", "c", "c"]
    y, p = y[4:] + y[:4], p[4:] + p[:4]
    w = [0.2512345678901 + i % 7 for i in range(200)]  # no sum lies between two of 12 digits
    rows = table(g=groups, y=y, p=p, w=w)
    options = {
        "label": "y", "prediction": "p", "sensitive": "g", "weight": "w", "task": "regression",
    }  # fmt: skip
    cube = count(rows_as(rows), **options)
    expected = {
        "y3": lambda a, _, w: w * a**3, "p4": lambda _, b, w: w * b**4,
        "gap3": lambda a, b, w: w * (b - a) ** 3, "gap4": lambda a, b, w: w * (b - a) ** 4,
        "gap2_yy": lambda a, b, w: w * (b - a) ** 2 * a**2,
        "distance3": lambda a, b, w: w * abs(b - a) ** 3, "w3": lambda _a, _b, w: w**3,
        "yy_w2": lambda a, _, w: (w * a) ** 2, "gap4_w2": lambda a, b, w: w**2 * (b - a) ** 4,
        "distance3_w3": lambda a, b, w: (w * abs(b - a)) ** 3,
    }  # fmt: skip
    both = [
        (a, b, w)
        for g, a, b, w in zip(*rows.to_pydict().values(), strict=True)
        if g in ("a", "b") and a is not None and b is not None
    ]
    held = cube.tables[0]
    level = {axis.column: i for i, axis in enumerate(held.axes)}
    names = cube.levels[held.axes[level["g"]]]
    plain = (held.codes[:, [level["y"], level["p"]]] >= 0).all(axis=1)
    plain &= [names[code] in ("a", "b") for code in held.codes[:, level["g"]]]
    for name, of in expected.items():
        total = sum(of(*each) for each in both)
        assert held.sums[name][plain].sum() == pytest.approx(total, rel=1e-11)
        assert all(abs(each) < 1e290 for each in held.sums[name].tolist())
    assert cube.digest == count(rows, **options).digest


@pytest.mark.each_value
@pytest.mark.parametrize("column", ["label", "prediction"])
def test_powers_of_one_column_alone(rows_as, column):
    drawn = random.Random(5)
    numbers = [None, *(round(drawn.gauss(50, 9), 4) for _ in range(60))]
    rows = table(g=["a", "b"] * 30 + ["b"], y=numbers)
    options = {column: "y", "sensitive": "g", "task": "regression"}
    cube = count(rows_as(rows), **options)
    name = {"label": "y", "prediction": "p"}[column]
    powers = [moment.name for moment in cube.plan.moments]
    assert powers == [name, 2 * name, f"{name}3", f"{name}4"]
    assert cube.tables[0].sums[name].sum() == pytest.approx(sum(numbers[1:]))
    assert cube.digest == count(rows, **options).digest


def test_one_digest_for_every_kind(rows_as):
    """Nulls, cuts, weights and intersections at once: the same cube to the last count."""
    cube = count(
        rows_as(_many(300)), label="y", prediction="p",
        sensitive=["a", "c", {"column": "age", "cuts": [40]}], weight="w",
    )  # fmt: skip
    assert cube.digest == "sha256:e7c6b33976bb308a93cc553ae66acd3c238195bd45aa59df1b9878f15b31e551"

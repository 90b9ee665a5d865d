"""Protected counts withstand an attacker that looks at every table that agrees with them."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.errors import CubeError, DataError
from fairgauge.sharing.protection import protect_counts
from fairgauge.stats.rounded_counts import rounded_randomly

ASKED = {"label": "y", "sensitive": "g", "positive": 1}


def table(counts):
    """Return the cube of the counts of groups (rows) by label (columns)."""
    rows = [
        {"g": f"g{i}", "y": j, "n": int(n)} for (i, j), n in np.ndenumerate(np.asarray(counts)) if n
    ]
    return fg.count(pl.DataFrame(rows), count="n", **ASKED)


def dense(cube, measure="n"):
    """Return the counts of a cube by group and label, and the names of its groups and labels."""
    groups, labels = ([str(v) for v in cube.levels[axis]] for axis in cube.tables[0].axes)
    unnamed = int((cube.tables[0].codes[:, 0] < 0).any())  # the last row
    counts = np.zeros((len(groups) + unnamed, len(labels)))
    counts[tuple(cube.tables[0].codes.T)] = cube.tables[0].sums[measure]
    return counts, groups, labels


def possible(published, min_cell):
    """Return which counts may be published as a number, by trying them."""
    return [
        n
        for n in range(int(published) + 2 * min_cell)
        if published in {n // min_cell * min_cell, -(-n // min_cell) * min_cell}
    ]


def is_learned(values, min_cell):
    """Return whether the values that a number may have show that it is small."""
    values = set(values)
    small = {n for n in values if 1 <= n < min_cell}
    return bool(small) and (small == values or len(values) < min_cell)


@pytest.mark.parametrize("seed", range(2))
def test_no_table_that_agrees_gives_a_small_cell_away(seed):
    """Every table is tried that agrees with the published one: cells, margins and total."""
    random = np.random.default_rng(seed)
    for _ in range(50 if EVERY_CASE else 20):
        min_cell = int(random.integers(2, 5))
        cube = table(random.poisson(random.choice([0.5, 2, 6]), (2, 2)) + np.eye(2, dtype=int))
        totals = dense(cube)[0].sum(axis=1)
        if (totals < min_cell).all():
            with pytest.raises(CubeError, match=f"no value of 'g' has {min_cell} rows or more"):
                protect_counts(cube, min_cell, [], random)
            continue
        safe = protect_counts(cube, min_cell, [], random)
        published, named, _ = dense(safe)
        assert named == [f"g{i}" for i, n in enumerate(totals) if n >= min_cell]
        every = np.array(
            list(itertools.product(*(possible(n, min_cell) for n in published.ravel())))
        ).reshape(-1, *published.shape)
        # every label that is listed occurs, and every group that is named has so many rows
        occurring = (every.sum(axis=1) > 0).all(axis=1)
        occurring &= (every[:, : len(named)].sum(axis=2) >= min_cell).all(axis=1)
        every = every[occurring]
        true = sorted(dense(cube)[0].tolist(), key=lambda cells: sum(cells) < min_cell)
        assert (every == true).all(axis=(1, 2)).any()
        for learned in (every.reshape(len(every), -1), every.sum(axis=1), every.sum(axis=2)):
            for values in learned.T:
                assert not is_learned(values.tolist(), min_cell)
        assert not is_learned(every.sum(axis=(1, 2)).tolist(), min_cell)


@pytest.mark.parametrize("seed", range(2))
def test_two_tables_of_one_history_give_nothing_away(seed):
    """The attacker subtracts the earlier table from the later one."""
    random = np.random.default_rng(seed)
    for _ in range(20 if EVERY_CASE else 8):
        min_cell = int(random.integers(2, 7))
        first = random.poisson(random.choice([1, 5]), (2, 2)) + np.array([[min_cell], [1]])
        second = first + random.poisson(random.choice([0, 2, 8]), (2, 2))
        before = protect_counts(table(first), min_cell, [], random)
        try:
            after = protect_counts(table(second), min_cell, [before], random)
        except DataError as error:
            assert "cannot be protected" in str(error)  # noqa: PT017
            continue
        assert dense(after)[1] == dense(before)[1]  # of which one may be large enough now
        for n, m in zip(dense(before)[0].ravel(), dense(after)[0].ravel(), strict=True):
            pairs = [
                (one, two)
                for one in possible(n, min_cell)
                for two in possible(m, min_cell)
                if one <= two
            ]
            for values in (*zip(*pairs, strict=True), [two - one for one, two in pairs]):
                assert not is_learned(values, min_cell)


def test_the_same_rows_published_twice_give_nothing_away():
    """Two roundings of one count could be intersected; the second agrees with the first."""
    random = np.random.default_rng(0)
    cube = table([[3, 12], [5, 25]])
    for _ in range(15):
        before = protect_counts(cube, 10, [], random)
        after = protect_counts(cube, 10, [before], random)
        for n, m in zip(dense(before)[0].ravel(), dense(after)[0].ravel(), strict=True):
            both = set(possible(n, 10)) & set(possible(m, 10))
            assert not is_learned(both, 10)


def test_a_rounding_is_unbiased():
    counts = np.tile([0.0, 3.0, 10.0, 27.0], 20_000)
    rounded = rounded_randomly(counts, 10, np.random.default_rng(1)).reshape(-1, 4)
    assert np.abs(rounded.mean(axis=0) - [0, 3, 10, 27]).max() < 0.15
    assert np.abs(rounded - [0, 3, 10, 27]).max() < 10


def test_nothing_exact_is_published():
    rows = pl.DataFrame({"g": ["a", "b", None] * 37, "y": [1, 0, 0] * 37, "s": [1.5, -1, 0] * 37})
    cube = fg.count(rows, **ASKED)
    safe = fg.protect(cube, 10)
    saved = json.loads(safe.to_json())
    assert fg.Cube.from_dict(saved) == safe
    numbers = [saved["rows"], *saved["excluded"].values()]
    for each in saved["tables"]:
        assert set(each["sums"]) == {"rows"}
        numbers += each["sums"]["rows"]
    assert all(n % 10 == 0 for n in numbers)
    assert saved["min_cell"] == 10


ROWS = pl.DataFrame(
    {
        "g": ["a", "a", "b", "b"] * 20, "h": ["x", "y"] * 40, "y": [1, 0] * 40,
        "p": [1, 0, 0, 1] * 20, "w": [1.0, 2.5] * 40, "s": [0.1, 0.6, 0.4, 0.9] * 20,
        "amount": [1.5, 2.5, 3.5, 4.5] * 20, "id": list(range(80)),
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**ASKED, "weight": "w"}, "weights .'w'.*count without weights"),
        ({**ASKED, "cluster": "id"}, "single clusters .'id'"),
        ({**ASKED, "score": "s"}, "scores 's'.*count decisions"),
        ({"label": "amount", "prediction": "s", "sensitive": "g"}, "sums of amounts"),
        ({"sensitive": "g"}, "one column alone"),
    ],
)
def test_what_cannot_be_protected_is_named(options, message):
    with pytest.raises(CubeError, match=message):
        fg.protect(fg.count(ROWS, **options), 10)


def test_what_was_published_before_must_fit():
    cube = table([[3, 12], [27, 40]])
    safe = fg.protect(cube, 10)
    with pytest.raises(CubeError, match="is not protected"):
        fg.protect(cube, 10, [cube])
    with pytest.raises(CubeError, match="smallest cell 10, not 5"):
        fg.protect(cube, 5, [safe])
    other = fg.count(ROWS, label="y", sensitive="g", positive=1, missing="group")
    with pytest.raises(CubeError, match="counts different things"):
        fg.protect(other, 10, [safe])
    columns = ROWS.with_columns(h=pl.col("g"))
    by_another = fg.count(columns, label="y", sensitive="h", positive=1)
    with pytest.raises(CubeError, match="count all columns together, and publish that table alone"):
        fg.protect(by_another, 10, [safe])
    with pytest.raises(DataError, match="cannot be protected beside"):
        fg.protect(table([[3, 2], [7, 4]]), 10, [fg.protect(table([[30, 20], [70, 40]]), 10)])


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_the_commands_protect(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS.write_csv("rows.csv")
    asked = ("--label", "y", "--positive", "1", "--sensitive", "g")
    assert run("count", "rows.csv", *asked, "-o", "exact.cube.json").exit_code == 0
    made = run("protect", "exact.cube.json", "--min-cell", "10", "-o", "safe.cube.json")
    assert made.exit_code == 0
    assert fg.load("safe.cube.json").min_cell == 10
    more = run("protect", "exact.cube.json", "--min-cell", "10", "--published", "safe.cube.json")
    assert json.loads(more.stdout)["min_cell"] == 10
    direct = run("count", "rows.csv", *asked, "--min-cell", "10", "-o", "direct.cube.json")
    assert direct.exit_code == 0
    assert fg.load("direct.cube.json").min_cell == 10

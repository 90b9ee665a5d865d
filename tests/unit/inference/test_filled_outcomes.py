"""Outcomes that one side lacks more often are filled in as a table that has them would be."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import rate as find_rate
from fairgauge.inference.filled_outcomes import filled_both_ways, placed_both_ways
from fairgauge.resolve.resolution import resolve


def rows(n: int = 3_000) -> pl.DataFrame:
    """Return rows of two groups, of which group a lacks an outcome in a tenth of the rows."""
    rng = np.random.default_rng(5)
    group, label = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    return pl.DataFrame({
        "g": group, "y": label, "d": np.where(rng.random(n) < 0.8, label, 1 - label),
        "s": rng.choice(["n", "m"], n), "w": rng.integers(1, 4, n), "c": rng.integers(0, 200, n),
        "lacking": (group == "a") & (rng.random(n) < 0.1),
    })  # fmt: skip


ASKED = {"label": "y", "sensitive": "g", "strata": "s"}
OF_DECISIONS = ASKED | {"prediction": "d", "positive": 1}


def filled(cube, of):
    """Return the counts in which the outcomes that one side lacks more often are filled in."""
    resolved = resolve(cube, cube.asked)
    return filled_both_ways(resolved.features[0], resolved.outcomes[0], of, (0, 1), resolved.spec)


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "c"}])
@pytest.mark.parametrize(
    ("name", "column", "ends"),
    [
        ("selection_rate", "d", (pl.lit(0), pl.lit(1))),
        ("base_rate", "y", (pl.lit(0), pl.lit(1))),
        ("accuracy", "d", (1 - pl.col("y"), pl.col("y"))),
    ],
)
def test_counts_that_are_filled_in_are_those_of_a_table_that_is(name, column, ends, more):
    data = rows()

    def counted(outcome):
        values = pl.when("lacking").then(outcome).otherwise(column)
        return fg.count(data.with_columns(values.alias(column)), **OF_DECISIONS, **more)

    for made, outcome in zip(filled(counted(None), find_rate(name)), ends, strict=True):
        whole = counted(outcome)
        expected = resolve(whole, whole.asked).features[0]
        for measure, counts in expected.counts.items():
            np.testing.assert_allclose(made.counts[measure], counts, atol=1e-9)
        if "cluster" in more:
            sums = (
                np.bincount(of.cluster, of.counts["n"] * (1 + of.prediction + 3 * of.label))
                for of in (made.clusters, expected.clusters)
            )
            np.testing.assert_allclose(*map(np.sort, sums))


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "c"}])
@pytest.mark.parametrize("apart", [False, True])
def test_counts_in_which_groups_are_placed_are_those_of_a_table_that_has_them(more, apart):
    data = rows()

    def counted(group):
        placed = pl.when("lacking").then(group).otherwise("g")
        cube = fg.count(data.with_columns(g=placed), **OF_DECISIONS, **more)
        return resolve(cube, cube.asked)

    known = counted(pl.lit(None))
    of = find_rate("selection_rate")
    found = placed_both_ways(known.features[0], known.outcomes[0], of, (0, 1), apart=apart)
    for made, groups in zip(found, ("ba", "ab"), strict=True):
        selected, others = map(pl.lit, groups if apart else groups[0] * 2)
        expected = counted(pl.when(pl.col("d") == 1).then(selected).otherwise(others)).features[0]
        for measure, counts in expected.counts.items():
            np.testing.assert_allclose(made.counts[measure], counts, atol=1e-9)
        if "cluster" in more:
            sums = (
                np.bincount(each.cluster, each.counts["n"] * (1 + each.group + 3 * each.prediction))
                for each in (made.clusters, expected.clusters)
            )
            np.testing.assert_allclose(*map(np.sort, sums))


def test_rows_that_lack_a_column_are_placed_where_the_others_allow_it():
    """Women of unknown race were placed among the men."""
    cells = {("F", "B"): 40, ("F", "W"): 50, ("M", "B"): 60, ("M", "W"): 70,
             ("M", None): 5, (None, "B"): 7, ("F", None): 11}  # fmt: skip
    rows = [(*group, i % 2, i) for group, n in cells.items() for i in range(n)]
    data = pl.DataFrame(rows, schema=["sex", "race", "d", "c"], orient="row")
    cube = fg.count(data, prediction="d", positive=1, intersections=[("sex", "race")], cluster="c")
    known, of = resolve(cube, cube.asked), find_rate("selection_rate")

    def placed(reference):
        made = placed_both_ways(
            known.features[0], known.outcomes[0], of, (2, reference), apart=False
        )
        for each in made:
            by_cluster = np.bincount(each.clusters.group, each.clusters.counts["n"], minlength=5)
            np.testing.assert_allclose(by_cluster, each.counts["n"][:, 0].sum(axis=(1, 2)))
        return [each.counts["n"][:, 0].sum(axis=(1, 2)).tolist() for each in made]

    men = [[40, 50, 60, 75, 0], [40, 50, 72, 70, 0]]
    assert placed(3) == men  # black men, and white ones
    others = [[40, 50, 60, 70, 23], [40, 50, 72, 70, 11]]
    assert placed(4) == others


def test_a_side_is_filled_in_by_what_it_lacks_beyond_the_other():
    """Of 200 rows each, 40 and 20 without a decision: half of the 40 have one."""
    rows = [(g, y) for g, of in {"a": (80, 80, 40), "b": (90, 90, 20)}.items()
            for y, n in zip((1, 0, None), of, strict=True) for _ in range(5 * n)]  # fmt: skip
    data = pl.DataFrame(rows, schema=["g", "d"], orient="row")
    cube = fg.count(data, prediction="d", positive=1, sensitive="g")
    for made, expected in zip(
        filled(cube, find_rate("selection_rate")), ([500, 400, 100], [400, 500, 100]), strict=True
    ):
        assert made.counts["n"][0, 0, 0].tolist() == pytest.approx(expected)
        assert made.counts["n"][1, 0, 0].tolist() == [450, 450, 100]
    few = data.filter(pl.col("d").is_not_null() | (pl.int_range(pl.len()) % 20 == 0))
    few = fg.count(few, prediction="d", positive=1, sensitive="g")
    assert filled(few, find_rate("selection_rate")) == []


@pytest.mark.parametrize("weighted", [False, True])
def test_missing_numbers_are_as_far_from_the_others_as_they_could_be(weighted):
    """Of a distribution with the variance of the known ones, the mean moves as far as it can."""
    data = rows().with_columns(
        y=pl.when(~pl.col("lacking")).then(pl.col("y") + 2.5 * pl.col("d") + pl.col("c") / 50)
    )
    more = {"weight": "w"} if weighted else {}
    cube = fg.count(data, **ASKED, task="regression", **more)
    names = ("w" if weighted else "n", "y", "yy", "y4")
    before = resolve(cube, cube.asked).features[0].counts
    (n, y, yy, y4), others = ([before[name][g, 0, :-1].sum() for name in names] for g in (0, 1))
    missing = before[names[0]][0, 0, -1].sum()
    share, mean = missing / (n + missing), y / n
    variance = max(yy / n - mean**2, others[2] / others[0] - (others[1] / others[0]) ** 2)
    of = cube.asked.catalogue.rate_row("mean_label")
    for made, sign in zip(filled(cube, of), (-1, 1), strict=True):
        sums = {name: counts[0, 0, :-1].sum() for name, counts in made.counts.items()}
        reach = sign * (variance * share / (1 - share)) ** 0.5
        value = mean + reach / share
        assert sums["y"] / sums[names[0]] == pytest.approx(mean + reach)
        assert sums["yy"] == pytest.approx(yy + missing * value**2)
        assert sums["y4"] == pytest.approx(y4 + missing * value**4)
        assert made.counts["n"][0, 0, -1].sum() == 0

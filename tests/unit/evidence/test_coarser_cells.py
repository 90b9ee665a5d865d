"""Counts of probabilities that can be shared: no cell of few people, and the same sums."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}
GAP = "selection_rate.difference"


def people(rows, seed=0, concentration=1.0, known=0.0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.array([0.2, 0.6, 0.2]) * concentration, rows)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    chosen = (rng.random(rows) < np.array([0.36, 0.55, 0.5])[group]).astype(int)
    answers = [
        name if u < known else None
        for name, u in zip(np.array(list(GROUPS))[group], rng.random(rows), strict=True)
    ]
    columns = dict(zip(GROUPS.values(), p.T, strict=True))
    return pl.DataFrame({"chosen": chosen, "answer": answers, **columns})


def counted(data, feature=None, **more):
    race = feature or fg.probabilities(GROUPS)
    return fg.count(data, prediction="chosen", positive=1, sensitive={"race": race}, **more)


def gap(cube):
    report = fg.audit(cube, reference={"race": "White"}, metrics=GAP)
    return {str(e.estimator): e for e in report.estimators if e.group == "Black"}, report


@settings(suppress_health_check=list(HealthCheck))
@given(
    rows=st.integers(60, 1_500), seed=st.integers(0, 10_000),
    concentration=st.sampled_from([0.3, 1.0, 5.7]), known=st.sampled_from([0.0, 0.4]),
    min_cell=st.integers(2, 12),
)  # fmt: skip
def test_no_cell_has_few_people_and_all_sums_stay(rows, seed, concentration, known, min_cell):
    feature = fg.probabilities(GROUPS, known="answer") if known else None
    cube = counted(people(rows, seed, concentration, known), feature)
    try:
        safe = fg.protect(cube, min_cell)
    except fg.CubeError:  # some decision or answer is of fewer people in all
        _, sizes = np.unique(cube.tables[-1].codes[:, :-1], axis=0, return_inverse=True)
        held = np.bincount(sizes.reshape(-1), cube.tables[-1].sums["rows"])
        assert 0 < held.min() < min_cell
        return
    for table, exact in zip(safe.tables, cube.tables, strict=True):
        assert table.sums["rows"].min() >= min_cell
        axes = [at for at, axis in enumerate(exact.axes) if axis.role != "proxy"]
        for codes in np.unique(exact.codes[:, axes], axis=0):
            here, there = ((t.codes[:, axes] == codes).all(axis=1) for t in (table, exact))
            for name, sums in exact.sums.items():
                assert table.sums[name][here].sum() == sums[there].sum(), name


@pytest.mark.parametrize("seed", range(4))
def test_estimates_move_within_their_error_and_the_weighted_one_not_at_all(seed):
    cube = counted(people(4_000, seed))
    (exact, _), (safe, report) = gap(cube), gap(fg.protect(cube, 10))
    error = (exact["likelihood"].interval.high - exact["likelihood"].interval.low) / 3.92
    assert abs(safe["likelihood"].value - exact["likelihood"].value) < error / 2
    assert safe["weighted"].value == pytest.approx(exact["weighted"].value, abs=1e-12)
    width = {
        name: each.interval.high - each.interval.low for name, each in safe.items()
    }  # fmt: skip
    assert width["likelihood"] < 1.25 * 3.92 * error
    (note,) = [each for each in report.diagnostics if each.code == "coarser_grid"]
    assert 0 < note["people"] <= 4_000
    assert "are counted in wider cells" in note.message


def test_protected_counts_are_saved_added_and_audited(tmp_path):
    one, two = (fg.protect(counted(people(1_500, seed)), 10) for seed in (1, 2))
    one.save(tmp_path / "one.cube.json")
    assert fg.load(tmp_path / "one.cube.json") == one
    both, exact = gap(one + two)[0], gap(counted(people(1_500, 1)) + counted(people(1_500, 2)))[0]
    assert both["likelihood"].value == pytest.approx(exact["likelihood"].value, abs=0.03)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"strata": "place"}, "they hold 'place'"),
        ({"weight": "w"}, "they hold 'w'"),
        ({"cluster": "place"}, "they hold 'place'"),
    ],
)
def test_what_is_not_protected_is_refused_by_name(more, message):
    data = people(500).with_columns(
        place=pl.int_range(500) % 3, w=pl.lit(1.5) + pl.int_range(500) % 2
    )
    with pytest.raises(fg.CubeError, match=message):
        fg.protect(counted(data, **more), 10)


def test_few_people_and_counts_that_were_published_are_refused():
    with pytest.raises(fg.CubeError, match="fewer than 10 persons of some decision"):
        fg.protect(counted(people(12)), 10)
    cube = counted(people(400))
    with pytest.raises(fg.CubeError, match="so publish one"):
        fg.protect(cube, 10, [fg.protect(cube, 10)])
    lacking = people(400).with_columns(
        *(pl.when(pl.int_range(400) < 3).then(None).otherwise(c).alias(c) for c in GROUPS.values())
    )
    with pytest.raises(fg.CubeError, match="rows without probabilities"):
        fg.protect(counted(lacking), 10)


def test_the_command_warns_of_people_alone_and_protects_them(tmp_path):
    people(800).write_csv(tmp_path / "rows.csv")
    feature = f"race: {', '.join(f'{group}={column}' for group, column in GROUPS.items())}"
    asked = [
        "count", str(tmp_path / "rows.csv"), "--prediction", "chosen", "--positive", "1",
        "--probabilities", feature, "-o", str(tmp_path / "counts.cube.json"),
    ]  # fmt: skip
    alone = CliRunner().invoke(main, asked)
    assert "are alone in a cell of the counts" in alone.stderr
    assert "--min-cell 10" in alone.stderr
    safe = CliRunner().invoke(main, [*asked, "--min-cell", "10"])
    assert safe.exit_code == 0, safe.output
    assert "alone" not in safe.stderr
    cube = fg.load(tmp_path / "counts.cube.json")
    assert min(table.sums["rows"].min() for table in cube.tables) >= 10

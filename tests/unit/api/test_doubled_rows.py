"""A table that was written twice is warned of; rows that repeat rightly are not."""

import itertools

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import DiagnosticCode

ASKED = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "sex"}


def rows(size, seed=0, *, columns=("amount",)):
    rng = np.random.default_rng(seed)
    table = {name: rng.integers(2, size=size) for name in ("y", "p")}
    table |= {"sex": rng.choice(["F", "M"], size)}
    return pl.DataFrame(table | {name: rng.integers(40, size=size) for name in columns})


def found(data, **more):
    report = fg.audit(data, **ASKED | more)
    return [d for d in report.diagnostics if d.code is DiagnosticCode.DOUBLED_ROWS]


def test_counts_state_what_their_rows_showed_or_their_cells_show(monkeypatch):
    table = pl.concat([rows(300).with_columns(g=pl.int_range(300) % 20)] * 2)
    asked = ASKED | {"sensitive": "g"}
    assert found(fg.count(table, **asked), sensitive="g") == found(table, sensitive="g")
    monkeypatch.setattr("fairgauge.rowwise.copies.can_look_at_rows", lambda _: False)
    counts = fg.count(table, **asked)
    (warned,) = found(counts, sensitive="g")
    cells = int((counts.tables[0].sums["rows"] > 0).sum())
    assert (warned["different"], warned["times"]) == (cells, 2)
    assert warned.message.startswith(
        f"every combination of the counted columns occurs 2 times or a multiple of that ({cells} "
    )


def test_rows_that_repeat_rightly_are_not_warned_of():
    """Few categories repeat; the cells of ten rows are even by coincidence, their rows are not."""
    for seed in range(40 if EVERY_CASE else 12):
        assert not found(rows(300, seed, columns=()))
        assert not found(rows(12, seed))
    few = pl.concat([rows(300, columns=())] * 20)
    assert not found(few)  # the numbers of eight different rows may be rounded ones
    numbered = pl.concat([rows(300), rows(300)]).with_columns(id=pl.int_range(600))
    assert found(numbered)  # a running number makes no copy another row


def test_a_part_that_was_appended_again():
    """One in twenty rows, each with a number of its own: exit 0. Of clusters they may repeat."""
    table = rows(3_000).with_columns(id=pl.int_range(3_000))
    twice = pl.concat([table, table[:150]])
    (warned,) = found(twice)
    assert (warned["different"], warned["copied"]) == (150, 300)
    assert not found(table)
    assert not found(twice.drop("id"))
    assert not found(twice, cluster="id")
    assert not found(twice.with_columns(y=pl.int_range(3_150) // 3_000))


PARTS = {
    "every third row four times": lambda t: pl.concat([t, *[t[::3]] * 3]),
    "one file of three, read three times": lambda t: pl.concat([t, *[t[1_000:2_000]] * 2]),
    "a part that was appended again": lambda t: pl.concat([t, t[:900]]),
    "a twentieth": lambda t: pl.concat([t, t[:150]]),
    "parts, twice and three times": lambda t: pl.concat([t, t[:1_200], t[:600]]),
}


@pytest.mark.parametrize("part", PARTS)
def test_copies_of_a_part_without_an_identifier(part):
    """Of four numbers a row, none of which is of one row alone: exit 0."""
    table = PARTS[part](rows(3_000, columns="abcd"))
    assert found(table)
    assert not found(table, cluster="a")


@pytest.mark.parametrize("shuffled", [False, True])
def test_people_with_a_few_alike_rows_each_are_no_copies(shuffled):
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(1_000), rng.choice([1, 2, 3, 4], 1_000))
    for columns in (("amount",), "abcd"):
        table = rows(1_000, columns=columns).with_columns(pay=rng.lognormal(8, 1, 1_000))[who]
        assert not found(table.sample(fraction=1, shuffle=True, seed=1) if shuffled else table)


def people(size=600, seed=0, *, repeated=100):
    """Return applications, some of one person twice, some without an identifier."""
    who = [f"c{i // 2 if i < 2 * repeated else i}" for i in range(size - 150)] + [None] * 150
    own = pl.when(pl.col("who").is_null() | pl.col("who").str.ends_with("7"))
    table = rows(size, seed).with_columns(who=pl.Series(who))
    return table.with_columns(sex=own.then(pl.lit("F")).otherwise(pl.lit("M")))


@pytest.mark.parametrize(("again", "doubted"), [(8, True), (0, False)])
def test_a_part_of_a_table_of_counts_that_stands_twice_is_doubted(again, doubted):
    draws = np.random.default_rng(3)
    cells = itertools.product(range(30), "ab", (0, 1))
    rows = [(*each, int(n)) for each, n in zip(cells, draws.poisson(60, 120), strict=True)]
    rows += rows[: 4 * again]
    table = pl.DataFrame(rows, schema=["lender", "g", "p", "n"], orient="row")
    report = fg.audit(table, prediction="p", sensitive="g", count="n", rules="DI >= 0.5")
    assert [each.code for each in report.doubts] == [DiagnosticCode.DOUBLED_ROWS] * doubted
    monthly = table.with_columns(pl.lit("one").alias("lender"))
    assert fg.audit(monthly, prediction="p", sensitive="g", count="n").doubts == ()


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_people_without_an_identifier_are_counted_twice(tmp_path, kind):
    """Who has one counts once, so that no cell of the counts is even."""
    data = table = pl.concat([people()] * 2)
    if kind != "frame":
        getattr(table, f"write_{kind}")(data := tmp_path / f"rows.{kind}")
    asked = {"label": None, "person": "who"}
    (warned,) = found(data, **asked)
    assert (warned["times"], warned["unnamed"]) == (2, 300)
    text = " ".join(str(fg.audit(data, **ASKED | asked)).split())
    assert "each of the 300 rows without an identifier counts as a person of its own" in text


@pytest.mark.parametrize(("n", "part"), [(3_000, 900), (40_000, 40_000)])
def test_rows_that_were_loaded_again_differ_in_a_column(n, part):
    rng = np.random.default_rng(3)
    table = rows(n, columns="abcd").with_columns(
        load=1, case_no=rng.permutation(3 * n)[:n], pay=rng.lognormal(8, 1, n).round(2)
    )
    again = table.sample(part, seed=1).with_columns(load=2)
    twice = pl.concat([table, again])
    report = fg.audit(twice, **ASKED, rules="selection_rate.ratio >= 0.5")
    (doubted,) = (each for each in report.doubts if each.code == "rows_that_repeat_people")
    assert (doubted.column, doubted.rows) == ("case_no", part)
    assert {each.reason["rows"] for each in report.verdicts} == {part}  # not all rows
    assert not fg.audit(table, **ASKED).doubts

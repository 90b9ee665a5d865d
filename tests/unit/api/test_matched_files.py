"""Files to review: who was refused, with comparable people who were accepted."""

import csv

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.api.matched_files import matched_files
from fairgauge.cli import main
from fairgauge.errors import DataError, SpecError

ASKED = {"prediction": "approved", "positive": "yes", "sensitive": "race",
         "reference": {"race": "White"}}  # fmt: skip


def applications(rows=600):
    rng = np.random.default_rng(9)
    race = rng.choice(["Black", "White", "Asian"], rows)
    approved = rng.random(rows) < np.where(race == "Black", 0.4, 0.6)
    return pl.DataFrame({
        "id": [f"L{i:04}" for i in range(rows)], "race": race,
        "branch": rng.choice(["N", "S", "?"], rows), "dti": rng.normal(38, 8, rows).round(1),
        "approved": np.where(approved, "yes", "no"),
    }).with_columns(branch=pl.col("branch").replace("?", None))  # fmt: skip


def listed(data, **options):
    found = fg.why(data, **{**ASKED, "strata": ["branch", fg.cut("dti", [30, 45])], **options})
    table = matched_files(data, found, "id")
    return found, [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_who_is_listed_was_refused_and_stands_beside_accepted_people_of_the_stratum():
    data = applications()
    people = {row["id"]: row for row in data.to_dicts()}
    _, rows = listed(data)
    assert rows

    def place(person):
        return people[person]["branch"], int(np.searchsorted([30, 45], people[person]["dti"]))

    for row in rows:
        refused = people[row["refused"]]
        beside = [row[f"accepted_{k}"] for k in (1, 2, 3) if row[f"accepted_{k}"]]
        assert beside
        assert len(set(beside)) == len(beside)
        assert refused["approved"] == "no"
        assert refused["branch"] == row["branch"] is not None
        assert refused["race"] == row["refused_group"]
        for other in beside:
            assert people[other]["approved"] == "yes"
            assert people[other]["race"] == row["accepted_group"]
            assert place(other) == place(row["refused"])
    black = [row["refused"] for row in rows if row["refused_group"] == "Black"]
    refused = data.filter(
        (pl.col("race") == "Black") & (pl.col("approved") == "no") & pl.col("branch").is_not_null()
    )
    assert sorted(black) == sorted(refused["id"])
    pairs = [min(row["refused_in_stratum"], row["accepted_in_stratum"])
             for row in rows if row["refused_group"] == "Black"]  # fmt: skip
    assert pairs == sorted(pairs, reverse=True)


@pytest.mark.parametrize("cuts", [[30, 45], "quantiles"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_of_texts_that_is_cut_has_the_strata_of_the_counts(tmp_path, suffix, cuts):
    """With a code that is recoded as unknown, every row was said to lack its stratum."""
    numbers = applications().with_columns(
        dti=pl.when(pl.int_range(pl.len()) % 20 > 0).then(pl.col("dti"))
    )
    texts = numbers.with_columns(pl.col("dti").cast(pl.String).fill_null("NA"))
    path = tmp_path / f"rows.{suffix}"
    (texts.write_csv if suffix == "csv" else texts.write_parquet)(path)
    strata = [fg.cut("dti", cuts)]
    _, of_numbers = listed(numbers, strata=strata)
    _, of_texts = listed(str(path), strata=strata, recode={"dti": {"unknown": ["NA"]}})
    assert of_texts
    assert of_texts == of_numbers


SPARSE = ["branch", fg.cut("dti", [20 + step / 2 for step in range(80)])]


def test_every_refused_person_is_listed_or_counted():
    """Who has no accepted person of the other side in the stratum comes last, beside nobody."""
    data = applications()
    found = fg.why(data, **ASKED, strata=SPARSE)
    table = matched_files(data, found, "id")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    black = [row for row in rows if row["refused_group"] == "Black"]
    refused = data.filter((pl.col("race") == "Black") & (pl.col("approved") == "no"))
    known = refused.filter(pl.col("branch").is_not_null())
    assert sorted(row["refused"] for row in black) == sorted(known["id"])
    alone = [row for row in black if row["accepted_1"] is None]
    assert 0 < len(alone) < len(black)
    assert black[-len(alone) :] == alone
    assert {row["accepted_in_stratum"] for row in alone} == {0}
    (note,) = (each for each in table.notes if "race Black" in each)
    assert note == (
        f"{len(refused):,} people with race Black were refused: {len(black) - len(alone):,} stand "
        f"beside accepted people with race White; {len(alone):,} come last, because their stratum "
        f"has no such person; {len(refused) - len(known):,} are in no row, because their "
        "stratum is unknown"
    )


def test_a_group_without_a_gap_has_no_files_and_is_named():
    rows = [("Black", 160, 400), ("White", 320, 400), ("Asian", 322, 400)]
    data = pl.DataFrame({
        "id": range(1_200), "race": [race for race, _, n in rows for _ in range(n)],
        "branch": ["N", "S"] * 600,
        "approved": [("yes" if i < yes else "no") for _, yes, n in rows for i in range(n)],
    })  # fmt: skip
    found = fg.why(data, **ASKED, strata="branch")
    table = matched_files(data, found, "id")
    assert {row[2] for row in table.rows} == {"Black"}
    assert table.notes[-1] == "Nobody is listed of people with race Asian, of which no gap is shown"


def test_strata_of_the_place_that_the_headline_names_come_first():
    rng = np.random.default_rng(12)
    rows = 8_000
    branch = rng.integers(0, 20, rows)
    branch = np.where((branch == 7) & (rng.random(rows) < 0.5), 3, branch)  # a small one
    race = rng.choice(["Black", "White"], rows)
    refused = 0.2 + 0.05 * (race == "Black") + 0.5 * ((race == "Black") & (branch == 7))
    data = pl.DataFrame({
        "id": range(rows), "race": race, "branch": [f"B{i:02}" for i in branch],
        "approved": np.where(rng.random(rows) < refused, "no", "yes"),
        "dti": rng.normal(38, 8, rows),
    })  # fmt: skip
    found = fg.why(data, **ASKED, strata=["branch", fg.cut("dti", [38])])
    assert "B07" in found.brief().headline.text
    table = matched_files(data, found, "id")
    at = table.columns.index("branch")
    here = [row[at] == "B07" for row in table.rows]
    assert 0 < sum(here) < len(here)
    assert here == sorted(here, reverse=True)


def test_strata_with_a_difference_come_first_where_the_headline_names_them():
    """A small branch with few refusals came last, although it was the one to read."""
    rows = []
    for i in range(1, 12):
        more = 14 if i % 2 else -8
        rows += [(f"B{i:02}", "Black", 100 + more, 50 - more), (f"B{i:02}", "White", 100, 50)]
    rows += [("B12", "Black", 18, 12), ("B12", "White", 147, 3)]
    people = [
        (branch, race, approved)
        for branch, race, yes, no in rows
        for approved in ["yes"] * yes + ["no"] * no
    ]
    data = pl.DataFrame(people, ["branch", "race", "approved"], orient="row").with_row_index("id")
    found = fg.why(data, **ASKED, strata="branch")
    assert "is statistically significant in branch B12" in found.brief().headline.text
    assert not any(each.outlying for each in found.gaps[0].strata)
    table = matched_files(data, found, "id")
    at = table.columns.index("branch")
    assert [row[at] for row in table.rows[:13]] == ["B12"] * 12 + ["B02"]


def test_the_order_of_rows_changes_nothing():
    data = applications()
    shuffled = data.sample(fraction=1, shuffle=True, seed=3)
    assert listed(shuffled)[1] == listed(data)[1]
    assert listed(data, seed=1)[1] != listed(data)[1]


def test_files_are_of_the_side_that_is_worse_off_in_the_stratum_that_is_named():
    """No gap was shown, "read cases of branch B07", and none of its 60 denied people was listed."""
    cells = [(f"B{i:02}", "White", 160, 40) for i in range(1, 13)]
    cells += [(f"B{i:02}", "Black", 69 - i % 2, 11 + i % 2) for i in range(1, 13) if i != 7]
    rows = [(branch, race, ok) for branch, race, *counts in [*cells, ("B07", "Black", 20, 60)]
            for ok, n in zip(("yes", "no"), counts, strict=True) for _ in range(n)]  # fmt: skip
    data = pl.DataFrame(rows, schema=["branch", "race", "approved"], orient="row")
    found, files = listed(data.with_row_index("id"), strata="branch")
    (gap,) = found.gaps
    assert not gap.is_shown
    assert gap.estimate.value > 0
    assert "read cases of branch B07 first" in " ".join(map(str, found.brief().steps))
    first = [(row["refused_group"], row["branch"]) for row in files[:61]]
    assert first[:60] == [("Black", "B07")] * 60
    assert first[60][1] != "B07"
    assert (gap.review[0].refused_group, gap.review[0].refused) == ("Black", 60)


def test_files_are_of_rows_with_a_decision():
    data = applications()
    with pytest.raises(SpecError, match=r", not accuracy\.difference"):
        listed(data, metrics="accuracy.difference", label="approved")
    with pytest.raises(SpecError, match="no column 'number'"):
        matched_files(data, fg.why(data, strata="branch", **ASKED), "number")
    cube = fg.count(data, strata="branch", **ASKED)
    with pytest.raises(DataError, match="counts hold no files"):
        matched_files(cube, fg.why(cube), "id")


def test_cells_to_review_are_counted_from_the_rows():
    """The refused of the side with the lower rate, and the accepted of the other, of every cell."""
    data = applications()
    found = fg.why(data, strata="branch", **ASKED)
    gap = found.gaps[0]
    first = gap.review[0]
    ours, theirs = first.refused_group, first.accepted_group
    for cell in gap.review:
        rows = data.filter(branch=cell.cell["branch"])
        mine, others = rows.filter(race=ours), rows.filter(race=theirs)
        assert (cell.refused, cell.n_refused_side) == (mine.filter(approved="no").height, len(mine))
        assert cell.accepted == others.filter(approved="yes").height
    pairs = [min(cell.refused, cell.accepted) for cell in gap.review]
    assert pairs == sorted(pairs, reverse=True)
    assert min(pairs) > 0
    cube = fg.count(data, strata="branch", **{k: v for k, v in ASKED.items() if k != "reference"})
    assert fg.why(cube, reference=ASKED["reference"]).gaps[0].review == gap.review
    frame = found.to_pandas("review")
    assert frame["refused"].tolist() == [
        cell.refused for each in found.gaps for cell in each.review
    ]


def test_the_command_writes_the_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    applications().write_csv(tmp_path / "rows.csv")
    command = [
        "why", "rows.csv", "--prediction", "approved", "--positive", "yes", "--sensitive", "race",
        "--reference", "race=White", "--strata", "dti:quantiles",
    ]  # fmt: skip

    def run(*more):
        return CliRunner().invoke(main, [*command, *more])

    assert run("--review", "cells.csv").exit_code == 0
    with (tmp_path / "cells.csv").open(encoding="utf-8") as file:
        assert {"dti", "refused", "accepted"} < set(next(csv.DictReader(file)))
    done = run("--review", "files.csv", "--id", "id")
    assert done.exit_code == 0, done.stderr
    assert "people with race Black were refused" in " ".join(done.stderr.split())
    with (tmp_path / "files.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {"dti", "refused", "accepted_1", "accepted_in_stratum"} < set(rows[0])
    assert run("--id", "id").exit_code == 2
    assert run("--review", "other.csv", "--id", "number").exit_code == 2
    assert not (tmp_path / "other.csv").exists()
    assert run("--review", "rows.csv", "--id", "id").exit_code == 2


@pytest.mark.parametrize("copies", [0, 7, 600])
def test_rows_are_not_called_people_where_identifiers_repeat(copies, tmp_path):
    """A month that was loaded twice: "308 people were refused", who were 262."""
    data = applications().filter(pl.col("race") != "Asian")
    # where nobody is refused, accepted people stand beside nobody
    data = data.with_columns(
        branch=pl.when(pl.col("approved") == "no", pl.col("branch") == "N").then(pl.lit("S"))
        .otherwise(pl.col("branch"))
    )  # fmt: skip
    data = pl.concat([data, data.head(copies)])
    found = fg.why(data, **ASKED, strata="branch")
    table = matched_files(data, found, "id")
    compared = data.filter(pl.col("branch") == "S").filter(
        ((pl.col("race") == "Black") & (pl.col("approved") == "no"))
        | ((pl.col("race") == "White") & (pl.col("approved") == "yes"))
    )
    twice = compared["id"].len() - compared["id"].n_unique()
    assert table.repeated == twice
    assert bool(twice) == bool(copies)
    what, other = ("rows", "people")[:: 1 if copies else -1]
    assert table.notes
    assert all(what in note and other not in note for note in table.notes)
    data.write_csv(tmp_path / "rows.csv")
    command = ["why", str(tmp_path / "rows.csv"), "--prediction", "approved", "--positive", "yes",
               "--sensitive", "race", "--reference", "race=White", "--strata", "branch",
               "--review", str(tmp_path / "r.csv"), "--id", "id"]  # fmt: skip
    done = CliRunner().invoke(main, command)
    warning = (
        f"Warning: {twice:,} values of 'id' stand in several rows of the strata that are listed"
    )
    assert (warning in done.stderr) == bool(copies)

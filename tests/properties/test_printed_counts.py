"""Every count that a report prints was counted: never a rate times a number."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.question.kits import find_kit, kit_names
from fairgauge.render import render
from fairgauge.results.report import Report

SELECTING = [
    name for name in kit_names() if not find_kit(name).compared_with
    and any(each.startswith("selection_rate.") for each in find_kit(name).options["metrics"])
]  # fmt: skip
"""The presets that have tables to publish, and need no named reference."""


def applicants(seed: int = 0) -> pl.DataFrame:
    """Return applicants of whom some have no decision, no score, or no category."""
    rng = np.random.default_rng(seed)
    n = 6_000
    sex = rng.choice(["Female", "Male", None], n, p=[0.5, 0.45, 0.05])
    race = rng.choice(["Asian", "Black", "Hispanic", "White"], n, p=[0.1, 0.2, 0.2, 0.5])
    score = np.round(np.clip(rng.normal(0.5, 0.2, n) - 0.1 * (race == "Black"), 0, 1), 2)
    hired = (score > 0.6).astype(int)
    missing = rng.random((2, n)) < np.where(sex == "Female", 0.12, 0.02)
    return pl.DataFrame(
        {
            "sex": sex,
            "race": race,
            "hired": [None if gone else int(x) for x, gone in zip(hired, missing[0], strict=True)],
            "score": [None if gone else x for x, gone in zip(score, missing[1], strict=True)],
        }
    )


def published(name: str, outcome: str) -> Report:
    """Audit them with a preset, by decision or by score."""
    by_decision = {"prediction": "hired", "positive": 1}
    of = by_decision if outcome == "hired" else {"score": "score", "threshold": "median"}
    return fg.audit(applicants(), preset=name, sensitive=["sex", "race"], **of)


@pytest.mark.each_value
@pytest.mark.parametrize("outcome", ["hired", "score"])
@pytest.mark.parametrize("name", SELECTING)
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_check_finds_no_error_in_a_table_that_a_preset_prints(tmp_path, name, outcome, suffix):
    path = tmp_path / f"audit.{suffix}"
    report = published(name, outcome)
    report.save(path)
    # a check holds ratios against the highest rate, unless the reference is named
    named = [e.reference.group for e in report.estimates if e.reference.kind == "largest"]
    checked = fg.check(path, reference=list(dict.fromkeys(named)))
    assert checked.errors == 0
    assert [table.name for table in checked.tables][:2] == ["Groups of sex", "Groups of race"]
    chosen = (
        pl.col("hired") == 1
        if outcome == "hired"
        else pl.col("score") > applicants()["score"].median()
    )
    for table in checked.tables:
        if not table.name.startswith("Groups of "):
            continue  # what follows from these
        columns = table.name.removeprefix("Groups of ").split("*")
        rows = applicants().drop_nulls([*columns, outcome])
        by_group = rows.group_by(pl.concat_str(columns, separator=" & "))
        people = {group.name: group.n for group in table.groups}
        assert people == dict(by_group.len().iter_rows())
        selected = {group.name: group.selected for group in table.groups}
        assert selected == dict(by_group.agg(chosen.sum()).iter_rows())


NAMES = {
    "declined": (["Female", "Male", "Decline to answer"], ["Asian", "White"], {}),
    "declined both": (["Female", "Decline to answer"], ["White", "Decline to answer"], {}),
    "of the name of the row": (["Female", "Male", "Unknown"], ["Asian", "UNKNOWN"], {}),
    "missing as a group": (
        ["Female", "Male"],
        ["Asian", "White"],
        {"missing": "group", "preset": "ugesp"},
    ),
    "case": (["Female", "female", "Male"], ["White", "white"], {}),
}


@pytest.mark.each_value
@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("suffix", ["md", "html"])
@pytest.mark.parametrize("named", NAMES)
def test_check_finds_no_error_whatever_groups_are_called(tmp_path, named, suffix, lacking):
    """Who answered with a word for unknown is a group, beside the row of who has no category."""
    sexes, races, options = NAMES[named]
    rng = np.random.default_rng(5)
    sex, race = (rng.choice(names, 900).tolist() for names in (sexes, races))
    if lacking:
        sex[:70], race[60:100] = [None] * 70, [None] * 40
    hired = rng.random(900) < np.where([each == sexes[-1] for each in sex], 0.6, 0.4)
    rows = pl.DataFrame({"sex": sex, "race": race, "hired": hired.astype(int)})
    stated = {column: {x: [x] for x in found if x.casefold() == "unknown" or "Decline" in x}
              for column, found in (("sex", sexes), ("race", races))}  # fmt: skip
    report = fg.audit(rows, prediction="hired", positive=1, sensitive=["sex", "race"],
                      recode={column: of for column, of in stated.items() if of},
                      **{"preset": "nyc-ll144"} | options)  # fmt: skip
    report.save(path := tmp_path / f"audit.{suffix}")
    found = fg.check(path)
    assert [fault.message for table in found.tables for fault in table.errors] == []
    counted = {(table.name, each.name): (each.n, each.selected)
               for table in found.tables for each in table.groups}  # fmt: skip
    assert counted == {
        (f"Groups of {each.feature}", each.group): (
            each.rates["selection_rate"].denominator, each.rates["selection_rate"].numerator
        ) for each in report.groups
    }  # fmt: skip
    without = [70, 40, 100] if lacking and not options else [None] * len(found.tables)
    assert [table.unknown for table in found.tables] == without


@pytest.mark.parametrize("outcomes", [["hired"], ["hired", "y"], ["y"]])
def test_the_n_beside_a_rate_is_its_denominator(outcomes):
    """Rows without a decision are neither in the rate nor in the n printed beside it."""
    rng = np.random.default_rng(3)
    y = [None if gone else int(x) for x, gone in rng.random((6_000, 2)) < (0.4, 0.1)]
    rows = applicants().with_columns(y=pl.Series(y))
    asked = {{"hired": "prediction", "y": "label"}[column]: column for column in outcomes}
    report = fg.audit(rows, **asked, sensitive=["sex", "race"], positive=1)
    rate = "selection_rate" if "hired" in outcomes else "base_rate"
    frame = report.by_group()
    text = render(report, "markdown", full=True).split("## Details")[1]
    for group in report.groups:
        having = rows.filter(pl.col(group.feature) == group.group).drop_nulls(outcomes[:1])
        assert frame["n"][(group.feature, group.group)] == having.height
        share = having[outcomes[0]].mean()
        assert frame[rate][(group.feature, group.group)] == pytest.approx(share)
        assert f"| {group.group} | {having.height:,} | {100 * share:.1f} " in text
    known = rows.drop_nulls(["sex", outcomes[0]])
    assert f"| overall | {known.height:,} | {100 * known[outcomes[0]].mean():.1f} " in text

"""Turnout of 5,000 made-up voters, as BIRDiE 0.7.1 estimates it (its stored numbers; GPL >= 3).

`pseudo_vf_probabilities.csv` has the probabilities (`bisg` of surname and ZIP code) and answers;
it is read where it lies beside the repository. And the rows that the CFPB's BISG script writes for
its own test data, as they are printed.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.stats.group_mixture import GroupMixture

STORED = (0.69962424, 0.64246699, 0.60866083, 0.38952153, 0.23241639, 0.73094122)
"""The probability of "yes" of White, Black, Hispanic, Asian, American Indian, and other people."""
KNOWN = ("white", "black", "hisp", "asian", "aian", "other")
ASKED: dict[str, Any] = {"prediction": "turnout", "positive": "yes"}
GAP = "selection_rate.difference"


@pytest.fixture(scope="module")
def voters(shared: Any) -> tuple[pl.DataFrame, dict[str, str]]:
    data = pl.read_csv(shared.data("pseudo_vf_probabilities.csv"))
    return data, {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hisp", "Asian": "pr_asian",
        "American Indian or Alaska Native": "pr_aian", "other": "pr_other",
    }  # fmt: skip


def prior_of(data, groups):
    """Return the pseudo-answers that BIRDiE adds: one of each group, by its weighted estimate."""
    p, yes = data.select(groups.values()).to_numpy(), (data["turnout"] == "yes").to_numpy()
    weighted = p[yes].sum(axis=0) / p.sum(axis=0)
    return p, yes, weighted


def stored_by(share, p, yes):
    """Return what BIRDiE stores of its mode: the expected shares of the people themselves."""
    of_yes, of_no = p[yes] * share, p[~yes] * (1 - share)
    of_yes = (of_yes / of_yes.sum(axis=1, keepdims=True)).sum(axis=0)
    of_no = (of_no / of_no.sum(axis=1, keepdims=True)).sum(axis=0)
    return of_yes / (of_yes + of_no)


def test_the_twelve_stored_numbers(voters):
    data, groups = voters
    p, yes, weighted = prior_of(data, groups)
    every = np.concatenate([p, np.eye(6)])
    counts = np.concatenate(
        [np.stack([yes, ~yes], axis=1).astype(float), np.stack([weighted, 1 - weighted], axis=1)]
    )
    by_rows = GroupMixture(every, counts).theta[0]
    assert stored_by(by_rows, p, yes) == pytest.approx(STORED, abs=2e-5)

    rows = [
        {column: float(column == of) for column in groups.values()} | {"turnout": answer, "w": w}
        for of, share in zip(groups.values(), weighted.tolist(), strict=True)
        for answer, w in (("yes", share), ("no", 1 - share))
    ]
    asked = [*groups.values(), "turnout", "w"]
    all_rows = pl.concat(
        [data.with_columns(w=pl.lit(1.0)).select(asked), pl.DataFrame(rows).select(asked)]
    )
    report = fg.audit(all_rows, weight="w", sensitive={"race": fg.probabilities(groups)}, **ASKED)
    on_grid = np.array([each.rates["selection_rate"].value for each in report.groups])
    assert stored_by(on_grid, p, yes) == pytest.approx(STORED, abs=0.003)
    assert stored_by(on_grid, p, yes)[:3] == pytest.approx(STORED[:3], abs=2e-4)


def test_the_gap_by_every_estimator(voters):
    data, groups = voters
    report = fg.audit(
        data, sensitive={"race": fg.probabilities(groups)}, reference={"race": "Black"},
        metrics=GAP, **ASKED,
    )  # fmt: skip
    of = {str(e.estimator): e for e in report.estimators if e.group == "White"}
    assert of["likelihood"].value == pytest.approx(0.057, abs=0.001)
    assert list(of["likelihood"].interval) == pytest.approx([0.002, 0.114], abs=0.001)
    assert of["bounds"].set_low == pytest.approx(-0.42, abs=0.015)
    assert of["bounds"].set_high == pytest.approx(0.60, abs=0.025)
    people = {
        each.group: each.rates["selection_rate"].reason for each in report.groups
    }  # fmt: skip
    assert [name for name, reason in people.items() if reason] == [
        "American Indian or Alaska Native", "other",
    ]  # fmt: skip
    assert [reason["people"] for reason in people.values() if reason] == [12.6, 5.2]


def test_effective_people_and_what_answers_show_of_the_probabilities(voters):
    data, groups = voters
    named = dict(zip(KNOWN, groups, strict=True))
    report = fg.audit(
        data.with_columns(race=pl.col("race").replace_strict(named)), reference="overall",
        sensitive={"race": fg.probabilities(groups, known="race")}, metrics=GAP, **ASKED,
    )  # fmt: skip
    people = [e.effective_people for e in report.estimators if str(e.estimator) == "likelihood"]
    assert people == pytest.approx([1272, 358, 166, 46, 12, 5], abs=1)
    (calibration,) = (each for each in report.diagnostics if each.code == "calibration")
    assert calibration["rejected"]
    assert "lack_of_fit" not in {str(each.code) for each in report.diagnostics}


ROWS = Path(__file__).parent / "vendored" / "cfpb_bisg_rows.csv"


def printed():
    with ROWS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_printed_rows_are_counted_as_they_are(tmp_path):
    rows = printed()
    groups = {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hispanic",
        "Asian or Pacific Islander": "pr_api", "American Indian or Alaska Native": "pr_aian",
        "several or other": "pr_mult_other",
    }  # fmt: skip
    chosen = np.arange(len(rows)) % 3 > 0
    file = tmp_path / "rows.csv"
    pl.DataFrame(rows).with_columns(chosen=pl.Series(chosen.astype(int))).write_csv(file)
    report = fg.audit(
        file, prediction="chosen", positive=1, metrics="selection_rate.difference",
        sensitive={"race": fg.probabilities(groups)},
    )  # fmt: skip
    assert report.data.excluded == {}
    p = {group: np.array([float(row[column]) for row in rows]) for group, column in groups.items()}
    total = sum(p.values())
    assert 0 < np.abs(total - 1).max() < 1.1e-8  # printed with eight decimals
    (note,) = [each for each in report.diagnostics if each.code == "rounded_probabilities"]
    assert note["rows"] == int((np.abs(total - 1) > 1e-9).sum())
    bounds = {e.group: e for e in report.estimators if str(e.estimator) == "bounds"}
    assert set(bounds) == set(groups)
    for group, own in p.items():
        own = own / total
        ours = (own * chosen).sum() / own.sum()
        others = ((1 - own) * chosen).sum() / (1 - own).sum()
        # the weighted rates of these very probabilities are always among those that they leave open
        assert bounds[group].set_low <= ours - others <= bounds[group].set_high

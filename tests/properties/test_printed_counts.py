"""Every count that a report prints was counted: never a rate times a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.statistics import Rate
from fairgauge.question.presets import preset, preset_names

if TYPE_CHECKING:
    from fairgauge.results.report import Report

SELECTING = [
    name for name in preset_names()
    if any(each.startswith("selection_rate.") for each in preset(name).options["metrics"])
]  # fmt: skip
"""The presets that have tables to publish."""


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
    rows = applicants().drop_nulls(["sex", outcome])
    people = {group.name: group.n for group in checked.tables[0].groups}
    assert people == dict(rows.group_by("sex").len().iter_rows())
    chosen = {group.name: group.selected for group in checked.tables[0].groups}
    selected = (
        pl.col("hired") == 1
        if outcome == "hired"
        else pl.col("score") > applicants()["score"].median()
    )
    assert chosen == dict(rows.group_by("sex").agg(selected.sum()).iter_rows())


@pytest.mark.parametrize("options", [{}, {"strata": "race"}, {"missing": "group"}])
def test_every_share_is_its_two_counts(options):
    rows = applicants().with_columns(pl.Series("y", np.arange(6_000) % 2))
    report = fg.audit(rows, label="y", prediction="hired", sensitive="sex",
                      metrics=["native"], **options)  # fmt: skip
    shares = 0
    for group in (*report.groups, *report.totals):
        for name, rate in group.rates.items():
            if not isinstance(report.catalogue.rate(name), Rate):
                assert (rate.numerator, rate.denominator) == (None, None)
                continue
            assert isinstance(rate.numerator, int)
            assert isinstance(rate.denominator, int)
            assert rate.denominator <= group.n
            if rate.denominator:
                assert rate.value == rate.numerator / rate.denominator
            shares += 1
    assert shares > 10


def test_the_counts_of_rates_are_saved_and_verified(tmp_path):
    rows = applicants()
    asked = {"preset": "nyc-ll144", "prediction": "hired", "positive": 1, "sensitive": "sex"}
    cube = fg.count(rows, **asked)
    report = fg.audit(cube)
    path = tmp_path / "report.json"
    report.save(path)
    assert fg.load(path).groups == report.groups
    changed = path.read_text().replace('"numerator": ', '"numerator": 1', 1)
    path.write_text(changed)
    with pytest.raises(fg.DataError, match="does not follow from the counts"):
        fg.seal(path, cube, tmp_path / "audit.fairgauge")

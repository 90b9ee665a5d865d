"""Ordered outcomes: one audit of every cut gives what an audit of each selection gives."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render

LEVELS = ("top", "middle", "bottom")


def ratings(n=600, seed=4):
    rng = np.random.default_rng(seed)
    race = rng.choice(["White", "Black", "Asian"], n, p=[0.5, 0.3, 0.2])
    share = {"White": [0.3, 0.4, 0.3], "Black": [0.15, 0.35, 0.5], "Asian": [0.3, 0.4, 0.3]}
    rated = [rng.choice(LEVELS, p=share[each]) for each in race]
    shown = [each if rng.random() < 0.7 else rng.choice(LEVELS) for each in rated]
    return pl.DataFrame({"race": race, "merit": rated, "rating": shown})


def audit(positive, **options):
    asked = {"prediction": "rating", "sensitive": "race", "reference": {"race": "White"}}
    return fg.audit(ratings(), **asked | options, positive=positive)


@pytest.mark.parametrize("metrics", [["standard"], ["clarify"], ["odds ratio", "lift"]])
def test_each_cut_is_the_audit_of_its_selection(metrics):
    together = audit(fg.ordered(*LEVELS), label="merit", metrics=metrics)
    expected = []
    for selected in (["top"], ["top", "middle"]):
        alone = audit(selected, label="merit", metrics=metrics)
        name = " or ".join(selected)
        found = {
            (each.metric, each.group): each for each in together.estimates if each.class_ == name
        }
        for each in alone.estimates:
            if (each.metric, each.group) in found:  # sizes and distributions have no cut
                ours = found[each.metric, each.group]
                assert (ours.value, ours.interval, ours.p_value, ours.status) == (
                    each.value, each.interval, each.p_value, each.status,
                )  # fmt: skip
        expected += [(name, group.group, group.rates) for group in alone.groups]
    for name, group, rates in expected:
        (ours,) = (g for g in together.groups if (g.class_, g.group) == (name, group))
        assert {k: v.value for k, v in ours.rates.items()} == {k: v.value for k, v in rates.items()}


def test_the_worst_cut_decides_a_rule():
    report = audit(fg.ordered(*LEVELS), rules=["selection_rate.ratio >= 0.8"])
    alone = {
        name: audit(name.split(" or "), rules=["selection_rate.ratio >= 0.8"])
        for name in ("top", "top or middle")
    }
    order = ["fail", "inconclusive", "not_evaluated", "pass"]
    for each in report.verdicts:
        of_cuts = [
            str(v.outcome) for r in alone.values() for v in r.verdicts if v.group == each.group
        ]
        assert str(each.outcome) == min(of_cuts, key=order.index)
        assert each.class_scope.name in alone


def test_text_table_and_function_are_one_question(tmp_path):
    ratings().write_csv(tmp_path / "ratings.csv")
    (tmp_path / "audit.toml").write_text(
        'prediction = "rating"\npositive = {ordered = ["top", "middle", "bottom"]}\n'
        'sensitive = ["race"]\n'
    )
    reports = []
    for asked in (
        ["--prediction", "rating", "--positive", "top > middle > bottom", "--sensitive", "race"],
        ["-c", str(tmp_path / "audit.toml")],
    ):
        run = CliRunner().invoke(
            main, ["audit", str(tmp_path / "ratings.csv"), *asked, "--format", "json"]
        )
        assert run.exit_code == 0, run.output
        reports.append(json.loads(run.stdout))
    made = fg.audit(
        tmp_path / "ratings.csv",
        prediction="rating",
        positive=fg.ordered(*LEVELS),
        sensitive="race",
    )
    assert reports[0]["spec"] == reports[1]["spec"] == made.to_dict()["spec"]
    assert reports[0]["estimates"] == made.to_dict()["estimates"]
    assert "--positive 'top > middle > bottom'" in render(made, "text", full=True)


def test_counts_answer_the_same_question(tmp_path):
    asked = {"prediction": "rating", "sensitive": "race", "positive": fg.ordered(*LEVELS)}
    fg.count(ratings(), **asked).save(tmp_path / "day.cube.json")
    again = fg.audit(fg.load(tmp_path / "day.cube.json"))
    assert again.estimates == fg.audit(ratings(), **asked).estimates


@pytest.mark.parametrize(
    ("levels", "options", "message"),
    [
        (("top",), {}, "two levels or more"),
        (("top", "middle", "top"), {}, "a level twice"),
        (("top", "bottom"), {}, "does not order 'middle', which column 'rating' holds"),
        ((*LEVELS, "worst"), {}, "no row has the level 'worst'"),
        (LEVELS, {"task": "multiclass"}, "each cut of which is binary"),
        (LEVELS, {"prediction": None, "score": "rating"}, "a score predicts none"),
    ],
)
def test_orders_that_do_not_fit(levels, options, message):
    with pytest.raises(fg.SpecError, match=message):
        audit(fg.ordered(*levels), **options)

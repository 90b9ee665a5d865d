"""Tally: groups, value sets, cuts, intersections, strata, references, and what is left out."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import ReferenceKind
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.scopes import OVERALL, Reference

OTHERS = Reference(ReferenceKind.OTHERS)

TABLE = pd.DataFrame(
    {
        "race": ["B", "B", "W", "W", "H", "A", None, "W"],
        "sex": ["f", "m", "f", "m", "f", None, "m", "m"], "age": [20, 40, 41, 60, 61, None, 30, 90],
        "y": [1, 0, 1, 1, 0, 1, 1, 0], "dept": ["x", "x", "x", "y", "y", None, "y", "x"],
    }
)  # fmt: skip


def audit(**options: Any) -> fg.Report:
    return fg.audit(TABLE, **({"label": "y", "positive": 1, "metrics": "DPL"} | options))


def sizes(report: fg.Report) -> dict[str, float]:
    return {g.group: g.n for g in report.groups if g.scope == OVERALL}


def test_value_sets_are_groups_and_the_others_their_rest() -> None:
    report = audit(sensitive={"race": ["B", "H"]})
    assert sizes(report) == {"B, H": 3, "others": 4}
    assert [(e.group, e.reference) for e in report.estimates] == [("B, H", OTHERS)]
    kinds = {g.group: g.reference_kind for g in report.groups}
    assert kinds == {"B, H": None, "others": ReferenceKind.OTHERS}
    assert report["DPL", "race", "B, H"].value == pytest.approx(3 / 4 - 1 / 3)


def test_intersections_are_the_combinations_that_occur() -> None:
    report = audit(sensitive=["race"], intersections=[("race", "sex")])
    found = {g.group: g.n for g in report.groups if g.feature == "race*sex"}
    assert found == {"B & f": 1, "B & m": 1, "H & f": 1, "W & f": 1, "W & m": 2}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("others", dict.fromkeys("ABHW", OTHERS)),
        ("overall", dict.fromkeys("ABHW", Reference(ReferenceKind.OVERALL))),
        ("largest", dict.fromkeys("ABH", Reference(ReferenceKind.LARGEST, "W"))),
        ({"race": "B"}, dict.fromkeys("AHW", Reference(ReferenceKind.GROUP, "B"))),
    ],
)
def test_references(reference: Any, expected: dict[str, Reference]) -> None:
    report = audit(sensitive="race", reference=reference)
    assert {e.group: e.reference for e in report.estimates} == expected


def test_best_is_the_best_by_the_metric() -> None:
    sets = {"race": [["B"], ["W"], ["H"]]}
    report = audit(sensitive=sets, reference="best", metrics="DPL", min_n=1)
    # base rates: B 1 of 2, W 2 of 3, H 0 of 1
    best = Reference(ReferenceKind.BEST, "W")
    assert {e.group: e.reference for e in report.estimates} == {"B": best, "H": best}
    table = TABLE.assign(p=[1, 1, 1, 0, 0, 0, 0, 0])
    report = fg.audit(
        table, label="y", prediction="p", positive=1, sensitive="race", reference="best",
        metrics="DPPL", min_n=1,
    )  # fmt: skip
    assert {e.reference for e in report.estimates} == {Reference(ReferenceKind.BEST, "B")}


def test_best_of_a_metric_that_does_not_apply_is_the_largest() -> None:
    found = audit(sensitive="race", reference="best", metrics="CDDL")["CDDL", "race", "B"]
    assert (found.status, str(found.reference)) == ("not_applicable", "W")
    assert found.reason == Reason.of(ReasonCode.NEEDS_STRATA)
    with pytest.raises(fg.SpecError, match=r"roc_auc.difference needs a score; add score"):
        audit(sensitive="race", reference="best", metrics="roc_auc.difference")


def test_a_reference_outside_the_value_sets_becomes_a_group() -> None:
    report = audit(sensitive={"race": ["B"]}, reference={"race": "W"})
    assert report["DPL", "race", "B"].reference == Reference(ReferenceKind.GROUP, "W")
    assert sizes(report) == {"B": 2, "W": 3, "others": 2}


def test_unknown_values_name_the_nearest() -> None:
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(TABLE.replace("B", "Black"), label="y", sensitive={"race": ["Blck"]})
    assert str(caught.value).startswith(
        "sensitive: column 'race' has no value 'Blck'. Did you mean 'Black'? It has "
    )
    with pytest.raises(fg.SpecError, match="reference: column 'race' has no value 'Z'"):
        audit(sensitive="race", reference={"race": "Z"})
    with pytest.raises(fg.SpecError, match="positive: column 'y' has no value '7'"):
        audit(sensitive="race", positive=7)
    with pytest.raises(fg.SpecError, match=r"fairgauge.above\(X\), --positive '>X'"):
        audit(sensitive="race", positive=">7")


# ---- rows of excluded groups take no part in their feature, as if they had not been read
ROWS = pl.DataFrame(
    {
        "g": ["a"] * 60 + ["b"] * 50 + ["c"] * 40,
        "h": ["x", "y", "y"] * 50,
        "y": [int((i * 7) % 3 == 0) for i in range(150)],
        "p": [int((i * 5) % (3 + i // 60) == 0) for i in range(150)],
        "f": [i % 11 for i in range(150)],
    }
)
ASKED = {
    "label": "y", "prediction": "p", "positive": 1, "features": ["f"],
    "metrics": ["RD", "DI", "JS", "selection_rate.largest_gap", "FT"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "missing"), [("others", "exclude"), ("best", "group"), ({"g": "a"}, "exclude")]
)
def test_it_is_as_if_the_rows_were_not_there(reference: object, missing: str) -> None:
    options = ASKED | {"reference": reference, "sensitive": "g", "missing": missing}
    without = fg.audit(ROWS, exclude_groups="c", **options)
    alone = fg.audit(ROWS.filter(pl.col("g") != "c"), **options)
    assert without.estimates == alone.estimates
    assert without.pairs == alone.pairs
    assert without.groups == alone.groups
    assert without.data.excluded == {"group of g that is excluded": 40}


def test_a_group_of_an_intersection_can_be_excluded() -> None:
    options = {key: value for key, value in ASKED.items() if key != "features"}
    options |= {"metrics": ["RD", "DI"], "sensitive": ["g", "h"], "intersections": [("g", "h")]}
    crossed = pl.concat_str(["g", "h"], separator=" & ") != "c & x"
    without = fg.audit(ROWS, exclude_groups="c & x", **options)
    alone = fg.audit(ROWS.filter(crossed), **options)
    every = fg.audit(ROWS, **options)
    for report, features in ((alone, ["g*h"]), (every, ["g", "h"])):
        same = [
            [
                (each.key, each.value, each.interval)
                for each in one.estimates
                if each.feature in features
            ]
            for one in (without, report)
        ]
        assert same[0] == same[1]


DAY = {
    "sex": ["F"] * 150 + ["M"] * 150 + ["withheld"] * 60, "y": [1, 0] * 180,
    "p": ([1, 0, 0] * 50) + ([1, 1, 0] * 50) + [0, 1] * 30, "s": [0.1, 0.7, 0.3, 0.9, 0.6] * 72,
    "t": [0.2, 0.6, 0.4, 0.9, 0.3] * 72, "k": ["x", "y", "z"] * 120,
}  # fmt: skip
LABELLED = {"label": "y", "positive": 1, "sensitive": "sex"}
RULE = "|selection_rate.difference| <= 0.4"


def _every_day(config: dict[str, object], *days: dict[str, list[object]]) -> object:
    question = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "sex"}
    counts = {
        f"2026-11-0{i + 1}": fg.count(pl.DataFrame(day), **question) for i, day in enumerate(days)
    }
    return fg.monitor(counts, question | config)


VERBS = {
    "audit": lambda **o: fg.audit(pl.DataFrame(DAY), prediction="p", **LABELLED, **o),
    "audit of counts": lambda **o: fg.audit(
        fg.count(pl.DataFrame(DAY), prediction="p", **LABELLED), **o
    ),
    "thresholds": lambda **o: fg.thresholds(
        pl.DataFrame(DAY),
        score="s",
        threshold=0.5,
        rules="|TPR.difference| <= 0.3",
        **LABELLED,
        **o,
    ),
    "compare-models": lambda **o: fg.compare_models(
        pl.DataFrame(DAY), score="s", threshold=0.5, candidate="t", **LABELLED, **o
    ),
    "why": lambda **o: fg.why(pl.DataFrame(DAY), prediction="p", strata="k", **LABELLED, **o),
    "explore": lambda **o: fg.explore(
        pl.DataFrame(DAY), prediction="p", exact=True, **LABELLED, **o
    ),
    "monitor": lambda **o: _every_day({"monitor": {"rules": [RULE]}} | o, DAY, DAY),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_name_that_no_group_has_is_refused_by_every_verb(verb: str) -> None:
    """A misspelt name left its rows in every comparison."""
    with pytest.raises(fg.SpecError) as error:
        VERBS[verb](exclude_groups=["F", "witheld"])
    assert str(error.value) == (
        "exclude_groups[1]: no feature has a group 'witheld'. Did you mean 'withheld'? "
        "Groups: 'F', 'M', 'withheld'"
    )
    VERBS[verb](exclude_groups=["withheld"])


@pytest.mark.parametrize("option", ["exclude_groups", "unknown"])
def test_what_is_left_out_is_no_reference(option: str) -> None:
    with pytest.raises(fg.SpecError, match=f"reference: 'c' is excluded from 'g' by {option}"):
        fg.audit(ROWS, sensitive="g", reference={"g": "c"}, **ASKED | {option: "c"})


@pytest.mark.parametrize(("of", "seed"), [("people", 0), ("scores", 1)])
def test_excluding_groups_below_a_minimum_share_changes_nothing_of_the_others(
    of: str, seed: int
) -> None:
    """The share was of the rows that are not excluded: a group just below it was the reference."""
    rng = np.random.default_rng(seed)
    race = np.repeat(["a", "b", "c", "d", "e"], [1200, 560, 160, 39, 37])
    rates = {"a": 0.5, "b": 0.46, "c": 0.4, "d": 0.7, "e": 0.4}
    hired = rng.random(len(race)) < np.vectorize(rates.get)(race)
    sex = rng.choice(["f", "m", None], len(race), p=[0.5, 0.48, 0.02])
    rows = pl.DataFrame({"race": race, "sex": sex.tolist(), "hired": 1.0 * hired})
    lacking = pl.Series(rng.random(len(race)) < 0.01)
    rows = rows.with_columns(
        who=pl.int_range(pl.len()), score=pl.col("hired") / 4 + pl.Series(rng.random(len(race))) / 2
    ).with_columns(pl.when(~lacking).then("hired").alias("hired"))
    asked = {
        "rows": {"prediction": "hired", "positive": 1},
        "people": {"prediction": "hired", "positive": 1, "person": "who"},
        "scores": {"score": "score"},
    }[of]
    if of == "people":
        rows = pl.concat([rows, rows[::7]])
    asked |= {"preset": "nyc-ll144", "sensitive": ["sex", "race"]}
    rule = {"rules": "selection_rate.ratio >= 0.8"}
    every = fg.audit(rows, **asked, **rule)
    outcomes = {(each.feature, each.group): each.outcome for each in every.verdicts}
    estimates = {each.key: each for each in every.estimates}
    for names in (["e"], ["d"], ["e", "d"]):
        without = fg.audit(rows, **asked, **rule, exclude_groups=names)
        assert len(without.estimates) < len(estimates)
        assert [estimates.get(each.key) for each in without.estimates] == list(without.estimates)
        assert [outcomes[each.feature, each.group] for each in without.verdicts] == [
            each.outcome for each in without.verdicts
        ]

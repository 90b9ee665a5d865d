"""Rows of excluded groups take no part in their feature, as if they had not been read.

But they count among the rows that a minimum is a share of."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

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
    "sex": ["F"] * 150 + ["M"] * 150 + ["withheld"] * 60,
    "y": [1, 0] * 180,
    "p": ([1, 0, 0] * 50) + ([1, 1, 0] * 50) + [0, 1] * 30,
    "s": [0.1, 0.7, 0.3, 0.9, 0.6] * 72,
    "t": [0.2, 0.6, 0.4, 0.9, 0.3] * 72,
    "k": ["x", "y", "z"] * 120,
}
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

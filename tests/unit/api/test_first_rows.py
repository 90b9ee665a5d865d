"""What rows show before they are counted: people in several rows, and the median score."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome

CODE = str(DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE)


def of_people(people: int, *, most: int, alike: float, seed: int) -> pl.DataFrame:
    """Return rows in disorder of people who have up to so many, each with their own rate."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, most + 1, people))
    own = rng.normal(0, alike, people)[who]
    made = {"who": who * 7 + 11, "g": rng.choice([*"abc"], people)[who],
            "p": (rng.random(len(who)) < 1 / (1 + np.exp(-own))) * 1}  # fmt: skip
    return pl.DataFrame(made).sample(fraction=1, shuffle=True, seed=seed)


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["student_id", "x"])
@pytest.mark.parametrize("order", [None, "who", "g"])
@pytest.mark.parametrize("place", ["frame", "csv", "parquet"])
def test_rows_that_repeat_people_leave_no_pass(name, order, place, tmp_path):
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", "favourable": "positive",
             "rules": "selection_rate.ratio >= 0.5"}  # fmt: skip
    for people, most, alike in ((24, 300, 1), (1_500, 4, 2)):
        rows = of_people(people, most=most, alike=alike, seed=people)
        rows = (rows.sort(order) if order else rows).rename({"who": name})
        if place != "frame":
            getattr(rows, f"write_{place}")(path := tmp_path / f"rows.{place}")
        data = rows if place == "frame" else path
        doubted, clustered = fg.audit(data, **asked), fg.audit(data, **asked, cluster=name)
        (found,) = doubted.doubts
        assert (found.code, found.column, found.rows) == (CODE, name, len(rows) - people)
        assert (doubted.verdict, clustered.doubts) == ("inconclusive", ())
        assert fg.audit(data, **asked, accept=f"{CODE}:{name}").verdict is Outcome.PASS
        with pytest.warns(UserWarning, match=f"{people:,} different values of '{name}'"):
            cube = fg.count(data, **asked)
        assert fg.audit(cube).doubts == doubted.doubts
        alone = rows.with_columns(pl.Series("p", np.random.default_rng(1).permutation(rows["p"])))
        assert not fg.audit(alone, **asked).doubts  # of a name that repeats, as Ann does


@pytest.mark.parametrize("code", [999, -1, "N/A"])
@pytest.mark.parametrize("engine", ["frame", "csv", "parquet"])
def test_the_median_is_of_the_scores_that_are_known(code, engine, tmp_path):
    """A code in a column of numbers, though listed as unknown, moved the threshold."""
    rng = np.random.default_rng(1)
    known = rng.integers(10, 90, 600)
    absent = rng.random(600) < 0.2
    scores = [code if none else int(each) for each, none in zip(known, absent, strict=True)]
    table = pl.DataFrame({"s": scores, "g": [*"ab"] * 300}, strict=False)
    if isinstance(code, str):
        table = table.with_columns(s=pl.Series([str(each) for each in scores]))
    path = tmp_path / f"rows.{engine}"
    if engine == "csv":
        table.write_csv(path)
    elif engine == "parquet":
        table.write_parquet(path)
    report = fg.audit(
        table if engine == "frame" else path,
        score="s", sensitive="g", threshold="median", score_range=(0, 100),
        recode={"s": {"unknown": [code]}},
    )  # fmt: skip
    above = known > np.median(known[~absent])
    for group, own in (("a", ~absent[::2] & above[::2]), ("b", ~absent[1::2] & above[1::2])):
        (rate,) = (e.rates["selection_rate"] for e in report.groups if e.group == group)
        assert rate.numerator == own.sum()

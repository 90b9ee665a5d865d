"""What the first rows tell: fractions are a regression, repeated ids are no clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode

if TYPE_CHECKING:
    from fairgauge.results.scopes import Diagnostic

ROWS = 40


def table(**more: object) -> pd.DataFrame:
    return pd.DataFrame(
        {"y": [0, 1] * (ROWS // 2), "p": [0, 1, 1, 0] * (ROWS // 4), "g": [*"ab"] * (ROWS // 2)}
        | more
    )


def warned(frame: pd.DataFrame, **more: object) -> list[Diagnostic]:
    report = fg.audit(frame, label="y", prediction="p", sensitive="g", **more)
    return [d for d in report.diagnostics if d.code is DiagnosticCode.REPEATED_ID]


@pytest.mark.parametrize("column", ["user_id", "id", "Patient", "session id", "customer_number"])
def test_an_id_that_repeats_is_told(column):
    (warning,) = warned(table(**{column: [i // 2 for i in range(ROWS)]}))
    assert (warning.level, warning.feature) == ("warning", column)
    assert (warning["distinct"], warning["rows"]) == (20, 40)
    assert f"set cluster='{column}' (--cluster)" in warning.message


def test_identical_rows_of_an_id_may_stand_twice_by_mistake():
    """A file to which most of its rows were appended again has no clustered persons."""
    once = table(user_id=range(ROWS), note=range(ROWS))
    (warning,) = warned(pd.concat([once, once.head(25)]))
    assert (
        "in the first 65 rows, and rows with the same value are alike in all columns that are "
        "counted: remove those that stand twice by mistake; otherwise rows of one person or session"
    ) in warning.message
    other = pd.concat([once, once.head(25).assign(p=1 - once.p.head(25))])
    (warning,) = warned(other)
    assert "mistake" not in warning.message
    (warning,) = warned(pd.concat([once, once.head(25).assign(note=0)]))  # which is not counted
    assert warning.get("alike")


def test_who_counts_is_told_as_no_audit_of_the_counts_can_be():
    rows, asked = table(user_id=[i // 2 for i in range(ROWS)]), {"label": "y", "sensitive": "g"}
    with pytest.warns(UserWarning, match="column 'user_id' has 20 distinct values in the first 40"):
        cube = fg.count(rows, **asked)
    assert not [d for d in fg.audit(cube).diagnostics if d.code is DiagnosticCode.REPEATED_ID]
    assert fg.count(rows, **asked, cluster="user_id").rows == ROWS  # without a warning


def test_what_is_no_repeated_id():
    assert not warned(table(user_id=range(ROWS)))  # every row its own
    assert not warned(table(client=["yes", "no"] * (ROWS // 2)))  # a category
    assert not warned(table(paid=[i // 2 for i in range(ROWS)]))  # no name of an id
    assert not warned(table(user_id=[i // 2 for i in range(ROWS)]), cluster="user_id")


def test_a_column_of_few_distinct_values_is_no_identifier():
    assert not warned(table(client=[i % 4 for i in range(ROWS)]))  # a tenth of the rows
    assert warned(table(client=[i % 5 for i in range(ROWS)]))


def test_people_of_many_rows_are_told_where_the_name_is_of_people():
    """Of 20 rows a person the first thousand hold 50 people; they were taken for categories."""
    many = pd.concat([table()] * 25, ignore_index=True).assign(row=range(1_000))
    ids = [i // 20 for i in range(1_000)]
    assert [each["distinct"] for each in warned(many.assign(user_id=ids))] == [50]
    assert not warned(many.assign(branch_id=ids))
    assert not warned(many.assign(client=[i % 10 for i in range(1_000)]))


def test_rows_with_a_count_may_repeat_an_identifier():
    frame = table(user_id=[i // 2 for i in range(ROWS)], n=[1] * ROWS)
    assert warned(frame)
    assert not warned(frame, count="n")


def test_three_identifiers_and_the_first_thousand_rows_are_read():
    ids = {name: [i // 2 for i in range(ROWS)] for name in ("id", "user", "session", "patient")}
    assert [each.feature for each in warned(table(**ids))] == ["id", "user", "session"]
    late = pd.concat([table(user=range(i, i + ROWS)) for i in range(0, 1_000, ROWS)])
    assert not warned(pd.concat([late, late]))
    assert warned(pd.concat([late.head(1), late]))


@pytest.mark.parametrize(
    "more", [{"task": "binary", "positive": fg.above(3)}, {"positive": fg.above(3)}]
)
def test_a_stated_outcome_is_no_regression(more):
    frame = table(y=[i / 3 for i in range(ROWS)], p=[i / 4 for i in range(ROWS)])
    report = fg.audit(frame, label="y", prediction="p", sensitive="g", **more)
    assert report.task == "binary"


def test_fractions_are_a_regression():
    frame = table(y=[i / 3 for i in range(ROWS)], p=[i / 4 for i in range(ROWS)])
    report = fg.audit(frame, label="y", prediction="p", sensitive="g")
    assert report.task == "regression"
    (warning,) = [d for d in report.diagnostics if d.code is DiagnosticCode.TASK]
    assert warning.level == "warning"


def test_people_are_not_counted_by_scores():
    """It advised person=, which scores refuse."""
    frame = table(user_id=[i // 2 for i in range(ROWS)], s=[i / ROWS for i in range(ROWS)])
    report = fg.audit(frame, score="s", sensitive="g", preset="nyc-ll144")
    (warning,) = [d for d in report.diagnostics if d.code is DiagnosticCode.REPEATED_ID]
    assert "set cluster='user_id' (--cluster)" in warning.message
    assert "count people" not in warning.message


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


@pytest.mark.parametrize("engine", ["pandas", "polars", "csv", "parquet"])
@pytest.mark.parametrize("excluded", [0, None])
def test_the_median_is_of_the_rows_that_are_counted(excluded, engine, tmp_path):
    """Rows of weight 0, or without a weight, moved the threshold, though they are in no number."""
    counted = pl.DataFrame({"s": [*range(40, 80)] * 2, "g": [*"ab"] * 40, "w": [1.0, 3.0] * 40})
    others = pl.DataFrame({"s": [*range(40)], "g": [*"ab"] * 20, "w": [excluded] * 40})
    rows = pl.concat([others.cast(counted.schema), counted])
    path = tmp_path / f"rows.{engine}"
    if engine == "csv":
        rows.write_csv(path)
    elif engine == "parquet":
        rows.write_parquet(path)
    data = {"polars": rows, "pandas": rows.to_pandas()}.get(engine, path)
    asked = {"score": "s", "sensitive": "g", "threshold": "median", "score_range": (0, 100)}
    report, alone = (fg.audit(each, weight="w", **asked) for each in (data, counted))
    assert {each.threshold for each in report.groups} == {59.5}
    rates = [[each.rates["selection_rate"].value for each in r.groups] for r in (report, alone)]
    assert rates[0] == rates[1]


@pytest.mark.parametrize(("factor", "message"), [
    ("weight", "column 'n' is the weight, and the weights sum to 0"),
    ("count", "column 'n' is the count, and every count is 0"),
])  # fmt: skip
def test_scores_of_which_no_row_is_counted(factor, message):
    """Of counts of 0 it stated that the score holds numbers that are none."""
    frame = table(s=[i / ROWS for i in range(ROWS)], n=[0] * ROWS)
    with pytest.raises(fg.DataError, match=message):
        fg.audit(frame, score="s", sensitive="g", threshold="median", **{factor: "n"})


@pytest.mark.parametrize(("score", "message"), [
    ("0,25", "'0,25', '7,5'; write plain numbers"),
    ("pendiente", r"'7,5', 'pendiente'; write plain numbers.*\[.pendiente.\]"),
])  # fmt: skip
def test_scores_with_decimal_commas_are_shown(tmp_path, score, message):
    """A column of them held no number in any row, whatever stood there."""
    (path := tmp_path / "rows.csv").write_text(f"g;s\na;{score}\nb;7,5\n")
    with pytest.raises(fg.DataError, match=message):
        fg.audit(path, score="s", sensitive="g", threshold="median")


def test_a_column_without_any_score_is_named():
    frame = pl.DataFrame({"g": ["a", "b"], "s": pl.Series([None, None], dtype=pl.Float64)})
    with pytest.raises(fg.DataError, match=r"column 's' \(score\) holds no number in any row"):
        fg.audit(frame, score="s", sensitive="g", threshold="median")

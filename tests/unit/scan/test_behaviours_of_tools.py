"""What other readers and statistics packages lose is kept (docs/reference/other-tools.md)."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairgauge as fg

HIRED = {"prediction": "hired", "positive": "yes"}
N = 600
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "dept": np.repeat(["A", "B"], N // 2),
        "sex": RNG.choice(["F", "M"], N),
        "hired": RNG.choice(["yes", "no"], N),
        "score": RNG.choice([0.5, 0.7, np.nan], N),
        "day": pd.to_datetime(RNG.choice(["2026-01-02", "2026-02-03"], N)),
    }
)
CONDITIONS = {
    "dept != A": PEOPLE["dept"] != "A",
    "score != 0.5": PEOPLE["score"] != 0.5,
    "day >= 2026-02-01": PEOPLE["day"] >= "2026-02-01",
}


@pytest.mark.parametrize("where", CONDITIONS)
def test_a_condition_keeps_the_same_people_in_frames_and_files(where, tmp_path):
    """Row groups, statistics without NaN, and frames of other libraries change them elsewhere."""
    PEOPLE.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    PEOPLE.to_csv(tmp_path / "a.csv", index=False)
    frames = [PEOPLE, pl.from_pandas(PEOPLE), pa.Table.from_pandas(PEOPLE)]
    kept = PEOPLE[CONDITIONS[where]].value_counts("sex").to_dict()
    for data in (*frames, tmp_path / "a.parquet", tmp_path / "a.csv"):
        report = fg.audit(data, **HIRED, sensitive="sex", where=where)
        assert {each.group: each.n for each in report.groups if each.group} == kept


@pytest.mark.parametrize("epoch", ["1900", "1904"])
def test_workbooks_are_read_past_empty_rows_with_their_own_days_and_late_texts(epoch, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    if epoch == "1904":
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for row in [("code", "day", "hired"), *((1, dt.date(2026, 1, 2), "yes") for _ in range(150))]:
        book.active.append(row)
    book.active.append(())
    for _ in range(50):
        book.active.append(("01", dt.date(2026, 1, 3), "no"))
    book.save(tmp_path / "a.xlsx")
    report = fg.audit(tmp_path / "a.xlsx", **HIRED, sensitive=["code", "day"])
    found = {each.group: each.n for each in report.groups if each.group}
    assert found == {"1": 150, "01": 50, "2026-01-02": 150, "2026-01-03": 50}


def test_people_without_a_score_are_below_no_threshold(tmp_path):
    (tmp_path / "a.csv").write_text("sex,score\n" + "F,\nF,0.2\nM,0.9\nM,0.1\n" * 50)
    report = fg.audit(tmp_path / "a.csv", score="score", threshold=0.5, sensitive="sex")
    rates = [each.rates["selection_rate"] for each in report.groups if each.group]
    assert [(each.numerator, each.denominator) for each in rates] == [(0, 50), (50, 100)]
    assert report.data.excluded == {"missing score": 50}


def test_keys_that_begin_late_are_columns(tmp_path):
    lines = [{"sex": "FM"[i % 2], "hired": "yes"} | ({"old": "x"} if i > 25_000 else {})
             for i in range(30_000)]  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report = fg.audit(tmp_path / "a.jsonl", **HIRED, sensitive="old", missing="group")
    assert {each.group: each.n for each in report.groups if each.group}["x"] == 4_999


def test_a_difference_of_medians_is_that_of_even_groups_too():
    pay = {"sex": ["F"] * 4 + ["M"] * 4, "weight": [0.1, 0.15] * 4,
           "pay": [1000, 2000, 3000, 4000, 1500, 2500, 3000, 4500]}  # fmt: skip
    data = pd.concat([pd.DataFrame(pay)] * 10)
    asked = {"label": "pay", "sensitive": "sex", "task": "regression", "reference": {"sex": "M"},
             "metrics": "median_label.difference"}  # fmt: skip
    (found,) = fg.audit(data, **asked).estimates
    weighted = fg.audit(data, **asked, weight="weight").estimates
    assert found.value == -250
    assert {(each.value, each.reason.code) for each in weighted} == {(None, "no_weights")}

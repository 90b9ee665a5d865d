"""Numbers that no sum can hold are refused by every engine, in the same words."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.scan.row_codes import doubles
from fairgauge.values import to_double

REGRESSION = {"label": "y", "prediction": "p", "sensitive": "sex", "task": "regression"}
BINARY = {"label": "y", "prediction": "p", "sensitive": "sex", "positive": 1}
DECIDED = {"prediction": "p", "positive": 1}
CUT = fg.cut("w", [2])
CROSSED = {"sensitive": ["sex", CUT], "intersections": [["sex", "w"]]}


def csv(columns, folder):
    path = folder / "rows.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def parquet(columns, folder):
    path = folder / "rows.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


ENGINES = {
    "csv": csv, "parquet": parquet, "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "values", "asked", "message"),
    [
        ("p", [1.0, 1e200], REGRESSION, "'p' is averaged, but has 1e.200, which is too large"),
        ("p", [1.0, -1e200], REGRESSION, "'p' is averaged, but has -1e.200, which is too large"),
        ("p", [1.0, float("inf")], REGRESSION, "has 'inf'; write plain numbers"),
        ("p", [float("-inf"), 1.0], REGRESSION, "has '-inf'; write plain numbers"),
        ("w", [1.0, float("inf")], BINARY | {"sensitive": CUT}, "has 'inf'; write plain numbers"),
        ("w", [float("-inf"), 1.0], BINARY | {"strata": CUT}, "has '-inf'; write plain numbers"),
        ("w", [1.0, float("inf")], BINARY | CROSSED, "has 'inf'; write plain numbers"),
        ("p", [1.0, float("inf")], BINARY | {"positive": fg.above(0)}, "'inf'; write plain"),
        ("w", [1.0, -2.0], BINARY | {"weight": "w"}, "'w' is the weight, but has the value -2"),
        ("w", [1.0, float("inf")], BINARY | {"weight": "w"}, "has the value inf; leave"),
        ("w", [1.0, 1e200], BINARY | {"weight": "w"}, "largest value is 1e.200; divide it"),
        ("w", [1e-200, 1e-200], BINARY | {"weight": "w"}, "largest value is 1e-200; divide it"),
        ("w", [1.0, -2.0], BINARY | {"count": "w"}, "'w' is the count, but has the value -2"),
        ("w", [1.0, float("inf")], BINARY | {"count": "w"}, "'w' is the count, but has the val"),
        ("w", [0.0, 0.0], BINARY | {"count": "w"}, "'w' is the count, and every count is 0"),
        ("w", [0.0, 0.0], BINARY | {"weight": "w"}, "'w' is the weight, and the weights sum to 0"),
    ],
)  # fmt: skip
def test_what_no_sum_can_hold_is_refused(tmp_path, engine, column, values, asked, message):
    columns = {"sex": ["F", "M"], "y": [1, 0], "p": [1.0, 0.0]} | {column: values}
    with pytest.raises(fg.DataError, match=message):
        fg.audit(ENGINES[engine](columns, tmp_path), **asked)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_to_do_with_an_infinite_number_works(tmp_path, engine):
    """It was a member of the last group, or of the first."""
    columns = {"sex": ["F", "M"] * 20, "y": [1, 0] * 20, "p": [1, 0, 0, 1] * 10}
    numbers = [None, *[1.0, 3.0] * 19, 1.0]
    report = fg.audit(ENGINES[engine](columns | {"w": numbers}, tmp_path), sensitive=CUT, **DECIDED)
    assert report.groups[0].n + report.groups[1].n == 39
    every = ENGINES[engine](columns | {"w": [float("inf"), *numbers[1:]]}, tmp_path)
    assert fg.audit(every, sensitive="sex", where="w > 2", **DECIDED).data.rows == 20


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_a_column_without_any_number_is_named(engine):
    none = pl.Series([None, None], dtype=pl.Float64)
    frame = pl.DataFrame({"sex": ["F", "M"], "y": [1.0, 0.5], "p": none})
    with pytest.raises(fg.DataError, match=r"column 'p' \(prediction\) holds no number in any row"):
        fg.audit(frame.to_pandas() if engine == "pandas" else frame, **REGRESSION)


def test_a_score_of_texts_without_outcomes_is_named(tmp_path):
    """The error was one of DuckDB: a query that asked for no column."""
    (tmp_path / "a.csv").write_text("s,g\n" + "low,a\nhigh,b\n" * 30)
    with pytest.raises(fg.DataError, match="column 's' must hold numbers, but has 'high', 'low'"):
        fg.audit(tmp_path / "a.csv", score="s", threshold=0.5, sensitive="g")


@pytest.mark.parametrize("sensitive", [[0, 1, 1, 0], [True, False, False, True]])
def test_a_list_of_numbers_is_a_column_of_values(sensitive):
    report = fg.audit(label=[1, 0, 1, 0], prediction=[1, 1, 0, 0], positive=1, sensitive=sensitive)
    assert len({group.group for group in report.groups if group.reference_kind is None}) == 2


# ---- floats of less than double precision are the decimals that they are printed as
@given(st.integers(-(10**7), 10**7), st.sampled_from([7, 5, 3, 1, 0]))
def test_a_short_decimal_is_read_as_itself(digits, places):
    """Its size is below the bound of its places: 1 of seven, 100 of five, and so on."""
    decimal = digits / 10**places
    assert doubles(np.array([decimal], dtype=np.float32)).tolist() == [decimal]


@given(st.floats(width=32, allow_nan=False))
def test_a_float_is_itself_or_what_it_is_printed_as(value):
    single = np.float32(value)
    (found,) = doubles(np.array([single])).tolist()
    assert to_double(single) == found
    assert np.float32(found) == single
    assert found in (value, float(str(single)))


def test_no_number_is_none():
    found = doubles(np.array([np.nan, np.inf, -np.inf, -0.7, 2**24, 3e38], dtype=np.float32))
    assert found[1:5].tolist() == [np.inf, -np.inf, -0.7, 2**24]
    assert np.isnan(found[0])
    assert doubles(np.array([], dtype=np.float32)).tolist() == []


@pytest.mark.parametrize("kind", ["float32", "float16", "Float32", "float[pyarrow]", "category"])
def test_columns_of_pandas(kind):
    scores = pd.Series([0.7, 0.2, 0.9, 0.1] * 10)
    rows = pd.DataFrame({"y": [1, 0] * 20, "g": [*"aabb"] * 10, "s": scores})
    read = (
        scores.astype("float32").astype("category") if kind == "category" else scores.astype(kind)
    )
    asked = {"label": "y", "sensitive": ["g", "s"]}
    if kind != "category":
        asked |= {"score": "s", "threshold": 0.7}
    assert fg.count(rows.assign(s=read), **asked) == fg.count(rows, **asked)


@pytest.mark.parametrize(
    ("made", "kind"),
    [(np.array, np.float32), (np.array, np.float16), (pd.Series, np.float32),
     (pd.Series, np.float16), (pl.Series, np.float32)],
)  # fmt: skip
def test_arrays_and_thresholds(made, kind):
    """The threshold may be of single precision, too."""
    scores = np.array([0.7, 0.2, 0.9, 0.1] * 10)
    found = [
        fg.count(label=[1, 0] * 20, score=s, sensitive={"g": [*"aabb"] * 10}, threshold=threshold)
        for s, threshold in ((made(scores.astype(kind)), kind(0.7)), (scores, 0.7))
    ]
    assert found[0] == found[1]


# ---- what other readers and statistics packages lose is kept (docs/reference/other-tools.md)
HIRED = {"prediction": "hired", "positive": "yes"}
N = 600
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "dept": np.repeat(["A", "B"], N // 2), "sex": RNG.choice(["F", "M"], N),
        "hired": RNG.choice(["yes", "no"], N), "score": RNG.choice([0.5, 0.7, np.nan], N),
        "day": pd.to_datetime(RNG.choice(["2026-01-02", "2026-02-03"], N)),
    }
)  # fmt: skip
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


@pytest.mark.parametrize("words", [(0, 1), (0.0, 1.0), ("0", "1"), ("no", "yes")])
def test_texts_and_a_missing_outcome_leave_a_difference(words):
    """Elsewhere no text equals 1, and one missing outcome makes 1 a threshold: no difference."""
    hired = [words[1]] * 40 + [words[0]] * 10 + [words[1]] * 20 + [words[0]] * 30
    rows = pd.DataFrame({"sex": ["F"] * 50 + ["M"] * 50, "hired": hired})
    asked = {"prediction": "hired", "sensitive": "sex", "reference": {"sex": "M"}}
    asked["metrics"] = "selection_rate.difference"
    if words == ("no", "yes"):  # a guess would be a number of the wrong direction
        with pytest.raises(fg.SpecError, match="name the value of 'hired' that is positive"):
            fg.audit(rows.replace({"hired": {"no": "bad", "yes": "good"}}), **asked)
    one_missing = rows.assign(hired=rows["hired"].where(rows.index != 99))
    for data, others, excluded in ((rows, 50, {}), (one_missing, 49, {"missing prediction": 1})):
        report = fg.audit(data, **asked, positive=words[1])
        (found,) = report.estimates
        assert found.value == pytest.approx(40 / 50 - 20 / others)
        assert report.data.excluded == excluded

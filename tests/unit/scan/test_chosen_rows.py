"""Conditions on rows: the same numbers as of a table that has only the rows that meet them."""

from __future__ import annotations

import datetime as dt
from itertools import cycle

import jsonschema
import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import CubeError, DataError, EmptyDataError, SpecError
from fairgauge.question.conditions import plain_conditions, read_conditions
from fairgauge.question.spec_file import schema

RNG = np.random.default_rng(3)
ROWS = 1_200
FRAME = pl.DataFrame({
    "sex": RNG.choice(["F", "M"], ROWS),
    "region": RNG.choice([1, 2, 3], ROWS),
    "age": RNG.integers(18, 90, ROWS),
    "race": pl.Series(RNG.choice(["A", "B or C", None], ROWS), dtype=pl.String),
    "y": RNG.integers(0, 2, ROWS),
    "p": RNG.integers(0, 2, ROWS),
    "s": RNG.random(ROWS).round(3),
    "w": RNG.integers(1, 4, ROWS),
    "id": RNG.integers(0, 300, ROWS),
    "day": pl.Series([
        None if i % 9 == 0 else dt.date(2026, 1, 1) + dt.timedelta(int(i))
        for i in RNG.integers(0, 120, ROWS)
    ], dtype=pl.Date),
    "at": [
        dt.datetime(2026, 1, 1) + dt.timedelta(hours=int(i)) for i in RNG.integers(0, 2_400, ROWS)
    ],
})  # fmt: skip
COL = pl.col
CONDITIONS = {
    "region = 2 or 3": COL("region").is_in([2, 3]),
    'race = "B or C"': COL("race") == "B or C",
    "race = A or (missing)": COL("race").is_null() | (COL("race") == "A"),
    "30 < age <= 60": (COL("age") > 30) & (COL("age") <= 60),
    "30 <= age < 60": (COL("age") >= 30) & (COL("age") < 60),
    "age > 40": COL("age") > 40,
    "age >= 40": COL("age") >= 40,
    "age <= 40": COL("age") <= 40,
    "age < 40": COL("age") < 40,
    "30 <= age <= 60": (COL("age") >= 30) & (COL("age") <= 60),
    "30 < age < 60": (COL("age") > 30) & (COL("age") < 60),
    "age < 30 or age >= 80": (COL("age") < 30) | (COL("age") >= 80),
    "20 <= age <= 30 or age > 80": COL("age").is_between(20, 30) | (COL("age") > 80),
    "day >= 2026-02-10": COL("day") >= dt.date(2026, 2, 10),
    "2026-02-10 < day <= 2026-03-31": (
        (COL("day") > dt.date(2026, 2, 10)) & (COL("day") <= dt.date(2026, 3, 31))
    ),
    "day < 2026-01-20 or day = (missing)": (
        COL("day").is_null() | (COL("day") < dt.date(2026, 1, 20))
    ),
    "at <= 2026-02-10": COL("at") < dt.datetime(2026, 2, 11),
    "at > 2026-02-10": COL("at") >= dt.datetime(2026, 2, 11),
    "at >= 2026-02-10T12:00:00": COL("at") >= dt.datetime(2026, 2, 10, 12),
    "sex = F": COL("sex") == "F",
    "sex != F": COL("sex") != "F",
    "region != 2 or 3": ~COL("region").is_in([2, 3]),
    'race != "B or C"': COL("race").is_null() | (COL("race") != "B or C"),  # as != in Python
    "race != A or (missing)": COL("race") == "B or C",
}
BASIC = {"label": "y", "prediction": "p", "sensitive": "sex"}
QUESTIONS = {
    "decisions": BASIC,
    "scores": {"label": "y", "score": "s", "sensitive": "sex"},
    "median": {"score": "s", "threshold": "median", "sensitive": "region"},
    "weights": {**BASIC, "weight": "w"},
    "counts": {**BASIC, "count": "w"},
    "clusters": {**BASIC, "cluster": "id"},
    "people": {"label": "y", "sensitive": "sex", "person": "id"},
    "rows": {**BASIC, "metrics": ["consistency"], "features": ["age"]},
}


def said(report):
    return " ".join(str(report).split())


def numbers(report):
    return (
        report.data.used,
        [(e.metric, e.group, e.value, e.interval) for e in report.estimates],
        [(g.group, g.n) for g in report.groups],
    )


@pytest.mark.parametrize(
    ("condition", "engine"),
    [*zip(CONDITIONS, cycle(["polars", "pandas", "arrow", "csv", "parquet"]))],
)
def test_every_engine_counts_the_rows_that_meet_a_condition(condition, engine, tmp_path):
    FRAME.write_csv(tmp_path / "rows.csv")
    FRAME.write_parquet(tmp_path / "rows.parquet")
    data = {
        "polars": FRAME, "pandas": FRAME.to_pandas(), "arrow": FRAME.to_arrow(),
        "csv": tmp_path / "rows.csv", "parquet": tmp_path / "rows.parquet",
    }[engine]  # fmt: skip
    expected = fg.audit(FRAME.filter(CONDITIONS[condition]), **BASIC)
    assert numbers(fg.audit(data, **BASIC, where=condition)) == numbers(expected)


@pytest.mark.parametrize("question", QUESTIONS)
def test_whatever_is_asked_is_asked_of_these_rows(question):
    asked = QUESTIONS[question]
    where = ["age > 35", "region = 1 or 2"]
    kept = FRAME.filter((COL("age") > 35) & COL("region").is_in([1, 2]))
    found = fg.audit(FRAME, **asked, where=where)
    assert numbers(found) == numbers(fg.audit(kept, **asked))
    text = " ".join(str(found).split())
    counted = "Only rows with age > 35 and region = 1 or 2 are counted, and not compared with"
    assert f"{counted} the other rows." in text


@pytest.mark.parametrize("engine", ["polars", "pandas", "parquet"])
def test_a_condition_on_the_outcome_does_not_hide_rows_without_one(engine, tmp_path):
    """A third of the refusals of one group were blanked, and a rule passed by their absence."""
    sexes, codes = ["F"] * 500 + ["M"] * 500, (["1"] * 300 + ["3"] * 100 + [None] * 100) * 2
    frame = pl.DataFrame({"sex": sexes, "code": codes, "noise": [*range(1_000)]})
    frame = frame.with_columns(pl.when(COL("noise") % 50 == 0).then(pl.lit("4"))
                               .otherwise("code").alias("code"))  # fmt: skip
    frame.write_parquet(tmp_path / "rows.parquet")
    data = {"polars": frame, "pandas": frame.to_pandas(), "parquet": tmp_path / "rows.parquet"}
    asked = {"prediction": "code", "positive": "1", "sensitive": "sex",
             "rules": "selection_rate.ratio >= 0.8"}  # fmt: skip
    found = [fg.audit(data[engine], **asked, where=w) for w in ("code = 1 or 3", "code != 4")]
    assert found[0].data.excluded == found[1].data.excluded
    assert found[0].data.excluded["missing prediction"] > 0
    assert found[0].verdict is found[1].verdict
    assert "Rows without a value of code, if any, are kept, without an outcome." in said(found[0])
    named = fg.audit(data[engine], **asked, where="code != 4 or (missing)")
    assert named.data.rows == frame.filter(COL("code") != "4").height
    other = fg.audit(data[engine], prediction="code", positive="1", sensitive="sex",
                     where="noise < 900")  # fmt: skip
    assert "Rows without a value of noise are not among them." in said(other)


def test_counts_hold_their_conditions():
    cube = fg.count(FRAME, **BASIC, where={"region": [1]})
    kept = fg.count(FRAME.filter(COL("region") == 1), **BASIC)
    assert cube.rows == kept.rows
    assert fg.audit(cube).spec["where"] == {"region": [1]}
    assert numbers(fg.audit(cube)) == numbers(fg.audit(kept))
    with pytest.raises(CubeError, match="count different things: where"):
        cube + kept
    for data, where in ((cube, "region = 2"), (kept, "region = 1")):
        with pytest.raises(CubeError, match="chosen while they are counted"):
            fg.audit(data, where=where)


def test_a_condition_on_a_candidate_keeps_the_rows_that_it_does_not_decide():
    frame = FRAME.with_columns(y2=pl.when(pl.col("s") > 0.2).then((COL("s") > 0.5).cast(pl.Int64)))
    lacking = frame["y2"].null_count()
    asked = {**BASIC, "score": None, "candidate": "y2"}
    for where in ({}, {"where": "y2 = 0 or 1"}):
        found = " ".join(str(fg.compare_models(frame, **asked, **where)).split())
        assert f"{lacking:,} rows that one of both models does not decide" in found


def test_every_verb_takes_conditions():
    kept = FRAME.filter(COL("region") == 1)
    where = {"where": "region = 1"}
    search = {"label": "y", "prediction": "p", "features": ["sex", "race"], "rate": "fpr"}
    one, other = fg.find(FRAME, **search, **where), fg.find(kept, **search)
    assert (one.worse, one.undecided, one.overall) == (other.worse, other.undecided, other.overall)
    models = {**BASIC, "candidate": ["s"], "score": None}
    models = {**BASIC, "candidate": "y2"}
    frame = FRAME.with_columns(y2=(COL("s") > 0.5).cast(pl.Int64))
    first = fg.compare_models(frame, **models, **where)
    second = fg.compare_models(frame.filter(COL("region") == 1), **models)
    assert [c.disparities for c in first.candidates] == [c.disparities for c in second.candidates]
    assert "Only rows with region = 1 are counted" in str(first)
    choose = {
        "label": "y",
        "score": "s",
        "sensitive": "sex",
        "rules": "selection_rate.ratio >= 0.5",
    }
    assert (
        fg.thresholds(FRAME, **choose, **where).features == fg.thresholds(kept, **choose).features
    )
    assert "Only rows with region = 1" in str(fg.thresholds(FRAME, **choose, **where))
    planned = fg.plan(FRAME, **BASIC, **where)
    assert planned.smallest == fg.plan(kept, **BASIC).smallest


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("sex = W", SpecError, "where.sex: column 'sex' has no value 'W'"),
        ("sexx = F", SpecError, "where.sexx: no column 'sexx' in the data. Did you mean 'sex'"),
        ("sex", SpecError, "a condition is COLUMN = VALUE"),
        ("sex = ", SpecError, "a condition is COLUMN = VALUE"),
        (["sex = F", "sex = M"], SpecError, "given twice"),
        ({"age": [{"low": 3}]}, SpecError, "an interval has low, high and closed"),
        ("sex != W", SpecError, "where.sex: column 'sex' has no value 'W'"),
        ("sex !=", SpecError, "COLUMN != VALUE or VALUE"),
        ("day <= 2025-02-30", SpecError, "there is no day 2025-02-30"),
        ("04/01/2025 <= day", SpecError, "04/01/2025 is no date in the form year-month-day"),
        ("sex = F and age < 30", SpecError, "state each by itself: 'sex = F', 'age < 30' "),
        ({"age": {"not": [{"low": 3, "high": 4, "closed": "left"}]}}, SpecError, "beside not"),
        ({"sex": []}, SpecError, "at least one value"),
        (7, SpecError, "a condition is"),
        ("age > 200", EmptyDataError, "no row meets the conditions"),
        ("sex > 3", DataError, "must hold numbers"),
        ("sex > F", SpecError, "a number, a date such as 2026-01-31"),
        ("age < young", SpecError, "a comparison such as COLUMN >= 30"),
        ("3 < age > 5", SpecError, "a comparison such as"),
        ("3 < day <= 2026-01-01", SpecError, "either values, or ranges of numbers, or ranges of"),
        (["age > 3", "age > 4"], SpecError, "given twice"),
        ("day > 2026-02-31", SpecError, "a comparison such as"),
        ("day > 3", DataError, "column 'day' must hold numbers"),
        ("age > 2026-01-01", SpecError, "'age' has a value of the form '00', which is no date"),
        ("at > 2026-01-01T00:00Z", SpecError, "which has no time zone; compare it with a time"),
        ({"age": [{"low": "x", "high": 4, "closed": "left"}]}, SpecError, "an interval has low"),
        ({"age": [{"low": 3, "high": 4, "closed": "up"}]}, SpecError, "left, both, neither"),
    ],
)
def test_conditions_that_mean_nothing_are_refused(where, error, message):
    with pytest.raises(error, match=message):
        fg.audit(FRAME, **BASIC, where=where)


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_is_written_as_it_is_read(text):
    (condition,) = read_conditions(text, "where", [])
    assert condition.to_text() == text
    plain = plain_conditions((condition,))
    assert read_conditions(plain, "where", []) == (condition,)
    jsonschema.validate({"sensitive": ["sex"], "where": plain}, schema())


@pytest.mark.parametrize(
    ("forms", "text"),
    [
        (["age >= 18", "age < 65"], "18 <= age < 65"),
        (["65>=age", "age >= 18"], "18 <= age <= 65"),
        (["65 > age >= 18"], "18 <= age < 65"),
        (["18 < age"], "age > 18"),
        (["day >= 2026-01-01 & day < 2026-04-01"], "2026-01-01 <= day < 2026-04-01"),
        (["at < 2026-01-01 09:30+02:00"], "at < 2026-01-01T09:30:00+02:00"),
        ({"day": {"low": dt.date(2026, 1, 1), "high": "Infinity", "closed": "left"}},
         "day >= 2026-01-01"),
    ],
)  # fmt: skip
def test_forms_of_one_comparison_are_one_condition(forms, text):
    problems = []
    (condition,) = read_conditions(forms, "where", problems)
    assert not problems
    assert condition.to_text() == text


@pytest.mark.parametrize("value", ["F", "M", None])
def test_every_row_meets_a_condition_or_its_negation(value):
    (condition,), (negation,) = (
        read_conditions(text, "where", []) for text in ("sex = F", "sex!=F")
    )
    assert condition.holds(value) != negation.holds(value)
    assert condition == read_conditions("sex == F", "where", [])[0]


def test_a_subgroup_that_was_found_selects_its_rows():
    """The name of a subgroup, its conditions and the conditions one by one are the same rows."""
    rng = np.random.default_rng(8)
    data = pl.DataFrame(
        {
            "g": rng.choice(["a", "b"], 2000), "k": rng.choice(["x", "y"], 2000),
            "y": rng.integers(0, 2, 2000),
        }
    )  # fmt: skip
    bad = ((data["g"] == "a") & (data["k"] == "x")).to_numpy() & (rng.random(2000) < 0.7)
    data = data.with_columns(p=pl.Series(np.where(bad, 0, data["y"].to_numpy())))
    asked = {"label": "y", "prediction": "p", "positive": 1}
    found = fg.find(data, **asked, rate="accuracy", features=["g", "k"])
    assert found.summary == ("g = a & k = x",)
    rows = data.filter((pl.col("g") == "a") & (pl.col("k") == "x")).height
    for where in (found.summary[0], found.worse[0].conditions, ["g = a", "k = x"]):
        assert fg.audit(data, **asked, sensitive="k", where=where).data.rows == rows


def test_a_value_that_no_row_has_may_be_excluded_beside_one_that_some_rows_have():
    """Excluding nobody changes nothing; a value that is spelt nearly as another is an error."""
    found = fg.audit(FRAME, **BASIC, where="age != 31 or 9000001")
    assert found.data.rows == fg.audit(FRAME, **BASIC, where="age != 31").data.rows
    with pytest.raises(SpecError, match="has no value"):
        fg.audit(FRAME, **BASIC, where="age = 31 or 9000001")


def test_a_favourable_value_that_a_condition_excludes_names_the_condition():
    asked = {"prediction": "region", "positive": [1, 2], "sensitive": "sex"}
    with pytest.raises(SpecError, match=r"no value '2' in the rows with region = 1 \(where\)\. It"):
        fg.audit(FRAME, **asked, where="region = 1")
    with pytest.raises(SpecError, match=r"no value '9'\. It has '1', '2', '3'\. If"):
        fg.audit(FRAME, **asked | {"positive": [1, 9]}, where="age > 40")


UNCOUNTED = FRAME.with_columns(
    w=pl.when(pl.int_range(ROWS) % 7 > 0).then(pl.int_range(ROWS) % 5 / 2),
    n=pl.when(pl.int_range(ROWS) % 11 > 0).then(pl.int_range(ROWS) % 4),
    only=pl.when(pl.int_range(ROWS) % 77 == 0).then(pl.lit("x")).otherwise(pl.lit("y")),
)
"""Rows of which some have no weight, or no count; those with "x" lack both."""


@pytest.mark.parametrize(
    ("columns", "condition"),
    [({"weight": "w"}, "region = 2 or 3"), ({"count": "n", "weight": "w"}, "only = y")],
)
def test_rows_without_a_weight_are_excluded_where_they_meet_a_condition(columns, condition):
    """They were refused, as if it were not known whether they meet it."""
    kept = CONDITIONS | {"only = y": COL("only") == "y"}
    asked = BASIC | columns
    found = fg.count(UNCOUNTED, where=condition, **asked)
    expected = fg.count(UNCOUNTED.filter(kept[condition]), **asked)
    assert (found.rows, found.excluded) == (expected.rows, expected.excluded)
    report = fg.audit(UNCOUNTED, where=condition, **asked)
    assert numbers(report) == numbers(fg.audit(found)) == numbers(fg.audit(expected))


def test_a_condition_on_the_weight_or_count_itself():
    found = fg.count(UNCOUNTED, where="w > 0", weight="w", **BASIC)
    missing = UNCOUNTED["w"].null_count()
    assert (found.excluded, found.undecided) == ({}, (("w", "", missing, missing),))
    assert found.rows == UNCOUNTED.filter(COL("w") > 0).height
    report = fg.audit(found)
    assert report.data.excluded["missing w (where)"] == missing
    found = fg.count(UNCOUNTED, where="n > 0", count="n", **BASIC)
    missing = UNCOUNTED["n"].null_count()
    assert (found.excluded, found.undecided) == ({"missing count": missing}, ())

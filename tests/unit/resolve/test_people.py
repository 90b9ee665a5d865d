"""People: which of their decisions counts, what is refused, and what a report states."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cube.cube import cube_schema
from fairgauge.errors import CubeError, DataError, SpecError

ASKED = {"prediction": "y", "positive": 1, "sensitive": "sex", "person": "who"}
ROWS = {"who": ["a", "a", "b", "c"], "y": [0, 1, 0, 1], "sex": ["F", "F", "M", "M"]}
TABLE = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([0, 1, None]), st.integers(0, 9)), min_size=1
)


@given(TABLE, st.sampled_from(["any", "last"]))
def test_it_is_what_a_loop_over_people_counts(rows, counted):
    who, y, day = zip(*rows, strict=True)
    data = pl.DataFrame({"who": who, "y": y, "day": day}, schema_overrides={"y": pl.Int64})
    assume(1 in y)
    sexes = ["F" if person % 2 == 0 else "M" for person in who]
    data = data.with_columns(sex=pl.Series(sexes))
    order = {"order": "day"} if counted == "last" else {}
    cube = fg.count(data, **ASKED, per_person=counted, **order)
    table = cube.tables[0]
    levels = [(*cube.levels[axis], None) for axis in table.axes]
    keys = [tuple(v[c] for v, c in zip(levels, code, strict=True)) for code in table.codes]
    found = dict(zip(keys, table.sums["rows"].tolist(), strict=True))
    expected: dict = {}
    for person in set(who):
        decided = [(d, v) for w, v, d in rows if w == person and v is not None]
        values = {v for _, v in decided}
        if counted == "last" and decided:
            values = {v for d, v in decided if d == max(decided)[0]}
            values = values if len(values) == 1 else set()
        key = ("F" if person % 2 == 0 else "M", max(values, default=None))
        expected[key] = expected.get(key, 0) + 1
    assert found == expected


WITH_LABELS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from([0, 1, None]),
        st.sampled_from([0, 1, None]),
        st.sampled_from([*range(5), None]),
    ),
    min_size=1,
)


@given(WITH_LABELS)
def test_the_label_of_a_person_is_that_of_the_last_known_prediction(rows):
    """The last row with a label counted, though its prediction was replaced by a later one."""
    frame = pd.DataFrame(rows, columns=["who", "label", "y", "day"], dtype="float64")
    assume((frame["y"] == 1).any())
    frame["sex"] = np.where(frame["who"] % 2 == 0, "F", "M")
    asked = ASKED | {"per_person": "last", "order": "day"}
    cube = fg.count(frame, **asked, label="label")
    expected: dict = {}
    open_ = 0
    for person, own in frame.groupby("who"):
        decided = own.dropna(subset="y")
        last = decided[decided["day"].isna() | (decided["day"] == decided["day"].max())]
        unclear = last["day"].nunique(dropna=False) > 1
        label, y = (
            None if unclear or len(v) != 1 or np.isnan(v[0]) else v[0]
            for v in (last["label"].unique(), last["y"].unique())
        )  # fmt: skip
        if y is None and last["day"].isna().any():
            label = None  # which is the last is unknown
        key = ("F" if person % 2 == 0 else "M", label, y)
        expected[key] = expected.get(key, 0) + 1
        later = own["y"].isna() & ~(own["day"] < last["day"].max())
        open_ += bool(y is not None and later.any())
    (table,) = cube.tables
    levels = [(*cube.levels[axis], None) for axis in table.axes]
    keys = [tuple(v[c] for v, c in zip(levels, code, strict=True)) for code in table.codes]
    assert dict(zip(keys, table.sums["rows"].tolist(), strict=True)) == expected
    assert table.sums.get("open", np.zeros(1)).sum() == open_
    alone = fg.count(frame, **asked)
    of_both = cube.marginal(alone.plan.axes)
    assert alone.tables[0].codes.tolist() == of_both.codes.tolist()
    assert alone.tables[0].sums["rows"].tolist() == of_both.sums["rows"].tolist()


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        ({"per_person": "last"}, r"per_person: last needs .* \(order, --order COL\)"),
        ({"order": "day"}, "order: has no effect"),
        ({"label": "sex"}, "per_person: any favourable decision is one of"),
        ({"weight": "day"}, "weight: cannot be combined with people"),
        (
            {"prediction": None, "score": "day"},
            r"^score: cannot be combined with people, .* --per-person each\), or give one row",
        ),
        ({"person": None, "per_person": "each"}, "per_person: needs the column"),
        ({"task": "multiclass"}, "per_person: no number or class is favourable"),
    ],
)
def test_what_is_unclear_is_refused(options, stated):
    data = pl.DataFrame({**ROWS, "day": [1, 2, 3, 4]})
    with pytest.raises(SpecError, match=stated):
        fg.audit(data, **(ASKED | options))


def test_an_order_is_of_numbers_or_dates():
    data = pl.DataFrame({**ROWS, "day": ["12/31/2025", "1/2/2026", "1/3/2026", "1/4/2026"]})
    with pytest.raises(DataError, match="neither a number nor a date"):
        fg.count(data, **ASKED, per_person="last", order="day")


NUMBERS = {"task": "regression", "sensitive": "sex", "person": "who"}
LAST_NUMBERS = NUMBERS | {"per_person": "last", "order": "day"}


def last_numbers(outcomes):
    """Return rows with numbers, and by pandas the last known ones of each person."""
    rng = np.random.default_rng(3)
    n = 2_000
    rows = pd.DataFrame({"who": rng.integers(0, 700, n), "day": rng.integers(0, 6, n)})
    rows["sex"] = np.where(rows["who"] % 3 == 0, "F", "M")
    rows["p"] = rng.normal(40, 8, n).round(2)
    rows["y"] = rows["p"] + rng.normal(0, 3, n).round(1)
    for column in ("p", "y", "who"):
        rows.loc[rng.random(n) < 0.04, column] = np.nan
    known = rows.dropna(subset="p" if "p" in outcomes else "y")
    latest = known[known["day"] == known.groupby("who")["day"].transform("max")]
    last = rows.dropna(subset="who").groupby("who")[["sex"]].first()
    for column in outcomes:
        own = latest.groupby("who")[column]
        last[column] = own.first().where(own.nunique(dropna=False) == 1)
    return rows, pd.concat([last, rows[rows["who"].isna()]])[["sex", *outcomes]]


def test_counts_of_people_do_not_add_up():
    cube = fg.count(pl.DataFrame(ROWS), **ASKED)
    with pytest.raises(CubeError, match="counts of people do not add up"):
        cube + cube


@pytest.mark.parametrize("asked", [
    ASKED, {"prediction": "y", "positive": 1, "sensitive": "sex", "cluster": "who"},
])  # fmt: skip
@pytest.mark.parametrize("alike", [0, 2])
def test_identifiers_that_differ_in_case_or_blanks_alone_are_warned_of(asked, alike, tmp_path):
    who = [f"p{i // 2}" for i in range(240)]
    who[-1 - alike :] = [*["P3 ", " p4"][:alike], "p119"]
    rows = pl.DataFrame({"who": who, "sex": ["F", "F", "M", "M"] * 60, "y": [0, 1] * 120})
    cube = fg.count(rows, **asked)
    cube.save(tmp_path / "a.cube.json")
    for data in (rows, cube, fg.load(tmp_path / "a.cube.json"), rows.to_pandas()):
        notes = fg.audit(data, **asked).diagnostics
        found = [each for each in notes if each.code == "alike_identifiers"]
        assert [each["identifiers"] for each in found] == ([2] if alike else [])
        assert all("2 identifiers in 'who' differ from another" in each.message for each in found)
    jsonschema.validate(json.loads((tmp_path / "a.cube.json").read_text()), cube_schema())


def _with_identifier(value: object, rows: int = 100) -> pl.DataFrame:
    """Return 400 people of one row each, the last ``rows`` of them with one identifier."""
    named = [i + 1 if isinstance(value, int) else f"p{i}" for i in range(400 - rows)]
    return pl.DataFrame(
        {
            "who": named + [value] * rows,
            "y": [int(i % 3 == 0) for i in range(400)],
            "sex": ["F", "M"] * 200,
        }
    )


@pytest.mark.parametrize("blank", ["", "\t "])
@pytest.mark.parametrize("counted", ["any", "each"])
def test_a_blank_identifies_no_one(blank, counted):
    asked = ASKED | {"per_person": counted}
    missing = fg.audit(_with_identifier(None), **asked)
    report = fg.audit(_with_identifier(blank), **asked)
    assert report.estimates == missing.estimates
    assert report.data.excluded == missing.data.excluded
    if counted == "any":
        assert "100 rows without an identifier count as a person each" in " ".join(
            str(report).split()
        )

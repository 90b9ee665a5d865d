"""People: which of their decisions counts, what is refused, and what a report states."""

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.errors import CubeError, SpecError

ASKED = {"prediction": "y", "positive": 1, "sensitive": "sex", "person": "who"}
ROWS = {"who": ["a", "a", "b", "c"], "y": [0, 1, 0, 1], "sex": ["F", "F", "M", "M"]}
TABLE = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0, 1, None])), min_size=1)


@given(TABLE, st.sampled_from([None, "positive", "negative", "neither"]))
def test_it_is_what_a_loop_over_people_counts(rows, favourable):
    """Whichever side is favourable, a person counts as positive who was so at least once."""
    who, y = zip(*rows, strict=True)
    data = pl.DataFrame({"who": who, "y": y}, schema_overrides={"y": pl.Int64})
    assume(1 in y)
    sexes = ["F" if person % 2 == 0 else "M" for person in who]
    data = data.with_columns(sex=pl.Series(sexes))
    cube = fg.count(data, **ASKED, favourable=favourable)
    table = cube.tables[0]
    levels = [(*cube.levels[axis], None) for axis in table.axes]
    keys = [tuple(v[c] for v, c in zip(levels, code, strict=True)) for code in table.codes]
    found = dict(zip(keys, table.sums["rows"].tolist(), strict=True))
    expected: dict = {}
    for person in set(who):
        values = {v for w, v in rows if w == person and v is not None}
        key = ("F" if person % 2 == 0 else "M", max(values, default=None))
        expected[key] = expected.get(key, 0) + 1
    assert found == expected


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        ({"label": "sex"}, "per_person: the positive decision of a person is one of"),
        ({"weight": "day"}, "weight: cannot be combined with people"),
        (
            {"prediction": None, "score": "day", "threshold": 0.5},
            r"^score: cannot be combined with people, .* --per-person each\), or give one row",
        ),
        ({"person": None, "per_person": "each"}, "per_person: needs the column"),
        ({"person": "sex"}, "person: 'sex' is a sensitive feature"),
        ({"task": "multiclass"}, "per_person: no number or class is positive"),
    ],
)
def test_what_is_unclear_is_refused(options, stated):
    data = pl.DataFrame({**ROWS, "day": [1, 2, 3, 4]})
    with pytest.raises(SpecError, match=stated):
        fg.audit(data, **(ASKED | options))


@pytest.mark.parametrize("role", ["prediction", "label"])
@pytest.mark.parametrize("words", [{}, {"positive": "suspended"}, {"negative": "kept"}], ids=str)
def test_a_harm_of_people_is_stated_as_at_least_once(role, words):
    """9 of 10 and 4 of 10 were so at least once; of their 3 rows each all were hardly ever."""
    sides = {"A": 90, "B": 40}
    data = pl.DataFrame([
        {"g": g, "who": f"{g}{i}", "y": int(i < hit and row == i % 3)}
        for g, hit in sides.items() for i in range(100) for row in range(3)
    ])  # fmt: skip
    metric = {"prediction": "selection_rate", "label": "base_rate"}[role]
    asked = {role: "y", "positive": 1, "sensitive": "g", "person": "who", "words": words}
    asked |= {"favourable": "negative", "rules": f"{metric}.ratio <= 1.25"}
    report = fg.audit(data, **asked)
    assert [(v.group, v.outcome) for v in report.verdicts] == [("A", "fail")]
    assert report.verdicts[0].value == pytest.approx(90 / 40)
    assert fg.audit(fg.count(data, **asked), **asked).verdict == "fail"
    page = str(report)
    once = "were not kept" if words.get("negative") else "were suspended" if words else "had y = 1"
    assert f"Of 100 people with g A, 90 {once} at least once" in " ".join(page.split())
    other = fg.audit(data.with_columns(pl.col("g").reverse()), **asked)
    assert "at least once" in str(fg.compare(report, other))


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

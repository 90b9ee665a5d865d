"""People counted from their rows: every engine counts what a table of people has."""

import re
from pathlib import Path

import engines
import pyarrow as pa
import pytest

import fairgauge as fg
from fairgauge.enums import Observation

ROWS = {
    "who": ["a", "a", "b", "b", "b", "c", None, " ", "d", "d", "e", "e", "f", "f"],
    "hired": [0, 1, 1, 0, 1, 0, 1, 0, 0, None, 1, 0, 1, 0],
    "sex": ["M", None, "F", "F", "F", "F", "M", "F", "M", "M", "M", "F", "M", "M"],
}
PEOPLE = [("M", 1), ("F", 1), ("F", 0), ("M", 1), ("F", 0), ("M", 0), (None, 1), ("M", 1)]


def test_people_are_those_of_a_table_of_people(rows_as):
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex"}
    rows = rows_as(pa.table(ROWS))
    found = fg.count(rows, person="who", **asked)
    sexes, decisions = zip(*PEOPLE, strict=True)
    people = fg.count(pa.table({"sex": sexes, "hired": decisions}), **asked)
    assert found.levels.keys() == people.levels.keys()
    for mine, theirs in zip(found.tables, people.tables, strict=True):
        assert mine.codes.tolist() == theirs.codes.tolist()
        assert mine.sums["rows"].tolist() == theirs.sums["rows"].tolist()
    assert (found.rows, found.cases) == (14, 8)
    assert found.conflicts == {"sex": 1, "who": 2}
    assert not {"a", "b"} & {v for levels in found.levels.values() for v in levels}


@pytest.mark.parametrize("counted", ["any", "each"])
def test_identifiers_that_stand_for_unknown_ones_are_counted_and_recoded(rows_as, counted):
    who = ["N/A", "N/A", *ROWS["who"][2:]]
    rows = rows_as(pa.table({**ROWS, "who": who}))
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "per_person": counted}
    (seen,) = fg.count(rows, person="who", **asked).seen(Observation.PLACEHOLDER)
    assert (seen.value, seen.rows) == ("N/A", 2)
    recoded = fg.count(rows, person="who", **asked, recode={"who": {"unknown": ["N/A"]}})
    unnamed = pa.table({**ROWS, "who": [None, None, *who[2:]]})
    assert recoded.seen(Observation.PLACEHOLDER) == []
    assert recoded == fg.count(unnamed, person="who", **asked)


# ---- the code of every page about an engine runs as it stands
PAGES = Path(__file__).parents[2] / "docs" / "engines"
NEEDS = {
    "dask": "dask.dataframe", "databases": "ibis", "spark": "pyspark.sql", "lakehouse": "deltalake",
}  # fmt: skip


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_code_runs(page, tmp_path, monkeypatch):
    code = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    if page.stem == "index":
        linked = set(re.findall(r"\((\w+\.md)\)", page.read_text()))
        assert linked == {each.name for each in PAGES.glob("*.md")} - {"index.md"}
        return
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem])
    if page.stem == "spark":
        engines.spark_session()  # the page then gets this session
    monkeypatch.chdir(tmp_path)
    assert code
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, page.name, "exec"), names)


ROWS_BY = {
    "race": ["W", "B", "W", "B", None, "W", "B", "W"],
    "site": ["x", "x", "y", "y", "x", "y", "x", "x"],
    "n": [400, 90, 0, 120, 7, None, 33, 5],
    "held": [20, 12, 0, 30, 7, 3, None, 5],
}
KEPT = [row for row in zip(*ROWS_BY.values(), strict=True) if row[2]]
# ---- rows of successes and cases: every engine counts what a table of the cases has
CASES = [(race, site, n, None) if held is None else (race, site, part, y)
         for race, site, n, held in KEPT
         for y, part in ([(None, n)] if held is None else [(1, held), (0, n - held)])]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize(
    "more", [{}, {"strata": "site"}, {"where": "site = x"}, {"cluster": "site"}]
)
@pytest.mark.parametrize("role", ["label", "prediction"])
def test_cases_are_those_of_a_table_of_them(rows_as, role, more):
    asked = {"sensitive": "race", "count": "n"} | more
    found = fg.count(rows_as(pa.table(ROWS_BY)), successes=f"{role}=held", **asked)
    race, site, n, y = zip(*CASES, strict=True)
    cases = fg.count(pa.table({"race": race, "site": site, "n": n, "held": y}),
                     positive=1, **{role: "held"}, **asked)  # fmt: skip
    assert (found.cases, dict(found.levels)) == (cases.cases, dict(cases.levels))
    mine, theirs = found.tables[0], cases.tables[0]  # others state how many cases a row is
    assert mine.codes.tolist() == theirs.codes.tolist()
    assert mine.sums["n"].tolist() == theirs.sums["n"].tolist()
    assert found.excluded == ({} if "where" in more else {"missing count": 1})


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("column", "value"), [("held", 401), ("held", -1), ("held", 0.5), ("n", -4)]
)
def test_a_row_that_is_no_number_of_cases_is_named(rows_as, column, value):
    wrong = [float(value), *ROWS_BY[column][1:]]
    with pytest.raises(fg.DataError, match=r"row 1|race = W") as error:
        fg.count(rows_as(pa.table({**ROWS_BY, column: wrong})), successes="held", sensitive="race",
                 count="n")  # fmt: skip
    assert "--successes" in str(error.value)

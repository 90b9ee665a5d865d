"""Rows of successes and cases: every engine counts what a table of the cases has."""

import pyarrow as pa
import pytest

import fairgauge as fg

ROWS = {
    "race": ["W", "B", "W", "B", None, "W", "B", "W"],
    "site": ["x", "x", "y", "y", "x", "y", "x", "x"],
    "n": [400, 90, 0, 120, 7, None, 33, 5],
    "held": [20, 12, 0, 30, 7, 3, None, 5],
}
KEPT = [row for row in zip(*ROWS.values(), strict=True) if row[2]]
CASES = [(race, site, n, None) if held is None else (race, site, part, y)
         for race, site, n, held in KEPT
         for y, part in ([(None, n)] if held is None else [(1, held), (0, n - held)])]  # fmt: skip


@pytest.mark.parametrize(
    "more", [{}, {"strata": "site"}, {"where": "site = x"}, {"cluster": "site"}]
)
@pytest.mark.parametrize("role", ["label", "prediction"])
def test_cases_are_those_of_a_table_of_them(rows_as, role, more):
    asked = {"sensitive": "race", "count": "n"} | more
    found = fg.count(rows_as(pa.table(ROWS)), successes=f"{role}=held", **asked)
    race, site, n, y = zip(*CASES, strict=True)
    cases = fg.count(pa.table({"race": race, "site": site, "n": n, "held": y}),
                     positive=1, **{role: "held"}, **asked)  # fmt: skip
    assert (found.cases, dict(found.levels)) == (cases.cases, dict(cases.levels))
    mine, theirs = found.tables[0], cases.tables[0]  # others state how many cases a row is
    assert mine.codes.tolist() == theirs.codes.tolist()
    assert mine.sums["n"].tolist() == theirs.sums["n"].tolist()
    assert found.excluded == ({} if "where" in more else {"missing count": 1})


@pytest.mark.parametrize(
    ("column", "value"), [("held", 401), ("held", -1), ("held", 0.5), ("n", -4)]
)
def test_a_row_that_is_no_number_of_cases_is_named(rows_as, column, value):
    wrong = [float(value), *ROWS[column][1:]]
    with pytest.raises(fg.DataError, match=r"row 1|race = W") as error:
        fg.count(rows_as(pa.table({**ROWS, column: wrong})), successes="held", sensitive="race",
                 count="n")  # fmt: skip
    assert "--successes" in str(error.value)

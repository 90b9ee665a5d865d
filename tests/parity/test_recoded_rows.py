"""Recoded while they are counted, rows give the counts of rows that were recoded before."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from fairgauge.cube.plan import plan
from fairgauge.question.specification import ask
from fairgauge.scan import open_source

SEXES = ["M", "male ", "Female", "F", "Decline to answer", "F", None, "Male", "f", "M", "Female"]
RECODE = {
    "sex": {"Male": ["M", "male "], "Female": ["F", "f"], "unknown": ["Decline to answer", ""]},
    "race": {"A": [1, 3], "B": ["2"]},
    "hired": {"1": ["yes", "Yes"], "0": ["no"]},
}
BEFORE = {
    "sex": {"M": "Male", "male ": "Male", "F": "Female", "f": "Female", "Decline to answer": None},
    "race": {1: "A", 2: "B", 3: "A", 4: "4"},
    "hired": {"yes": 1, "Yes": 1, "no": 0},
}


def test_the_digest_is_that_of_rows_recoded_before(rows_as):
    rows: dict[str, list[Any]] = {
        "sex": SEXES,
        "race": [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3],
        "hired": ["yes", "no", "Yes", "no", "yes", "no", "yes", "Yes", "no", "yes", "no"],
        "branch": ["x", "y"] * 5 + ["x"],
    }
    asked = {"label": "hired", "positive": 1, "sensitive": ["sex", "race"], "strata": "branch"}
    recoded = {name: [BEFORE.get(name, {}).get(v, v) for v in rows[name]] for name in rows}
    before = open_source(pa.table(recoded)).count(plan(ask(**asked)), 1_000)
    found = open_source(rows_as(pa.table(rows))).count(plan(ask(**asked, recode=RECODE)), 1_000)
    assert found.digest == before.digest
    assert not found.unseen


def test_shards_recoded_while_counted_add_up_to_all_rows(rows_as):
    rows = pa.table({"sex": SEXES, "y": [1, 0] * 5 + [1]})
    asked = plan(ask(label="y", sensitive="sex", recode={"sex": RECODE["sex"]}))
    whole, one, other = (
        open_source(each).count(asked, 1_000)
        for each in (rows_as(rows), rows.slice(0, 4), rows.slice(4))
    )
    assert (one + other).digest == whole.digest

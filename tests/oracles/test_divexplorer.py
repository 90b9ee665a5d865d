"""The search for subgroups on DivExplorer's own table, against what that tool counts in it."""

from __future__ import annotations

import json

import polars as pl
import pytest
from vendor import FOLDER

import fairgauge as fg

OUTCOMES = ("class", "predicted", "rows")


@pytest.fixture(scope="module")
def table():
    stored = json.loads((FOLDER / "compas_divexplorer__cells.json").read_text(encoding="utf-8"))
    frame = pl.DataFrame(stored["cells"], schema=stored["columns"], orient="row")
    names = stored["values"]
    return frame.with_columns(
        pl.col(column).replace_strict(dict(enumerate(values))) for column, values in names.items()
    )


def search(table, **options):
    features = [column for column in table.columns if column not in OUTCOMES]
    asked = {"rate": "false_positive_rate", "min_rows": 62, **options}
    return fg.find(
        table, label="class", prediction="predicted", positive=1, count="rows",
        features=features, **asked,
    )  # fmt: skip


def test_the_table_is_theirs(table):
    found = search(table)
    assert (found.overall.rows, found.overall.n, found.overall.events) == (6172, 3363, 297)


@pytest.mark.parametrize(
    ("depth", "subgroups", "tested", "c", "worse"),
    [(3, 427, 423, 3.677, 84), (6, 968, 952, 3.879, 150)],
)
def test_as_many_subgroups_as_divexplorer_lists(table, depth, subgroups, tested, c, worse):
    found = search(table, depth=depth)
    assert found.examined + found.too_few + found.duplicates == subgroups
    assert found.examined == tested
    assert found.critical_value == pytest.approx(c, abs=5e-4)
    assert len(found.worse) == worse


def test_the_divergence_of_a_subgroup_is_theirs(table):
    found = search(table, depth=4, reference="overall")
    conditions = {"age": "25-45", "race": "Afr-Am", "sex": "Male", "#prior": ">3"}
    (subgroup,) = (each for each in found.worse if each.conditions == conditions)
    assert (subgroup.rows, subgroup.n, subgroup.events) == (794, 224, 69)
    assert subgroup.difference == pytest.approx(0.219722, abs=1e-6)
    assert subgroup.low == pytest.approx(0.116, abs=0.002)


def test_five_subgroups_account_for_the_other_claims(table):
    found = search(table)
    assert set(found.summary) == {
        "#prior = >3", "age = <25", "age = 25-45 & race = Afr-Am", "stay = >3Months",
        "stay = 1w-3M",
    }  # fmt: skip
    assert (found.not_worse_count, found.undecided_count) == (80, 259)
    worst = found[found.largest.guaranteed]
    assert (worst.n, round(worst.difference, 3), round(worst.low, 3)) == (22, 0.597, 0.216)

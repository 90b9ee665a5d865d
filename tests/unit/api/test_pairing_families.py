"""Items that come in families: several made from one text are one cluster."""

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg

ASKED = {"item": "item", "variant": "name", "sensitive": "group", "score": "score",
         "reference": {"group": "a"}}  # fmt: skip


def study(seed=0, sizes=(8,) * 5, names=6, delta=0.0, spread=0.3):
    """Draw answers to items of a few CVs, by which groups differ; the mean is ``delta``."""
    rng = np.random.default_rng(seed)
    group, cv = np.repeat([0, 1], names), np.repeat(np.arange(len(sizes)), sizes)
    cells = (len(cv), 2 * names)
    y = rng.normal(0, 1, (len(cv), 1)) + rng.normal(0, 0.1, 2 * names) + delta * group
    y = y + rng.normal(0, spread, (len(sizes), 2))[cv][:, group] + rng.normal(0, 0.5, cells)
    item, name = np.indices(cells).reshape(2, -1)
    return pd.DataFrame({"item": item, "name": name, "group": np.array(["a", "b"])[group[name]],
                         "cv": [f"cv{k}" for k in cv[item]], "score": y.ravel()})  # fmt: skip


def difference(table, **asked):
    return fg.pairs(table, **(ASKED | asked)).differences[0]


@pytest.mark.parametrize("sizes", [(8,) * 5, (16, 8, 8, 4, 4)])
def test_groups_that_differ_by_text_do_not_differ_by_chance(sizes):
    """At most 5% of studies without a difference; without families 24% and 34% of them."""
    differs = {"cv": 0, None: 0}
    for seed in range(30):
        table = study(seed, sizes)
        for family in differs:
            differs[family] += difference(table, family=family).verdict == "differs"
    assert differs["cv"] <= 5  # of 30 at 5%: 99 in 100 times
    assert differs[None] >= 2 * max(differs["cv"], 3)


def test_a_difference_is_found_and_its_value_is_that_of_the_items():
    table = study(delta=1.5)
    with_family, without = difference(table, family="cv"), difference(table)
    assert with_family.value == without.value
    assert with_family.verdict == without.verdict == "differs"
    assert with_family.high - with_family.low > without.high - without.low
    assert (with_family.families, with_family.items, without.families) == (5, 40, None)


def test_few_families_and_one_name_have_no_verdict():
    two = difference(study(sizes=(20, 20), delta=2), family="cv")
    assert (two.verdict, two.reason, two.low) == ("cannot tell", "few_items", None)
    assert "3 families of items" in two.says
    alone = difference(study(names=1), family="cv")
    assert alone.high - alone.low > 0
    assert alone.degrees_of_freedom == pytest.approx(4)


def test_an_item_of_two_families_and_a_missing_one_are_named():
    table = study()
    mixed = table.assign(cv=table.cv.where(table.index != 0, "another"))
    with pytest.raises(fg.SpecError, match="item '0' is in several families of 'cv'"):
        fg.pairs(mixed, family="cv", **ASKED)
    lacking = fg.pairs(table.assign(cv=table.cv.where(table.cv != "cv0")), family="cv", **ASKED)
    assert lacking.data.excluded == {"missing family": 96}
    with pytest.raises(fg.SpecError, match="no column 'text'"):
        fg.pairs(table, family="text", **ASKED)

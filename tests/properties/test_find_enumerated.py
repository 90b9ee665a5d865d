"""The error rate of a search by enumeration, and properties of its ends on tables of all kinds."""

import datetime as dt
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from tests.cases import FEW_EXAMPLES
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.stats.signed_roots import signed_root

ASKED = {"label": "y", "prediction": "p", "positive": 1, "count": "n", "metrics": "fpr"}
CELLS = list(itertools.product("ab", "cd"))


def table(negatives, events, features=("f", "g")):
    """Return the counts of cells: rows whose label is 0, and those of them that are selected."""
    rows = [
        (*cell, 0, p, count)
        for cell, n, x in zip(CELLS, negatives, events, strict=True)
        for p, count in ((1, x), (0, n - x))
        if count
    ]
    rows.append(("a", "c", 1, 1, 1))
    columns = dict(zip((*features, "y", "p", "n"), zip(*rows, strict=True), strict=True))
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


@pytest.mark.each_value
@pytest.mark.parametrize("worse", ["higher", "lower"])
@pytest.mark.parametrize("cells", [(10, 10, 10, 10), (4, 16, 16, 4)])
def test_no_total_of_forty_rows_has_a_claim_in_more_than_a_twentieth_of_its_tables(worse, cells):
    """Given the total of events, cells without any difference are hypergeometric."""
    grid = np.array(list(itertools.product(*(range(n + 1) for n in cells))))
    log_ways = sum(stats.binom.logpmf(grid[:, i], n, 0.5) for i, n in enumerate(cells))
    groups = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    for total in range(1, 40, 1 if EVERY_CASE else 3):
        tables, ways = grid[grid.sum(axis=1) == total], np.exp(log_ways[grid.sum(axis=1) == total])
        middle = tables[np.argmax(ways)]
        found = fg.find(table(cells, middle), sensitive=["f", "g"], worse=worse, **ASKED)
        assert found.examined == 4
        x = tables @ groups.T
        roots = signed_root(x, 20.0, total - x, 20.0) * (1 if worse == "higher" else -1)
        claimed = (roots > found.critical_value).any(axis=1)
        assert (ways * claimed).sum() / ways.sum() <= 0.05
        # the search itself claims what exceeds its critical value, at both edges
        for i in np.argsort(np.abs(roots.max(axis=1) - found.critical_value))[:1]:
            again = fg.find(table(cells, tables[i]), sensitive=["f", "g"], worse=worse, **ASKED)
            assert again.critical_value == pytest.approx(found.critical_value)
            assert len(again.worse) == (roots[i] > found.critical_value).sum()


COUNTS = st.lists(st.integers(0, 400), min_size=4, max_size=4)


@given(COUNTS, st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_ends_are_shares_nest_in_alpha_and_follow_names_and_order(negatives, shares):
    events = [round(n * share) for n, share in zip(negatives, shares, strict=True)]
    frame = table(negatives, events)
    asked = ASKED
    if sum(negatives) < 45:
        return
    strict, loose = (
        fg.find(frame, sensitive=["f", "g"], alpha=alpha, **asked) for alpha in (0.01, 0.2)
    )
    wide = {each.name: each for each in (*strict.worse, *strict.undecided)}
    for each in (*strict.worse, *strict.undecided, *loose.worse, *loose.undecided):
        assert -1 <= each.low <= each.difference <= each.high <= 1
    assert {each.name for each in strict.worse} <= {each.name for each in loose.worse}
    assert strict.critical_value >= loose.critical_value
    for each in (*loose.worse, *loose.undecided):
        if each.name in wide:  # of others it is shown that they are not worse
            assert wide[each.name].low <= each.low + 1e-9
            assert each.high <= wide[each.name].high + 1e-9
    renamed = table(negatives, events, ("z & y", "g = 1")).sample(fraction=1, shuffle=True, seed=1)
    other = fg.find(renamed, sensitive=["g = 1", "z & y"], alpha=0.2, **asked)
    assert [each.low for each in other.worse] == [each.low for each in loose.worse]
    assert other.critical_value == loose.critical_value


# ---- the condition of a found subgroup selects just its rows, whatever its values
TEXTS = st.text(alphabet="aB1 ,;'\"\\$=&<>!-().%é", min_size=1, max_size=8)
HOSTILE = ["a, b", "it's", 'a "b"', "x or y", "a & b", "= 3", "(missing)", "-1.50", " lead"]
DAYS = [dt.date(2024, 2, 29), dt.date(2025, 1, 1)]
ASKED_CONDITIONS = {"prediction": "p", "positive": 1}


@FEW_EXAMPLES
@given(values=st.lists(TEXTS, min_size=2, max_size=5, unique=True), column=TEXTS)
@example(values=HOSTILE, column="odd")
@example(values=["1", " "], column="1")
@example(values=["not a", "null", "1 < x <= 2", "!= b"], column="a = b")
def test_the_condition_of_a_found_subgroup_selects_its_rows(values, column):
    rng = np.random.default_rng(3)
    rows = 400
    of_texts = [None if i == len(values) else values[i]
                for i in rng.integers(0, len(values) + 1, rows)]  # fmt: skip
    name = f"f {column}"
    frame = pl.DataFrame({
        name: pl.Series(of_texts, dtype=pl.String),
        "day": [DAYS[i] for i in rng.integers(0, 2, rows)],
        "code": rng.integers(-1, 2, rows),
        "amount": rng.choice([0.5, 1.0, 1e-7], rows),
        "p": rng.integers(0, 2, rows),
    })  # fmt: skip
    found = fg.find(frame, sensitive=[name, "day", "code", "amount"], metrics="selection_rate",
                    worse="lower", depth=2, min_rows=20, **ASKED_CONDITIONS)  # fmt: skip
    seen = (*found.worse, *found.undecided)
    chosen = [each for each in seen if len(each.conditions) == 1] + list(seen[:4])
    for subgroup in chosen:
        inside = fg.count(frame, sensitive=["p"], where=found.where(subgroup), **ASKED_CONDITIONS)
        assert inside.cases == subgroup.rows

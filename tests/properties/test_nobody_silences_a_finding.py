"""Nobody can silence a FAIL of the verbs that judge without rules: find, check, why, pairs.

What is worse, fails, remains or differs is turned into no pass by what is added elsewhere: a small
group, a column or a value that decides nothing, further categories, strata, items or models. It may
become undecided where more is tested, or where the rows of a group change what it is compared with.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES

import fairgauge as fg
from swapped_names import ASKED as OF_ANSWERS
from swapped_names import study

# find

SEARCH: dict[str, Any] = {
    "prediction": "p", "positive": 1, "metrics": "selection_rate", "worse": "lower",
}  # fmt: skip


def people(region: str, sex: str, approved: int, refused: int) -> pl.DataFrame:
    decided = [1] * approved + [0] * refused
    return pl.DataFrame({"region": region, "sex": sex, "p": decided}, schema_overrides=TYPES)


TYPES = {"region": pl.String, "sex": pl.String, "p": pl.Int64}
APPLICANTS = pl.concat(
    people(region, sex, *((55, 145) if region == "west" else (120, 80)))
    for region in ("east", "north", "south", "west")
    for sex in "FM"
)


@given(
    tiny=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4),
    columns=st.integers(0, 3), depth=st.integers(1, 3), seed=st.integers(0, 99),
)  # fmt: skip
@FEW_EXAMPLES
def test_no_value_no_row_and_no_column_hides_a_subgroup_that_is_worse(
    tiny: list[tuple[int, int]], columns: int, depth: int, seed: int
) -> None:
    """Columns of chance make more subgroups; one that is worse by far is among those named."""
    few = [people(f"new {i}", "X", *of) for i, of in enumerate(tiny)]
    data = pl.concat([APPLICANTS, *few])
    rng = np.random.default_rng(seed)
    further = {f"c{i}": rng.integers(0, i + 2, len(data)) for i in range(columns)}
    data = data.with_columns(constant=pl.lit("same"), **further)
    found = fg.find(data, sensitive=["region", "sex", "constant", *further], depth=depth, **SEARCH)
    assert "region = west" in found.summary


# check

PRINTED = [("A", 400, 100), ("B", 500, 250)]


def outcomes(lines: list[str]) -> tuple[dict[str, str], int]:
    found = fg.check("\n".join(lines), rules="selection_rate.ratio >= 0.8")
    (table,) = found.tables
    verdicts = {e.name: str(e.verdict.outcome) for e in table.groups if e.verdict}
    return verdicts, found.exit_code


@given(
    categories=st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1)), max_size=4),
    unknown=st.integers(0, 20), rates=st.booleans(), total=st.booleans(),
    columns=st.lists(st.sampled_from(["year,2025", "note,x", "code,7"]), unique=True),
)  # fmt: skip
@FEW_EXAMPLES
def test_no_category_and_no_column_of_a_published_table_silences_a_failed_ratio(
    categories: list[tuple[int, float]], unknown: int, rates: bool, total: bool, columns: list[str]
) -> None:
    """Categories that are no more than a hundredth of all people, or have another highest rate."""
    table = PRINTED + [(f"C{i}", n, round(n * r)) for i, (n, r) in enumerate(categories)]
    table += [("Unknown", unknown, unknown // 2)] if unknown else []
    table += [("Total", sum(n for _, n, _ in table), sum(x for _, _, x in table))] if total else []
    heads, cells = zip(*(each.split(",") for each in columns), strict=True) if columns else ((), ())

    def line(name: str, n: int, x: int) -> str:
        share = f"{100 * x / n:.1f}%" if n else ""
        return ",".join([name, str(n), share if rates else str(x), *cells])

    head = ",".join(["group", "n", "selection rate" if rates else "selected", *heads])
    found, code = outcomes([head, *(line(*each) for each in table)])
    assert found.get("A", "not judged" if rates else "") in ("fail", "not judged")
    assert code == 1 if "A" in found else code == 3  # rates alone are not judged, and do not pass


# why

STRATA = [
    {"g": g, "s": s, "p": p, "n": n}
    for s in "xyz"
    for g, p, n in (("A", 1, 60), ("A", 0, 140), ("B", 1, 110), ("B", 0, 110))
]
GAPS: dict[str, Any] = {
    "prediction": "p", "positive": 1, "sensitive": "g", "count": "n", "reference": {"g": "B"},
}  # fmt: skip
DECIDED = ("remains", "inconclusive")


def of_a(data: pl.DataFrame, **asked: Any) -> str:
    (gap,) = [e for e in fg.why(data, **GAPS, **asked).gaps if e.estimate.group == "A"]
    return str(gap.verdict)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["A", "B", "C", None]), st.sampled_from(["x", "u", "v", None]),
            st.integers(0, 1), st.integers(1, 40),
        ),
        max_size=5,
    ),
    column=st.sampled_from([None, "same", "of the group", "of its own"]),
)  # fmt: skip
@FEW_EXAMPLES
def test_no_stratum_no_group_and_no_column_accounts_for_a_gap_that_remains(
    rows: list[tuple[str | None, str | None, int, int]], column: str | None
) -> None:
    own = pl.DataFrame(STRATA)
    more = pl.DataFrame(rows, schema=own.schema, orient="row")
    data = pl.concat([own, more])
    values = {
        "same": pl.lit("same"), "of the group": pl.col("g"),
        "of its own": pl.int_range(pl.len()).cast(pl.String),
    }  # fmt: skip
    assert of_a(own, strata="s") == "remains"
    further = [] if column is None else ["t"]
    found = of_a(data.with_columns(t=values.get(column or "", pl.lit(""))), strata=["s", *further])
    others_only = all(g not in ("A", "B") for g, *_ in rows)
    assert found == "remains" if others_only and column in (None, "same") else found in DECIDED


# pairs


@cache
def answers(delta: float, seed: int) -> pd.DataFrame:
    return study((6, 6), 12, 2, delta=delta, seed=seed)


def differences(table: pd.DataFrame, **asked: Any) -> tuple[int, str]:
    asked = OF_ANSWERS | {"reference": {"group": "White"}, "margins": {"score": 1.0}} | asked
    audit = fg.pairs(table, **asked)
    first = next(each for each in audit.differences if each.group == "Black")
    return audit.exit_code, str(first.verdict)


@given(
    delta=st.sampled_from([-1.6, -1.2, -0.9, -0.3, -0.15, -0.1]),
    seed=st.integers(0, 40),
    further=st.sampled_from(["group", "model", "few names", "an item"]),
)
@settings(FEW_EXAMPLES)
def test_nothing_added_to_a_study_makes_a_difference_equivalent(
    delta: float, seed: int, further: str
) -> None:
    """More comparisons adjust for more, so that what differed may be undecided."""
    own = answers(delta, seed)
    code, alone = differences(own)
    other = answers(0.0, seed + 100)
    if further == "model":
        more = pd.concat([own.assign(model="a"), other.assign(model="b")])
        after, beside = differences(more, model="model")
    else:
        added = {
            "group": other[other.group == "Black"].assign(group="Asian"),
            "few names": other[other.name == "B00"].assign(group="Asian", name="A00"),
            "an item": own[own.item == "cv0"].assign(item="new", score=1.0).head(3),
        }[further]
        added = added.assign(name="A" + added.name) if further == "group" else added
        after, beside = differences(pd.concat([own, added]))
    if alone == "differs":
        assert beside in ("differs", "cannot tell")
        assert after in (1, 3)
    assert (code == 1) == (alone == "differs")

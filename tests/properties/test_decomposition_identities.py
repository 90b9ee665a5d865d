"""What holds of every decomposition, through `fg.why` itself: sums, order, swapped sides."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import GapPartKind, StratumWeights

A, B = ["a1", "a2"], ["b1", "b2", "b3"]
CELLS = [(side, a, b) for side in "dr" for a in A for b in B]
NUMBERS = st.tuples(st.integers(0, 30), st.integers(0, 30))


@st.composite
def tables(draw):
    """Return counts of two sides by two columns, with rows of both on both sides."""
    counts = draw(st.lists(NUMBERS, min_size=len(CELLS), max_size=len(CELLS)))
    rows = [(*cell, y, n) for cell, of in zip(CELLS, counts, strict=True)
            for y, n in enumerate(of)]  # fmt: skip
    rows += [(side, A[0], B[0], y, 1) for side in "dr" for y in (0, 1)]
    table = pl.DataFrame(rows, schema=["side", "a", "b", "y", "n"], orient="row")
    return table.filter(pl.col("n") > 0)


def why(data, **options):
    asked = {"label": "y", "positive": 1, "count": "n", "sensitive": "side",
             "reference": {"side": "r"}, "strata": ["a", "b"]}  # fmt: skip
    return fg.why(data, **asked | options)


@given(tables())
def test_parts_of_a_difference_add_up_and_those_of_a_ratio_multiply(data):
    gap, ratio = why(data, metrics=["base_rate.difference", "base_rate.ratio"]).gaps
    whole = [gap.part(kind).value for kind in GapPartKind]
    assert sum(whole) == pytest.approx(gap.estimate.value, abs=1e-12)
    composition, within = gap.part("composition").value, gap.part("within").value
    sides = StratumWeights.GROUP, StratumWeights.REFERENCE
    both = [gap.part("within", weights).value for weights in sides]
    assert within == pytest.approx(sum(both) / 2, abs=1e-12)
    for name, part in (("composition", composition), ("within", within)):
        of_strata = [getattr(each, name) or 0 for each in gap.strata]
        assert sum(of_strata) == pytest.approx(part, abs=1e-12)
    factors = [ratio.part(kind).value for kind in GapPartKind]
    if all(factors):  # of rates that are 0 some have none
        product = factors[0] * factors[1] * factors[2]
        assert product == pytest.approx(ratio.estimate.value, rel=1e-12)


@given(tables(), st.integers(1, 3))
def test_one_stratum_and_equal_compositions_have_no_composition(data, times):
    for column in ("a", "b"):
        one = data.with_columns(pl.lit("same").alias(column))
        (gap,) = why(one, strata=column).gaps
        assert gap.part("composition").value == pytest.approx(0, abs=1e-15)
    alike = data.filter(side="d").group_by("a", "b", maintain_order=True).agg(n=pl.col("n").sum())
    alike = pl.concat([
        data.filter(side="d"),
        *(alike.with_columns(side=pl.lit("r"), y=pl.lit(y, pl.Int64),
                             n=share * pl.col("n"))
            .select(data.columns)
          for y, share in ((0, times), (1, 1))),
    ])  # fmt: skip
    (gap,) = why(alike).gaps
    assert gap.part("composition").value == pytest.approx(0, abs=1e-12)
    assert gap.part("within").value == pytest.approx(gap.estimate.value, abs=1e-12)

"""Properties of every row of the catalogue; none is named, so a new row has them or fails.

What is expected is derived from the row's own cells in exact fractions; the arithmetic under test
takes no part in it. Those of the comparisons are in `test_audit_properties`, on whole audits.
"""

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairgauge.catalogue.catalogue import METRICS, NAMES, RATES, lookup_key
from fairgauge.catalogue.cells import Cells, ConfusionCounts
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.lookup import BUILT_IN, SETS, find_metric, find_rate
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic
from fairgauge.enums import Better, Profile, Task
from fairgauge.render.grammar import describe_reason

DOCUMENTED, CLARIFY = Profile.DOCUMENTED, Profile.CLARIFY
BOTH = frozenset({"label", "prediction"})
COUNTED = tuple(rate for rate in RATES if isinstance(rate, (Rate, Quotient, Blend)))
"""The rates that are functions of the four cells."""

rates = pytest.mark.parametrize("rate", RATES, ids=lambda row: row.name)
metrics = pytest.mark.parametrize("metric", METRICS, ids=lambda row: row.name)

count = st.sampled_from([0, 0, 1, 10**6]) | st.integers(0, 40)
matrix = st.tuples(count, count, count, count)  # tp, fp, fn, tn


def side(counts: Any) -> ConfusionCounts:
    """Make a side of one confusion matrix, as counting rows would make it."""
    tp, fp, fn, tn = map(float, counts)
    return ConfusionCounts(
        size=np.array([tp + fp + fn + tn]),
        cells={
            BOTH: np.array([[tp, fp, fn, tn]]),
            frozenset({"label"}): np.array([[tp + fn, 0, 0, fp + tn]]),
            frozenset({"prediction"}): np.array([[tp + fp, 0, 0, fn + tn]]),
        },
    )


def rate_of(rate: Statistic, counts: Any, profile: Profile = DOCUMENTED) -> float:
    (number,) = rate.value(side(counts), profile).tolist()
    return float(number)


def same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or math.isclose(one, other, rel_tol=1e-12)


# --- the arithmetic of the rows, in exact fractions ---


def total(cells: Cells, counts: Any) -> int:
    return sum(k * n for k, n in zip(cells, counts, strict=True))


def parts(rate: Any) -> tuple[Cells, Cells]:
    return (rate.of, rate.among) if isinstance(rate, Rate) else (rate.over, rate.under)


def exact(rate: Statistic, counts: Any) -> Fraction | float | None:
    """Return the rate by its own cells: a fraction, infinity for x/0, None for 0/0."""
    if isinstance(rate, Blend):
        each = [exact(part, counts) for part in rate.of]
        return None if None in each else sum(each) / len(each)
    over, under = (total(cells, counts) for cells in parts(rate))
    if under:
        return Fraction(over, under)
    return math.inf if over else None


@given(counts=matrix)
@example(counts=(0, 0, 0, 0))
def test_a_rate_is_the_ratio_of_its_cells(counts: Any) -> None:
    for rate in COUNTED:
        expected, value = exact(rate, counts), rate_of(rate, counts)
        if expected is None:
            assert math.isnan(value), rate.name
        else:
            assert value == expected or math.isclose(value, expected, rel_tol=1e-15), rate.name


@given(counts=matrix)
@example(counts=(0, 0, 0, 0))
def test_a_rate_lies_in_its_range(counts: Any) -> None:
    for rate in COUNTED:
        low, high = rate.range
        for profile in Profile:
            value = rate_of(rate, counts, profile)
            assert math.isnan(value) or low <= value <= high, rate.name
            assert not (profile is CLARIFY and math.isnan(value)), rate.name


@given(counts=matrix)
@example(counts=(0, 0, 0, 0))
@example(counts=(0, 3, 0, 3))
@example(counts=(3, 0, 3, 0))
def test_an_undefined_rate_says_why(counts: Any) -> None:
    for rate in COUNTED:
        if exact(rate, counts) is not None:
            continue
        reason = rate.why_undefined(side(counts), 0)
        assert re.fullmatch(r"no [a-z0-9 +A-Z]+ \(.+ = 0\).*", describe_reason(reason)), rate.name
        zero = [exact(part, counts) or 0 for part in rate.of] if isinstance(rate, Blend) else [0]
        expected = float(sum(zero) / len(zero))  # 0/0 is 0 there
        assert rate_of(rate, counts, CLARIFY) == pytest.approx(expected), rate.name


@given(counts=matrix)
@example(counts=(0, 0, 0, 0))
def test_a_rate_rests_on_its_denominator(counts: Any) -> None:
    for rate in COUNTED:
        (size,) = rate.size(side(counts)).tolist()
        assert 0 <= size <= sum(counts), rate.name
        if isinstance(rate, Rate):
            assert size == total(rate.among, counts), rate.name
        if size == 0:
            assert math.isnan(rate_of(rate, counts)), rate.name


@given(counts=matrix, times=st.integers(2, 50))
def test_a_rate_has_no_scale(counts: Any, times: int) -> None:
    scaled = tuple(times * n for n in counts)
    for rate in COUNTED:
        assert same(rate_of(rate, counts), rate_of(rate, scaled)), rate.name


@given(counts=matrix)
def test_profiles_agree_where_documented_is_defined(counts: Any) -> None:
    for rate in COUNTED:
        value = rate_of(rate, counts)
        assert math.isnan(value) or rate_of(rate, counts, CLARIFY) == value, rate.name


# --- exchanging names ---


def flipped(cells: Cells) -> Cells:
    """Return the cells with positive and negative exchanged, of labels and predictions."""
    return Cells(tp=cells.tn, fp=cells.fn, fn=cells.fp, tn=cells.tp)


def swapped(cells: Cells) -> Cells:
    """Return the cells with label and prediction exchanged."""
    return Cells(tp=cells.tp, fp=cells.fn, fn=cells.fp, tn=cells.tn)


def partner(rate: Statistic, exchange: Any) -> Statistic | None:
    """Find the row whose cells are this one's after an exchange."""
    if isinstance(rate, Blend):
        wanted = {partner(part, exchange) for part in rate.of}
        rows = (r for r in COUNTED if isinstance(r, Blend) and set(r.of) == wanted)
        return next(rows, None)
    cells = tuple(exchange(each) for each in parts(rate))
    rows = (r for r in COUNTED if not isinstance(r, Blend) and parts(r) == cells)
    return next(rows, None)


def complement(rate: Statistic) -> Statistic | None:
    """Find the row that is one minus this one."""
    if not isinstance(rate, Rate):
        return None
    rest = Cells(*(a - b for a, b in zip(rate.among, rate.of, strict=True)))
    rows = (r for r in COUNTED if isinstance(r, Rate) and (r.of, r.among) == (rest, rate.among))
    return next(rows, None)


@given(counts=matrix)
def test_exchanging_positive_and_negative(counts: Any) -> None:
    tp, fp, fn, tn = counts
    for rate in COUNTED:
        other = partner(rate, flipped)
        if other is not None:
            assert same(rate_of(rate, counts), rate_of(other, (tn, fn, fp, tp))), rate.name


@given(counts=matrix)
def test_exchanging_label_and_prediction(counts: Any) -> None:
    tp, fp, fn, tn = counts
    for rate in COUNTED:
        other = partner(rate, swapped)
        if other is not None:
            assert same(rate_of(rate, counts), rate_of(other, (tp, fn, fp, tn))), rate.name


@given(counts=matrix)
def test_a_rate_and_its_complement_are_one(counts: Any) -> None:
    for rate in COUNTED:
        other, value = complement(rate), rate_of(rate, counts)
        if other is not None and not math.isnan(value):
            assert value + rate_of(other, counts) == pytest.approx(1, rel=1e-15), rate.name


def test_the_exchanges_find_what_the_field_knows() -> None:
    """So that the properties above are not empty."""
    assert partner(find_rate("tpr"), flipped) is find_rate("tnr")
    assert partner(find_rate("ppv"), flipped) is find_rate("npv")
    assert partner(find_rate("tpr"), swapped) is find_rate("ppv")
    assert partner(find_rate("balanced accuracy"), flipped) is find_rate("balanced accuracy")
    assert complement(find_rate("fpr")) is find_rate("tnr")
    assert sum(partner(rate, flipped) is not None for rate in COUNTED) >= 17
    assert sum(partner(rate, swapped) is not None for rate in COUNTED) >= 13
    assert sum(complement(rate) is not None for rate in COUNTED) == 14


def test_complements_favour_opposite_directions() -> None:
    for rate in COUNTED:
        other = complement(rate)
        if other is not None:
            assert {rate.better, other.better} in (
                {Better.HIGHER, Better.LOWER},
                {Better.NEITHER},
            ), rate.name


# --- what every row must say ---


@rates
def test_a_rate_says_what_it_is(rate: Statistic) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", rate.name)
    assert rate.says[0].islower()
    assert not rate.says.endswith(".")
    assert rate.cite
    assert all(rate.cite)
    assert rate.formula
    assert rate.title
    assert isinstance(rate.better, Better)
    assert rate.range[0] < rate.range[1]
    assert rate.tasks <= set(Task)
    assert rate.tasks


@metrics
def test_a_metric_says_what_it_is(metric: Metric) -> None:
    assert metric.says
    assert metric.positive
    assert metric.title
    assert metric.edges
    assert metric.formula
    assert metric.cite
    assert all(metric.cite)
    assert not metric.says.endswith(".")
    assert metric.set in SETS
    low, high = metric.range
    assert math.isnan(metric.neutral) or low <= metric.neutral <= high
    assert low < high
    assert metric.tasks <= set(Task)
    assert metric.tasks


def test_names_are_unique() -> None:
    for rows in (RATES, METRICS):
        names = [row.name for row in rows]
        assert len(set(names)) == len(names)


def test_every_name_and_synonym_finds_its_row_alone() -> None:
    """Rates and metrics share one space of names, for ``metrics=`` takes both."""
    owners: dict[str, str] = dict.fromkeys(SETS, "a set of metrics")
    for rows, find in ((RATES, find_rate), (METRICS, find_metric)):
        for row in rows:
            for name in {row.name, *row.aka, row.title}:
                key = re.sub(r"[\s_\-]+", "_", name.strip().casefold())
                assert owners.setdefault(key, row.name) == row.name, f"{name} means two rows"
                if name == row.title and shared_title(row):
                    assert found_or_named(find, name) in (row.formula, row.name)
                    continue
                assert find(name) is row
                assert find(name.upper()) is row


def found_or_named(find: Any, name: str) -> str:
    """Return the formula that a shared title finds, or the second row that it could mean."""
    try:
        return str(find(name).formula)
    except LookupError as error:
        message = str(error)
    assert message.endswith("name one of them")
    return message.split(" or ")[1].split()[0]


def shared_title(row: Any) -> bool:
    """Tell whether another tool has the title for another row."""
    key = lookup_key(row.title)
    return any(lookup_key(each.name) == key and each.ours not in (None, row.name) for each in NAMES)


def test_every_row_is_in_its_sets() -> None:
    assert BUILT_IN.expand(["all"]) == METRICS
    for name in ("clarify", "vertex", "native"):
        assert BUILT_IN.expand([name]) == tuple(m for m in METRICS if m.set == name)
    assert set(BUILT_IN.expand(["standard"])) <= set(METRICS)
    for rate in RATES:
        names = [f"{rate.name}.difference", f"{rate.name}.ratio"]
        assert [m.name for m in BUILT_IN.expand([rate.name])] == names[: 1 if rate.signed else 2]


def test_a_share_is_a_part_of_its_whole() -> None:
    with pytest.raises(ValueError, match="is not a part of"):
        Rate(name="x", of=Cells(tp=1), among=Cells(fp=1), better=Better.NEITHER, says="", cite=())

"""The n of a metric of several rates is its rows; a small part of them is named where it limits."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Status

CELLS = st.tuples(*[st.integers(0, 60)] * 4)
COMPOSITES = ["average_odds", "balanced_accuracy", "average_absolute_odds"]
ASKED = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}


def rows(groups: dict[str, tuple[int, ...]]) -> pd.DataFrame:
    """Return rows of groups, each with its tp, fp, fn and tn."""
    kinds = ((1, 1), (0, 1), (1, 0), (0, 0))
    made = [
        (group, *kind)
        for group, cells in groups.items()
        for kind, n in zip(kinds, cells, strict=True)
        for _ in range(n)
    ]
    return pd.DataFrame(made, columns=["g", "y", "p"])


@given(CELLS, CELLS)
def test_n_of_a_composite_is_its_rows(one, other):
    data = rows({"A": one, "B": other, "C": (30, 30, 30, 30)})
    report = fg.audit(data, **ASKED, metrics=COMPOSITES)
    sizes = data.groupby("g").size().to_dict()
    for each in report.estimates:
        if each.group in sizes:
            n = sizes[each.group]
            assert (each.n_group, each.n_reference) == (n, len(data) - n), each.metric
    for group in report.groups:
        rate = group.rates.get("balanced_accuracy")
        if rate is not None and group.group in sizes:
            assert rate.denominator == sizes[group.group]


@given(st.integers(1, 19), st.integers(40, 900), st.booleans())
def test_the_part_that_limits_is_named(few, many, positives):
    cells = (few, many // 2, 0, many - many // 2) if positives else (many // 2, few, many // 2, 0)
    data = rows({"A": cells, "B": (100, 100, 100, 100)})
    report = fg.audit(data, **ASKED, metrics=COMPOSITES, rules="balanced_accuracy >= 0.4")
    total = sum(cells)
    for each in report.estimates:
        if each.reference is not None and each.status is Status.TOO_FEW:
            assert each.reason["n"] in (few, total)
            assert each.reason.side == ("group" if each.group == "A" else "reference")
    verdict = next(each for each in report.verdicts if each.group == "A")
    assert verdict.reason["n"] in (few, total)


@given(st.integers(1, 19), st.booleans())
def test_a_comparison_names_the_part_that_limits_it(few, positives):
    data = rows({"A": (few, 60, 0, 40) if positives else (60, few, 40, 0), "B": (99,) * 4})
    report = fg.audit(data, **ASKED, metrics=["balanced_accuracy"])
    limiting = "true positive rate" if positives else "true negative rate"
    for each in report.estimates:
        assert (each.reason["n"], each.reason["part"]) == (few, limiting)
    assert f"{few} of them for {limiting}" in " ".join(str(report).split())


@given(st.integers(-30, 30), st.integers(-30, 30))
def test_parts_that_offset_each_other_are_stated(of_tpr, of_fpr):
    one = (120 + of_tpr, 120 + of_fpr, 80 - of_tpr, 80 - of_fpr)
    data = rows({"A": one, "B": (120, 120, 80, 80)})
    report = fg.audit(data, **ASKED, metrics=["average_odds"])
    parts = fg.audit(data, **ASKED, metrics=["true_positive_rate", "false_positive_rate"])
    found = [parts[f"{name}.difference", "g", "A"] for name in parts.groups[0].rates]
    shown = {each.value > 0 for each in found if each.low > 0 or each.high < 0}
    assert ("parts_offset" in {d.code for d in report.diagnostics}) is (len(shown) == 2)

"""Integer weights of amounts are duplicated rows; weights that cannot be used are errors."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

UNWEIGHTED = {"median_label", "label_quarter", "top_selection_ratio", "exposure_ratio"}
"""What orders rows counts each row once, as its page says."""


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    label = rng.normal(10, 3, n)
    return pl.DataFrame(
        {"g": rng.choice(["a", "b", "c"], n), "w": rng.integers(1, 5, n), "label": label,
         "prediction": rng.normal(11, 2, n), "y": label > 10}
    )  # fmt: skip


def test_integer_weights_of_amounts_are_duplicated_rows() -> None:
    """Of counts and scores properties hold it."""
    asked = {"label": "label", "prediction": "prediction", "task": "regression", "sensitive": "g"}
    repeated = people().select(pl.all().repeat_by("w").explode())
    weighted, duplicated = (
        fg.audit(data, metrics="native", weight=weight, **asked)
        for data, weight in ((people(), "w"), (repeated, None))
    )
    found, expected = (
        [
            *((e.metric, e.group, e.value) for e in report.estimates),
            *((name, g.group, r.value) for g in report.groups for name, r in g.rates.items()),
        ]
        for report in (weighted, duplicated)
    )
    found, expected = (
        [each for each in values if each[0].partition(".")[0] not in UNWEIGHTED]
        for values in (found, expected)
    )
    assert len(found) == len(expected) > 60
    for ours, theirs in zip(found, expected, strict=True):
        assert ours[:2] == theirs[:2]
        if theirs[2] is not None:
            assert ours[2] == pytest.approx(theirs[2], rel=1e-9, abs=1e-12), ours
    assert [g.weight for g in weighted.groups] == [g.n for g in duplicated.groups]


@pytest.mark.parametrize("factor", [1e103, 1e-110])
def test_weights_whose_cubes_overflow_or_vanish_are_an_error(factor: float) -> None:
    data = people(60).with_columns(pl.col("w") * factor)
    with pytest.raises(fg.DataError, match="'w' is the weight, and its largest value is 4e"):
        fg.audit(data, label="y", positive=True, sensitive="g", weight="w")

"""What is shown is undone by what is missing only where that could move it so far."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import WhyInconclusive
from fairgauge.inference.possible import could_undo
from fairgauge.resolve.resolution import resolve

ASKED = {"label": "y", "prediction": "d", "positive": 1, "sensitive": "g", "strata": "s"}


def rows(n: int = 3_000) -> pl.DataFrame:
    """Return rows of two groups, of which group a lacks something in a tenth of the rows."""
    rng = np.random.default_rng(5)
    group, label = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    return pl.DataFrame({
        "g": group, "y": label, "d": np.where(rng.random(n) < 0.8, label, 1 - label),
        "s": rng.choice(["n", "m"], n), "lacking": (group == "a") & (rng.random(n) < 0.1),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "limits", "undone"),
    [
        ("selection_rate.difference", (0.01, 0.05), True),
        ("selection_rate.difference", (0.2, 0.3), False),
        ("selection_rate.difference", (-0.3, -0.2), False),
        ("selection_rate.ratio", (1.02, 1.1), True),
        ("selection_rate.ratio", (1.6, 1.9), False),
    ],
)
def test_what_is_shown_is_undone_where_its_limits_move_across_none(metric, limits, undone):
    data = rows().with_columns(d=pl.when(~pl.col("lacking")).then("d"))
    cube = fg.count(data, **ASKED)
    resolved = resolve(cube, cube.asked)
    estimate = fg.audit(cube, metrics=metric)[metric, "g", "a"]
    asked = resolved.features[0], resolved.outcomes[0], estimate, (0, 1), cube.asked
    found = could_undo(*asked, [limits])
    assert found is (WhyInconclusive.MISSING_OUTCOMES if undone else None)

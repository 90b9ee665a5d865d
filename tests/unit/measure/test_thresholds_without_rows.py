"""Rows that lack something take no part in a choice of thresholds, and no pass rests on that."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.measure.choose_thresholds import Excluded
from fairgauge.resolve.resolution import resolve

ASKED = {"label": "y", "positive": 1, "score": "p", "threshold": 0.5, "sensitive": "sex"}
RULE = "selection_rate.ratio >= 0.8"


def table(n: int = 8_000) -> tuple[pd.DataFrame, pd.Series]:
    """Return people of whom 60 of 100 men and 44 of 100 women are accepted at 0.5.

    With half of the refused women: without them, the goal is met.
    """
    rng = np.random.default_rng(9)
    sex = rng.choice(["F", "M"], n)
    accepted = rng.random(n) < np.where(sex == "F", 0.44, 0.6)
    frame = pd.DataFrame(
        {
            "sex": sex,
            "p": np.clip(np.where(accepted, 0.7, 0.3) + rng.normal(0, 0.08, n), 0, 1).round(2),
            "w": 1.0,
        }
    )
    frame["y"] = (rng.random(n) < 0.3 + 0.4 * frame.p).astype(float)
    left = (frame.sex == "F") & (frame.p < 0.5) & (rng.random(n) < 0.5)
    return frame, left


@pytest.mark.parametrize("column", ["sex", "w", "y", "p"])
def test_no_pass_rests_on_rows_that_lack_something(column: str) -> None:
    frame, left = table()
    asked = ASKED | ({"weight": "w"} if column == "w" else {})
    whole = fg.thresholds(frame, rules=RULE, **asked)
    assert whole.exit_code != 0
    frame[column] = frame[column].where(~left)
    rule = "true_positive_rate.ratio >= 0.7" if column == "y" else RULE
    found = fg.thresholds(frame, rules=rule, **asked)
    assert found.exit_code == 3
    common = found["sex"].common
    assert common is not None
    assert common.goal_outcome is Outcome.INCONCLUSIVE
    assert common.goal_reason is not None
    today = next(each for each in found["sex"].frontier if each.threshold == 0.5)
    assert today.outcome is Outcome.INCONCLUSIVE
    assert fg.audit(frame, rules=rule, **asked).verdict is Outcome.INCONCLUSIVE
    rows = f"{left.sum():,}"
    text = " ".join(str(found).split())
    assert f"the {rows} rows without a " in text
    assert f"Excluded: {rows} rows (missing " in text
    of_all = "all rates, the selection rate too, are of the others"
    assert (of_all in text) is (column in ("y", "p"))
    assert any(each["rows"] == left.sum() for each in found.diagnostics
               if each.level == "warning" and each.get("rows"))  # fmt: skip


@pytest.mark.parametrize("rate", ["accuracy", "true_positive_rate", "false_positive_rate"])
@pytest.mark.parametrize("lacking", ["y", "p", "sex", "undecided"])
def test_no_gain_is_below_the_least_whatever_they_are(rate: str, lacking: str) -> None:
    """Of all that a few rows may be."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": list("FFFFFMMMMM"), "p": rng.choice([0.2, 0.4, 0.6, 0.8], 10),
                          "y": rng.integers(0, 2, 10) * 1.0})  # fmt: skip
    undecided = lacking == "undecided"  # counted as not positive, and may be either
    lacking, few = "y" if undecided else lacking, frame.index.isin([1, 4, 7])
    words = frame.y.map({1.0: "yes", 0.0: "no"}).where(~few, "Open")
    frame.loc[few, lacking] = 0.0 if undecided else np.nan
    asked = ASKED | ({"positive": "yes"} if undecided else {})
    spec = fg.count(frame.assign(y=words) if undecided else frame, **asked)
    resolution = resolve(spec, spec.asked)
    cuts = np.array([0.3, 0.5, 0.7])
    rest = Excluded(resolution.features[0], resolution.outcomes[0], spec.asked, {})
    row = spec.asked.catalogue.rate(rate)

    def gain(of: pd.DataFrame, cut: float) -> float:
        old, new = (_share(of, at, rate) for at in (0.5, cut))
        return old - new if rate == "false_positive_rate" else new - old

    values = {"y": [0.0, 1.0], "p": [0.2, 0.4, 0.6, 0.8], "sex": ["F"]}[lacking]
    known = frame.dropna()
    for cut in cuts:
        every = []
        for filled in product(values, repeat=3):
            complete = frame.copy()
            complete.loc[few, lacking] = filled
            every.append(gain(complete, cut))
        cells = [_cells(known, at) for at in (cut, 0.5)]
        alone = np.array([gain(known, cut)])
        (least,) = rest.least_gain(row, alone, cells[0][None], cells[1])
        assert least <= np.nanmin([*every, alone[0]]) + 1e-12
        assert least > -1.5


def _cells(of: pd.DataFrame, cut: float) -> np.ndarray:
    yes, good = of.p >= cut, of.y == 1
    cells = (yes & good, yes & ~good, ~yes & good, ~yes & ~good)
    return np.array([float(each.sum()) for each in cells])


def _share(of: pd.DataFrame, cut: float, rate: str) -> float:
    yes = of.p >= cut
    if rate == "accuracy":
        return float((yes == (of.y == 1)).mean())
    return float(yes[of.y == (rate == "true_positive_rate")].mean())

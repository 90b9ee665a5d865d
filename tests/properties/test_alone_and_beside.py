"""What is said of a metric is the same alone and beside others, in any order (invariant 3)."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

REFERENCES = ["best", "others", "overall", "largest", {"g": "C"}]
DESIGNS: dict[str, dict[str, Any]] = {
    "rows": {},
    "strata": {"strata": "h"},
    "clusters": {"cluster": "c"},
    "weights": {"weight": "w"},
    "bootstrap": {"method": "bootstrap"},
}
OUTCOMES: dict[str, dict[str, Any]] = {
    "binary": {
        "label": "y", "score": "s", "threshold": 0.5, "positive": 1, "favourable": "negative",
        "metrics": [
            "standard", "average_absolute_odds", "worst_odds", "average_odds", "clarify", "vertex",
            "top_selection_ratio", "exposure_ratio",
        ],
    },
    "classes": {
        "label": "k", "prediction": "m", "metrics": ["standard", "average_absolute_odds"],
    },
    "amounts": {
        "label": "a", "prediction": "b", "task": "regression", "favourable": "lower",
        "metrics": ["standard", "median_label.difference", "quantile_label(0.9).ratio"],
    },
}  # fmt: skip
ROWS = 600


def table(seed: int) -> pl.DataFrame:
    """Return four groups that have the best rates, scores, medians and means each by chance."""
    rng = np.random.default_rng(seed)
    group = rng.choice(4, ROWS, p=[0.4, 0.3, 0.2, 0.1])
    base, gain, start, middle = (rng.uniform(*ends, 4)[group] for ends in
                                 ((0.2, 0.8), (0.3, 0.6), (0, 0.3), (10, 20)))  # fmt: skip
    y = (rng.random(ROWS) < base).astype(int)
    score = np.clip(gain * y + start + rng.normal(0, 0.2, ROWS), 0, 1).round(3)
    amount = np.round(middle + rng.exponential(rng.uniform(1, 9, 4)[group]), 1)
    classes = rng.integers(0, 3, ROWS)
    return pl.DataFrame(
        {
            "g": np.array(list("ABCD"))[group], "y": y, "s": score, "a": amount,
            "b": np.round(amount + rng.normal(start, 2), 1),
            "k": np.array(list("xyz"))[classes],
            "m": np.array(list("xyz"))[np.where(rng.random(ROWS) < base, classes, 0)],
            "h": rng.choice(["u", "v"], ROWS), "c": rng.integers(0, 80, ROWS),
            "w": rng.choice([1.0, 2.0, 3.0], ROWS),
        }
    )  # fmt: skip


def said(report: fg.Report, metric: str) -> tuple[Any, ...]:
    return sorted(
        str((
            e.feature, e.group, e.scope, e.class_scope, str(e.reference), e.value, e.low, e.high,
            e.p_value, e.status, e.rate_group, e.rate_reference, e.reason,
        ))
        for e in report.estimates if e.metric == metric
    ), [v.outcome for v in report.verdicts]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("reference", REFERENCES, ids=str)
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_metric_is_the_same_alone_and_beside_others(
    outcome: str, design: str, reference: Any
) -> None:
    seed = 100 * list(OUTCOMES).index(outcome) + 10 * list(DESIGNS).index(design)
    rng = np.random.default_rng(seed + REFERENCES.index(reference))
    options = OUTCOMES[outcome] | DESIGNS[design] | {"sensitive": "g", "replicates": 50}
    data = table(seed)
    every = fg.audit(data, **options, reference=reference)
    names = list(dict.fromkeys(e.metric for e in every.estimates))
    measured = {e.metric: abs(e.value) for e in every.estimates if e.value is not None}
    composite = ["average_absolute_odds"] if "average_absolute_odds" in measured else []
    for metric in [*composite, *rng.choice(list(measured), 1).tolist()]:
        rule = f"{metric} <= {measured[metric]:.4f}"
        asked = options | {"reference": reference, "rules": rule}
        alone = said(fg.audit(data, **asked | {"metrics": metric}), metric)
        assert alone[0]
        shuffled = [metric, *rng.permutation(names).tolist()]
        for beside in (shuffled, shuffled[::-1]):
            assert said(fg.audit(data, **asked | {"metrics": beside}), metric) == alone, metric

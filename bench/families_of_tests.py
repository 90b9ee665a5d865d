"""Designs of the families of an audit: rules on extremes, and everything that is marked.

`bench.reviewed_audits` measures them with those of the reviews.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import fairgauge as fg
from bench.audit_designs import (
    BINARY,
    CELLS,
    COUNTED,
    LABELLED,
    RARELY,
    Design,
    Occurrences,
    alone,
    counts,
    selected,
)
from fairgauge.results.disparities import is_significant

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT = 0.1


def _of_gap(rates: list[float], rng: np.random.Generator) -> Occurrences:
    """Audit large groups and one of 12 rows by a rule on the largest gap."""
    sizes = np.array([*[600] * len(rates), 12])
    data = selected(rng.binomial(sizes, [*rates, rng.uniform()]), sizes)
    rule = fg.rule("selection_rate.largest_gap", at_most=_LIMIT, insufficient="pass")
    report = fg.audit(data, **COUNTED, metrics=[rule.metric], rules=[rule])
    return {"FAIL": report.verdict == "fail"}


def _of_worst_odds(gap: float, rng: np.random.Generator) -> Occurrences:
    """Audit groups with few positive labels by a rule on the worse of both error rates."""
    labels = np.array([10, 800])
    wrong = rng.binomial([400, 400], [0.2 + gap, 0.2])
    hits = rng.binomial(labels, 0.6)
    cells = np.stack([hits, wrong, labels - hits, 400 - wrong], axis=1)
    rule = fg.rule("worst_odds", at_most=_LIMIT)
    report = fg.audit(
        counts(cells, **CELLS), **LABELLED, metrics=["worst_odds"], rules=[rule],
        reference={"group": "g1"},
    )  # fmt: skip
    return {"FAIL": report.verdict == "fail"}


def _marks(report: fg.Report) -> Occurrences:
    """Read whether anything is marked as significant where nothing differs."""
    tests = [each for each in report.diagnostics if each.code == "homogeneity"]
    starred = any(map(is_significant, report.estimates))
    pairs = any(pair.significant for pair in report.pairs)
    homogeneity = any(each["significant"] for each in tests)
    return {
        "a star": starred,
        "anything marked": starred or pairs or homogeneity,
        "a finding": bool(report.findings),
    }


def _equal_groups(groups: int, rng: np.random.Generator) -> Occurrences:
    sizes = np.full(groups, 150)
    data = selected(rng.binomial(sizes, 0.3), sizes)
    return _marks(fg.audit(data, **COUNTED, metrics=["selection_rate"]))


def _equal_features(rng: np.random.Generator) -> Occurrences:
    """Three features and their four intersections; label and prediction do not depend on them."""
    n = 3_000
    label = rng.random(n) < 0.4
    data = pl.DataFrame(
        {
            "a": rng.choice(["x", "y"], n), "b": rng.choice(["x", "y", "z"], n),
            "c": rng.choice(["x", "y"], n, p=[0.3, 0.7]), "label": label.astype(int),
            "prediction": (rng.random(n) < np.where(label, 0.7, 0.2)).astype(int),
        }
    )  # fmt: skip
    crossed = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]]
    asked = BINARY | {"sensitive": ["a", "b", "c"], "intersections": crossed}
    return _marks(fg.audit(data, label="label", prediction="prediction", **asked))


def family_designs() -> Iterator[Design]:
    """Yield the designs of rules on extremes and of what is marked."""
    gap = f"largest gap <= {_LIMIT}, a further group of 12 rows that counts as a pass"
    yield alone("families", f"{gap}: gap of .25", "95 or more", partial(_of_gap, [0.3, 0.4, 0.55]))
    at_limit = [0.3, 0.3, 0.4, 0.4]
    yield alone("families", f"{gap}: 4 groups at the limit", RARELY, partial(_of_gap, at_limit))
    odds = f"worst odds <= {_LIMIT}, 10 positive labels"
    yield alone("families", f"{odds}: FPR + .25", "95 or more", partial(_of_worst_odds, 0.25))
    yield alone("families", f"{odds}: FPR at the limit", RARELY, partial(_of_worst_odds, 0.1))
    for groups in (20, 21, 40):
        yield alone("families", f"{groups} equal groups", RARELY, partial(_equal_groups, groups))
    name = "3 features and their 4 intersections, equal groups, all rates"
    yield alone("families", name, RARELY, _equal_features)

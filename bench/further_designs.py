"""Designs of a second opponent: plans, verdicts, families of claims, and what is not a rate.

`bench.reviewed_audits` measures them with its own and those of `bench.last_round`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairgauge as fg
from bench.all_metrics import confusion
from bench.audit_designs import (
    AT_LEAST,
    BINARY,
    CELLS,
    LABELLED,
    LAST,
    LEVEL,
    PLANNED,
    RARELY,
    Design,
    Occurrences,
    Read,
    alone,
    as_groups,
    as_strata,
    confusions,
    counts,
    hold,
    holds,
)
from bench.last_round import calibrated_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCORED = {**BINARY, "label": "label", "score": "score"}


# plans, and rows that verdicts state


def _recall_rule(data: pl.DataFrame, rule: fg.Rule) -> fg.Report:
    """Audit the second group as the reference of the first."""
    return fg.audit(
        data, **LABELLED, metrics=[rule.metric], rules=[rule], reference={"group": "g1"}
    )


@cache
def _planned(goal: str, **asked: Any) -> int:
    return int(next(e for e in fg.plan(**asked).needed if e.goal.startswith(goal)).total)


def _of_labels(n: Any, base: float, hits: Any, rng: np.random.Generator) -> pl.DataFrame:
    """Draw groups with a share of positive labels, of which so many are found."""
    positive = rng.binomial(n, base)
    tp, fp = rng.binomial(positive, hits), rng.binomial(np.asarray(n) - positive, 0.2)
    cells = np.stack([tp, fp, positive - tp, np.asarray(n) - positive - fp], axis=1)
    return counts(cells, **CELLS)


def planned_recall(goal, hits, asked, rng) -> pl.DataFrame:
    """Draw as many rows as planned for a true positive rate."""
    rows = _planned(goal, **asked)
    n = rng.binomial(rows, asked["share"])
    return _of_labels([n, rows - n], asked["among"], hits, rng)


def _decided(name, happens) -> Read:
    """Return the reader of whether an interval decides as wanted; one not adequate does not."""

    def read(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
        for each in report.estimates:
            if each.group == "g0" and each.scope.kind == scope:
                known = each.status == "ok" and each.interval is not None
                yield name, known and happens(each.interval.low, each.interval.high)

    return read


@cache
def _stated(sizes, base, hits, rule) -> int:
    """Return the rows with positive labels that the verdict on a table of these rates states."""
    cells = []
    for n, hit in zip(sizes, hits, strict=True):
        positive = round(n * base)
        tp, fp = round(positive * hit), round((n - positive) * 0.2)
        cells.append([tp, fp, positive - tp, n - positive - fp])
    stated = _recall_rule(counts(np.array(cells), **CELLS), rule).verdicts[0].reason
    return int(stated["needed"])


def enough_to_decide(sizes, base, hits, rule, rng) -> pl.DataFrame:
    """Draw as many rows as a verdict states that would decide it."""
    rows = _stated(sizes, base, hits, rule) / base
    n = np.rint(np.array(sizes) / sum(sizes) * rows).astype(int)
    return _of_labels(n, base, hits, rng)


def _of_plans() -> Iterator[Design]:
    ratio, within = "true_positive_rate.ratio", "true_positive_rate.difference"
    asked = {"rate": 0.8, "ratio": 0.8, "tolerance": 0.1, "among": 0.2, "share": 0.3}
    of_pair = {**LABELLED, "reference": {"group": "g1"}}
    for goal, metric, hits, read in (
        ("to pass equal rates as at least", ratio, [0.8, 0.8],
         _decided("pass", lambda low, _: low >= 0.8)),
        ("to pass equal rates as within", within, [0.8, 0.8],
         _decided("pass", lambda low, high: max(-low, high) <= 0.1)),
        ("to find a ratio", ratio, [0.64, 0.8],
         _decided("found", lambda low, high: not low <= 1 <= high)),
        ("to find a difference", within, [0.7, 0.8],
         _decided("found", lambda low, high: not low <= 0 <= high)),
    ):  # fmt: skip
        yield as_strata(
            LAST, f"recall of .8, 20 % positive: planned rows {goal}", PLANNED,
            partial(planned_recall, goal, hits, asked), read, **of_pair, metrics=[metric],
        )  # fmt: skip
    for sizes, hits, rule, read in (
        ((200, 600), (0.75, 0.8), fg.rule(ratio, at_least=0.8),
         _decided("decided", lambda low, high: not low < 0.8 <= high)),
        ((400, 400), (0.78, 0.8), fg.rule(within, between=(-0.1, 0.1)),
         _decided("decided", lambda low, high: not (low < -0.1 <= high or low <= 0.1 < high))),
    ):  # fmt: skip
        yield as_strata(
            LAST, f"{rule}, recall of {hits[0]} and {hits[1]}: as many rows as would decide",
            PLANNED, partial(enough_to_decide, sizes, 0.3, hits, rule), read, **of_pair,
            metrics=[rule.metric],
        )  # fmt: skip


# families of claims


def unchanged(groups, rng) -> Occurrences:
    """Audit two periods whose groups have the same rates, which differ between groups."""
    shares = [confusion(b, 0.75, 0.2) for b in np.linspace(0.25, 0.5, groups)]
    sizes = np.linspace(150, 500, groups).astype(int)
    old, new = (
        fg.audit(
            confusions(rng, sizes=sizes, shares=shares), **LABELLED,
            metrics=["DPPL", "DI", "RD", "AD"],
            rules=[fg.rule("DPPL", between=(-0.1, 0.1)), fg.rule("RD", between=(-0.1, 0.1))],
        )
        for _ in range(2)
    )  # fmt: skip
    compared = fg.compare(old, new)
    p = [each.change_p_adjusted for each in compared.changes if each.change_p_adjusted is not None]
    return {
        "a significant change": any(value < LEVEL for value in p),
        "worse": compared.worse,
    }


def three_features(rng) -> Occurrences:
    """Three features and an intersection of equal groups, of which half coincide."""
    rows = 1500
    first = rng.integers(0, 5, rows)
    second = np.where(rng.random(rows) < 0.5, first % 3, rng.integers(0, 3, rows))
    label = rng.random(rows) < 0.4
    data = pl.DataFrame(
        {
            "first": first.astype(str), "second": second.astype(str),
            "third": rng.integers(0, 2, rows).astype(str), "label": label.astype(int),
            "prediction": (rng.random(rows) < np.where(label, 0.7, 0.2)).astype(int),
        }
    )  # fmt: skip
    names = ["selection_rate.difference", "true_positive_rate.ratio", "accuracy.difference"]
    report = fg.audit(
        data, label="label", prediction="prediction", positive=1, metrics=names,
        sensitive=["first", "second", "third"], intersections=[["second", "third"]],
    )  # fmt: skip
    opened = str(report).split("Findings")[1].split("first  ")[0].lstrip()
    return {"the findings open with a difference": not opened.startswith("No statistically")}


_DAYS = 40
_MONITORED = {
    "label": "label", "prediction": "prediction", "positive": 1, "sensitive": "group",
    "monitor": {
        "horizon": _DAYS,
        "rules": [
            {"metric": "selection_rate.difference", "between": [-0.05, 0.05]},
            {"metric": "true_positive_rate.ratio", "at_least": 0.9},
            {"metric": "accuracy.difference", "between": [-0.05, 0.05]},
        ],
    },
}  # fmt: skip


def monitored(rng) -> Occurrences:
    """Forty days of three groups at the limits of three rules."""
    label = confusion(0.4, 0.75, 0.2)
    days = {}
    for day in range(_DAYS):
        drawn = [rng.multinomial(n, label) for n in (60, 90, 150)]
        cells = {
            f"g{g}": dict(zip(("tp", "fp", "fn", "tn"), map(int, x), strict=True))
            for g, x in enumerate(drawn)
        }
        days[f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}"] = fg.confusion("group", cells)
    return {"an alarm": bool(fg.monitor(days, _MONITORED).alarms)}


def _of_families() -> Iterator[Design]:
    yield alone(
        LAST, "two reports of 2 groups on different rows, no change", RARELY, partial(unchanged, 2)
    )
    yield alone(LAST, "three features and an intersection of equal groups", RARELY, three_features)
    yield alone(LAST, "40 days of 3 equal groups, 3 monitored rules", RARELY, monitored)


# intervals


def ordered_outcomes(sizes, rng) -> pl.DataFrame:
    """Outcomes of three levels."""
    shares = np.outer([0.15, 0.35, 0.5], [0.1, 0.2, 0.7]) + np.diag([0.1, 0.1, 0.1])
    shares /= shares.sum()
    names = np.array(["top", "middle", "bottom"])
    label, prediction = (names[each.ravel()] for each in np.indices(shares.shape))
    cells = np.stack([rng.multinomial(n, shares.ravel()) for n in sizes])
    return counts(cells, label=label, prediction=prediction)


def of_cuts(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
    """Read intervals of selections of ordered outcomes, of groups that are equal."""
    for each in report.estimates:
        asked = each.group == "g0" and each.scope.kind == scope and each.status == "ok"
        if asked and each.interval and each.class_scope.kind == "selection":
            truth = 1.0 if each.metric == "DI" else 0.0
            yield f"{each.metric} covers", holds(each.interval, truth)


def weighted_classes(spread, rng) -> pl.DataFrame:
    """Four classes, lognormal weights that depend on the class."""
    shares = np.array([0.5, 0.25, 0.15, 0.1])
    group = np.repeat(["g0", "g1"], [250, 750])
    label = rng.choice(4, p=shares, size=1000)
    other = rng.choice(4, p=shares, size=1000)
    prediction = np.where(rng.random(1000) < 0.7, label, other)
    weight = np.exp(0.3 * label + spread * rng.normal(size=1000))
    return pl.DataFrame(
        {"group": group, "label": label, "prediction": prediction, "weight": weight}
    )


def _of_intervals() -> Iterator[Design]:
    three, of_three = [0.1, 0.4, 0.9], [0.5, 0.3, 0.2]
    for rows in (100, 200, 400):
        yield as_groups(
            LAST, f"recall of .8 among scores of three values, {rows} rows", AT_LEAST,
            partial(calibrated_scores, three, of_three, rows),
            {"false_positive_rate_at_recall": _false_positives(three, of_three, 0.8)},
            **_SCORED, metrics=["false_positive_rate_at_recall.difference"],
        )  # fmt: skip
    for rows in (100, 400):
        yield as_groups(
            LAST, f"varied rare scores, {rows} rows", AT_LEAST, partial(_rare_scores, rows),
            {"expected_calibration_error": 0.0}, **_SCORED,
            metrics=["expected_calibration_error.difference"],
        )  # fmt: skip
    yield as_strata(
        LAST, "outcomes of three ordered levels, 150 and 450 rows", AT_LEAST,
        partial(ordered_outcomes, (150, 450)), of_cuts, label="label", prediction="prediction",
        count="n", positive=fg.ordered("top", "middle", "bottom"), metrics=["DPPL", "DI", "RD"],
    )  # fmt: skip
    names = [f"{of}.difference" for of in ("f1", "true_positive_rate", "positive_predictive_value")]
    for spread in (0.4, 1.0):
        yield as_strata(
            LAST, f"averages over 4 classes, weights spread by {spread}, 250 and 750 rows",
            AT_LEAST, partial(weighted_classes, spread), hold(**dict.fromkeys(names, 0.0)),
            label="label", prediction="prediction", task="multiclass", weight="weight",
            metrics=names,
        )  # fmt: skip


def _rare_scores(rows, rng) -> pl.DataFrame:
    score = np.round(rng.beta(1, 30, rows), 3)
    return pl.DataFrame({"score": score, "label": (rng.random(rows) < score).astype(int)})


def _false_positives(scores, shares, recall) -> float:
    """Return the false positive rate at a recall of calibrated scores, in ascending order."""
    p, share = np.array(scores)[::-1], np.array(shares)[::-1]
    found = np.cumsum(share * p) / (share @ p)
    wrong = np.cumsum(share * (1 - p)) / (share @ (1 - p))
    return float(wrong[(found >= recall - 1e-12).argmax()])


def further_designs() -> Iterator[Design]:
    """Return the designs of the second opponent."""
    yield from _of_plans()
    yield from _of_families()
    yield from _of_intervals()

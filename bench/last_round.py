"""Designs of the last round: a hostile statistician's, drawn when the methods were done.

`bench.reviewed_audits` measures them with its own. They are of rare labels and scores, skewed
amounts, uneven weights and clusters, thin strata, and of what a report claims of equal groups.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import fairgauge as fg
from bench.all_metrics import confusion
from bench.audit_designs import (
    AT_LEAST,
    BINARY,
    CELLS,
    COUNTED,
    COVERS,
    LABELLED,
    LAST,
    OF_ERRORS,
    RARELY,
    Design,
    Occurrences,
    alone,
    as_groups,
    as_strata,
    confusions,
    counts,
    covers,
    each_of,
    hold,
    hold_rates,
    selected,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCORED = {**BINARY, "label": "label", "score": "score"}
_PLAIN = confusion(0.4, 0.75, 0.2)
_LOWER = "less often"


# scores


def calibrated_scores(scores, shares, rows, rng):
    """Draw scores, each of which is its own probability of a positive label."""
    score = rng.choice(scores, p=shares, size=rows)
    return pl.DataFrame({"score": score, "label": (rng.random(rows) < score).astype(int)})


def _errors(scores, shares):
    """Return the mean errors of calibrated scores."""
    p, share = np.array(scores), np.array(shares)
    return {
        "calibration_gap": 0.0,
        "brier_score": float(share @ (p * (1 - p))),
        "log_loss": float(-share @ (p * np.log(p) + (1 - p) * np.log(1 - p))),
    }


def _areas(scores, shares):
    """Return areas under the curves of calibrated scores, which are in ascending order."""
    positive, negative = np.array(shares) * scores, np.array(shares) * (1 - np.array(scores))
    below = np.cumsum(negative) - negative / 2
    found, rows = (np.cumsum(each[::-1])[::-1] for each in (positive, shares))
    total = positive.sum()
    return {
        "roc_auc": float(positive @ below / (total * negative.sum())),
        "average_precision": float(positive @ (found / rows) / total),
    }


def _differences(rates):
    return [f"{rate}.difference" for rate in rates]


def _of_scores() -> Iterator[Design]:
    for setting, rows, scores, shares in (
        ("rare labels: all scores .02, 50 rows", 50, [0.02], [1.0]),
        ("rare labels: all scores .02, 400 rows", 400, [0.02], [1.0]),
        ("confident scores: .01 or .99, 80 rows", 80, [0.01, 0.99], [0.6, 0.4]),
        ("indecisive scores: .45, .5 or .55, 60 rows", 60, [0.45, 0.5, 0.55], [0.3, 0.4, 0.3]),
        ("15 expected positives among 1,500 rows", 1500, [0.002, 0.03], [0.72, 0.28]),
    ):
        truths = _errors(scores, shares)
        draw = partial(calibrated_scores, scores, shares, rows)
        yield as_groups(
            LAST, setting, AT_LEAST, draw, truths, **_SCORED, metrics=_differences(truths)
        )
    three, of_three = [0.1, 0.4, 0.9], [0.5, 0.3, 0.2]
    names = {"calibration_slope": 1.0, "expected_calibration_error": 0.0}
    names |= _areas(three, of_three)
    for rows in (100, 400):
        yield as_groups(
            LAST, f"scores of three values, {rows} rows", AT_LEAST,
            partial(calibrated_scores, three, of_three, rows), names, **_SCORED,
            metrics=_differences(names),
        )  # fmt: skip
    for rows, positives in ((60, 1.2), (400, 8)):
        yield as_groups(
            LAST, f"calibration error with {positives:g} expected positives, {rows} rows", AT_LEAST,
            partial(calibrated_scores, [0.02], [1.0], rows), {"expected_calibration_error": 0.0},
            **_SCORED, metrics=["expected_calibration_error.difference"],
        )  # fmt: skip
    yield alone(
        LAST, "distances of scores of four values, 100 and 300 rows", AT_LEAST, discrete_scores
    )


def discrete_scores(rng):
    """Scores of both groups are drawn alike, so that every distance of theirs is 0."""
    score = rng.choice([0.2, 0.4, 0.6, 0.8], p=[0.5, 0.3, 0.15, 0.05], size=400)
    label = (rng.random(400) < score).astype(int)
    data = pl.DataFrame(
        {"group": np.repeat(["g0", "g1"], [100, 300]), "score": score, "label": label}
    )
    names = ("score_ks", "score_wasserstein", "score_smd", "mean_score.difference")
    return covers(fg.audit(data, **_SCORED, metrics=list(names)), 0.0, *names)


# amounts


def skewed_labels(share, rows, rng):
    """Lognormal labels; all but a share of them are 0."""
    label = np.exp(rng.normal(size=rows)) * (rng.random(rows) < share)
    return pl.DataFrame({"label": label, "prediction": 0 * label})


def amounts_of(sizes, draw, rng):
    frames = [draw(n, rng).with_columns(group=pl.lit(f"g{g}")) for g, n in enumerate(sizes)]
    return pl.concat(frames)


def heteroscedastic(rows, rng):
    prediction = np.exp(0.8 * rng.normal(size=rows))
    return pl.DataFrame(
        {"label": prediction * (1 + rng.normal(size=rows)), "prediction": prediction}
    )


def whole_numbers(rows, rng):
    prediction = rng.integers(1, 6, rows)
    label = prediction + rng.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=rows)
    return pl.DataFrame({"label": label.astype(float), "prediction": prediction.astype(float)})


def _of_amounts() -> Iterator[Design]:
    for sizes, share, wanted in (
        ((40, 160), 1.0, AT_LEAST), ((200, 800), 0.1, AT_LEAST),
        ((40, 160), 0.1, "described below"),
    ):  # fmt: skip
        of = "lognormal labels" if share == 1 else "nine in ten labels 0, others lognormal"
        yield as_strata(
            LAST, f"{of}, {sizes[0]} and {sizes[1]} rows", wanted,
            partial(amounts_of, sizes, partial(skewed_labels, share)),
            each_of(
                hold(**{"mean_label.difference": 0.0}),
                hold_rates(mean_label=share * math.exp(0.5)),
            ),
            **OF_ERRORS, metrics=["mean_label.difference"],
        )  # fmt: skip
    names = _differences(
        ("mean_label", "mean_error", "mean_absolute_error", "root_mean_squared_error", "r2")
    )
    for setting, draw in (
        ("errors that grow with the prediction", heteroscedastic),
        ("labels and predictions 1 to 5", whole_numbers),
    ):
        yield as_strata(
            LAST, f"{setting}, 250 and 1,000 rows", AT_LEAST,
            partial(amounts_of, (250, 1000), draw), hold(**dict.fromkeys(names, 0.0)), **OF_ERRORS,
            metrics=names,
        )  # fmt: skip


# decisions


def weighted(sizes, scale, spread, rng):
    """Weights of a group are larger than those of the other, or of few values (no ``spread``)."""
    group = np.repeat([0, 1], sizes)
    cell = rng.choice(4, p=_PLAIN, size=len(group))
    if spread:
        weight = np.array(scale)[group] * np.exp(spread * rng.normal(size=len(group)))
    else:
        weight = rng.choice(scale, size=len(group))
    label, prediction = (np.array(CELLS[name])[cell] for name in ("label", "prediction"))
    columns = {"label": label, "prediction": prediction, "weight": weight}
    return pl.DataFrame({"group": np.array(["g0", "g1"])[group], **columns})


def crossing_clusters(clusters, rng):
    """Draw clusters of geometric sizes with rows of both groups, whose shares each has its own."""
    frames = []
    for g, part in (("g0", 0.4), ("g1", 0.6)):
        own = rng.dirichlet(_PLAIN * 6, clusters)
        sizes = rng.binomial(rng.geometric(0.08, clusters), part)
        drawn = counts(rng.multinomial(sizes, own), **CELLS).rename({"group": "cluster"})
        frames.append(drawn.with_columns(group=pl.lit(g)))
    return pl.concat(frames)


def unrecorded_labels(rng):
    """Half of the labels of one group are missing, at random."""
    cell = rng.choice(4, p=_PLAIN, size=900)
    group = np.repeat(["g0", "g1"], [300, 600])
    known = (group == "g1") | (rng.random(900) < 0.5)
    label, prediction = (np.array(CELLS[name])[cell] for name in ("label", "prediction"))
    label = pl.Series([int(y) if k else None for y, k in zip(label, known, strict=True)])
    return pl.DataFrame({"group": group, "label": label, "prediction": prediction})


def thin_strata(rng):
    """Three hundred strata of about five rows, whose rates differ; groups are equal in each."""
    rates = rng.beta(2, 4, 300)
    sizes = np.stack([rng.binomial(5, 0.4, 300), rng.binomial(5, 0.6, 300)])
    x = rng.binomial(sizes, rates)
    cells = np.stack([x, sizes - x], axis=-1).reshape(2, -1)
    data = counts(cells, stratum=np.repeat(np.arange(300), 2), prediction=[1, 0] * 300)
    names = ("selection_rate.difference", "selection_rate.ratio", "selection_odds.ratio")
    report = fg.audit(data, **COUNTED, strata="stratum", metrics=list(names))
    held = dict(covers(report, 0.0, names[0], scope="pooled"))
    return held | covers(report, 1.0, *names[1:], scope="pooled")


def youden(tp, fp, fn, tn):
    return tp / (tp + fn) + tn / (tn + fp) - 1


_YOUDEN = fg.statistic(youden, nonzero=(fg.TP + fg.FN, fg.FP + fg.TN), range=(-1, 1))


def tied_ranking(rng):
    """Scores of five values, by which half of the rows are ranked alike."""
    score = rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], p=[0.5, 0.2, 0.15, 0.1, 0.05], size=500)
    data = pl.DataFrame({"group": np.repeat(["g0", "g1"], [150, 350]), "score": score})
    names = ["top_selection_ratio(k=50)", "exposure_ratio"]
    return covers(fg.audit(data, score="score", sensitive="group", metrics=names), 1.0, *names)


def _of_decisions() -> Iterator[Design]:
    rates = {"base_rate": 0.005, "selection_rate": 0.006985}
    yield as_strata(
        LAST, "labels of .005, 1,000 and 4,000 rows", AT_LEAST,
        partial(confusions, sizes=(1000, 4000), shares=[confusion(0.005, 0.6, 0.004)] * 2),
        each_of(hold(DPL=0.0, DPPL=0.0, AD=0.0), hold_rates(**rates)), **LABELLED,
        metrics=["DPL", "DPPL", "AD"],
    )  # fmt: skip
    yield as_strata(
        LAST, "selection of .999, 5,000 and 9,000 rows", AT_LEAST,
        lambda rng: selected(rng.binomial([5000, 9000], 0.999), [5000, 9000]),
        each_of(hold(DPPL=0.0, DI=1.0), hold_rates(selection_rate=0.999)), **COUNTED,
        metrics=["DPPL", "DI"],
    )  # fmt: skip
    yield as_strata(
        LAST, "ratio to a reference of .004, 3,000 and 6,000 rows", AT_LEAST,
        lambda rng: selected(rng.binomial([3000, 6000], [0.01, 0.004]), [3000, 6000]),
        hold(DI=2.5), **COUNTED, metrics=["DI"],
    )  # fmt: skip
    names = ["DPPL", "RD", "AD", "f1.difference", "cohen_kappa.difference"]
    equal = hold(**dict.fromkeys(names, 0.0))
    predicted = {**BINARY, "label": "label", "prediction": "prediction", "metrics": names}
    for setting, scale, spread in (
        ("weights of one group 20 times the other's", (20.0, 1.0), 0.4),
        ("weights of .3, 1 and 4", (0.3, 1.0, 1.0, 1.0, 4.0), 0.0),
    ):
        yield as_strata(
            LAST, f"{setting}, 150 and 450 rows", AT_LEAST,
            partial(weighted, (150, 450), scale, spread), equal, **predicted, weight="weight",
        )  # fmt: skip
    yield as_strata(
        LAST, "30 clusters with rows of both groups, of geometric sizes", AT_LEAST,
        partial(crossing_clusters, 30), equal, **predicted, count="n", cluster="cluster",
    )  # fmt: skip
    yield as_strata(
        LAST, "half of one group's labels missing", AT_LEAST, unrecorded_labels, equal, **predicted
    )
    yield alone(LAST, "300 strata of 5 rows", COVERS, thin_strata)
    yield as_strata(
        LAST, "Youden's index of .95, an own statistic, 150 and 450 rows", AT_LEAST,
        partial(confusions, sizes=(150, 450), shares=[confusion(0.3, 0.97, 0.02)] * 2),
        hold(**{"youden.difference": 0.0}), **LABELLED, metrics=[_YOUDEN],
    )  # fmt: skip
    yield alone(LAST, "rankings with ties, 150 and 350 rows", AT_LEAST, tied_ranking)


# what a report claims


def claims(rng) -> Occurrences:
    """Equal groups: twelve of one feature, four of another, three metrics."""
    label = rng.random(2400) < 0.4
    data = pl.DataFrame(
        {
            "first": rng.integers(0, 12, 2400).astype(str),
            "second": rng.integers(0, 4, 2400).astype(str),
            "label": label.astype(int),
            "prediction": (rng.random(2400) < np.where(label, 0.7, 0.2)).astype(int),
        }
    )
    report = fg.audit(
        data, label="label", prediction="prediction", positive=1, sensitive=["first", "second"],
        metrics=_differences(("selection_rate", "true_positive_rate", "accuracy")),
    )  # fmt: skip
    opened = str(report).split("Findings")[1].split("first  ")[0].lstrip()
    return {"the findings open with a difference": not opened.startswith("No statistically")}


def mixed_rules(rng) -> Occurrences:
    """Five groups exactly at the limits of a ratio, of a difference and of a rate."""
    sizes = np.array([400] * 5 + [2000])
    report = fg.audit(
        selected(rng.binomial(sizes, [0.32] * 5 + [0.4]), sizes), **COUNTED,
        reference={"group": "g5"}, metrics=["DI", "DPPL"], multiplicity="familywise",
        rules=[
            fg.rule("DI", at_least=0.8),
            fg.rule("DPPL", between=(-0.08, 0.08)),
            fg.rule("selection_rate", at_least=0.32),
        ],
    )  # fmt: skip
    return {"FAIL": report.verdict == "fail"}


def significant_rule(rng) -> Occurrences:
    """Equal groups under a rule that fails a significant value outside its limits."""
    sizes = np.array([60, 240])
    report = fg.audit(
        selected(rng.binomial(sizes, 0.3), sizes), **COUNTED, metrics=["DI"],
        reference={"group": "g1"}, rules=[fg.rule("DI", at_least=0.9, decide="significant")],
    )  # fmt: skip
    return {"FAIL": report.verdict == "fail"}


def _of_claims() -> Iterator[Design]:
    yield alone(LAST, "12 and 4 equal groups, 3 metrics, 2,400 rows", RARELY, claims)
    yield alone(LAST, "5 groups at the limits of 3 kinds of rules", RARELY, mixed_rules)
    yield alone(LAST, "a rule decided by significance, equal groups", RARELY, significant_rule)


def hostile_designs() -> Iterator[Design]:
    """Return the designs of the last round."""
    yield from _of_scores()
    yield from _of_amounts()
    yield from _of_decisions()
    yield from _of_claims()

"""``python -m bench.reviewed_audits``: the reviewers' designs, measured through audits alone.

Tables are audited (and compared) as users do it, and what a user reads is counted: one table after
the other, or, where nothing needs all rows at once, many as the strata of one audit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

import fairgauge as fg
from bench.audit_designs import (
    BINARY,
    CELLS,
    COUNTED,
    LABELLED,
    as_strata,
    audit_scores,
    class_shares,
    confusion,
    confusions,
    counts,
    covered,
    holds,
    people,
    rejects,
    selected,
    selected_in_strata,
)
from bench.counting import Design, Occurrences, alone, count_designs
from fairgauge.results.estimates import is_significant

COVERS = "93.5 to 98.5"
AT_LEAST = "93.5 or more"
RARELY = "at most 5"
PLANNED = "about 80"
NOT_WIDE = "at most 98.5, where it can be had"
TOGETHER = "95 or more together; p and FAIL at most 5"
LAST = "last round"


def agree(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
    """Read p-values of distances of equal groups, and whether they contradict their intervals."""
    for each in report.estimates:
        if each.p_value is not None and each.interval and each.scope.kind == scope:
            below = each.p_value < 0.05
            yield f"p of {each.metric} below .05", below
            yield "a p-value contradicts its interval", below == (each.interval.low <= 0)


# the rows of the review


def of_classes(shares, sizes, rng):
    label, prediction = (each.ravel() for each in np.indices(shares.shape))
    cells = np.stack([rng.multinomial(n, shares.ravel()) for n in sizes])
    return counts(cells, label=label, prediction=prediction)


def best_of_equal(groups, rate, rng):
    data = selected(rng.binomial(400, rate, groups), np.full(groups, 400))
    report = fg.audit(
        data, **COUNTED, reference="best", metrics=["DPPL", "DI"],
        rules=[fg.rule("DI", at_least=0.8)],
    )  # fmt: skip
    ends = [e.interval for e in report.estimates if e.metric == "DPPL" and e.interval]
    held = all(holds(each, 0.0) for each in ends)
    return {"all intervals cover": held, **rejects(report), "FAIL": report.verdict == "fail"}


def clustered(kind, clusters, correlation, rng):
    """Draw clusters, which have the same names in every data set; a number is a share of one."""
    shares, frames = confusion(0.4, 0.75, 0.2), []
    for g in ("g0", "g1"):
        own = rng.dirichlet(shares * (1 - correlation) / correlation, clusters)
        if kind == "lognormal":
            drawn = 20 * np.exp(rng.normal(-0.5, 1.0, clusters))
            sizes = np.maximum(np.rint(drawn), 1).astype(int)
        else:
            sizes = np.full(clusters, 20)
            sizes[0] = round(kind / (1 - kind) * 20 * (clusters - 1))
        frame = counts(rng.multinomial(sizes, own), **CELLS).rename({"group": "cluster"})
        frames.append(
            frame.with_columns(pl.lit(g + "-") + pl.col("cluster")).with_columns(group=pl.lit(g))
        )
    return pl.concat(frames, how="diagonal")


def conditional(strata, rows, rng):
    """Strata of uneven sizes, rejection and share of the group varying between them."""
    size = rng.dirichlet(np.full(strata, 3.0))
    rejected, group = 0.3 * rng.uniform(0.5, 1.5, (2, strata))
    shares = np.einsum(
        "s,gs,rs->gsr", size, np.stack([group, 1 - group]), np.stack([1 - rejected, rejected])
    )
    drawn = rng.multinomial(rows, shares.ravel()).reshape(2, strata, 2)
    data = selected_in_strata(drawn[..., 0], drawn.sum(axis=-1))
    report = fg.audit(data, **COUNTED, strata="stratum", metrics=["CDDPL"])
    return dict(covered(report, "pooled", {"CDDPL": 0.0}, {}))


def areas(positives, negatives, draw, area, rng):
    """Scores of both groups are drawn alike; ``area`` is the area under their ROC curve."""
    score = np.concatenate([part for _ in "01" for part in draw(positives, negatives, rng)])
    label = np.tile(np.repeat([1, 0], [positives, negatives]), 2)
    between = (score - score.min()) / (score.max() - score.min())
    report = audit_scores([positives + negatives] * 2, label, between, "roc_auc.difference")
    return dict(covered(report, "overall", {"roc_auc.difference": 0.0}, {"roc_auc": area}))


def normal_scores(positives, negatives, rng):
    """An area of .97."""
    return [rng.normal(2.66, 1, positives), rng.normal(0, 1, negatives)]


def exponential_scores(positives, negatives, rng):
    """An area of .97."""
    return [rng.exponential(0.97 / 0.03, positives), rng.exponential(1, negatives)]


def mixed_scores(positives, negatives, rng):
    """An area of .97: 6 % of the positives lie anywhere among the negatives, all others above."""
    anywhere = rng.random(positives) < 0.06
    return [rng.random(positives) + ~anywhere, rng.random(negatives)]


def calibrated(rng):
    score = rng.beta(2, 3, 900).round(2)
    label = (rng.random(900) < score).astype(int)
    metric = "expected_calibration_error.difference"
    report = audit_scores([300, 600], label, score, metric)
    return dict(covered(report, "overall", {metric: 0.0}, {}))


def weighted_errors(rows, rng):
    """Normal errors; the logarithm of a weight is half the error, and as much at random."""
    error = rng.normal(size=sum(rows))
    weight = np.exp(0.5 * error + 0.5 * rng.normal(size=len(error)))
    return people(rows, label=np.zeros(len(error)), prediction=error, weight=weight)


def sparse_labels(rng):
    shares = 1 / np.arange(1.0, 21) ** 1.5
    cells = np.stack([rng.multinomial(n, shares / shares.sum()) for n in (100, 200)])
    return counts(cells, label=np.arange(20))


def lognormal_errors(groups, rows, rng):
    error = np.exp(rng.normal(size=groups * rows)) - np.exp(0.5)
    return people([rows] * groups, label=np.zeros(len(error)), prediction=error)


def _at_limits(groups, rng):
    """Draw groups at the limit of two rules, against a large group, and audit them."""
    sizes = np.array([400] * groups + [2000])
    label = rng.binomial(sizes, 1.0)  # all labels are positive: recall is selection
    hit = rng.binomial(label, [0.32] * groups + [0.4])
    cells = np.stack([hit, 0 * hit, label - hit, 0 * hit], axis=1)
    return fg.audit(
        counts(cells, **CELLS), **LABELLED, metrics=["DI", "DPPL"],
        reference={"group": f"g{groups}"}, multiplicity="familywise",
        rules=[fg.rule("DI", at_least=0.8), fg.rule("DPPL", between=(-0.08, 0.08))],
    )  # fmt: skip


def at_the_limit(groups, rng):
    return {"FAIL": _at_limits(groups, rng).verdict == "fail"}


def without_change(groups, rng):
    return {"worse": fg.compare(_at_limits(groups, rng), _at_limits(groups, rng)).worse}


def no_reversal(rng):
    """Five strata whose rates differ; equal groups, evenly spread over them."""
    drawn = np.stack([rng.multinomial(n, np.full(5, 0.2)) for n in (300, 900)])
    x = rng.binomial(drawn, [0.1, 0.2, 0.3, 0.4, 0.5])
    report = fg.audit(selected_in_strata(x, drawn), **COUNTED, strata="stratum")
    return {"a reversal is reported": any(each.code == "simpson" for each in report.diagnostics)}


def _pair(x, sizes, rule):
    """Audit the second group as the reference of the first."""
    asked = {"metrics": [rule.metric], "rules": [rule], "reference": {"group": "g1"}}
    return fg.audit(selected(np.asarray(x), np.asarray(sizes)), **COUNTED, **asked)


@cache
def _stated_rows(rates, sizes, within):
    """Return the rows that the verdict on a table of these very rates states."""
    x = [round(rate * n) for rate, n in zip(rates, sizes, strict=True)]
    return _pair(x, sizes, _within(within)).verdicts[0].reason["needed"]


def _within(limit):
    return fg.rule("DPPL", between=(-limit, limit))


def rows_that_decide(rates, sizes, within, rng):
    """Audit as many rows as a verdict states that would decide it."""
    sizes = np.rint(np.array(sizes) / sum(sizes) * _stated_rows(rates, sizes, within)).astype(int)
    verdict = _pair(rng.binomial(sizes, rates), sizes, _within(within)).verdict
    return {"decided": verdict in ("pass", "fail")}


@cache
def _planned_rows(goal, **asked):
    needed = next(each for each in fg.plan(**asked).needed if each.goal.startswith(goal))
    return int(needed.total)


def as_planned(goal, rule, asked, rng):
    """Audit equal rates in as many rows as planned, of which the group has its share."""
    rows = _planned_rows(goal, **asked)
    n = rng.binomial(rows, asked.get("share", 0.5))
    sizes = [n, rows - n]
    return {"pass": _pair(rng.binomial(sizes, asked["rate"]), sizes, rule).verdict == "pass"}


# the last round


def uneven_weights(rng):
    """Integer weights with many ties, a third of them zero, a few of them twenty."""
    label, prediction = (rng.random((2, 900)) < 0.4).astype(int)
    weight = rng.choice([0, 1, 2, 20], p=[0.33, 0.4, 0.25, 0.02], size=900)
    return people([300, 600], label=label, prediction=prediction, weight=weight)


def _thin_classes():
    """Return shares of twelve classes, of which the last five hold two per cent of the labels."""
    shares = class_shares(12, 0.8, 1.0)
    shares *= np.where(np.arange(12) < 7, 1.0, 0.025)[:, None]
    return shares / shares.sum()


def rates_of(sizes, shares, rng):
    return selected(rng.binomial(sizes, shares), sizes)


def separated(rng):
    """Scores that separate the labels in both groups: an area of 1."""
    label = np.tile([1, 0], 200)
    score = np.where(label, 0.6, 0.0) + 0.4 * rng.random(400)
    report = audit_scores([200, 200], label, score, "roc_auc.difference")
    truths = {"roc_auc.difference": 0.0}
    return dict(covered(report, "overall", truths, {"roc_auc": 1.0})) | rejects(report)


def ties_at_the_threshold(rng):
    """Scores of a tenth, a fifth of the rows at the threshold, which select."""
    score = rng.integers(3, 8, 900) / 10
    label = (rng.random(900) < score).astype(int)
    metrics = ("DPPL", "RD", "roc_auc.difference", "expected_calibration_error.difference")
    report = audit_scores([300, 600], label, score, *metrics, threshold=0.5)
    return dict(covered(report, "overall", dict.fromkeys(metrics, 0.0), {}))


def one_sided_strata(rng):
    """Twenty strata; in half of them one of the groups has no row."""
    sizes = np.stack([np.where(np.arange(20) % 4 == g, 0, 30) for g in (0, 2)])
    data = selected_in_strata(rng.binomial(sizes, np.linspace(0.2, 0.6, 20)), sizes)
    report = fg.audit(data, **COUNTED, strata="stratum", metrics=["DPPL", "CDDPL"])
    return dict(covered(report, "pooled", {"DPPL": 0.0, "CDDPL": 0.0}, {}))


def matthews(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


_MATTHEWS = fg.statistic(
    matthews,
    nonzero=(fg.TP + fg.FP, fg.TP + fg.FN, fg.TN + fg.FP, fg.TN + fg.FN),
    range=(-1, 1),
)


# families of tests: rules on extremes, and everything that is marked


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


def _of_classes(of: str, setting: str, wanted: str, shares: Any, sizes: Any) -> Design:
    truths = {"cohen_kappa.difference": 0.0, "f1.difference": 0.0}
    asked = {"label": "label", "prediction": "prediction", "count": "n", "task": "multiclass"}
    return as_strata(of, setting, wanted, partial(of_classes, shares, sizes), truths, **asked)


_OF_ERRORS = {"label": "label", "prediction": "prediction", "task": "regression"}
_ERRORS = dict.fromkeys(("mean_error.difference", "mean_squared_error.difference"), 0.0)
_LOGNORMAL = dict.fromkeys(
    ("mean_absolute_error.difference", "root_mean_squared_error.difference"), 0.0
)
_ROOT = math.sqrt(math.exp(2) - math.exp(1))
_AS_LEAST, _AS_WITHIN = (f"to pass equal rates as {how}" for how in ("at least", "within"))
_GAP = f"largest gap <= {_LIMIT}, a further group of 12 rows that counts as a pass"
_ODDS = f"worst odds <= {_LIMIT}, 10 positive labels"

DESIGNS: tuple[Design, ...] = (
    *(_of_classes("1", f"{classes} classes, {sizes[0]:,} and {sizes[1]:,} rows", COVERS,
                  class_shares(classes, 0.7, 0.85), sizes)
      for classes, sizes in ((5, (200, 800)), (10, (200, 800)), (10, (2000, 8000)))),
    *(alone("2", f"{groups} equal groups of 400 at .1, reference best", TOGETHER,
            partial(best_of_equal, groups, 0.1)) for groups in (5, 12)),
    *(as_strata("3", f"{clusters}+{clusters} clusters, {sizes}, ICC {correlation}", AT_LEAST,
                partial(clustered, kind, clusters, correlation),
                dict.fromkeys(("DPPL", "RD", "AD"), 0.0), **LABELLED, cluster="cluster")
      for kind, sizes, clusters, correlation in (("lognormal", "lognormal", 30, 0.2),
                                                 (0.4, "one of 40% of the rows", 40, 0.1),
                                                 (0.7, "one of 70% of the rows", 40, 0.1))),
    *(alone("4", f"{strata} strata, {rows:,} rows", COVERS, partial(conditional, strata, rows))
      for strata, rows in ((60, 6000), (200, 20_000))),
    *(alone("5", f"AUC .97, 27 positives and 200 negatives a group, scores: {kind}", AT_LEAST,
            partial(areas, 27, 200, draw, 0.97))
      for kind, draw in (("normal", normal_scores), ("exponential", exponential_scores),
                         ("6 % of the positives at random", mixed_scores))),
    *(as_strata("6", f"weights that follow the errors, {rows[0]:,} and {rows[1]:,} rows", COVERS,
                partial(weighted_errors, rows), _ERRORS, rates={"mean_error": 0.5}, **_OF_ERRORS,
                weight="weight") for rows in ((400, 1200), (2400, 400))),
    as_strata("7, 15", "20 sparse categories, 100 and 200 rows",
              "p at most 6.5, never contradicting its interval", sparse_labels, read=agree,
              label="label", count="n", task="multiclass", replicates=500,
              metrics=["TVD", "KL", "JS"]),
    *(as_strata("7", f"lognormal errors, {groups} groups of {rows}", wanted,
                partial(lognormal_errors, groups, rows), _LOGNORMAL,
                rates={"root_mean_squared_error": _ROOT}, **_OF_ERRORS)
      for groups, rows, wanted in ((2, 40, "not ok"), (5, 250, "93 or more"))),
    *(alone("8", f"2 rules, {groups} groups at the limit, family-wise", RARELY,
            partial(at_the_limit, groups)) for groups in (5, 10)),
    *(alone("9", f"2 rules, {groups} groups without change, compared", RARELY,
            partial(without_change, groups)) for groups in (2, 5)),
    alone("10", "5 strata, groups equal in each", RARELY, no_reversal),
    *(alone("11", f"{rates[0]} of {sizes[0]} against {rates[1]} of {sizes[1]}, within {within}: as "
            "many rows as would decide", PLANNED, partial(rows_that_decide, rates, sizes, within))
      for rates, sizes, within in (((0.35, 0.3), (300, 300), 0.1), ((0.2, 0.3), (150, 600), 0.15),
                                   ((0.3, 0.3), (300, 300), 0.05))),
    *(alone("12", f"planned rows: {', '.join(f'{name} {of}' for name, of in asked.items())}",
            PLANNED, partial(as_planned, goal, rule, asked))
      for goal, rule, asked in (
          (_AS_LEAST, fg.rule("DI", at_least=0.8), {"rate": 0.95, "ratio": 0.8}),
          (_AS_LEAST, fg.rule("DI", at_least=0.8), {"rate": 0.1, "ratio": 0.8, "share": 0.1}),
          (_AS_WITHIN, _within(0.1), {"rate": 0.03, "tolerance": 0.1}),
          (_AS_WITHIN, _within(0.1), {"rate": 0.05, "tolerance": 0.1}))),
    # intervals that were wider than need be
    as_strata("14", "two rates that are equal, 200 and 800 rows", NOT_WIDE,
              partial(confusions, (200, 800), [confusion(0.4, 0.75, 0.2)] * 2),
              {"average_absolute_odds": 0.0}, **LABELLED),
    as_strata("14", "rates of .2, .3 and .45 in groups of 100, 200 and 600", NOT_WIDE,
              partial(rates_of, [100, 200, 600], [0.2, 0.3, 0.45]),
              {"selection_rate.largest_gap": 0.25}, **COUNTED),
    alone("14", "calibrated scores, 300 and 600 rows", NOT_WIDE, calibrated),
    as_strata(LAST, "a reference of 22 rows for 4,000", COVERS, partial(rates_of, [4000, 22], 0.3),
              {"DPPL": 0.0, "DI": 1.0}, **COUNTED, reference={"group": "g1"}),
    as_strata(LAST, "empty cells: 98 % of predictions right, 300 and 600 rows", AT_LEAST,
              partial(confusions, (300, 600), [confusion(0.5, 0.98, 0.02)] * 2),
              dict.fromkeys(("RD", "AD", "TE", "f1.difference"), 0.0), **LABELLED),
    as_strata(LAST, "all predictions positive, 150 and 300 rows", AT_LEAST,
              partial(confusions, (150, 300), [confusion(0.4, 1.0, 1.0)] * 2),
              dict.fromkeys(("DPPL", "DPL", "TVD", "KL"), 0.0), **LABELLED),
    as_strata(LAST, "weights with ties, a third of them 0, 300 and 600 rows", COVERS,
              uneven_weights, dict.fromkeys(("DPPL", "RD", "AD", "f1.difference"), 0.0), **BINARY,
              label="label", prediction="prediction", weight="weight"),
    _of_classes(LAST, "12 classes, five nearly empty, 400 and 800 rows", "92.5 or more",
                _thin_classes(), (400, 800)),
    as_strata(LAST, "a ratio of .02, 1,000 rows each", COVERS,
              partial(rates_of, [1000, 1000], [0.012, 0.6]), {"DI": 0.02}, **COUNTED),
    alone(LAST, "scores that separate the labels", "no p below .05", separated),
    alone(LAST, "scores of five values, ties at the threshold", COVERS, ties_at_the_threshold),
    alone(LAST, "20 strata, half without one of the groups", COVERS, one_sided_strata),
    alone(LAST, "best of 6 equal groups at .98: ties", TOGETHER, partial(best_of_equal, 6, 0.98)),
    as_strata(LAST, "Matthews correlation, an own statistic, 150 and 450 rows", COVERS,
              partial(confusions, (150, 450), [confusion(0.3, 0.7, 0.2)] * 2),
              {"matthews.difference": 0.0}, **LABELLED, metrics=[_MATTHEWS]),
    alone("families", f"{_GAP}: gap of .25", "95 or more", partial(_of_gap, [0.3, 0.4, 0.55])),
    alone("families", f"{_GAP}: 4 groups at the limit", RARELY,
          partial(_of_gap, [0.3, 0.3, 0.4, 0.4])),
    alone("families", f"{_ODDS}: FPR + .25", "95 or more", partial(_of_worst_odds, 0.25)),
    alone("families", f"{_ODDS}: FPR at the limit", RARELY, partial(_of_worst_odds, 0.1)),
    *(alone("families", f"{groups} equal groups", RARELY, partial(_equal_groups, groups))
      for groups in (20, 21, 40)),
    alone("families", "3 features and their 4 intersections, equal groups, all rates", RARELY,
          _equal_features),
)  # fmt: skip


if __name__ == "__main__":
    count_designs(__doc__, "coverage_of_audits.json", DESIGNS)

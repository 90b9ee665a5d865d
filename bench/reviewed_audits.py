"""``python -m bench.reviewed_audits``: the reviewers' designs, measured through audits alone.

Tables are audited (and compared) as users do it, and what a user reads is counted: one table after
the other, or, where nothing needs all rows at once, many as the strata of one audit. Data sets are
drawn in chunks, each from its own seed; the command adds chunks to those counted in
evidence/coverage_of_audits.json until every design has enough, and may be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairgauge as fg
from bench.audit_designs import (
    AT_LEAST,
    BINARY,
    CELLS,
    COUNTED,
    COVERS,
    LABELLED,
    LAST,
    LEVEL,
    NOT_WIDE,
    OF_ERRORS,
    PLANNED,
    RARELY,
    Design,
    alone,
    as_strata,
    class_shares,
    cluster_sizes,
    confusions,
    counts,
    covers,
    each_of,
    hold,
    hold_rates,
    holds,
    rejects,
    selected,
)
from bench.coverage import confusion
from bench.families_of_tests import family_designs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COUNTS = Path(__file__).parent.parent / "evidence" / "coverage_of_audits.json"


def agree(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
    """Read p-values of distances of equal groups, and whether they contradict their intervals."""
    for each in report.estimates:
        if each.p_value is not None and each.interval and each.scope.kind == scope:
            below = each.p_value < LEVEL
            yield f"p of {each.metric} below .05", below
            yield "a p-value contradicts its interval", below == (each.interval.low <= 0)


# the rows of the review


def of_classes(number_of, sizes, rng):
    shares = class_shares(number_of, 0.7, 0.85)
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
    """Draw clusters, which have the same names in every data set."""
    shares, frames = confusion(0.4, 0.75, 0.2), []
    for g in ("g0", "g1"):
        own = rng.dirichlet(shares * (1 - correlation) / correlation, clusters)
        drawn = rng.multinomial(cluster_sizes(kind, clusters, rng, 1)[0], own)
        frame = counts(drawn, **CELLS).rename({"group": "cluster"})
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
    drawn = rng.multinomial(rows, shares.ravel()).reshape(2, -1)
    data = counts(drawn, stratum=np.repeat(np.arange(strata), 2), prediction=[1, 0] * strata)
    report = fg.audit(data, **COUNTED, strata="stratum", metrics=["CDDPL"])
    return covers(report, 0.0, "CDDPL", scope="pooled")


def areas(positives, negatives, draw, area, rng):
    """Scores of both groups are drawn alike; ``area`` is the area under their ROC curve."""
    label, score = [], []
    for _ in range(2):
        score += draw(positives, negatives, rng)
        label += [np.ones(positives, int), np.zeros(negatives, int)]
    groups = np.repeat(["g0", "g1"], positives + negatives)
    held = np.concatenate(score)
    between = (held - held.min()) / (held.max() - held.min())
    data = pl.DataFrame({"group": groups, "label": np.concatenate(label), "score": between})
    options = {**BINARY, "label": "label", "score": "score", "metrics": ["roc_auc.difference"]}
    report = fg.audit(data, **options)
    read = each_of(hold(**{"roc_auc.difference": 0.0}), hold_rates(roc_auc=area))
    return dict(read(report, "overall"))


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
    data = pl.DataFrame(
        {
            "group": np.repeat(["g0", "g1"], [300, 600]), "score": score,
            "label": (rng.random(900) < score).astype(int),
        }
    )  # fmt: skip
    metrics = ["expected_calibration_error.difference"]
    options = {**BINARY, "label": "label", "score": "score", "metrics": metrics}
    return covers(fg.audit(data, **options), 0.0, *metrics)


def weighted_errors(rows, rng):
    """Normal errors; the logarithm of a weight is half the error, and as much at random."""
    error = rng.normal(size=sum(rows))
    return pl.DataFrame(
        {
            "group": np.repeat(["g0", "g1"], rows), "label": np.zeros(len(error)),
            "prediction": error, "weight": np.exp(0.5 * error + 0.5 * rng.normal(size=len(error))),
        }
    )  # fmt: skip


def sparse_labels(rng):
    shares = 1 / np.arange(1.0, 21) ** 1.5
    cells = np.stack([rng.multinomial(n, shares / shares.sum()) for n in (100, 200)])
    return counts(cells, label=np.arange(20))


def lognormal_errors(groups, rows, rng):
    error = np.exp(rng.normal(size=groups * rows)) - np.exp(0.5)
    return pl.DataFrame(
        {
            "group": np.repeat([f"g{g}" for g in range(groups)], rows),
            "label": np.zeros(len(error)), "prediction": error,
        }
    )  # fmt: skip


def _at_limits(groups, rng):
    """Draw groups at the limit of two rules, against a large group, and audit them."""
    sizes = np.array([400] * groups + [2000])
    label = rng.binomial(sizes, 1.0)  # all labels are positive: recall is selection
    hit = rng.binomial(label, [0.32] * groups + [0.4])
    cells = np.stack([hit, 0 * hit, label - hit, 0 * hit], axis=1)
    return fg.audit(
        counts(cells, **CELLS), **COUNTED, label="label", metrics=["DI", "DPPL"],
        reference={"group": f"g{groups}"}, multiplicity="familywise",
        rules=[fg.rule("DI", at_least=0.8), fg.rule("DPPL", between=(-0.08, 0.08))],
    )  # fmt: skip


def at_the_limit(groups, rng):
    return {"FAIL": _at_limits(groups, rng).verdict == "fail"}


def without_change(groups, rng):
    return {"worse": fg.compare(_at_limits(groups, rng), _at_limits(groups, rng)).worse}


def no_reversal(rng):
    """Five strata whose rates differ; equal groups, evenly spread over them."""
    rates = np.repeat([0.1, 0.2, 0.3, 0.4, 0.5], 2)
    drawn = np.stack([rng.multinomial(n, np.full(5, 0.2)) for n in (300, 900)])
    x = rng.binomial(drawn, rates[::2])
    cells = np.stack([x, drawn - x], axis=-1).reshape(2, -1)
    data = counts(cells, stratum=np.repeat(np.arange(5), 2), prediction=[1, 0] * 5)
    report = fg.audit(data, **COUNTED, strata="stratum")
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
    return pl.DataFrame(
        {
            "group": np.repeat(["g0", "g1"], [300, 600]), "label": label, "prediction": prediction,
            "weight": rng.choice([0, 1, 2, 20], p=[0.33, 0.4, 0.25, 0.02], size=900),
        }
    )  # fmt: skip


def thin_classes(rng):
    """Twelve classes, of which the last five together hold two per cent of the labels."""
    shares = class_shares(12, 0.8, 1.0)
    shares *= np.where(np.arange(12) < 7, 1.0, 0.025)[:, None]
    label, prediction = (each.ravel() for each in np.indices(shares.shape))
    cells = np.stack([rng.multinomial(n, (shares / shares.sum()).ravel()) for n in (400, 800)])
    return counts(cells, label=label, prediction=prediction)


def rates_of(sizes, shares, rng):
    return selected(rng.binomial(sizes, shares), sizes)


def separated(rng):
    """Scores that separate the labels in both groups: an area of 1."""
    label = np.tile([1, 0], 200)
    score = np.where(label, 0.6, 0.0) + 0.4 * rng.random(400)
    data = pl.DataFrame({"group": np.repeat(["g0", "g1"], 200), "label": label, "score": score})
    options = {**BINARY, "label": "label", "score": "score", "metrics": ["roc_auc.difference"]}
    report = fg.audit(data, **options)
    read = each_of(hold(**{"roc_auc.difference": 0.0}), hold_rates(roc_auc=1.0))
    return dict(read(report, "overall")) | rejects(report)


def ties_at_the_threshold(rng):
    """Scores of a tenth, a fifth of the rows at the threshold, which select."""
    score = rng.integers(3, 8, 900) / 10
    data = pl.DataFrame(
        {
            "group": np.repeat(["g0", "g1"], [300, 600]), "score": score,
            "label": (rng.random(900) < score).astype(int),
        }
    )  # fmt: skip
    options = {**BINARY, "label": "label", "score": "score", "threshold": 0.5}
    metrics = ("DPPL", "RD", "roc_auc.difference", "expected_calibration_error.difference")
    return covers(fg.audit(data, **options, metrics=list(metrics)), 0.0, *metrics)


def one_sided_strata(rng):
    """Twenty strata; in half of them one of the groups has no row."""
    rates = np.linspace(0.2, 0.6, 20)
    sizes = np.stack([np.where(np.arange(20) % 4 == g, 0, 30) for g in (0, 2)])
    x = rng.binomial(sizes, rates)
    cells = np.stack([x, sizes - x], axis=-1).reshape(2, -1)
    data = counts(cells, stratum=np.repeat(np.arange(20), 2), prediction=[1, 0] * 20)
    report = fg.audit(data, **COUNTED, strata="stratum", metrics=["DPPL", "CDDPL"])
    return covers(report, 0.0, "DPPL", "CDDPL", scope="pooled")


def matthews(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


_MATTHEWS = fg.statistic(
    matthews,
    nonzero=(fg.TP + fg.FP, fg.TP + fg.FN, fg.TN + fg.FP, fg.TN + fg.FN),
    range=(-1, 1),
)
_OF_CLASSES = {
    "label": "label", "prediction": "prediction", "count": "n", "task": "multiclass",
    "metrics": ["cohen_kappa.difference", "f1.difference"],
}  # fmt: skip
_AVERAGES = {"cohen_kappa.difference": 0.0, "f1.difference": 0.0}
_TOGETHER = "95 or more together; p and FAIL at most 5"


def _reviewed() -> Iterator[Design]:
    for classes, sizes in ((5, (200, 800)), (10, (200, 800)), (10, (2000, 8000))):
        name = f"{classes} classes, {sizes[0]:,} and {sizes[1]:,} rows"
        draw = partial(of_classes, classes, sizes)
        yield as_strata("1", name, COVERS, draw, hold(**_AVERAGES), **_OF_CLASSES)
    for groups in (5, 12):
        name = f"{groups} equal groups of 400 at .1, reference best"
        yield alone("2", name, _TOGETHER, partial(best_of_equal, groups, 0.1))
    for kind, clusters, correlation in (("lognormal", 30, 0.2), (0.4, 40, 0.1), (0.7, 40, 0.1)):
        sizes_of = kind if isinstance(kind, str) else f"one of {kind:.0%} of the rows"
        name = f"{clusters}+{clusters} clusters, {sizes_of}, ICC {correlation}"
        draw = partial(clustered, kind, clusters, correlation)
        names = ["DPPL", "RD", "AD"]
        yield as_strata(
            "3", name, AT_LEAST, draw, hold(**dict.fromkeys(names, 0.0)),
            **LABELLED, cluster="cluster", metrics=names,
        )  # fmt: skip
    for strata, rows in ((60, 6000), (200, 20_000)):
        name = f"{strata} strata, {rows:,} rows"
        yield alone("4", name, COVERS, partial(conditional, strata, rows))
    for kind, draw in (
        ("normal", normal_scores), ("exponential", exponential_scores),
        ("6 % of the positives at random", mixed_scores),
    ):  # fmt: skip
        name = f"AUC .97, 27 positives and 200 negatives a group, scores: {kind}"
        yield alone("5", name, AT_LEAST, partial(areas, 27, 200, draw, 0.97))
    for rows in ((400, 1200), (2400, 400)):
        name = f"weights that follow the errors, {rows[0]:,} and {rows[1]:,} rows"
        names = ["mean_error.difference", "mean_squared_error.difference"]
        read = each_of(hold(**dict.fromkeys(names, 0.0)), hold_rates(mean_error=0.5))
        draw = partial(weighted_errors, rows)
        yield as_strata("6", name, COVERS, draw, read, **OF_ERRORS, weight="weight", metrics=names)
    name = "20 sparse categories, 100 and 200 rows"
    yield as_strata(
        "7, 15", name, "p at most 6.5, never contradicting its interval", sparse_labels, agree,
        label="label", count="n", task="multiclass", replicates=500, metrics=["TVD", "KL", "JS"],
    )  # fmt: skip
    for groups, rows, wanted in ((2, 40, "not ok"), (5, 250, "93 or more")):
        name = f"lognormal errors, {groups} groups of {rows}"
        names = ["mean_absolute_error.difference", "root_mean_squared_error.difference"]
        truth = math.sqrt(math.exp(2) - math.exp(1))
        read = each_of(hold(**dict.fromkeys(names, 0.0)), hold_rates(root_mean_squared_error=truth))
        draw = partial(lognormal_errors, groups, rows)
        yield as_strata("7", name, wanted, draw, read, **OF_ERRORS, metrics=names)


def _of_decisions() -> Iterator[Design]:
    """Rows of the review about verdicts, changes and planned rows."""
    for groups in (5, 10):
        name = f"2 rules, {groups} groups at the limit, family-wise"
        yield alone("8", name, RARELY, partial(at_the_limit, groups))
    for groups in (2, 5):
        name = f"2 rules, {groups} groups without change, compared"
        yield alone("9", name, RARELY, partial(without_change, groups))
    yield alone("10", "5 strata, groups equal in each", RARELY, no_reversal)
    for rates, sizes, within in (
        ((0.35, 0.3), (300, 300), 0.1),
        ((0.2, 0.3), (150, 600), 0.15),
        ((0.3, 0.3), (300, 300), 0.05),
    ):
        table = f"{rates[0]} of {sizes[0]} against {rates[1]} of {sizes[1]}, within {within}"
        draw = partial(rows_that_decide, rates, sizes, within)
        yield alone("11", f"{table}: as many rows as would decide", PLANNED, draw)
    for asked in (
        {"rate": 0.95, "ratio": 0.8}, {"rate": 0.1, "ratio": 0.8, "share": 0.1},
        {"rate": 0.03, "tolerance": 0.1}, {"rate": 0.05, "tolerance": 0.1},
    ):  # fmt: skip
        goal, rule = "to pass equal rates as at least", fg.rule("DI", at_least=0.8)
        if "tolerance" in asked:
            goal, rule = "to pass equal rates as within", _within(0.1)
        name = ", ".join(f"{name} {value}" for name, value in asked.items())
        yield alone("12", f"planned rows: {name}", PLANNED, partial(as_planned, goal, rule, asked))


def _wide() -> Iterator[Design]:
    """Numbers whose intervals were wider than need be."""
    yield as_strata(
        "14", "two rates that are equal, 200 and 800 rows", NOT_WIDE,
        partial(confusions, sizes=(200, 800), shares=[confusion(0.4, 0.75, 0.2)] * 2),
        hold(average_absolute_odds=0.0), **LABELLED, metrics=["average_absolute_odds"],
    )  # fmt: skip
    yield as_strata(
        "14", "rates of .2, .3 and .45 in groups of 100, 200 and 600", NOT_WIDE,
        partial(rates_of, [100, 200, 600], [0.2, 0.3, 0.45]),
        hold(**{"selection_rate.largest_gap": 0.25}), **COUNTED,
        metrics=["selection_rate.largest_gap"],
    )  # fmt: skip
    yield alone("14", "calibrated scores, 300 and 600 rows", NOT_WIDE, calibrated)


def _last_round() -> Iterator[Design]:
    yield as_strata(
        LAST, "a reference of 22 rows for 4,000", COVERS,
        partial(rates_of, [4000, 22], 0.3), hold(DPPL=0.0, DI=1.0),
        **COUNTED, reference={"group": "g1"}, metrics=["DPPL", "DI"],
    )  # fmt: skip
    alike = [confusion(0.5, 0.98, 0.02)] * 2
    names = ["RD", "AD", "TE", "f1.difference"]
    yield as_strata(
        LAST, "empty cells: 98 % of predictions right, 300 and 600 rows", AT_LEAST,
        partial(confusions, sizes=(300, 600), shares=alike), hold(**dict.fromkeys(names, 0.0)),
        **LABELLED, metrics=names,
    )  # fmt: skip
    yield as_strata(
        LAST, "all predictions positive, 150 and 300 rows", AT_LEAST,
        partial(confusions, sizes=(150, 300), shares=[confusion(0.4, 1.0, 1.0)] * 2),
        hold(DPPL=0.0, DPL=0.0, TVD=0.0, KL=0.0), **LABELLED, metrics=["DPPL", "DPL", "TVD", "KL"],
    )  # fmt: skip
    names = ["DPPL", "RD", "AD", "f1.difference"]
    yield as_strata(
        LAST, "weights with ties, a third of them 0, 300 and 600 rows", COVERS, uneven_weights,
        hold(**dict.fromkeys(names, 0.0)), **BINARY, label="label", prediction="prediction",
        weight="weight", metrics=names,
    )  # fmt: skip
    name = "12 classes, five nearly empty, 400 and 800 rows"
    yield as_strata(LAST, name, "92.5 or more", thin_classes, hold(**_AVERAGES), **_OF_CLASSES)
    yield as_strata(
        LAST, "a ratio of .02, 1,000 rows each", COVERS,
        partial(rates_of, [1000, 1000], [0.012, 0.6]), hold(DI=0.02), **COUNTED, metrics=["DI"],
    )  # fmt: skip
    yield alone(LAST, "scores that separate the labels", "no p below .05", separated)
    name = "scores of five values, ties at the threshold"
    yield alone(LAST, name, COVERS, ties_at_the_threshold)
    name = "20 strata, half without one of the groups"
    yield alone(LAST, name, COVERS, one_sided_strata)
    name = "best of 6 equal groups at .98: ties"
    yield alone(LAST, name, _TOGETHER, partial(best_of_equal, 6, 0.98))
    yield as_strata(
        LAST, "Matthews correlation, an own statistic, 150 and 450 rows", COVERS,
        partial(confusions, sizes=(150, 450), shares=[confusion(0.3, 0.7, 0.2)] * 2),
        hold(**{"matthews.difference": 0.0}), **LABELLED, metrics=[_MATTHEWS],
    )  # fmt: skip


DESIGNS = tuple(
    chain(
        _reviewed(),
        _of_decisions(),
        _wide(),
        _last_round(),
        family_designs(),
    )
)

Record = dict[str, Any]


def new_record(design: Design) -> Record:
    """Return a design of which no audit was read."""
    of = {"of": design.of, "setting": design.setting, "wanted": design.wanted}
    return {**of, "audits": 0, "chunks": 0, "counts": {}}


def add_chunk(design: Design, record: Record) -> None:
    """Audit the next data sets, and count what happened and what could have."""
    seed = [13, record["chunks"], *f"{design.of} {design.setting}".encode()]
    for name, happened in design.measure(np.random.default_rng(seed), design.chunk):
        of = record["counts"].setdefault(name, [0, 0])
        of[0] += bool(happened)
        of[1] += 1
    record["audits"] += design.chunk
    record["chunks"] += 1


def main(arguments: list[str] | None = None) -> None:
    """Count chunks of the designs, the least counted one first, until all have enough."""
    parser = argparse.ArgumentParser(prog="python -m bench.reviewed_audits", description=__doc__)
    parser.add_argument("--audits", type=int, default=2000, help="audits wanted of each design")
    parser.add_argument("--anew", action="store_true", help="forget what was counted")
    parser.add_argument("-o", "--output", type=Path, default=_COUNTS)
    options = parser.parse_args(arguments)
    count(DESIGNS, options.audits, options.output, anew=options.anew)


def count(designs: Sequence[Design], wanted: int, output: Path, *, anew: bool) -> None:
    """Count chunks of designs, the least counted one first, until all have enough."""
    read = output.exists() and not anew
    known = json.loads(output.read_text(encoding="utf-8")) if read else []
    before = {(each["of"], each["setting"]): each for each in known}
    records = [before.get((each.of, each.setting), new_record(each)) for each in designs]
    while unfinished := [i for i, each in enumerate(records) if each["audits"] < wanted]:
        i = min(unfinished, key=lambda i: records[i]["audits"])
        started = time.process_time()
        add_chunk(designs[i], records[i])
        cost = (time.process_time() - started) / designs[i].chunk
        scratch = output.with_suffix(".part")
        scratch.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        scratch.replace(output)
        print(f"{designs[i].setting}: {records[i]['audits']}, {cost:.3f} s each", flush=True)


if __name__ == "__main__":
    main()

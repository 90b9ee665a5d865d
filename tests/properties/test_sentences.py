"""Sentences: a result describes itself, alone and in every format, before and after it is saved.

An estimate, a pair, a verdict and a diagnostic hold the rows of their metrics. What they say cannot
then depend on where they are asked: not for a metric of one's own, and not where selection rates
are scoring rates.
"""

import csv
import io
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_invariants import AMONG_CLASSES, table
from test_invariants import PROPERTY as OF_INVARIANTS

import fairgauge as fg
from fairgauge.render import render

PROPERTY = settings(OF_INVARIANTS, max_examples=6)
ROWS = table(3, 400)
ALL = fg.TP + fg.FP + fg.FN + fg.TN
CELLS = (fg.TP, fg.FP, fg.FN, fg.TN)
COMPARED = ("difference", "ratio", "largest_gap", "smallest_ratio", "minimum")


def own_metrics() -> list[Any]:
    missed = fg.rate("miss_share", of=fg.FN, among=ALL, better="lower", says="the share missed")
    odds = fg.quotient("error_odds", over=fg.FP + fg.FN, under=fg.TP + fg.TN)
    share = fg.statistic(
        lambda tp, fp, fn, tn: (fn + tn) / (tp + fp + fn + tn),
        name="negative_share", nonzero=ALL, range=(0, 1), share=True,
    )  # fmt: skip
    compared = [missed.compared(by) for by in COMPARED]
    return [*compared, odds.compared("ratio"), share.compared("difference")]


AUDITS: dict[str, dict[str, Any]] = {
    "all metrics": {
        "label": "label", "prediction": "prediction", "score": "score", "strata": "stratum",
        "metrics": "all",
        "rules": ["DI >= 0.8", "accuracy >= 0.9", "true_positive_rate.largest_gap <= 0.1"],
    },
    "own metrics": {
        "label": "label", "prediction": "prediction", "metrics": own_metrics(),
        "rules": [fg.rule(own_metrics()[0], between=(-0.05, 0.05)),
                  fg.rule(own_metrics()[0].of, at_most=0.1), "accuracy.ratio >= 0.9"],
    },
    "median": {
        "score": "score", "threshold": "median", "reference": "best",
        "metrics": ["selection_rate", "DI", "DPPL", "selection_rate.largest_gap", "vertex.dpppl",
                    "selection_smd_overall"],
        "rules": ["selection_rate.ratio >= 0.8", "selection_rate >= 0.6", "DI >= 0.9"],
    },
    "classes": {
        "label": "true", "prediction": "predicted", "metrics": AMONG_CLASSES,
        "rules": ["true_positive_rate.difference >= -0.1"],
    },
    "numbers": {"label": "amount", "prediction": "estimate", "metrics": "all"},
}  # fmt: skip


@cache
def audit(name: str) -> fg.Report:
    return fg.audit(ROWS, sensitive="group", **AUDITS[name])


def sentences(report: fg.Report) -> dict[str, list[str]]:
    """Return every sentence of a report, as its results say it."""
    return {
        "estimates": [each.says for each in report.estimates],
        "verdicts": [each.says for each in report.verdicts],
        "diagnostics": [each.message for each in report.diagnostics],
    }


def check_sentences(report: fg.Report, folder: Path) -> None:
    told = sentences(report)
    report.save(folder / "report.json")
    loaded = fg.load(folder / "report.json")
    assert isinstance(loaded, fg.Report)
    assert sentences(loaded) == told
    assert loaded.to_dict() == report.to_dict()
    for kind in ("text", "markdown", "html", "junit", "csv"):
        assert render(loaded, kind) == render(report, kind)
    table = list(csv.DictReader(io.StringIO(render(report, "csv"))))
    assert [each["says"] for each in table] == told["estimates"]


@pytest.mark.parametrize("name", AUDITS)
def test_a_result_says_the_same_alone_in_every_format_and_when_it_is_read(name, tmp_path):
    check_sentences(audit(name), tmp_path)


def sum_of(cells: set[Any]) -> Any:
    return reduce(add, sorted(cells, key=CELLS.index))


@PROPERTY
@given(
    of=st.sets(st.sampled_from(CELLS), min_size=1, max_size=3),
    bys=st.sets(st.sampled_from(COMPARED), min_size=1),
    kind=st.sampled_from(["rate", "quotient"]),
    limit=st.floats(0.05, 0.95),
)
def test_any_metric_of_ones_own_says_the_same_everywhere(of, bys, kind, limit, tmp_path_factory):
    cells = sum_of(of)
    if kind == "rate":
        own = fg.rate("our_share", of=cells, among=ALL)
    else:
        own = fg.quotient("our_odds", over=cells, under=sum_of(set(CELLS) - of))
    metrics = [own.compared(by) for by in sorted(bys)]
    report = fg.audit(
        ROWS, label="label", prediction="prediction", sensitive="group", metrics=metrics,
        rules=[fg.rule(metrics[0], at_least=limit), fg.rule(own, at_least=limit)],
    )  # fmt: skip
    check_sentences(report, tmp_path_factory.mktemp("own"))
    title = own.name.replace("_", " ")
    stated = [each.says for each in report.estimates if each.value is not None]
    assert stated
    assert all(title in text.lower() and own.name not in text for text in stated)

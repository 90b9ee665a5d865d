"""Axe on the first page of every kind of result, in light and dark: nothing moderate or worse."""

import numpy as np
import polars as pl
import pytest
from tests.browser.conftest import Visit, violations
from tests.monitored_days import RATIO, asked, days
from tests.properties.test_every_verb import VERBS, table
from tests.unit.render.brief.test_first_page_of_every_kind import of_check, of_decomposition

import fairgauge as fg
import sample_reports
from fairgauge.render import render

OF_TABLE = {"label": "label", "positive": 1, "sensitive": "group"}


def of_defendants():
    words = {"noun": "defendants", "positive": "rated high risk"}
    rules = "|false_positive_rate.difference| <= 0.1"
    return fg.audit(
        table(),
        **OF_TABLE,
        prediction="prediction",
        words=words,
        favourable="negative",
        rules=rules,
    )


def of_applicants():
    people = pl.DataFrame(
        {
            "sex": ["Female", "Male"] * 60,
            "race": ["White", "Black", "Asian"] * 40,
            "hired": [1, 1, 0, 1, 0] * 24,
        }
    )
    return fg.audit(people, preset="nyc-ll144", sensitive=["sex", "race"], prediction="hired")


def of_classes():
    rng = np.random.default_rng(1)
    rows = table().with_columns(
        label=pl.Series(rng.choice(["low", "middle", "high"], len(table()))),
        prediction=pl.Series(rng.choice(["low", "middle", "high"], len(table()))),
    )
    return fg.audit(rows, label="label", prediction="prediction", sensitive="group")


def of_amounts():
    rows = table().with_columns(paid=100 * pl.col("score"), asked=110 * pl.col("w"))
    return fg.audit(rows, label="paid", prediction="asked", sensitive="group", task="regression")


def of_few():
    rules = "|selection_rate.difference| <= 0.05"
    return fg.audit(table(rows=60), **OF_TABLE, prediction="prediction", rules=rules)


def of_scores():
    return fg.audit(
        table(), **OF_TABLE, score="score", threshold=0.5, rules="selection_rate.ratio >= 0.8"
    )


KINDS = {
    "loans": sample_reports.several, "defendants": of_defendants,
    "berkeley": sample_reports.berkeley, "ll144": of_applicants, "classes": of_classes,
    "regression": of_amounts, "inconclusive": of_few, "scores": of_scores,
    "monitor": lambda: fg.monitor(days(40, 25, 0.22), asked(RATIO)),
    "why": lambda: of_decomposition(table()), "check": lambda: of_check(None),
    **{
        name: lambda made=made: made(table())
        for name, made in VERBS.items()
        if name not in ("explore", "why", "check", "monitor")
    },
}  # fmt: skip


ALIKE = ("defendants", "berkeley", "ll144", "classes", "regression", "inconclusive")
"""Audits, whose pages have the same parts as those of loans and of scores."""


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.thorough) if k in ALIKE else k for k in KINDS]
)
def test_axe_finds_nothing_moderate(chromium, axe, tmp_path, kind):
    path = tmp_path / "page.html"
    path.write_text(render(KINDS[kind](), "html"), encoding="utf-8")
    opened = Visit(chromium, path)
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme=scheme)
        graver = [
            (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
            for each in violations(opened.page, axe, scheme)
            if each["impact"] in ("moderate", "serious", "critical")
        ]
        assert graver == [], scheme
    opened.context.close()

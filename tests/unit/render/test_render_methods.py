"""Every method that made an interval is explained where the interval is shown."""

from __future__ import annotations

import functools
import html
import re

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.enums import Method
from fairgauge.render import render
from fairgauge.render.method_descriptions import PARTS, explained, methods, parts
from fairgauge.render.short_sentences import words

BINARY = {"label": "y", "prediction": "p", "score": "s", "task": "binary"}
CLASSES = {"label": "y3", "prediction": "p3", "task": "multiclass"}
NUMBERS = {"label": "r", "prediction": "q", "task": "regression"}
POPULATION = {"g": {"a": 0.3, "b": 0.3, "c": 0.4}}
ASKED = {
    **{
        f"{task}, {method}": {**options, "strata": "k", "method": str(method), "features": ["f"]}
        for task, options in (("binary", BINARY), ("classes", CLASSES), ("numbers", NUMBERS))
        for method in Method
    },
    "population": {**BINARY, "population": POPULATION},
    "weights": {**BINARY, "weight": "w"},
    "weighted numbers": {**NUMBERS, "weight": "w"},
    "clusters": {**BINARY, "cluster": "c", "strata": "k"},
    "clusters of weights": {**BINARY, "cluster": "c", "weight": "w"},
    "clusters of classes": {**CLASSES, "cluster": "c"},
    "clusters of numbers": {**NUMBERS, "cluster": "c"},
    "a reference that holds the group": {**BINARY, "reference": "overall"},
    "profile": {**BINARY, "profile": "clarify", "strata": "k"},
}


@functools.cache
def table():
    rng = np.random.default_rng(0)
    n = 500
    group, label = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": group,
            "y": label,
            "p": np.where(group == "a", label, rng.integers(0, 2, n)),
            "s": rng.uniform(0.01, 0.99, n).round(3),
            "k": rng.choice(["u", "v"], n),
            "w": rng.lognormal(0, 0.5, n),
            "c": rng.integers(0, 80, n),
            "f": rng.normal(size=n),
            "y3": rng.choice(["x", "y", "z"], n),
            "p3": rng.choice(["x", "y", "z"], n),
            "r": rng.normal(size=n),
            "q": rng.normal(size=n),
        }
    )


@functools.cache
def report(name):
    return fg.audit(table(), sensitive="g", metrics="all", replicates=60, **ASKED[name])


@pytest.mark.parametrize("name", ASKED)
def test_every_part_of_every_method_is_in_words(name):
    """Whoever adds a method adds what it is, and why it was chosen, to `PARTS`."""
    found = methods(report(name), groups=True)
    assert found
    unknown = {part for method in found for part in parts(method)} - set(PARTS)
    assert not unknown


@pytest.mark.parametrize("name", ASKED)
def test_no_sentence_says_its_interval_beside_the_interval(name):
    shown = [each for each in report(name).estimates if each.low is not None and each.says]
    assert shown
    assert not [each.says for each in shown if "% interval" in words(each)]


def test_every_part_is_made_by_something():
    every = (method for name in ASKED for method in methods(report(name), groups=True))
    made = {part for method in every for part in parts(method)}
    rare = {"scas score"}  # of tables that the samples above need not hold
    assert set(PARTS) - made <= rare


@pytest.mark.parametrize("format_", ["html", "markdown", "text", "notebook"])
@pytest.mark.parametrize("sample", ["small", "several", "berkeley"])
def test_a_report_explains_the_methods_it_used(sample, format_):
    found = getattr(sample_reports, sample)()
    text = html.unescape(render(found, format_))
    bare = re.sub(r"[\s\\]+", " ", text).casefold()
    used = explained(found, groups=format_ == "html")
    assert len(used) > 3
    for each in used:
        assert each.says.casefold() in bare, each.name
        assert each.name in bare


def test_an_explanation_says_what_and_why():
    for name, says in PARTS.items():
        assert re.fullmatch(r"[^:]+: [^:]+(: [^:]+)?", says) or "carried over" in says, name
        assert not says.endswith("."), name
        assert len(says) < 200, name


def test_methods_name_what_they_made():
    found = methods(sample_reports.several(), groups=True)
    assert found["newcombe"] == ("DPL", "DPPL", "RD", "SD", "DAR", "DRR", "AD")
    assert found["wilson"] == ("rates of groups",)
    assert found["tukey, wilson, mover difference and ratio"] == ("pairs of groups",)
    of = {each.name: each.of for each in explained(sample_reports.several(), groups=True)}
    assert of["wilson"] == ("rates of groups", "pairs of groups")
    of = {each.name: each.of for each in explained(sample_reports.several())}
    assert of["wilson"] == ("pairs of groups",)


def test_a_report_without_intervals_explains_nothing():
    table = pl.DataFrame({"p": [1, 0], "g": ["a", "a"]})
    found = fg.audit(table, prediction="p", sensitive="g", metrics="DPPL")
    for format_ in ("text", "markdown", "notebook"):
        assert "How the intervals were made" not in render(found, format_)
    assert "<dt>wilson</dt>" in render(found, "html")  # of the group's own rates


def test_a_note_behind_the_interval_stays():
    found = fg.audit(table(), label="y3", prediction="p3", sensitive="g", metrics="JS")
    each = found["JS", "g", "a"]
    assert "% interval" in each.says
    assert words(each).endswith("is left without it")
    assert "; chance alone would give about" in words(each)
    assert "% interval" not in words(each)

"""The glossary is the catalogue, printed: one text for the terminal, the pages and the report."""

from __future__ import annotations

import math
import re

import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.render.words.glossary import metric_entries, rate_entries
from fairgauge.render.words.names_in_use import naming

ENTRIES = [*metric_entries(m.name for m in METRICS), *rate_entries(r.name for r in RATES)]
ROWS = [*METRICS, *RATES]


@pytest.mark.parametrize(("row", "entry"), list(zip(ROWS, ENTRIES, strict=True)))
def test_it_prints_what_the_catalogue_says(row, entry):
    known = fg.metric(row)
    facts = dict(entry.facts)
    assert (entry.name, facts["formula"]) == (known.name, known.formula)
    for shown, text in (
        (entry.text, known.says),
        (facts["reading"], known.reading),
        (facts["edge cases"], known.edges),
    ):
        assert shown == f"{text[0].upper()}{text[1:]}."
    assert not re.search(r"\bnan\b", " ".join(facts.values()))


@pytest.mark.parametrize("row", METRICS, ids=lambda row: row.name)
def test_a_reading_names_the_side_of_no_difference_that_is_possible(row):
    low, high = row.range
    if math.isnan(row.neutral):
        assert row.reading == row.positive
    else:
        side = "above" if high > row.neutral else "below"
        assert row.reading.startswith(f"{side} {row.neutral:g}, ")
        assert low < row.neutral or side == "above"
    assert not re.match(r"above|below|at \d", row.positive)


def test_names_of_a_catalogue_hold_while_it_is_named():
    own = fg.rate("glossed_share", of=fg.TP, among=fg.TP + fg.FP, says="a share of its own")
    names = ["glossed_share.ratio", "accuracy.ratio"]
    assert [each.name for each in metric_entries(names)] == ["accuracy.ratio"]
    with naming(fg.Spec(metrics=(own,)).catalogue):
        assert [each.name for each in metric_entries(names)] == names
        assert rate_entries(["glossed_share"])[0].text == "A share of its own."
    assert [each.name for each in metric_entries(names)] == ["accuracy.ratio"]

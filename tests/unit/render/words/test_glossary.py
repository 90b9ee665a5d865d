"""The glossary is the catalogue, printed: one text for the terminal, the pages and the report."""

from __future__ import annotations

import math
import re

import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.render.words.glossary import metric_entries, rate_entries

ENTRIES = [*metric_entries(METRICS), *rate_entries(RATES)]
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


def test_a_metric_of_ones_own_has_an_entry_and_one_that_nobody_knows_has_none():
    own = fg.rate("glossed_share", of=fg.TP, among=fg.TP + fg.FP, says="a share of its own")
    names = ["glossed_share.ratio", "accuracy.ratio"]
    rows = [BUILT_IN.metric_row(name) for name in names]
    assert [each.name for each in metric_entries(rows)] == ["accuracy.ratio"]
    catalogue = fg.Spec(metrics=(own,)).catalogue
    assert [e.name for e in metric_entries(map(catalogue.metric_row, names))] == names
    assert rate_entries([catalogue.rate_row("glossed_share")])[0].text == "A share of its own."

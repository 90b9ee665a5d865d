"""fairgauge metrics: the catalogue for people."""

import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, NAMES, RATES

ROWS = [*RATES, *METRICS]


def test_the_list_names_every_row_within_80_columns(run):
    text = run("metrics").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in text.splitlines())
    named = set(text.split())
    rates = {row.name for row in RATES}
    assert rates <= named
    for row in METRICS:
        rate, _, comparison = row.name.partition(".")
        assert (f"RATE.{comparison}" if rate in rates else row.name) in named
    headings = ["\nRates: ", "\nclarify: ", "\nvertex: ", "\nnative: "]
    places = [f"\n{text}".index(heading) for heading in headings]
    assert places == sorted(places)


def test_every_row_is_explained():
    for row in ROWS:
        entry = fg.metric(row.name)
        text = str(entry)
        assert max(map(len, text.splitlines())) <= 80
        assert entry.name == row.name
        flat = " ".join(text.split())
        assert "nan" not in flat.casefold().split()
        for part in (row.says, row.formula, entry.reading, entry.edges, *entry.sources):
            assert " ".join(part.split()) in flat, row.name


def test_every_synonym_leads_to_an_entry_that_has_it():
    for name in {name for row in ROWS for name in row.aka}:
        assert name in next(e.aka for e in ROWS if e.name == fg.metric(name.upper()).name)


def test_every_name_of_a_tool_is_that_of_an_entry():
    named = {(each.tool, each.name) for entry in fg.metrics() for each in entry.tools}
    assert named == {(each.tool, each.name) for each in NAMES if each.ours}


def test_an_unknown_name(fails):
    assert fails("metrics", "recal") == (
        "no metric named 'recal'. Did you mean 'recall'? See: fairgauge metrics"
    )
    with pytest.raises(fg.SpecError, match="no metric named 'qqqqq'"):
        fg.metric("qqqqq")

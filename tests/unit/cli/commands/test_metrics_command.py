"""fairgauge metrics: the catalogue for people."""

import pytest
from click.testing import CliRunner

import fairgauge as fg
import sample_reports
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.cli import main

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


def test_an_unknown_name(fails):
    assert fails("metrics", "recal") == (
        "no metric named 'recal'. Did you mean 'recall'? See: fairgauge metrics"
    )
    with pytest.raises(fg.SpecError, match="no metric named 'qqqqq'"):
        fg.metric("qqqqq")


# ---- ``fairgauge explore`` writes one page, and no small cells into it unless that is stated
FLAGS = ["--label", "y", "--score", "s", "--threshold", "0.5",
    "--positive", "1", "--sensitive", "g"]  # fmt: skip


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample_reports.scores().write_csv(tmp_path / "rows.csv")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["explore", "rows.csv", *FLAGS, *arguments])


def test_small_cells_end_with_2_and_no_page(table):
    found = run("-o", "page.html")
    assert found.exit_code == 2
    assert "fewer than 10 persons" in found.output
    assert "--exact" in found.output
    assert not (table / "page.html").exists()


def test_the_page_is_written_and_described_in_a_line(table):
    found = run("-o", "page.html", "--exact")
    assert found.exit_code == 0
    assert found.stdout.startswith("page.html: 420 rows; ")
    assert " thresholds\n" in found.stdout
    text = (table / "page.html").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "This file holds exact counts" in text

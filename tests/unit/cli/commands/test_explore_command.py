"""``fairgauge explore`` writes one page, and no small cells into it unless that is stated."""

import pytest
from click.testing import CliRunner

import sample_reports
from fairgauge.cli import main

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

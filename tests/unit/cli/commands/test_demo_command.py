"""fairgauge demo: two audits worth reading."""

import csv
import io
import shlex

import pytest

import fairgauge as fg
from fairgauge.cli._demo_data import admissions


def test_it_prints_two_audits_and_writes_reports(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "-o", "out/demo")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line for line in result.stdout.splitlines() if "file://" not in line]
    assert max(map(len, lines)) <= 100
    written = {path.name for path in (tmp_path / "out/demo").iterdir()}
    assert written == {f"{n}.{s}" for n in ("berkeley", "loans") for s in ("csv", *SUFFIXES)}
    assert "women are admitted less often" in result.stdout
    for name in written:
        if name.endswith(".html"):
            assert (tmp_path / "out/demo" / name).as_uri() in result.stdout


def test_its_files_are_in_the_language_that_is_asked_for(run, tmp_path, monkeypatch):
    """They were English, whatever was asked for."""
    monkeypatch.chdir(tmp_path)
    run("demo", "--lang", "de")
    assert '<html lang="de">' in (tmp_path / "fairgauge-demo/loans.html").read_text("utf-8")


SUFFIXES = ("html", "json", "md")


def test_how_to_go_on_works(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = run("demo", "-o", "d").stdout
    command = text[text.index("fairgauge audit") : text.index("An audit of your own")]
    command = command.replace("\\\n", " ")
    program, *args = shlex.split(command)
    assert program == "fairgauge"
    again = run(*args, "--format", "json")
    assert again.exit_code == 1  # its rule of four fifths fails
    assert fg.load("d/loans.json").estimates
    assert "FAIL: 2 of 2 rules" in text


def test_berkeley(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("demo")
    report = fg.load("fairgauge-demo/berkeley.json")
    assert report.data.cases == 4526
    adjusted = report["base_rate.difference", "Gender", "Female", {"scope": "pooled"}]
    assert adjusted.value == pytest.approx(0.0184, abs=5e-5)
    # the published rates: 44.5% of 2,691 men, 30.4% of 1,835 women
    assert report["base_rate.difference", "Gender", "Female"].value == pytest.approx(
        557 / 1835 - 1198 / 2691
    )


def test_berkeley_is_the_published_table(shared):
    published = shared.data("ucb_admissions.csv").read_text(encoding="utf-8")
    rows = [sorted(csv.reader(io.StringIO(text))) for text in (admissions(), published)]
    assert rows[0] == rows[1]

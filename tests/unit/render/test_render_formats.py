"""The door to the formats: their names, suffixes, options and errors."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET

import pytest
import yaml

import sample_reports
from fairgauge.errors import DataError, MissingExtra
from fairgauge.render import FORMATS, data_frames, render, save, suffixes
from fairgauge.render.estimate_rows import COLUMNS


@pytest.fixture(scope="module")
def small():
    return sample_reports.small()


def test_the_formats():
    assert FORMATS == ("text", "json", "csv", "markdown", "html", "junit", "notebook")
    assert set(suffixes.values()) <= set(FORMATS)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("sample", ["small", "several", "berkeley", "crossed"])
def test_every_format_shows_every_report_with_and_without_intervals(format_, sample):
    report = getattr(sample_reports, sample)()
    for shown in (report, sample_reports.sure(report)):
        text = render(shown, format_)
        assert text.endswith("\n")
        assert "None" not in text
        assert "nan" not in re.sub(r"(?s)<script>.*", "", text).casefold().split()


def test_an_unknown_format_names_the_nearest(small):
    with pytest.raises(DataError, match=r"no format 'htm'\. Did you mean 'html'\? Say text, json"):
        render(small, "htm")


@pytest.mark.parametrize("suffix", suffixes)
def test_the_suffix_of_a_file_says_its_format(small, tmp_path, suffix):
    path = tmp_path / f"report{suffix.upper()}"
    save(small, path)
    assert path.read_text(encoding="utf-8") == render(small, suffixes[suffix])


def test_an_unknown_suffix_is_refused_and_nothing_written(small, tmp_path):
    with pytest.raises(DataError, match=r"cannot tell the format of .*use \.html, \.htm, \.json"):
        save(small, tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_report_saves_itself(small, tmp_path):
    small.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == str(small.verdict)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_a_row_for_every_estimate_and_fixed_types(library):
    to_frame = getattr(data_frames, f"to_{library}")
    full, empty = to_frame(sample_reports.several()), to_frame(sample_reports.berkeley())
    assert list(full.columns) == list(COLUMNS)
    assert len(full) == len(sample_reports.several().estimates)
    kinds = [list(frame.dtypes) for frame in (full, empty)]
    assert kinds[0] == kinds[1]
    first = sample_reports.several().estimates[0]
    assert full["metric"].to_list()[0] == first.metric
    assert full["value"].to_list()[0] == first.value


def test_frames_need_their_library(small, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(data_frames, "import_module", refuse)
    with pytest.raises(MissingExtra, match=r"pip install 'fairgauge\[pandas\]'"):
        data_frames.to_pandas(small)
    with pytest.raises(MissingExtra, match=r"pip install 'fairgauge\[polars\]'"):
        data_frames.to_polars(small)


def test_junit_counts_its_cases():
    report = sample_reports.several()
    suite = ET.fromstring(render(report, "junit"))[0]
    cases = list(suite)
    assert len(cases) == int(suite.get("tests")) == len(report.verdicts)
    failed = [case for case in cases if case.find("failure") is not None]
    assert len(failed) == int(suite.get("failures"))
    assert len(failed) == sum(each.outcome == "fail" for each in report.verdicts)
    skipped = [case for case in cases if case.find("skipped") is not None]
    assert len(skipped) == int(suite.get("skipped"))


def test_the_metadata_of_a_model_card_is_yaml():
    report = sample_reports.several()
    text = render(report, "markdown", card=True)
    _, front, body = text.split("---\n", 2)
    results = yaml.safe_load(front)["model-index"][0]["results"][0]
    values = {each["type"]: each["value"] for each in results["metrics"]}
    assert values["DI"] in {e.value for e in report.estimates if e.metric == "DI"}
    assert all(math.isfinite(value) for value in values.values())
    assert body.lstrip() == render(report, "markdown")


def test_csv_writes_infinity_and_undefined():
    lines = render(sample_reports.several(), "csv").splitlines()
    assert lines[0] == ",".join(COLUMNS)
    undefined = [line for line in lines if ",undefined," in line]
    assert undefined
    assert all(",others,,,,,,," in line for line in undefined if line.startswith("DAR"))

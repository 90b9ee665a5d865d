"""Reports and cubes that version 1 saved are read.

The files in ``older_reports`` were written by the last commit of version 1, of rows whose strata
and classes have the names that version 1 used for its own purposes; rates, pairs, scores are
trimmed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

import fairgauge as fg
from fairgauge.enums import Average, ClassKind, Outcome, ScopeKind
from fairgauge.render import render
from fairgauge.results.report import Report
from fairgauge.results.scopes import OVERALL, POOLED, stratum

FOLDER = Path(__file__).parent / "older_reports"


@pytest.fixture(params=["thresholds", "classes"])
def saved(request: pytest.FixtureRequest) -> Path:
    return FOLDER / f"{request.param}.json"


def test_values_and_verdicts_are_kept(saved: Path) -> None:
    old, report = json.loads(saved.read_text()), fg.load(saved)
    assert [each.value for each in report.estimates] == [each["value"] for each in old["estimates"]]
    assert [each.low for each in report.estimates] == [each["low"] for each in old["estimates"]]
    outcomes = [str(each.outcome).replace("_", " ") for each in report.verdicts]
    assert outcomes == [each["outcome"] for each in old["verdicts"]]
    assert report.verdict is Outcome.INCONCLUSIVE


def test_every_estimate_has_a_key_of_its_own(saved: Path) -> None:
    keys = [each.key for each in fg.load(saved).estimates]
    assert len(set(keys)) == len(keys)


def test_a_stratum_named_pooled_is_a_stratum() -> None:
    report = fg.load(FOLDER / "thresholds.json")
    scopes = {each.scope for each in report.estimates if each.metric == "DI"}
    assert scopes == {OVERALL, POOLED, *map(stratum, ("x", "y", "pooled"))}
    assert {each.scope for each in report.estimates if each.metric == "CDDPL"} == {POOLED}
    assert all(group.scope.kind is not ScopeKind.POOLED for group in report.groups)


def test_a_class_named_as_an_average_is_a_class() -> None:
    report = fg.load(FOLDER / "classes.json")
    scopes = {each.class_scope for each in report.estimates if each.metric == "RD"}
    kinds = sorted(each.kind for each in scopes)
    assert kinds.count(ClassKind.CLASS) == 3
    assert kinds.count(ClassKind.WORST) == 1
    assert {each.average for each in scopes if each.average} == set(Average)
    names = {each.name for each in scopes if each.kind is ClassKind.CLASS}
    assert names == {"hold", "macro", "worst"}


def test_what_is_read_is_written_as_the_present_version(saved: Path, tmp_path: Path) -> None:
    report = fg.load(saved)
    report.save(tmp_path / "new.json")
    written = json.loads((tmp_path / "new.json").read_text())
    assert written["schema"] == "fairgauge.report/3"
    jsonschema.validate(written, Report.json_schema())
    assert fg.load(tmp_path / "new.json") == report


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "junit"])
def test_its_verdict_and_groups_are_shown(saved: Path, format_: str) -> None:
    report = fg.load(saved)
    shown = render(report, format_)
    assert "inconclusive" in shown.casefold()
    judged = {each.group for each in report.verdicts}
    assert judged >= {"a", "b"}
    assert all(re.search(rf"\b{group}\b", shown) for group in judged)


def test_its_estimates_are_the_lines_of_its_csv(saved: Path) -> None:
    report = fg.load(saved)
    lines = csv.DictReader(io.StringIO(render(report, "csv")))
    shown = sorted((line["metric"], line["group"], line["value"]) for line in lines)
    values = ("" if each.value is None else str(each.value) for each in report.estimates)
    keys = ((each.metric, each.group or "") for each in report.estimates)
    assert shown == sorted((*key, value) for key, value in zip(keys, values, strict=True))


def test_a_cube_is_audited_as_it_was() -> None:
    cube = fg.load(FOLDER / "counts.cube.json")
    assert isinstance(cube, fg.Cube)
    report = fg.audit(cube, metrics=["RD", "DI"])
    old = json.loads((FOLDER / "thresholds.json").read_text())
    assert cube.rows == 240
    assert {group.group for group in report.groups} == {each["group"] for each in old["groups"]}

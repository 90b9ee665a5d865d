"""Reading back what was saved: a cube or a report, told apart by its schema."""

from __future__ import annotations

import json
import os

import pytest

import fairgauge as fg

CUBE = fg.confusion("sex", {"F": {"tp": 20, "fp": 5, "fn": 7, "tn": 18}, "M": {"tp": 65, "tn": 20}})


def test_a_cube_comes_back(tmp_path):
    CUBE.save(tmp_path / "day.cube.json")
    loaded = fg.load(tmp_path / "day.cube.json")
    assert isinstance(loaded, fg.Cube)
    assert loaded == CUBE
    assert loaded.digest == CUBE.digest


def test_a_report_comes_back(tmp_path):
    report = fg.audit(CUBE, metrics="all", rules=[fg.rule("DI", at_least=0.8)])
    report.save(tmp_path / "report.json")
    loaded = fg.load(tmp_path / "report.json")
    assert isinstance(loaded, fg.Report)
    assert loaded.to_json() == report.to_json()
    assert loaded["RD", "sex", "F"] == report["RD", "sex", "F"]


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (
            "",
            fg.CubeError,
            "is not a cube or report of fairgauge, or is truncated; fairgauge",
        ),
        ("[]", fg.CubeError, "is not a cube or report of fairgauge, or is truncated"),
        ("{}", fg.CubeError, "is not a cube or report of fairgauge, or is truncated"),
        ("a,b\n1,2\n", fg.CubeError, "is not a cube or report of fairgauge, or is truncated"),
        ("[" * 100_000, fg.CubeError, "is not a cube or report of fairgauge, or is truncated"),
        (
            CUBE.to_json()[:-9],
            fg.CubeError,
            "is not a cube or report of fairgauge, or is truncated",
        ),
        ('{"schema": "fairgauge.cube/99"}', fg.CubeError, "has format 'fairgauge.cube/99'; this v"),
        (
            '{"schema": 5}',
            fg.CubeError,
            "has format '5', which is neither a cube ('fair",
        ),
        (
            '{"schema": "fairgauge.report/3"}',
            fg.CubeError,
            "has format 'fairgauge.report/3'; this",
        ),
        (
            '{"schema": "fairgauge.comparison/2"}',
            fg.CubeError,
            "has format 'fairgauge.compari",
        ),
        (CUBE.to_json().replace("20", "21"), fg.CubeError, "was changed or damaged: its digest do"),
        ('{"schema": "fairgauge.report/1"}', fg.FairgaugeError, "is not a fairgauge report"),
    ],
)
def test_files_that_hold_neither(tmp_path, monkeypatch, content, kind, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.cube.json").write_text(content)
    with pytest.raises(kind) as caught:
        fg.load("x.cube.json")
    assert str(caught.value).startswith(f"'x.cube.json' {said}")
    assert len(str(caught.value)) < 500


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    def said(path):
        with pytest.raises(fg.FairgaugeError) as caught:
            fg.load(path)
        return str(caught.value)

    monkeypatch.chdir(tmp_path)
    assert said("no.json") == "no file 'no.json'"
    assert said(".") == "cannot read '.': it is a folder, a pipe or a device"
    os.mkfifo("pipe")
    assert said("pipe") == "cannot read 'pipe': it is a folder, a pipe or a device"
    (tmp_path / "b").write_bytes(b"\xff\x00")
    assert said("b") == "'b' is not a cube or report of fairgauge: not UTF-8"
    assert said("n" * 5_000).endswith("File name too long")
    assert said("a\0b").startswith("cannot read 'a\\x00b': ")


def test_a_resaved_report_is_strict_json(tmp_path):
    def refuse(word):
        raise AssertionError(word)

    report = fg.audit(fg.confusion("sex", {"F": {"fn": 3, "tn": 1}, "M": {"fp": 2, "tp": 3}}))
    report.save(tmp_path / "r.json")
    json.loads((tmp_path / "r.json").read_text(), parse_constant=refuse)
    assert fg.load(tmp_path / "r.json").to_dict() == report.to_dict()

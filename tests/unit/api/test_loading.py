"""Reading back what was saved: the schema of a file chooses the reader."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner
from tests.model_rows import QUESTION, rows
from tests.monitored_days import asked, cube, days
from tests.swapped_names import ASKED, study

import compared_reports
import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render
from fairgauge.render.formats import names
from fairgauge.results.shown_result import result_classes

CUBE = fg.confusion("sex", {"F": {"tp": 20, "fp": 5, "fn": 7, "tn": 18}, "M": {"tp": 65, "tn": 20}})


NO_RESULT = "is no saved result of fairgauge, or is truncated"
ANOTHER = "which this version of fairgauge does not read; it reads "


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((text, NO_RESULT) for text in ("", "[]", "{}", "a,b\n1,2\n", "[" * 100_000)),
        (CUBE.to_json()[:-9], NO_RESULT),
        ('{"schema": "fairgauge.cube/99"}', f"has format 'fairgauge.cube/99', {ANOTHER}"),
        ('{"schema": "fairgauge.report/9"}', f"has format 'fairgauge.report/9', {ANOTHER}"),
        ('{"schema": 5}', f"has format '5', {ANOTHER}"),
        ('{"schema": ["a"]}', f"has format \"['a']\", {ANOTHER}"),
    ],
)
def test_files_that_are_not_read(tmp_path, monkeypatch, content, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.cube.json").write_text(content)
    with pytest.raises(fg.CubeError) as caught:
        fg.load("x.cube.json")
    assert str(caught.value).startswith(f"'x.cube.json' {said}")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("schema", ["fairgauge.cube/1", *result_classes()])
def test_a_file_that_does_not_hold_what_it_states(tmp_path, monkeypatch, schema):
    monkeypatch.chdir(tmp_path)
    path = Path("x.json")
    for values in ({}, {"tool": 5}, {"tool": {"version": "1"}, "tables": [{}], "plan": None}):
        path.write_text(json.dumps({"schema": schema} | values))
        with pytest.raises(fg.FairgaugeError) as caught:
            fg.load(path)
        assert str(caught.value).startswith("'x.json': ")


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    def said(path):
        with pytest.raises(fg.FairgaugeError) as caught:
            fg.load(path)
        return str(caught.value)

    monkeypatch.chdir(tmp_path)
    assert said("no.json") == "no file 'no.json'"
    assert said(".") == "cannot read '.': it is a folder, a pipe or a device"
    (tmp_path / "b").write_bytes(b"\xff\x00")
    not_utf8 = "not UTF-8 (of a bundle, fairgauge render FILE writes the report)"
    assert said("b") == f"'b' is no saved result of fairgauge: {not_utf8}"
    assert said("n" * 5_000).endswith("File name too long")
    assert said("a\0b").startswith("cannot read 'a\\x00b': ")


PUBLISHED = (
    "group,n,selected,selection rate,impact ratio\n"
    "A,5000,2500,50%,1.00\nB,4000,1800,45%,0.80\nC,60,24,40%,0.80\n"
    "Infinity,10,0,0%,0\nA,5,1,20%,\nUnknown,30,9,30%,\n"
)
GOAL = "selection_rate.ratio >= 0.8"
CAUGHT = fg.rate("caught", of=fg.TP, among=fg.TP + fg.FN, says="the share that is caught")
SCORED = pl.DataFrame({"repaid": [0, 1, 1, 0] * 50, "score": [i % 97 / 97 for i in range(200)],
                       "sex": ["F", "M", "M", "F", "M"] * 40})  # fmt: skip
RESULTS = {
    "report": lambda: fg.audit(CUBE, rules=[GOAL]),
    "comparison": lambda: fg.compare(*compared_reports.months()),
    "hostile comparison": lambda: fg.compare(*compared_reports.hostile()),
    "models": lambda: fg.compare_models(
        rows(), **QUESTION, candidate=["fairer", "unfair"], margins={"accuracy": 0.02}
    ),
    "thresholds": lambda: fg.thresholds(
        SCORED, label="repaid", score="score", threshold=0.5, sensitive="sex",
        rules=GOAL, margins={"accuracy": 0.3}),
    "why": lambda: fg.why(
        SCORED, prediction="repaid", sensitive="sex", strata=fg.cut("score", [0.3, 0.6]),
        metrics="selection_rate"),
    "plan": lambda: fg.plan(rate=0.3, tolerance=0.9),
    "pairs": lambda: fg.pairs(study(placebos=4), **ASKED, placebo="edit", margins={"score": 0.2}),
    "pairs of models": lambda: fg.pairs(
        pl.concat([pl.from_pandas(study((2, 4), seed=s)).with_columns(model=s) for s in range(2)]),
        **ASKED, model="model",
    ),
    "check": lambda: fg.check(PUBLISHED, rules="selection_rate.ratio >= 0.8"),
    "check of a reference": lambda: fg.check(PUBLISHED, reference="B"),
    "health of a history": lambda: fg.monitor_doctor(
        dict.fromkeys(("2026-01-01", "2026-01-02", "2026-01-07"), CUBE),
        asked("selection_rate.ratio >= 0.8"),
    ),
    "find": lambda: fg.find(
        SCORED, label="repaid", metrics="base_rate", worse="lower", sensitive=["sex"]),
    "monitor": lambda: fg.monitor(
        days(8, 4, 0.1),
        asked(GOAL, "balanced_accuracy.difference >= -0.5", fg.rule(CAUGHT, at_least=0.1)),
    ),
    "monitor of nothing": lambda: fg.monitor(
        {"2026-01-01": cube(0, of=0)}, asked("selection_rate >= 0.1")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_loaded_equals_what_was_saved_in_every_format(name, tmp_path):
    shown = RESULTS[name]()
    shown.save(tmp_path / "saved.json")
    written = json.loads((tmp_path / "saved.json").read_text())
    jsonschema.Draft202012Validator(shown.json_schema()).validate(written)
    loaded = fg.load(tmp_path / "saved.json")
    assert type(loaded) is type(shown)
    assert loaded == shown
    line = repr(shown)  # as a session echoes it
    assert line.startswith("<")
    assert len(line) < 300
    assert "print()" in line
    for format_ in names(shown.KIND.name):
        assert render(loaded, format_) == render(shown, format_)
    for saved in ("again.json", "again.html"):
        arguments = ["render", str(tmp_path / "saved.json"), "-o", str(tmp_path / saved)]
        assert CliRunner().invoke(main, arguments).exit_code == 0
    assert (tmp_path / "again.json").read_text() == (tmp_path / "saved.json").read_text()

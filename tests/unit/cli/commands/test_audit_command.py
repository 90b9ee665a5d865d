"""fairgauge audit: flags, formats, outputs and exit codes."""

import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from loan_cases import SEX

import fairgauge as fg
from fairgauge.render import names


def spec_of(run, *args):
    result = run("audit", *args, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["spec"]


def test_the_report_is_the_one_of_the_library(run, loans):
    told = json.loads(run("audit", loans, *SEX, "--format", "json").stdout)
    report = fg.audit(
        loans, label="approved", prediction="predicted", positive="yes", sensitive="sex"
    )
    expected = json.loads(report.to_json())
    assert told | {"created": ""} == expected | {"created": ""}
    recall = report["true_positive_rate.difference", "sex", "F"]
    assert recall.value == pytest.approx(6 / 10 - 12 / 13)


def test_hostile_names_pass_through(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["a=b", "c:d", "e*f", "g,h", "i\\j", "<b>", "=1+1", "é​‮"]
    text = io.StringIO()
    csv.writer(text).writerows([["y", *names], [1, *"x" * 8], [0, *"z" * 8], [1, *"z" * 8]])
    (tmp_path / "t.csv").write_text(text.getvalue(), encoding="utf-8")
    asked = [r"a\=b", r"c\:d", r"e\*f", r"g\,h", "i\\j", "<b>", r"\=1+1", "é​‮"]
    flags = [flag for name in asked for flag in ("--sensitive", name)]
    flags += ["--intersect", r"e\*f*g\,h", "--label", "y"]
    told = spec_of(run, "t.csv", *flags)
    assert [each["column"] for each in told["sensitive"]] == names
    assert told["intersections"] == [["e*f", "g,h"]]


def test_a_file_of_the_specification_and_flags_over_it(run, loans, tmp_path):
    (tmp_path / "audit.toml").write_text(
        'label = "approved"\nprediction = "predicted"\npositive = "yes"\nsensitive = "sex"\n'
        'metrics = "AD"\n'
    )
    told = spec_of(run, loans, "-c", "audit.toml", "--metrics", "RD", "--sensitive", "region")
    assert told["label"] == "approved"
    assert told["metrics"] == ["RD"]
    assert told["sensitive"] == [{"column": "region"}]


def test_standard_input(run, loans, tmp_path):
    text = (tmp_path / loans).read_text()
    piped = json.loads(run("audit", "-", *SEX, "--format", "json", stdin=text).stdout)
    named = json.loads(run("audit", loans, *SEX, "--format", "json").stdout)
    assert piped["estimates"] == named["estimates"]


@pytest.mark.parametrize("format_", names("report", files=True))
def test_every_format_on_standard_output(run, loans, format_):
    result = run("audit", loans, *SEX, "--format", format_)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    opens = {
        "text": lambda text: text.index("Fairness audit"), "json": json.loads,
        "csv": lambda text: next(csv.DictReader(io.StringIO(text)))["metric"],
        "markdown": lambda text: text.index("#"), "html": lambda text: text.index("<!"),
        "junit": ET.fromstring,
    }  # fmt: skip
    opens[format_](result.stdout)
    assert result.stdout.endswith("\n")
    assert not result.stdout.endswith("\n\n")


def test_usage_mistakes_name_the_command(run, loans):
    result = run("audit", loans, "--lable", "x")
    assert result.exit_code == 2
    assert "Usage: fairgauge audit [OPTIONS] DATA..." in result.stderr
    assert re.search("No such option:? '?--lable", result.stderr)
    assert run("audit").exit_code == 2
    assert "no DATA: give files" in run("audit").stderr
    assert "'xls' is not one of" in run("audit", loans, *SEX, "--format", "xls").stderr


def test_python_runs_the_package():
    command = [sys.executable, "-m", "fairgauge", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"fairgauge, version {fg.__version__}\n"


def test_full_quiet_and_tables(run, loans):
    brief = run("audit", loans, *SEX).stdout
    assert len(run("audit", loans, *SEX, "--full").stdout) > 2 * len(brief)
    assert run("audit", loans, *SEX, "--quiet").stdout == ("No rules  Fairness audit: loans.csv\n")
    groups = run("audit", loans, *SEX, "--table", "groups").stdout.splitlines()
    assert groups[0].startswith("feature,group,")
    assert any(line.startswith("sex,overall,overall") for line in groups)


def test_a_saved_report_is_rendered_again(run, fails, loans, tmp_path):
    run("audit", loans, *SEX, "-o", "report.json", "-o", "direct.html")
    result = run("render", "report.json", "-o", "again.html", "-o", "again.md")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "again.html").read_text() == (tmp_path / "direct.html").read_text()
    printed = run("render", "report.json", "--full").stdout
    assert printed == run("render", "report.json", "--full", "--format", "text").stdout
    assert "also an input" in fails("render", "report.json", "-o", "report.json")

"""``fairgauge monitor``: forty days of a loop, a shift on the twentieth, and what goes wrong."""

import datetime as dt
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.needs import missing

import fairgauge as fg
from fairgauge.cli import main

CONFIG = """
label = "approved"
prediction = "predicted"
positive = 1
sensitive = "sex"
strata = "department"
reference = {sex = "M"}
document = {title = "loans \\"2026\\""}
[monitor]
horizon = 365
[[monitor.rules]]
metric = "selection_rate.difference"
between = [-0.05, 0.05]
[[monitor.rules]]
metric = "selection_rate"
at_least = 0.2
groups = ["M"]
"""


def fairgauge(*args):
    return CliRunner().invoke(main, [str(each) for each in args], catch_exceptions=False)


def write_day(path: Path, rng: np.random.Generator, *, shift: float) -> None:
    rows = ["sex,department,approved,predicted"]
    for sex, n in (("F", 100), ("M", 200)):
        department = rng.choice(["A", "B"], n)
        chance = np.where(department == "A", 0.5, 0.3) - (shift if sex == "F" else 0)
        decided = (rng.random(n) < chance).astype(int)
        observed = rng.integers(0, 2, n)
        rows += [
            f"{sex},{d},{y},{p}" for d, y, p in zip(department, observed, decided, strict=True)
        ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def forty_days(tmp_path_factory):
    """Run the monitor every day for 40 days, as a scheduler would; the shift is on day 20."""
    folder = tmp_path_factory.mktemp("forty")
    (folder / "monitor.toml").write_text(CONFIG, encoding="utf-8")
    rng = np.random.default_rng(7)
    codes = {}
    for i in range(40):
        day = dt.date(2026, 9, 21) + dt.timedelta(days=i)
        write_day(folder / "today.csv", rng, shift=0.15 if i >= 19 else 0.0)
        result = fairgauge("monitor", "run", folder / "history", folder / "today.csv",
                           "--period", day, "-c", folder / "monitor.toml", "-q")  # fmt: skip
        codes[str(day)] = result.exit_code
        assert result.exit_code in (0, 1), result.output
        alarm = "ALARM: 1 comparison (selection rate difference, sex: F vs M)"
        assert result.output.startswith("NO ALARM" if result.exit_code == 0 else alarm)
    return folder, codes


def test_the_alarm_comes_once_after_the_shift_and_stays(forty_days):
    _, codes = forty_days
    alarmed = [day for day, code in codes.items() if code == 1]
    assert "2026-10-10" <= alarmed[0] <= "2026-10-24"
    assert alarmed == [day for day in codes if day >= alarmed[0]]


def test_status_shows_what_run_decided_in_every_format(forty_days, tmp_path):
    folder, codes = forty_days
    names = ("d.html", "r.json", "p.csv", "j.xml", "m.prom", "s.md")
    outputs = [part for name in names for part in ("-o", tmp_path / name)]
    result = fairgauge("monitor", "status", folder / "history", *outputs)
    assert result.exit_code == 1
    first = next(day for day, code in codes.items() if code == 1)
    assert first in result.output
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["schema"] == "fairgauge.monitor_report/4"
    assert found["verdict"] == "fail"
    alarms = [each["alarm"]["period"] for each in found["comparisons"] if each["alarm"]]
    assert alarms == [first]
    suite = ET.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 40
    assert "❌ ALARM: 1 comparison" in (tmp_path / "s.md").read_text()
    earlier = fairgauge("monitor", "status", folder / "history", "--at", "2026-10-09", "-q")
    assert earlier.exit_code == 0


def test_prometheus_reads_the_metrics(forty_days, tmp_path):
    folder, _ = forty_days
    text = fairgauge("monitor", "status", folder / "history", "--format", "openmetrics").output
    assert 'model="loans \\"2026\\""' in text
    assert re.search(r'fairgauge_alarm\{.*group="F".*\} 1\.0', text)
    for name in (
        "metric",
        "ci_low",
        "ci_high",
        "running",
        "running_high",
        "evidence",
        "alarm_threshold",
        "alarm",
    ):
        assert f"# TYPE fairgauge_{name} gauge" in text
    if shutil.which("promtool") is None:
        missing("promtool")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_names_in_metrics_can_do_no_harm():
    group = 'a"} 1\nfairgauge_alarm{x="\\'
    counts = {"2026-01-01": fg.confusion("sex", {group: {"tp": 30, "fn": 70}, "M": {"tp": 80}})}
    report = fg.monitor(counts, {"label": "label", "prediction": "prediction", "positive": 1,
                                 "sensitive": "sex",
                                 "monitor": {"rules": ["selection_rate >= 0.1"]}})  # fmt: skip
    from fairgauge.render import render

    lines = render(report, "openmetrics").splitlines()
    assert all(line.startswith("#") or re.match(r'fairgauge_\w+\{model="', line) for line in lines)
    html = render(report, "html")
    assert "fairgauge_alarm{x=&#34;" in html
    assert 'fairgauge_alarm{x="' not in html


@pytest.fixture(scope="module")
def three_days(tmp_path_factory):
    made = tmp_path_factory.mktemp("three")
    (made / "monitor.toml").write_text(CONFIG, encoding="utf-8")
    rng = np.random.default_rng(1)
    for i in range(4):
        write_day(made / f"{i}.csv", rng, shift=0.0)
    for i in range(3):
        fairgauge("monitor", "run", made / "history", made / f"{i}.csv",
                  "--period", f"2026-01-0{i + 1}", "-c", made / "monitor.toml")  # fmt: skip
    return made


@pytest.fixture
def folder(three_days, tmp_path):
    """A history of three days of one's own."""
    return shutil.copytree(three_days, tmp_path, dirs_exist_ok=True)


def run(folder, data, period, *more):
    return fairgauge("monitor", "run", folder / "history", folder / data, "--period", period, *more)


def texts_in(history):
    return {path: path.read_bytes() for path in history.rglob("*") if path.is_file()}


def test_corrected_labels_replace_a_period(folder):
    result = run(folder, "3.csv", "2026-01-02")
    assert result.exit_code == 2
    assert "holds other counts of 2026-01-02" in result.stderr
    assert run(folder, "3.csv", "2026-01-02", "--replace").exit_code == 0


def test_another_specification_names_what_changed(folder):
    config = folder / "other.toml"
    config.write_text(CONFIG.replace("horizon = 365", "horizon = 100"), encoding="utf-8")
    result = run(folder, "2.csv", "2026-01-03", "-c", config)
    assert "Warning: the specification changed (monitor)" in result.stderr
    config.write_text(CONFIG.replace('strata = "department"', ""), encoding="utf-8")
    result = run(folder, "3.csv", "2026-01-04", "-c", config)
    assert result.exit_code == 2
    assert "different questions: strata is 'department' in one and not set" in result.stderr
    assert "2026-01-04" not in {p.name for p in (folder / "history").iterdir()}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("status", "absent"), "there is no history 'absent'"),
        (("run", "new", "0.csv", "--period", "2026-01-01"), "no history 'new'"),
        (("run", "history", "0.csv", "--period", "today"), "'today' is no period"),
        (("run", "history", "no.csv", "--period", "2026-01-09"), "no.csv"),
        (("run", "0.csv", "0.csv", "--period", "2026-01-09"), "is a file, not a folder"),
        (
            ("run", "s4://bucket/x", "0.csv", "--period", "2026-01-09"),
            "cannot read 's4://bucket/x': Protocol not known",
        ),
        (("status", "history", "-o", "t.docx"), "names no format of a monitor"),
        (("import", "history", "monitor.toml"), "has no date; give --period"),
        (("import", "history", "2026-01-01.json"), "Error: no file '2026-01-01.json'"),
    ],
)
def test_mistakes_end_with_a_message(folder, monkeypatch, args, message):
    monkeypatch.chdir(folder)
    result = fairgauge("monitor", *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert "should not" not in result.stderr


def spell(path: Path) -> None:
    """Write every other F as f."""
    header, *rows = path.read_text().splitlines()
    rows = ["f" + row[1:] if row[0] == "F" and i % 2 else row for i, row in enumerate(rows)]
    path.write_text("\n".join([header, *rows]) + "\n")


def test_the_doctor_states_what_may_be_wrong_and_ends_with_a_code(folder):
    healthy = fairgauge("monitor", "doctor", folder / "history", "-q")
    assert (healthy.exit_code, healthy.stdout) == (
        0, 'No period looks as if its rows were wrong  History of loans "2026"\n'
    )  # fmt: skip
    spell(folder / "3.csv")
    run(folder, "3.csv", "2026-01-06")
    before = texts_in(folder / "history")
    result = fairgauge("monitor", "doctor", folder / "history", "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["schema"] == "fairgauge.history_health/2"
    assert [(e["problem"], e["period"], e["value"]) for e in found["findings"]] == [
        ("gap", "2026-01-05", None),
        ("same names", "2026-01-06", "f"),  # which an audit of the last period doubts, too
    ]
    assert found["findings"][1]["other"] == "F"
    assert texts_in(folder / "history") == before
    assert fairgauge("monitor", "doctor", folder / "history", "--at", "2026-01-03").exit_code == 0
    absent = fairgauge("monitor", "doctor", folder / "nowhere")
    assert (absent.exit_code, "there is no history" in absent.stderr) == (2, True)


def test_a_run_states_the_gap_that_its_misdated_period_makes(folder):
    result = run(folder, "3.csv", "2025-12-04")
    assert "Warning: From 2025-12-05 to 2025-12-31: these periods have no counts." in result.output
    again = run(folder, "3.csv", "2025-12-04")
    assert "have no counts. Add them" not in again.stderr

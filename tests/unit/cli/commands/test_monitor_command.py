"""``fairgauge monitor``: sixty days of a loop, a shift on the fortieth, and what goes wrong."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner
from tests.docs.page_blocks import DOCS, blocks
from tests.needs import missing

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.results.monitor_results import MonitorState

if TYPE_CHECKING:
    from pathlib import Path

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
def sixty_days(tmp_path_factory):
    """Run the monitor every day for 60 days, as a scheduler would; the shift is on day 40."""
    folder = tmp_path_factory.mktemp("sixty")
    (folder / "monitor.toml").write_text(CONFIG, encoding="utf-8")
    rng = np.random.default_rng(7)
    codes = {}
    for i in range(60):
        day = dt.date(2026, 9, 1) + dt.timedelta(days=i)
        write_day(folder / "today.csv", rng, shift=0.15 if i >= 39 else 0.0)
        result = fairgauge("monitor", "run", folder / "history", folder / "today.csv",
                           "--period", day, "-c", folder / "monitor.toml", "-q")  # fmt: skip
        codes[str(day)] = result.exit_code
        assert result.exit_code in (0, 1), result.output
        alarm = "ALARM: 1 comparison (selection rate difference, sex: F vs M)"
        assert result.output.startswith("NO ALARM" if result.exit_code == 0 else alarm)
    return folder, codes


def test_the_alarm_comes_once_after_the_shift_and_stays(sixty_days):
    _, codes = sixty_days
    alarmed = [day for day, code in codes.items() if code == 1]
    assert "2026-10-10" <= alarmed[0] <= "2026-10-24"
    assert alarmed == [day for day in codes if day >= alarmed[0]]


def test_the_page_of_explore_is_of_all_periods_together(sixty_days, tmp_path):
    folder, _ = sixty_days
    report = fg.monitor(folder / "history", at="2026-09-02")
    assert "600 rows" in str(report.explore())
    again = type(report).from_dict({**report.to_dict(), "history": str(tmp_path / "elsewhere")})
    with pytest.raises(fg.DataError, match="has no period 2026-09-01"):
        again.explore()
    assert again.explore(folder / "history").html == report.explore().html


def test_status_shows_what_run_decided_in_every_format(sixty_days, tmp_path):
    folder, codes = sixty_days
    names = ("d.html", "r.json", "p.csv", "j.xml", "m.prom", "s.md")
    outputs = [part for name in names for part in ("-o", tmp_path / name)]
    result = fairgauge("monitor", "status", folder / "history", *outputs)
    assert result.exit_code == 1
    first = next(day for day, code in codes.items() if code == 1)
    assert first in result.output
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["schema"] == "fairgauge.monitor_report/3"
    assert found["verdict"] == "fail"
    alarms = [each["alarm"]["period"] for each in found["comparisons"] if each["alarm"]]
    assert alarms == [first]
    suite = ET.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 60
    assert "❌ ALARM: 1 comparison" in (tmp_path / "s.md").read_text()
    earlier = fairgauge("monitor", "status", folder / "history", "--at", "2026-10-09", "-q")
    assert earlier.exit_code == 0


def test_prometheus_reads_the_metrics(sixty_days, tmp_path):
    folder, _ = sixty_days
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


def assert_alerts(tmp_path: Path, gauges: str, fired: set[str]) -> None:
    """Check which of the alerts that the page recommends fire, and for which model."""
    if shutil.which("promtool") is None:
        missing("promtool")
    page = (DOCS / "how-to" / "first-bad-week.md").read_text(encoding="utf-8")
    rules = next(each.body for each in blocks(page) if each.title == "fairgauge.rules.yml")
    (tmp_path / "rules.yml").write_text(rules, encoding="utf-8")
    samples = [line.rpartition(" ") for line in gauges.splitlines() if not line.startswith("#")]
    series = [{"series": name, "values": f"{value}x5"} for name, _, value in samples]
    states = [name for name, _, value in samples
              if name.startswith("fairgauge_monitor_state") and float(value) == 1]  # fmt: skip
    (labels,) = [dict(re.findall(r'(\w+)="(.*?)"', name)) for name in states]
    expected = []
    for name in re.findall(r"alert: (\w+)", rules):
        stateless = name in ("FairnessRowsSuspected", "FairnessFeedStopped")
        named = {"model": labels["model"]} if stateless else labels
        fires = [{"exp_labels": named}] * (name in fired)
        expected.append({"eval_time": "5m", "alertname": name, "exp_alerts": fires})
    test = {"rule_files": ["rules.yml"], "tests": [
        {"interval": "1m", "input_series": series, "alert_rule_test": expected}]}  # fmt: skip
    (tmp_path / "test.yml").write_text(json.dumps(test), encoding="utf-8")
    done = subprocess.run(["promtool", "test", "rules", str(tmp_path / "test.yml")], text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("state", "suspected", "fired"),
    [
        ("no alarm", 0, set()),
        ("alarm", 0, {"FairnessAlarm"}),
        ("waiting for labels", 0, {"FairnessUndecided"}),
        ("insufficient data", 2, {"FairnessRowsSuspected", "FairnessUndecided"}),
    ],
)
def test_the_recommended_alerts_fire(tmp_path, state, suspected, fired):
    gauges = [
        f'fairgauge_monitor_state{{model="m",state="{each}"}} {int(str(each) == state)}'
        for each in MonitorState
    ]
    gauges.append(f'fairgauge_rows_suspected{{model="m",problem="gap"}} {suspected}')
    gauges.append('fairgauge_last_period_timestamp_seconds{model="m"} 0')
    assert_alerts(tmp_path, "\n".join(gauges), fired)


def test_the_first_night_without_labels_ends_with_code_3_and_fires_an_alert(tmp_path):
    """A history of days with their labels, run each night, and then a day whose labels lack."""
    config = """label = "y"
prediction = "p"
positive = 1
sensitive = "sex"

[monitor]
labels = "later"
rules = ["true_positive_rate.difference <= 0.5"]
"""
    (tmp_path / "monitor.toml").write_text(config)
    rows = [f"{sex},{y},{y ^ (i % 7 == 0)}" for i in range(60) for sex in "FM" for y in (0, 1)]
    gauges = tmp_path / "metrics.prom"
    for night, lacking in enumerate((0, 0, 1, 0), start=5):  # 1970 has no feed that stopped
        lines = [line.replace(",1,", ",,") for line in rows[: 10 * lacking]] + rows[10 * lacking :]
        lines += rows[: 4 * night]  # no day is like another
        (tmp_path / "day.csv").write_text("\n".join(["sex,y,p", *lines]) + "\n")
        result = fairgauge("monitor", "run", tmp_path / "history", tmp_path / "day.csv",
                           "--period", f"1970-01-0{night}", "-c", tmp_path / "monitor.toml",
                           "-o", gauges)  # fmt: skip
        waits = night >= 7
        assert result.exit_code == (3 if waits else 0)
        assert ("labels are due and missing" in result.stderr) == waits
        assert ("waiting for labels" in result.stdout.lower()) == waits
        fired = {"FairnessRowsSuspected", "FairnessUndecided"} if waits else set()
        since = "fairgauge_last_period_timestamp_seconds"
        text = re.sub(rf"(?m)^({since}.*) \S+$", r"\1 0", gauges.read_text())
        assert_alerts(tmp_path, text, fired)


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


@pytest.fixture
def folder(sixty_days, tmp_path):
    """A history of three days of one's own."""
    shutil.copy(sixty_days[0] / "monitor.toml", tmp_path)
    rng = np.random.default_rng(1)
    for i in range(4):
        write_day(tmp_path / f"{i}.csv", rng, shift=0.0)
    for i in range(3):
        fairgauge("monitor", "run", tmp_path / "history", tmp_path / f"{i}.csv",
                  "--period", f"2026-01-0{i + 1}", "-c", tmp_path / "monitor.toml")  # fmt: skip
    return tmp_path


def run(folder, data, period, *more):
    return fairgauge("monitor", "run", folder / "history", folder / data, "--period", period, *more)


def texts_in(history):
    return {path: path.read_bytes() for path in history.rglob("*") if path.is_file()}


FAULTS = {
    "a group that is not there": (CONFIG.replace('"M"}', '"X"}'), "has no value 'X'"),
}


@pytest.mark.parametrize(("config", "message"), FAULTS.values(), ids=list(FAULTS))
@pytest.mark.parametrize("history", ["history", "new"])
def test_a_run_that_ends_with_an_error_leaves_the_history_as_it_was(
    folder, history, config, message
):
    (folder / "faulty.toml").write_text(config, encoding="utf-8")
    before = texts_in(folder / history)
    args = (folder / history, folder / "3.csv", "--period", "2026-01-04", "-c")
    result = fairgauge("monitor", "run", *args, folder / "faulty.toml")
    assert result.exit_code == 2
    assert message in result.stderr
    assert texts_in(folder / history) == before
    result = fairgauge("monitor", "run", *args, folder / "monitor.toml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert fairgauge("monitor", "status", folder / history).exit_code == 0


@pytest.mark.parametrize(
    ("period", "message"),
    [
        ("2026-01-04T05Z", "2026-01-04T05Z is an hour, and the history"),
        ("2026-01-04T05", "has no time zone; write 2026-01-04T05Z for UTC, or an offset"),
        ("2026-W02", "2026-W02 is a week, and the history"),
    ],
)
def test_a_period_of_another_length_or_without_a_time_zone_is_refused(folder, period, message):
    result = run(folder, "3.csv", period)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(fg.History(folder / "history").periods) == 3


def test_a_run_may_be_repeated(folder):
    result = run(folder, "2.csv", "2026-01-03")
    assert result.exit_code == 0
    assert "Note: 2026-01-03 holds these counts already" in result.stderr


def test_corrected_labels_replace_a_period(folder):
    result = run(folder, "3.csv", "2026-01-02")
    assert result.exit_code == 2
    assert "holds other counts of 2026-01-02" in result.stderr
    assert run(folder, "3.csv", "2026-01-02", "--replace").exit_code == 0


@pytest.mark.parametrize("kind", ["csv"])
def test_without_a_column_of_later_labels_every_label_is_missing(folder, kind):
    """The files of the first days have no labels; those of the same days with labels follow."""
    config = folder / "later.toml"
    rules = [
        f'[[monitor.rules]]\nmetric = "{rate}.difference"\nbetween = [-0.5, 0.5]\ngroups = "F"\n'
        for rate in ("true_positive_rate", "selection_rate")
    ]
    question = CONFIG.partition("[monitor]")[0]
    config.write_text("\n".join([question, '[monitor]\nlabels = "later"', *rules]))
    history = folder / f"later-{kind}"

    def add(day: int, columns: str, *more: str):
        path = folder / f"day.{kind}"
        rows = f"SELECT {columns} FROM '{folder}/{day}.csv'"
        duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT {kind})")
        period = f"2026-01-0{day + 1}"
        return fairgauge("monitor", "run", history, path, "--period", period, "-c", config, *more)

    for day in range(2):
        result = add(day, "* EXCLUDE approved")
        assert result.exit_code == 3, result.output
        assert "has no column 'approved', so that no row has its label yet" in result.stderr
    report = fg.monitor(history)
    assert report.waiting == ("2026-01-01", "2026-01-02")
    assert [len([p for p in e.points if p.evidence is not None]) for e in report.comparisons] == [
        0,
        2,
    ]
    for day in range(2):
        result = add(day, "*", "--replace")
        assert "no column" not in result.stderr
    assert result.exit_code == 0, result.output
    assert fg.monitor(history).waiting == ()
    config.write_text(config.read_text().replace('"later"', '"now"'))
    result = add(2, "* EXCLUDE approved")
    assert result.exit_code == 2
    assert "label: no column 'approved' in the data" in result.stderr


def test_another_specification_names_what_changed(folder):
    config = folder / "other.toml"
    config.write_text(CONFIG.replace("horizon = 365", "horizon = 100"), encoding="utf-8")
    result = run(folder, "2.csv", "2026-01-03", "-c", config)
    assert "Warning: the specification changed (monitor.horizon)" in result.stderr
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


def test_what_is_no_history_and_no_counts_is_named(tmp_path):
    with pytest.raises(fg.DataError, match="a history is a folder or a URL, not 3"):
        fg.History(3)
    with pytest.raises(fg.DataError, match=r"holds counts, not 'day.csv'; count the rows first"):
        fg.History(tmp_path).add("2026-01-01", "day.csv")


def test_counts_without_a_specification_need_one(folder):
    history = fg.History(folder / "bare")
    history.add("2026-01-01", fg.History(folder / "history").cubes(
        fg.History(folder / "history").periods)[0])  # fmt: skip
    result = fairgauge("monitor", "status", folder / "bare")
    assert result.exit_code == 2
    assert "has no specification yet; give one (-c FILE)" in result.stderr


def test_a_day_without_rows_is_not_added(folder):
    (folder / "empty.csv").write_text("sex,department,approved,predicted\n")
    result = run(folder, "empty.csv", "2026-01-04")
    assert result.exit_code == 2
    assert "the data have no rows; add no period without rows" in result.stderr
    assert len(fg.History(folder / "history").periods) == 3


def test_a_damaged_specification_is_named_and_replaced_by_the_next_run(folder):
    kept = folder / "history" / "_monitor.json"
    kept.write_text(kept.read_text()[:50])
    result = fairgauge("monitor", "status", folder / "history")
    assert result.exit_code == 2
    assert "_monitor.json" in result.stderr
    assert run(folder, "2.csv", "2026-01-03", "-c", folder / "monitor.toml").exit_code == 0
    assert fairgauge("monitor", "status", folder / "history").exit_code == 0


def test_one_day_is_audited_by_the_rules_of_the_same_file(folder):
    """A rule that a file holds is never passed over: all of them have a verdict."""
    result = fairgauge("audit", folder / "0.csv", "-c", folder / "monitor.toml", "--format", "json")
    verdicts = json.loads(result.stdout)["verdicts"]
    rules = ["-0.05 <= selection_rate.difference <= 0.05", "selection_rate >= 0.2"]
    assert [(each["rule"], each["group"]) for each in verdicts] == [
        (rules[0], "F"),
        (rules[1], "M"),
    ]
    assert result.exit_code == 3
    report = fg.audit(folder / "0.csv", config=folder / "monitor.toml")
    assert [str(each.outcome) for each in report.verdicts] == [e["outcome"] for e in verdicts]
    own = fairgauge("audit", folder / "0.csv", "-c", folder / "monitor.toml", "--rule", "DI >= 0.1")
    assert own.exit_code == 0, own.output
    assert "1 of 1 rule" in own.stdout or "PASS" in own.stdout
    assert fairgauge("validate", folder / "0.csv", "-c", folder / "monitor.toml").exit_code == 0


@pytest.mark.parametrize("late", [True, False])
def test_labels_that_come_later_may_be_absent_from_a_file_that_is_validated(folder, late):
    rows = (line.split(",") for line in (folder / "3.csv").read_text().splitlines())
    (folder / "3.csv").write_text("".join(f"{r[0]},{r[1]},{r[3]}\n" for r in rows))
    labels = '[monitor]\nlabels = "later"\n' if late else "[monitor]\n"
    (folder / "monitor.toml").write_text(CONFIG.replace("[monitor]\n", labels, 1))
    result = fairgauge("validate", folder / "3.csv", "-c", folder / "monitor.toml")
    assert result.exit_code == (0 if late else 2), result.output
    assert ("has no column 'approved', so that no row has its label yet" in result.stderr) is late


def test_an_audit_has_no_baseline_and_does_not_pass_without_one(folder):
    near = CONFIG.replace("between = [-0.05, 0.05]", 'within = 0.1\nof = "baseline.cube.json"')
    (folder / "near.toml").write_text(near, encoding="utf-8")
    result = fairgauge("audit", folder / "0.csv", "-c", folder / "near.toml")
    assert result.exit_code == 2
    assert "monitor.rules[0].of: an audit has no baseline to hold rows against" in result.stderr
    counted = fairgauge("count", folder / "0.csv", "-c", folder / "near.toml",
                        "-o", folder / "0.cube.json")  # fmt: skip
    assert counted.exit_code == 0, counted.output
    assert "monitor.rules[0]: counts do not carry a rule that holds rows" in counted.stderr


def test_counts_carry_the_rules_of_a_monitor(folder):
    config = folder / "monitor.toml"
    config.write_text(CONFIG.replace("between = [-0.05, 0.05]", "at_least = 0.9"))
    counts = folder / "0.cube.json"
    counted = fairgauge("count", folder / "0.csv", "-c", config, "-o", counts)
    assert counted.exit_code == 0, counted.output
    of_rows, of_counts = (
        fairgauge("audit", folder / "0.csv", "-c", config, "-q"), fairgauge("audit", counts, "-q")
    )  # fmt: skip
    assert of_rows.exit_code == of_counts.exit_code == 1
    assert of_rows.stdout == of_counts.stdout
    api = fg.audit(fg.count(folder / "0.csv", config=config))
    assert api.exit_code == 1
    given = fairgauge("count", folder / "0.csv", "-c", config, "--rule", "DI >= 0.01", "-o", counts)
    assert given.exit_code == 0
    assert fairgauge("audit", counts, "-q").exit_code == 0
    imported = fairgauge("monitor", "run", folder / "h", counts, "--period", "2026-09-01",
                         "-c", config)  # fmt: skip
    assert imported.exit_code in {0, 1, 3}, imported.output


def recode(path: Path, codes: dict[str, str]) -> None:
    """Write the predictions, the last column, in another way."""
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *(row[:-1] + codes[row[-1]] for row in rows)]) + "\n")


def test_a_period_that_is_not_the_newest_is_named(folder):
    """A year that is misspelt is mostly found by it."""
    begin = CONFIG.replace("[monitor]", '[monitor]\nstart = "2026-01-01"', 1)
    (folder / "begin.toml").write_text(begin, encoding="utf-8")
    first = run(folder, "3.csv", "2025-01-04").stderr
    assert "Note: 2025-01-04 is not the newest period, which is 2026-01-03; it is now" in first
    assert "not the newest" not in run(folder, "3.csv", "2025-01-04").stderr  # nothing was added
    second = run(folder, "0.csv", "2025-01-05").stderr
    assert "the newest period, which is 2026-01-03. All later ones are decided anew" in second
    third = run(folder, "1.csv", "2025-01-06", "-c", folder / "begin.toml").stderr
    assert "2025-01-06 is before the start (2026-01-01) and decides nothing" in third
    assert "not the newest" not in run(folder, "2.csv", "2026-02-01").stderr


@pytest.mark.parametrize(
    ("names", "alone"),
    [
        (["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-12-07"], True),
        (["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-10-07"], False),
        ([f"{year}-01-01" for year in range(2020, 2026)], False),
        (["2020", "2021", "2022", "2023", "2025"], False),
        (["2022", "2023", "2024", "2025", "2062"], True),
        (["2025-11", "2025-12", "2026-01", "2026-02", "2027-03"], True),
        (["2026-01-01", "2026-01-02", "2026-01-05", "2027-12-07", "2027-12-08"], False),
    ],
)
def test_a_period_after_an_unusual_gap_decides_once_another_follows(names, alone):
    counts = {name: fg.confusion("sex", {"F": {"tp": 20 + i, "fn": 30}, "M": {"tp": 60, "fn": 90}})
              for i, name in enumerate(names)}  # fmt: skip
    question = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
    report = fg.monitor(counts, question | {"monitor": {"rules": ["selection_rate >= 0.1"]}})
    assert (report.periods[-1] != names[-1]) == alone
    assert any(each.problem.value == "misdated period" for each in report.findings) == alone


def spell(path: Path) -> None:
    """Write every other F as f."""
    header, *rows = path.read_text().splitlines()
    rows = ["f" + row[1:] if row[0] == "F" and i % 2 else row for i, row in enumerate(rows)]
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize("role", ["sensitive"])
def test_days_with_a_code_that_is_recoded_by_now_are_replaced_one_by_one(tmp_path, role):
    """The recoding alone ended with no alarm, though stored days still counted -1 as young."""
    rule = {"metric": "selection_rate.difference", "between": [-0.9, 0.9]}
    spec = {"prediction": "p", "positive": 1, "sensitive": "sex", "monitor": {"rules": [rule]}}
    spec |= {role: {"column": "age", "cuts": [30]}}
    recode = {"recode": {"age": {"unknown": [-1]}}}
    rng, history = np.random.default_rng(3), tmp_path / "history"
    for name, kept in {"plain": spec, "recoded": spec | recode}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
    for i in range(1, 5):
        age, p, sex = (
            rng.integers(20, 70, 300),
            rng.integers(0, 2, 300),
            rng.choice(["F", "M"], 300),
        )
        age[:60] = -1 if i in (2, 3) else age[:60]
        rows = [f"{a},{b},{c}" for a, b, c in zip(age, p, sex, strict=True)]
        (tmp_path / f"{i}.csv").write_text("\n".join(["age,p,sex", *rows]))

    def add(i, *args):
        data, period = tmp_path / f"{i}.csv", f"2026-01-0{i}"
        return fairgauge("monitor", "run", history, data, "--period", period, "-q", *args)

    assert add(1, "-c", tmp_path / "plain.json").exit_code == 0
    assert add(2).exit_code == 0
    counted = tmp_path / "2026-01-03.cube.json"
    fairgauge("count", tmp_path / "3.csv", "-c", tmp_path / "plain.json", "-o", counted)
    assert fairgauge("monitor", "import", history, counted).exit_code == 0
    new = add(4, "-c", tmp_path / "recoded.json")
    held = "nothing is decided yet: 'age' holds '-1' in the rows of"
    assert f"{held} '2026-01-02', '2026-01-03', which the specification recodes" in new.stderr
    assert "Warning: the specification changed (recode)\n" in new.stderr
    first = add(2, "--replace")
    assert f"{held} '2026-01-03', " in first.stderr
    assert (new.exit_code, first.exit_code) == (3, 3)
    for command in ("status", "doctor"):
        assert fairgauge("monitor", command, history).exit_code == 2
    last = add(3, "--replace")
    assert (last.exit_code, last.stdout.startswith("NO ALARM")) == (0, True), last.output


OUTCOMES = 'approved = {1 = ["1", "yes"], 0 = ["0", "no"]}\n'
OUTCOMES += 'predicted = {1 = ["1", "yes"], 0 = ["0", "no"]}\n'


@pytest.fixture
def coded_days(folder):
    """A file of 14 days with their dates, of which two write their outcomes in words."""
    rng = np.random.default_rng(8)
    every, plain = ["day,sex,department,approved,predicted"], []
    for i in range(14):
        name = f"2026-02-{i + 1:02d}"
        write_day(folder / f"{name}.csv", rng, shift=0.0)
        header, *rows = (folder / f"{name}.csv").read_text().splitlines()
        plain += [f"{name},{row}" for row in rows]
        if i in (5, 9):
            rows = [row.replace(",0", ",no").replace(",1", ",yes") for row in rows]
            (folder / f"{name}.words.csv").write_text("\n".join([header, *rows]) + "\n")
        every += [f"{name},{row}" for row in rows]
    (folder / "all.csv").write_text("\n".join(every) + "\n")
    (folder / "history").rename(folder / "other")
    return folder


def test_stored_days_whose_outcomes_are_in_other_words_are_repaired_one_by_one(coded_days):
    folder, config = coded_days, coded_days / "monitor.toml"
    counted = fairgauge(
        "count", folder / "all.csv", "-c", config, "--by", "day", "-o", folder / "d"
    )
    named = "'2026-02-06', '2026-02-10': column 'approved' holds 'no', 'yes', and none of these is"
    assert f"Warning: the periods {named} known from 2026-02-01 ('0', '1')" in counted.stderr
    imported = fairgauge("monitor", "import", folder / "history", folder / "d/*.json")
    assert f"Warning: the periods {named}" in imported.stderr
    status = fairgauge("monitor", "status", folder / "history", "-c", config)
    assert (status.exit_code, named in status.stderr) == (2, True)
    # as the error advises
    config.write_text(CONFIG.replace("[monitor]", f"[recode]\n{OUTCOMES}[monitor]", 1))
    status = fairgauge("monitor", "status", folder / "history", "-c", config)
    assert "'approved' holds 'no', 'yes' in the rows of '2026-02-06', '2026-02-10'" in status.stderr
    same = run(folder, "2026-02-10.words.csv", "2026-02-03", "-c", config, "--replace")
    assert same.exit_code == 3
    run(folder, "2026-02-03.csv", "2026-02-03", "-c", config, "--replace")
    first = run(folder, "2026-02-06.words.csv", "2026-02-06", "-c", config, "--replace")
    assert "2026-02-06 is stored, and nothing is decided yet: " in first.stderr
    assert first.exit_code == 3
    last = run(folder, "2026-02-10.words.csv", "2026-02-10", "-c", config, "--replace", "-q")
    assert (last.exit_code, last.stdout.startswith("NO ALARM")) == (0, True), last.output


def test_an_import_of_other_counts_names_the_command_that_replaces_them(folder):
    counts = folder / "2026-01-02.cube.json"
    fairgauge("count", folder / "3.csv", "-c", folder / "monitor.toml", "-o", counts)
    result = fairgauge("monitor", "import", folder / "history", counts)
    assert result.exit_code == 2
    assert "replace them (fairgauge monitor run ... --replace)" in " ".join(result.stderr.split())
    assert run(folder, counts.name, "2026-01-02", "--replace").exit_code == 0


def test_the_doctor_states_what_may_be_wrong_and_ends_with_a_code(folder):
    healthy = fairgauge("monitor", "doctor", folder / "history", "-q")
    assert (healthy.exit_code, healthy.stdout) == (0, 'NOTHING FOUND  History of loans "2026"\n')
    spell(folder / "3.csv")
    run(folder, "3.csv", "2026-01-06")
    before = texts_in(folder / "history")
    result = fairgauge("monitor", "doctor", folder / "history", "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["schema"] == "fairgauge.history_health/2"
    assert [(e["problem"], e["period"], e["value"]) for e in found["findings"]] == [
        ("gap", "2026-01-05", None),
        ("new value", "2026-01-06", "f"),
    ]
    assert "which reads like “F”" in found["findings"][1]["says"]
    assert texts_in(folder / "history") == before
    assert fairgauge("monitor", "doctor", folder / "history", "--at", "2026-01-03").exit_code == 0
    absent = fairgauge("monitor", "doctor", folder / "nowhere")
    assert (absent.exit_code, "there is no history" in absent.stderr) == (2, True)


def write_payments(path: Path, *, times: int = 1, day: int = 0) -> None:
    """Write rows of few cells that an amount tells apart, each of them several times."""
    rng = np.random.default_rng(day)
    rows = [
        f"{'FM'[i % 2]},A,{i // 2 % 2},{i // 4 % 2},{amount}"
        for i, amount in enumerate(rng.integers(10_000, size=150 + 3 * day))
    ]
    text = "\n".join(["sex,department,approved,predicted,amount", *rows * times])
    path.write_text(f"{text}\n", encoding="utf-8")


def test_rows_that_stand_twice_are_not_silently_green(tmp_path):
    """The counts of few cells do not show it: the rows do, and the history keeps it."""
    (tmp_path / "monitor.toml").write_text(CONFIG.replace("[-0.05, 0.05]", "[-0.9, 0.9]"))
    history, rows = tmp_path / "history", tmp_path / "day.csv"

    def run(day: int, *more: str, times: int = 1):
        write_payments(rows, times=times, day=day)
        return fairgauge("monitor", "run", history, rows, "--period", f"2026-01-0{day}", "-q",
                         "-c", tmp_path / "monitor.toml", *more)  # fmt: skip

    def found() -> list[tuple[str, str, float | None]]:
        every = fg.monitor_doctor(history).findings
        return [(str(each.problem), each.period, each.expected) for each in every]

    assert "as if every row stood" not in run(1).stderr
    result = run(2, "-o", str(tmp_path / "m.prom"), "-o", str(tmp_path / "m.md"), times=2)
    assert result.exit_code == 3, result.output  # nothing passes
    assert "multiples of 2 (312 rows), as if every row stood 2 times" in result.stderr
    gauge = 'fairgauge_rows_suspected{model="loans \\"2026\\"",problem="doubled rows"} 1'
    assert gauge in (tmp_path / "m.prom").read_text("utf-8")
    assert "as if every row stood 2 times" in (tmp_path / "m.md").read_text("utf-8")
    run(3)
    assert found() == [("doubled rows", "2026-01-02", 2.0)]
    assert fairgauge("monitor", "doctor", history, "-q").exit_code == 1
    again = run(2, times=2)
    assert "as if every row stood 2 times" in again.stderr
    run(2, "--replace")
    assert found() == []

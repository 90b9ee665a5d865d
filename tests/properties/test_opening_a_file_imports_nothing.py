"""Whatever a file names, opening it imports nothing but fairgauge and its libraries.

Everything that a file may hold names the metric of a module that stands beside it.
"""

import json
import subprocess
import sys
import zipfile
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.every_result import result
from tests.monitored_days import RATIO, asked, days

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.cli import main
from fairgauge.cube.cube import _digest
from fairgauge.results.shown_result import result_classes
from fairgauge.sharing.sealing import COUNTS, MANIFEST, REPORT, digest

NAMES = {row.name for row in (*METRICS, *RATES)}
NAMED = "stranger_code:metric"
QUESTION = {"label": "y", "prediction": "p", "sensitive": "sex"}
ROWS = {"y": [1, 0, 1, 0] * 9, "p": [1, 1, 0, 0] * 9, "sex": ["F", "F", "M", "M"] * 9}
KNOWN = {*sys.stdlib_module_names, *packages_distributions(), "fairgauge", "fairgauge_check",
         "fairgauge_cloud", "tests"}  # fmt: skip


class Watcher:
    """Notes every module that is asked for and is none of Python, fairgauge or a library."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find_spec(self, name: str, *_: object) -> None:
        top = name.partition(".")[0]  # libraries ask for others that are not installed
        if top not in KNOWN and PathFinder.find_spec(top) is not None:
            self.asked.append(name)


@pytest.fixture
def strangers(tmp_path, monkeypatch):
    (tmp_path / "stranger_code.py").write_text(
        "import fairgauge as fg\nmetric = fg.rate('stranger', of=fg.TP, among=fg.TP + fg.FN)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    pl.DataFrame(ROWS).write_csv("rows.csv")
    watcher = Watcher()
    monkeypatch.setattr(sys, "meta_path", [watcher, *sys.meta_path])
    yield tmp_path
    assert watcher.asked == []
    assert "stranger_code" not in sys.modules


def hostile(found: Any, *, everywhere: bool = False) -> Any:
    """Return plain values in which what names a metric, or every text, names one of a module."""
    if isinstance(found, dict):
        return {key: hostile(each, everywhere=everywhere) for key, each in found.items()}
    if isinstance(found, list):
        return [hostile(each, everywhere=everywhere) for each in found]
    if not isinstance(found, str) or found.startswith("fairgauge."):
        return found
    name, *rest = found.split(" ")
    return " ".join([NAMED, *rest]) if name in NAMES else NAMED if everywhere else found


def asks_for_it(found: dict[str, Any]) -> dict[str, Any]:
    """Return a saved result whose question names it, too."""
    for key in ("spec", "specification", "question", "asked"):
        if isinstance(found.get(key), dict):
            found[key] |= {"metrics": [NAMED], "rules": [{"metric": NAMED, "at_least": 0.1}]}
    return found


def cube_that_asks() -> dict[str, Any]:
    made = fg.count(pl.DataFrame(ROWS), **QUESTION, metrics="DI", rules=["DI >= 0.8"]).to_dict()
    found = asks_for_it(made | {"plan": asks_for_it(made["plan"])})
    return found | {"digest": _digest({k: v for k, v in found.items() if k != "digest"})}


def run(*args: str) -> Any:
    done = CliRunner().invoke(main, list(args))
    assert done.exit_code in (0, 1, 2, 3), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


KINDS = (
    "data alone", "compared reports", "models", "thresholds", "no alarm", "check", "why", "find",
    "pairs", "plan", "history", "alternatives",
)  # fmt: skip


def test_every_kind_of_result_is_among_them():
    kinds = {type(result(name)) for name in KINDS}
    ours = {kind for kind in result_classes().values() if kind.__module__.startswith("fairgauge.")}
    assert ours - kinds == set()  # other tests make kinds of their own


@pytest.mark.parametrize("name", KINDS)
def test_of_a_saved_result(strangers, name):
    (strangers / "saved.json").write_text(json.dumps(asks_for_it(hostile(result(name).to_dict()))))
    run("render", "saved.json")


def test_of_a_saved_report(strangers):
    cube = fg.count(pl.DataFrame(ROWS), **QUESTION)
    cube.save("saved.cube.json")
    report = fg.audit(cube, metrics="DI", rules=["DI >= 0.8"]).to_dict()
    for everywhere in (False, True):
        found = asks_for_it(hostile(report, everywhere=everywhere))
        (strangers / "saved.json").write_text(json.dumps(found))
        for command in ("render saved.json -o a.html", "compare saved.json saved.json",
                        "explore saved.json -o b.html", "check saved.json",
                        "seal saved.json saved.cube.json -o a.fairgauge"):  # fmt: skip
            run(*command.split())


@pytest.mark.parametrize(
    "command",
    ["audit", "count", "explore", "compare-models", "thresholds", "why", "merge", "protect",
     "validate", "render", "find --metrics accuracy", "monitor import history --period 2026-01-01"],
)  # fmt: skip
def test_of_counts(strangers, command):
    (strangers / "a.cube.json").write_text(json.dumps(cube_that_asks()))
    to = {"merge": "b.cube.json", "explore": "b.html"}.get(command)
    done = run(*command.split(), "a.cube.json", *(["-o", to] if to else []))
    assert done.exit_code == 2


def test_of_a_sealed_bundle(strangers):
    cube = fg.count(pl.DataFrame(ROWS), **QUESTION, rules=["DI >= 0.8"])
    fg.seal(fg.audit(cube), cube, "a.fairgauge")
    with zipfile.ZipFile("a.fairgauge") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[COUNTS] = json.dumps(cube_that_asks()).encode()
    parts[REPORT] = json.dumps(asks_for_it(hostile(json.loads(parts[REPORT])))).encode()
    manifest = json.loads(parts[MANIFEST])
    manifest["parts"] = {name: digest(parts[name]) for name in (COUNTS, REPORT)}
    parts[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile("a.fairgauge", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    run("verify", "a.fairgauge")
    run("verify", "a.fairgauge", "--signed-by", "ed25519:" + "0" * 64)
    run("render", "a.fairgauge", "-o", "a.html")


def test_of_a_history(strangers):
    history = fg.History("history")
    for name, counts in list(days(3, 3, 0.4).items()):
        history.add(name, counts)
    fg.monitor(history, asked(RATIO)).to_json()
    from fairgauge.monitoring.monitor_spec import read_monitor_spec

    history.keep_spec(read_monitor_spec(asked(RATIO)))
    for path in (strangers / "history").rglob("*.json"):
        if not path.name.endswith(".cube.json"):
            path.write_text(json.dumps(hostile(json.loads(path.read_text()))))
    run("monitor", "status", "history")
    run("monitor", "doctor", "history")
    run("monitor", "run", "history", "rows.csv", "--period", "2026-02-01")


SPECIFICATION: dict[str, Any] = QUESTION | {
    "metrics": [NAMED],
    "rules": [f"{NAMED}.ratio >= 0.8", {"metric": NAMED, "at_least": 0.1}],
    "monitor": {"rules": [{"metric": NAMED, "within": 0.1, "of": "a.cube.json"}]},
}


@pytest.mark.parametrize("part", ["metrics", "rules", "monitor"])
@pytest.mark.parametrize(
    "command",
    ["audit rows.csv", "count rows.csv", "explore rows.csv -o a.html", "compare-models rows.csv",
     "thresholds rows.csv", "why rows.csv", "validate rows.csv",
     "find rows.csv --metrics accuracy", "pairs rows.csv", "check rows.csv",
     "monitor run history rows.csv --period 2026-01-01", "monitor status history"],
)  # fmt: skip
def test_of_a_specification(strangers, part, command):
    keys = {key: each for key, each in SPECIFICATION.items() if key in (part, *QUESTION)}
    (strangers / "a.json").write_text(json.dumps(keys))
    run(*command.split(), "-c", "a.json")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", f"metrics: ['{NAMED}']\n"),
        ("a.toml", f'metrics = "{NAMED}"\n'),
        ("a.toml", f'label = "{NAMED}"\n[recode.sex]\nF = ["{NAMED}"]\n'),
    ],
)
def test_of_every_format_of_a_specification(strangers, name, text):
    (strangers / name).write_text(text)
    run("audit", "rows.csv", "-c", name)


def test_of_configurations_of_services(strangers):
    clarify = {"version": "1.0", "dataset_type": "text/csv", "label": "y", "headers": [*ROWS],
               "label_values_or_threshold": [1], "facet": [{"name_or_index": "sex"}],
               "methods": {"pre_training_bias": {"methods": [NAMED]}},
               "predictor": {"model_name": NAMED, "content_type": "text/csv"}}  # fmt: skip
    (strangers / "analysis_config.json").write_text(json.dumps(clarify))
    run("clarify", "rows.csv", "analysis_config.json")
    for name, text in (("v.json", json.dumps({"target_field_name": NAMED})),
                       ("v.yaml", f"pipelineSpec: {NAMED}\n")):  # fmt: skip
        (strangers / name).write_text(text)
        run("vertex", "rows.csv", name)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".md", ".html"])
def test_of_a_table(strangers, suffix):
    rows = pl.DataFrame({NAMED: ["F", "M"] * 9, "p": [NAMED, "x"] * 9, "n": [100] * 18})
    path = strangers / f"a{suffix}"
    {".parquet": rows.write_parquet, ".jsonl": rows.write_ndjson}.get(suffix, rows.write_csv)(path)
    run("audit", path.name, "--prediction", "p", "--positive", NAMED, "--sensitive", "n")
    run("check", path.name)


def test_of_a_module_beside_the_file(strangers):
    (strangers / "a.cube.json").write_text(json.dumps(cube_that_asks()))
    (strangers / "stranger_code.py").write_text("open('imported', 'w').close()\n")
    (strangers / "a.toml").write_text(f'label = "y"\nsensitive = "sex"\nmetrics = "{NAMED}"\n')
    for asking in (["a.cube.json"], ["rows.csv", "-c", "a.toml"]):
        command = [sys.executable, "-m", "fairgauge", "audit", *asking]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 2
        assert not (strangers / "imported").exists()


def test_of_modules_in_the_working_folder(strangers):
    for name in ("duckdb", "numpy", "click", "typing", "json", "fairgauge_cli", "secrets"):
        (strangers / f"{name}.py").write_text(f"open('imported-{name}', 'w').close()\n")
    (strangers / "a.toml").write_text(
        f'label = "y"\nprediction = "p"\nsensitive = "sex"\nmetrics = "{NAMED}"\n'
    )
    command = [sys.executable, "-m", "fairgauge", "audit", "rows.csv", "-c", "a.toml"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
    assert not list(strangers.glob("imported-*"))

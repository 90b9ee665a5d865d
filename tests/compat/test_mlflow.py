"""Reports in MLflow: what a real local store holds after a log."""

import json
import subprocess
import sys

import pytest
from client_libraries import ask

import fairgauge as fg


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return ask("mlflow", "mlflow_runs.py", str(tmp_path_factory.mktemp("store")))


def test_the_report_is_an_artifact_as_it_was(store):
    logged = store["logged"]
    files = ["report.html", "report.json", "report.md"]
    assert logged["artifacts"] == [f"fairgauge/{name}" for name in files]
    report = fg.Report.from_dict(logged["report"])
    assert report.verdict == logged["verdict"]
    assert report.data.rows == 400


def test_the_page_of_explore_is_an_artifact_where_it_has_no_small_counts(store):
    report = store["logged"]["report"]
    assert min(n for each in report["groups"] for n in each["counts"].values()) < 10
    assert "fairgauge/explore.html" in store["explored"]["artifacts"]


def test_every_estimate_is_a_metric(store):
    held = store["logged"]
    report = fg.Report.from_dict(held["report"])
    finite = [each.value for each in report.estimates if each.value is not None]
    verdicts = {name: n for name, n in held["metrics"].items() if "/rules/" in name}
    assert sum(verdicts.values()) == len(report.verdicts) == 3
    limits = {name for name in held["metrics"] if name.endswith(("/low", "/high"))}
    assert 0 < len(limits) <= 2 * len(finite)  # an end may be infinite
    values = [n for name, n in held["metrics"].items() if name not in {*verdicts, *limits}]
    assert sorted(values) == pytest.approx(sorted(finite))
    ratio = report["selection_rate.ratio", "sex", "F"].value
    assert held["metrics"]["fairgauge/selection_rate.ratio/sex/F"] == pytest.approx(ratio)


def test_groups_whose_names_mlflow_does_not_allow_stay_apart(store):
    names = [name for name in store["logged"]["metrics"] if "accuracy.difference" in name]
    names = [name for name in names if not name.endswith(("/low", "/high"))]
    assert names == [f"fairgauge/accuracy.difference/sex/{end}" for end in ("F", *WRITTEN)]


WRITTEN = ("M_ _ co", "M_ _ co 2")
"""``M: & co`` and ``M? & co``, in the characters that MLflow allows."""


def test_examples_in_docstrings_run(store):
    failed, attempted = store["examples"][:2]
    assert attempted > 0
    assert failed == 0


def test_without_mlflow_the_command_that_installs_it_is_named():
    program = (
        "import sys; sys.modules['mlflow'] = None\n"
        "import fairgauge as fg, json\n"
        "try: fg.mlflow\n"
        "except fg.MissingExtra as error: print(json.dumps(str(error)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install 'fairgauge[mlflow]'" in json.loads(done.stdout)

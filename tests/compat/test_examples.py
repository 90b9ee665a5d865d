"""The examples of pipelines: the one of dbt is built by the real dbt."""

import ast
import re
import shutil
from pathlib import Path

import pytest
from client_libraries import ask

from fairgauge.catalogue.lookup import find_metric

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_dbt_builds_the_verdicts_and_its_test_finds_the_rule_that_fails(tmp_path):
    project = tmp_path / "project"
    shutil.copytree(EXAMPLES / "dbt", project)
    built = ask("dbt", "dbt_build.py", str(project))
    assert built["statuses"] == {
        "predictions": "success", "fairness_verdicts": "success", "rules_are_met": "fail",
    }  # fmt: skip
    verdicts = {(rule, group): outcome for rule, group, outcome in built["verdicts"]}
    assert verdicts == {  # F and M are each other's reference: one comparison
        ("selection_rate.ratio >= 0.8", "F"): "fail",
        ("accuracy >= 0.6", "F"): "pass",
        ("accuracy >= 0.6", "M"): "pass",
    }


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.name)
def test_options_of_examples_are_options(path):
    """What cannot be run here for want of a scheduler names options that there are."""
    from fairgauge.question.options import BY_NAME

    tree = ast.parse(path.read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    audits = [call for call in calls if ast.unparse(call.func) == "fg.audit"]
    assert audits
    for call in audits:
        assert {keyword.arg for keyword in call.keywords} <= set(BY_NAME)


# ---- the moving guides name metrics that exist; tests/docs runs their code
GUIDES = Path(__file__).resolve().parents[2] / "docs" / "moving"
NAMES = ["clarify", "model-monitor", "vertex", "smclarify", "fairlearn", "aif360", "aequitas"]


def test_every_guide_is_tested() -> None:
    assert {path.stem for path in GUIDES.glob("from-*.md")} == {f"from-{name}" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_that_is_named_exists(name: str) -> None:
    text = (GUIDES / f"from-{name}.md").read_text(encoding="utf-8")
    named = set(
        re.findall(
            r"\b(?:vertex\.\w+|[a-z_0-9]+\.(?:largest_gap|smallest_ratio|difference|ratio))\b", text
        )
    )
    for each in named - {"mf.difference", "mf.ratio"}:
        assert find_metric(each).name == each

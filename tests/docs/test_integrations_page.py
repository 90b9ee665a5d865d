"""The page on integrations: its YAML is read, and its names are real."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_its_yaml_has_inputs_and_hooks_that_there_are():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    workflow, hooks = (yaml.safe_load(block) for block in blocks("yaml"))
    (_, step) = workflow["jobs"]["fairness"]["steps"]
    assert set(step["with"]) <= set(action["inputs"])
    defined = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in hooks["repos"][0]["hooks"]} == defined


def test_its_examples_are_there():
    for path in re.findall(r"tree/main/(examples/[\w./]+)", PAGE):
        assert (ROOT / path).exists(), path

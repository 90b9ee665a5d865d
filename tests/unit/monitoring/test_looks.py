"""Looks at a history change nothing: every later answer is as if nobody had looked."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.results.monitor_results import MonitorState

RECALL = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
SELECTED = {"metric": "selection_rate.difference", "between": [-0.01, 0.01]}
COUNTED = QUESTION | {"sensitive": ["sex", "region"], "reference": "largest"}
NAMES = day_names(12)
CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "start": {"start": NAMES[8]},
    "start after all": {"start": "2026-06-01"},
    "rules": {"rules": [SELECTED]},
    "labels_within": {"labels_within": 1},
    "labels": {"labels_within": None},
    "alpha": {"alpha": 0.2, "horizon": 30},
}


def asked(**settings: Any) -> dict[str, Any]:
    return COUNTED | {"monitor": {"rules": [RECALL], "labels_within": 7} | settings}


def day(seed: int, *, labelled: bool) -> fg.Cube:
    draw = np.random.default_rng(seed)
    values = {name: draw.integers(0, 2, 100) for name in ("label", "prediction")}
    rows = pd.DataFrame(
        {"sex": draw.choice(["F", "M"], 100), "region": draw.choice(list("NS"), 100)}
    )
    return fg.count(rows.assign(**values | ({} if labelled else {"label": None})), **COUNTED)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where a history is of twelve days whose labels came two nights later."""
    history = fg.History(tmp_path_factory.mktemp("followed") / "history")
    history.keep_spec(read_monitor_spec(asked()))
    for i, name in enumerate(NAMES):
        history.add(name, day(i, labelled=False))
        fg.monitor(history)
        if i >= 2:
            history.add(NAMES[i - 2], day(i - 2, labelled=True), replace=True)
            fg.monitor(history)
    assert fg.monitor(history).state is MonitorState.NO_ALARM
    return history.name


@pytest.fixture
def held(followed: str, tmp_path: Path) -> fg.History:
    return fg.History(shutil.copytree(followed, tmp_path / "history"))


def texts(folder: Path) -> dict[str, bytes]:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


@pytest.mark.parametrize("added", [False, True], ids=["followed", "with a day that no run saw"])
def test_status_and_doctor_write_nothing_whatever_they_are_asked(
    held: fg.History, tmp_path: Path, added: bool
) -> None:
    """A later start dropped the learned delays of the days before it, so that labels were due."""
    if added:
        held.add("2026-01-13", day(12, labelled=False))
    before = texts(tmp_path / "history")
    looks: list[list[str]] = [[], ["--at", NAMES[5]]]
    for name, change in CHANGES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(asked(**change)))
        looks.append(["-c", str(tmp_path / f"{name}.json")])
    for command in ("status", "doctor"):
        for look in looks:
            ran = CliRunner().invoke(main, ["monitor", command, held.name, *look, "--quiet"])
            assert ran.exit_code in (0, 1, 3), ran.output
            assert texts(tmp_path / "history") == before, (command, look)

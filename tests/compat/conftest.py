"""Folders of files as other systems have them, and the rows of a real monitoring run."""

from pathlib import Path
from typing import Any

import pytest
from clarify_cases import MONITORED, both, cases, config
from folders import Folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path)


@pytest.fixture
def monitored(folder: Folder) -> dict[str, Any]:
    """Write the rows of the real monitoring run, and return a configuration for them."""
    folder.csv("data.csv", [("facet", "label", "predicted"), *cases(MONITORED)])
    return config(predicted_label="predicted", methods=both())

"""Plug-ins: the example of the documentation, installed, and ours, which help does not import."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.repository.sources import ROOT

import fairgauge
import fairgauge.plugins

PAGE = (ROOT / "docs" / "how-to" / "plug-ins.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```(python|toml|console)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
PEOPLE = "sex,y\n" + "F,1\nM,0\nM,1\n" * 10


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Install the example, as pip leaves it: the module, and its entry points."""
    project = tomllib.loads(BLOCKS["toml"])["project"]
    site = tmp_path / "site"
    info = site / f"fairgauge_shares-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (site / "fairgauge_shares.py").write_text(BLOCKS["python"], encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        f"Summary: {project['description']}\n"
    )
    groups = project["entry-points"].items()
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items())
        for group, named in groups
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "people.csv").write_text(PEOPLE)
    return site


def run(site: Path, *args: str) -> str:
    path = os.pathsep.join(
        [str(site), str(Path(fairgauge.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    done = subprocess.run(
        [sys.executable, "-c", "from fairgauge.cli import main; main()", *args],
        cwd=site.parent, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_is_installed_and_works(site: Path) -> None:
    assert "  shares " in run(site, "--help")
    for line in BLOCKS["console"].splitlines():
        run(site, *line.removeprefix("$ fairgauge ").split())
    saved = json.loads((site.parent / "shares.json").read_text(encoding="utf-8"))
    assert saved["schema"] == "shares/1"
    assert saved["groups"] == [{"group": "F", "n": 10}, {"group": "M", "n": 20}]
    assert saved["data"] == {"source": "people.csv", "rows": 30}
    assert (site.parent / "shares.csv").read_text(encoding="utf-8").splitlines()[1] == "F,10"
    assert "The largest group is M" in run(site, "render", "shares.json")
    assert "The largest group is M" in (site.parent / "shares.html").read_text(encoding="utf-8")
    (site.parent / "asked.toml").write_text('sensitive = ["sex"]\nwhere = {y = [1]}\n')
    assert "The largest group is F" in run(site, "shares", "people.csv", "-c", "asked.toml")
    helped = run(site, "shares", "--help")
    assert "Print how many rows each group of DATA has." in helped
    assert "--sensitive" in helped
    assert "--candidate" not in helped


def test_help_imports_no_plug_in(site: Path) -> None:
    (site / "fairgauge_shares.py").write_text("raise SystemExit('imported')\n")
    helped = run(site, "--help")
    assert "  shares           Print how many rows each group has." in helped
    assert "  clarify          Run a bias configuration of SageMaker Clarify." in helped


def test_public_names_of_plug_ins_are_these() -> None:
    for name in fairgauge.plugins.__all__:
        assert getattr(fairgauge.plugins, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Cubes'"):
        fairgauge.plugins.Cubes  # noqa: B018

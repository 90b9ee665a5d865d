"""Every code block of the documentation runs, and prints what the page shows.

After an intended change, run with FAIRGAUGE_UPDATE_GOLDEN=1 and read the diff. The pages on engines
are run in tests/parity, with the engines; the one on plug-ins in tests/repository.
"""

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from page_blocks import DOCS, Page, blocks, matches
from tests.object_servers import s3_bucket

from fairgauge.cli._demo_data import admissions, loans

ELSEWHERE = ("engines/", "metrics/", "peers.md", "reference/glossary.md", "how-to/plug-ins.md")
"""Pages that other tests run, and pages that are made as the site is built."""
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not path.relative_to(DOCS).as_posix().startswith(ELSEWHERE)
)
PAGES.append(DOCS.parent / "README.md")
TABLES = {"berkeley.csv": admissions(), "loans.csv": loans()}
"""What `fairgauge demo --output demo` writes, which every page may use."""

SERVERS = {"object-stores.md": "bank"}
"""Pages whose code needs a server, and the fixture that starts it."""


@pytest.fixture
def bank():
    with s3_bucket("bank"):
        yield


def name_of(path: Path) -> str:
    return path.relative_to(DOCS.parent).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_block_runs_and_prints_what_is_shown(path, tmp_path, monkeypatch, request):
    if path.name in SERVERS:
        request.getfixturevalue(SERVERS[path.name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "demo").mkdir()
    for name, table in TABLES.items():
        (tmp_path / "demo" / name).write_text(table, encoding="utf-8")
    for beside in path.parent.glob("*.csv"):
        shutil.copy(beside, tmp_path)
    text = path.read_text(encoding="utf-8")
    page = Page(name_of(path), text)
    printed = page.run()
    for name, function in page.names.items():
        if name.startswith("test_"):
            function()
    if printed != text and os.environ.get("FAIRGAUGE_UPDATE_GOLDEN"):
        path.write_text(printed, encoding="utf-8")
        return
    assert printed == text


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_extras_that_are_named_exist(path):
    known = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = known["project"]["optional-dependencies"]
    for named in re.findall(r"fairgauge\[([\w,]+)\]", path.read_text(encoding="utf-8")):
        assert set(named.split(",")) <= set(extras), named


def test_what_is_not_printed_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert Page("page", page).run() == page.replace("3", "2")
    page = "```console\n$ fairgauge metrics AD\nnothing\n```\n"
    assert "nothing" not in Page("page", page).run()
    with pytest.raises(AssertionError):
        Page("page", "```console\n$ fairgauge audit absent.csv\n```\n").run()
    with pytest.raises(AssertionError):
        Page("page", "```python\n>>> 1 + 1\n3\n```\n").run()
    with pytest.raises(AssertionError):
        blocks("```python\nnever closed\n")


def test_three_dots_stand_for_any_lines():
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert not matches("a\n...\nd\n", "a\nb\nc\n")
    assert not matches("a.c\n", "abc\n")

"""Every metric is on a reference page."""

import re
import sys
from pathlib import Path

import pytest

from fairgauge.catalogue.catalogue import METRICS, NAMES, RATES

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from make_metric_pages import pages, peers  # noqa: E402 - a script beside the pages


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


def test_every_row_is_told_with_a_worked_example(made: dict[str, str]) -> None:
    rates = {row.name for row in RATES}
    for row in (*RATES, *METRICS):
        base = row.name.rpartition(".")[0]
        page = made[f"{base if base in rates else row.name}.md"]
        page = re.sub(r"(`|\| )(\w+)\(\d+\)", r"\1\2", page)  # of a smaller top than the default
        assert "## Worked example" in page, row.name
        assert f"`{row.name}" in page or f"| {row.name} |" in page, row.name


def test_pages_are_short_and_their_links_hold(made: dict[str, str]) -> None:
    for name, text in {**made, "../peers.md": peers()}.items():
        if name not in ("index.md", "../peers.md"):
            assert len(text.splitlines()) <= 100, name
        for target in re.findall(r"\]\(([^)]+\.md)\)", text):
            assert target.removeprefix("metrics/") in made or target == "../peers.md", (
                name,
                target,
            )


def test_every_name_of_a_peer_has_a_cell_or_a_reason() -> None:
    text = peers()
    for each in NAMES:
        assert f"`{each.name}`" in text, each
        assert each.ours or f"| {each.tool} | `{each.name}` | {each.differs} |" in text

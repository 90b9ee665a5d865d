"""The README works on a package index page: commands exist, links and images are absolute."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)]+)\)", README)
OURS = re.compile(
    r"https://(?:github\.com/(?P<name>[\w-]+/[\w-]+)/blob|raw\.githubusercontent\.com/(?P<raw>[\w-]+/[\w-]+))"
    r"/main/(?P<path>[^#]+)(?:#(?P<part>[\w-]+))?"
)
SITE = "https://fairgauge.github.io/fairgauge/"


def test_the_two_commands_are_targets_of_make():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", README)) <= targets


@pytest.mark.parametrize("link", LINKS)
def test_links_are_absolute_and_lead_to_a_file_of_the_repository(link):
    if link.startswith(SITE):  # what the site is built with, which a page of it names
        page = (ROOT / "docs" / "how-to" / "page.md").read_text(encoding="utf-8")
        assert f'"../{link.removeprefix(SITE)}"' in page
        return
    found = OURS.fullmatch(link)
    assert found, "a page index resolves no relative link"
    assert (ROOT / found["path"]).is_file()
    if found["part"]:
        text = (ROOT / found["path"]).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.*)", text, re.MULTILINE)
        assert found["part"] in {
            re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles
        }


def test_links_lead_to_one_repository_which_is_that_of_the_package():
    names = {found["name"] or found["raw"] for link in LINKS if (found := OURS.fullmatch(link))}
    assert len(names) == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for label, url in project.get("urls", {}).items():
        if "github.com" in url:
            assert f"github.com/{next(iter(names))}" in url, label


def test_places_named_in_contributing_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/.]*[a-z_/])`", text))
    source = ROOT / "src" / "fairgauge"
    folders = (ROOT, ROOT / "src", source, source / "inference", ROOT / "tests" / "unit")
    assert [each for each in named if not any((top / each).exists() for top in folders)] == []


# ---- the page of what other tools do: every row names a release, and a test that is there
ROOT_TOOLS = Path(__file__).parents[2]
PAGE = (ROOT_TOOLS / "docs" / "reference" / "other-tools.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_a_row_names_a_release_and_the_test_that_holds_it(row):
    library, *_, test = map(str.strip, row)
    assert len(row) == 5
    assert re.search(r" \d", library)
    assert (ROOT_TOOLS / "tests" / test.strip("`")).is_file()

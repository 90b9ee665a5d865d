"""The site is built strictly: what would mislead a reader fails the build."""

import os
import re
import subprocess
import sys

import pytest
from page_blocks import DOCS

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build pages with one mistake each, under the configuration of the documentation."""
    source = tmp_path_factory.mktemp("pages")
    links = "[absent page](absent.md) [absent heading](fine.md#absent)"
    toctree = "```{toctree}\nfine\nlinks\nschema\n```\n"
    pages = {
        "index": f"# Index\n\n{toctree}", "fine": "# Fine\n", "links": f"# Links\n\n{links}\n",
        "orphan": "# Orphan\n", "schema": "# Schema\n\n<!-- schema: report -->\n",
    }  # fmt: skip
    for name, text in pages.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", str(DOCS)]
    command += ["-D", "html_theme=basic"]  # what the pages look like is of no account here
    done = subprocess.run(
        [*command, str(source), str(source / "built")], capture_output=True, text=True, check=False
    )
    return done, source / "built"


@pytest.mark.parametrize("mistake", ["absent.md", "fine.md#absent", "orphan.md"])
def test_a_mistake_fails_the_build(built, mistake):
    done, _ = built
    assert done.returncode != 0
    name = mistake.removesuffix(".md") if mistake == "orphan.md" else mistake.split("#")[-1]
    assert any(name in line for line in done.stderr.splitlines() if "WARNING" in line), done.stderr


def test_a_correct_page_has_no_warning(built):
    done, _ = built
    assert not [line for line in done.stderr.splitlines() if "fine.md:" in line.split("WARNING")[0]]


def test_tables_of_a_schema_are_made(built):
    page = (built[1] / "schema.html").read_text(encoding="utf-8")
    assert "estimates" in page
    assert "<table" in page


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    absent = [name for name in fg.__all__ if f"fairgauge.{name}" not in page and name[0] != "_"]
    assert not absent


@pytest.mark.parametrize("path", sorted(DOCS.rglob("index.md")), ids=lambda path: path.parent.name)
def test_an_index_page_links_every_page_of_its_navigation(path):
    """Navigation is hidden in the text; pages that exist in the built site alone link that."""
    text = path.read_text(encoding="utf-8")
    toctree = re.search(r"```{toctree}\n:hidden:\n\n(.*?)```", text, re.DOTALL)
    assert toctree
    entries = [re.sub(r".*<(.*)>", r"\1", line) for line in toctree[1].splitlines()]
    site = "https://fairgauge.github.io/fairgauge/"
    folder = path.parent.relative_to(DOCS)
    pages = [os.path.normpath(folder / entry) for entry in entries]
    missing = [
        entry for entry, page in zip(entries, pages, strict=True)
        if f"({entry}.md)" not in text and f"({site}{page}.html)" not in text
    ]  # fmt: skip
    assert not missing


_MADE = {"options", "peers", "reference/glossary", "metrics/index", "_static/audit"}


@pytest.mark.parametrize("path", [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))],
                         ids=lambda path: path.name)  # fmt: skip
def test_every_link_leads_to_a_file_or_to_a_page_of_the_site(path):
    """Links to pages that exist in the built site alone led to no file of the repository."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    site = "https://fairgauge.github.io/fairgauge/"
    made = _MADE | {f"metrics/{row.name}" for row in (*METRICS, *RATES)}
    absent = []
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        page = link.removeprefix(site).removesuffix(".html")
        if link.startswith(site):
            known = not page or page in made or (DOCS / f"{page}.md").exists()
        else:
            known = "://" in link or link.startswith("mailto:") or (path.parent / link).exists()
        absent += [] if known else [link]
    assert not absent

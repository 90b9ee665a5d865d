"""The language of reports: the field's standard terms, and none of the words that replace them.

Run this file as a script to list the places that use such words.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
import tokenize
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairgauge.catalogue.catalogue import METRICS, RATES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "fairgauge"

TERMS = tomllib.loads((ROOT / "docs" / "terms.toml").read_text(encoding="utf-8"))["term"]
INSTEAD = {word: each["term"] for each in TERMS for word in each.get("never", ())}
"""Words that reports never use, and what they write instead."""

NAMES = re.compile(
    r"""(?mx)
    \bsays\s*= | \.says\b | ["'`]says["'`] | ^\s*(says|everyone)\ : | ,\ says, | ``\w+``
    | cannot\ tell | CANNOT\ TELL | what-an-audit-cannot-say
    """
)
"""Public names and code in texts, which keep their words."""


def offences(text: str) -> list[str]:
    """Return what a text has that it should not, each with what to write instead."""
    text = NAMES.sub(" ", text)
    return [
        f"{match[0]!r}: write {instead}"
        for word, instead in INSTEAD.items()
        for match in re.finditer(word, text, re.IGNORECASE)
    ]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module, docstrings included, each with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "says":
            yield node.lineno, node.value


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments of a module, each with its line."""
    with path.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def template_text(path: Path) -> str:
    """Return what a template or script shows: no tags, no code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return " ".join(re.findall(r'"([^"]{4,})"', text))
    return re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<[^>]*>", " ", text)


MODULES = sorted(SOURCE.rglob("*.py"))
TEMPLATES = sorted((SOURCE / "render" / "templates").glob("*.j2")) + sorted(
    (SOURCE / "render" / "templates").glob("*.js")
)
GOLDEN = sorted(
    path
    for path in (ROOT / "tests" / "golden").iterdir()
    if path.suffix in (".txt", ".md", ".xml", ".html")
)
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs").glob("*.py"),
    ]
)


def of_module(path: Path) -> Iterator[str]:
    """Yield the offences of a module's texts and comments, each with its place."""
    for line, text in (*strings(path), *comments(path)):
        for each in offences(text):
            yield f"{path.relative_to(ROOT)}:{line}: {each}"


def of_page(path: Path) -> Iterator[str]:
    """Yield the offences of a page, each with its place."""
    for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for each in offences(text):
            yield f"{path.relative_to(ROOT)}:{line}: {each}"


def of_catalogue() -> Iterator[str]:
    """Yield the offences of the catalogue's texts, those of made rows included."""
    for row in (*RATES, *METRICS):
        texts = (row.says, getattr(row, "positive", ""), getattr(row, "edges", ""))
        for each in (word for text in texts for word in offences(str(text))):
            yield f"catalogue {row.name}: {each}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_use_the_standard_terms(path):
    assert not list(of_module(path))


def test_the_catalogue_uses_the_standard_terms():
    assert not list(of_catalogue())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_use_the_standard_terms(path):
    assert not list(of_page(path))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_use_the_standard_terms(path):
    assert not offences(template_text(path))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_approved_reports_use_the_standard_terms(path):
    text = re.sub(r"(?s)<(style|script).*?</\1>", "", path.read_text(encoding="utf-8"))
    assert not offences(text)


def test_a_word_that_is_never_used_is_found():
    assert offences("differs beyond doubt from the rest, 3.1 points lower") == [
        "'beyond doubt': write statistically significant",
        "'points lower': write percentage points, pp",
        "'the rest': write all other groups",
    ]
    assert offences("it says so") == ["'says': write reports, describes, states"]
    assert not offences("3.1 percentage points lower than other groups; estimate.says, says=")


def test_the_glossary_is_made_from_the_same_terms():
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "docs" / "make_glossary_page.py"))["page"]()
    assert page == made, "run make docs"


if __name__ == "__main__":
    every = [of_catalogue(), *map(of_module, MODULES), *map(of_page, PAGES)]
    sys.stdout.writelines(f"{each}\n" for found in every for each in found)

"""The language of reports: the field's standard terms, and none of the words that replace them."""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.repository.sources import MODULES, ROOT, SOURCE, nodes_of, text_of

from fairgauge.catalogue.catalogue import METRICS, RATES

TERMS = tomllib.loads((ROOT / "docs" / "terms.toml").read_text(encoding="utf-8"))["term"]
INSTEAD = {word: each["term"] for each in TERMS for word in each.get("never", ())}
"""Words that reports never use, and what they write instead."""
ANY = re.compile("|".join(INSTEAD), re.IGNORECASE)
"""One search that nearly every text fails, before the search for each word."""

NAMES = re.compile(
    r"""(?mx)
    \bsays\s*= | \.says\b | ["'`]says["'`] | ^\s*(says|everyone)\ : | ,\ says, | ``\w+``
    | cannot\ tell | CANNOT\ TELL | what-an-audit-cannot-say
    | \b(say|said|tell)\b(?=\s*[(,=]) | ["'`\[]\s*everyone\ rows\b  # functions and keys of scripts
    """
)
"""Public names and code in texts, which keep their words."""
JINJA = re.compile(r"(?s)\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<[^>]*>")


def offences(text: str) -> list[str]:
    """Return what a text has that it should not, each with what to write instead."""
    text = NAMES.sub(" ", text)
    if not ANY.search(text):
        return []
    return [
        f"{match[0]!r}: write {instead}"
        for word, instead in INSTEAD.items()
        for match in re.finditer(word, text, re.IGNORECASE)
    ]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module, docstrings included, each with its line."""
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in ("say", "says", "everyone"):  # names in code
                continue
            yield node.lineno, node.value


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments of a module that may hold such a word, each with its line."""
    # the tokenizer alone knows what is a comment, and is slow: nearly no file needs it
    if any("#" in line and ANY.search(line) for line in text_of(path).splitlines()):
        for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def shown_text(path: Path) -> str:
    """Return what a template, a script or a report shows: no tags, no code."""
    text = re.sub(r"(?s)<(style|script).*?</\1>", "", text_of(path))
    if path.suffix == ".js":
        return " ".join(re.findall(r'"([^"]{4,})"', text))
    return JINJA.sub(" ", text)


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
    """Yield the offences of a page, each with its line."""
    for line, text in enumerate(text_of(path).splitlines(), 1):
        for each in offences(text):
            yield f"{path.relative_to(ROOT)}:{line}: {each}"


def of_catalogue() -> Iterator[str]:
    """Yield the offences of the catalogue's texts, those of made rows included."""
    for row in (*RATES, *METRICS):
        texts = (row.says, getattr(row, "positive", ""), getattr(row, "edges", ""))
        for each in (word for text in texts for word in offences(str(text))):
            yield f"catalogue {row.name}: {each}"


def of_shown(path: Path) -> Iterator[str]:
    """Yield the offences of what a template, a script or an approved report shows."""
    for each in offences(shown_text(path)):
        yield f"{path.relative_to(ROOT)}: {each}"


@pytest.mark.parametrize(("found", "paths"), [
    (of_module, MODULES), (of_page, PAGES), (of_shown, [*TEMPLATES, *GOLDEN]),
])  # fmt: skip
def test_files_use_the_standard_terms(found, paths):
    assert [place for path in paths for place in found(path)] == []


def test_the_catalogue_uses_the_standard_terms():
    assert list(of_catalogue()) == []


def test_a_word_that_is_never_used_is_found():
    assert offences("differs beyond doubt from the rest, 3.1 points lower") == [
        "'beyond doubt': write statistically significant",
        "'points lower': write percentage points, pp",
        "'the rest': write all other groups",
    ]
    assert offences("it says so") == ["'says': write reports, describes, states"]
    assert not offences("3.1 percentage points lower than other groups; estimate.says, says=")


TICS = {
    r",\s+so that\b": "so", r"\bbut for\b": "except, except for",
    r"\bbeside\b": "next to, with, in addition to",
    r"(?<![Tt]here )\b(?:is|are) no (?!longer\b|more\b|worse\b)\w+": "is not, are not",
    r"(?:\A|[.:] |\n\n)Who [a-z]+s\b[^?\n]*\.": "anyone who, whoever",
    r"\bdiffers? in \w+ alone\b": "differ only in", r"\bone's own\b": "your own",
    r"\bany more\b": "no longer",
    r"\bthat there (?:is not|are)\b": "that does not exist, that exist",
    r"\bholds? \w+ fixed\b": "adjusts for",
}  # fmt: skip
"""The ten commonest turns of phrase that no native speaker would use, and what to write."""
CODE = re.compile(r"(?ms)^ *```.*?^ *```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->")
MADE = {"metrics", "options.md", "peers.md", "glossary.md"}
"""Pages of the reference, which are made as the site is built."""
WRITTEN = [path for path in PAGES if path.suffix == ".md" and not MADE & set(path.parts)]


def leaves(texts: Any) -> Iterator[str]:
    """Yield the texts of a table of tables and lists."""
    if isinstance(texts, str):
        yield texts
    else:
        for part in texts.values() if isinstance(texts, dict) else texts:
            yield from leaves(part)


def tics(text: str) -> list[str]:
    """Return the turns of phrase in prose that are not idiomatic, each with what to write."""
    prose = CODE.sub("~", text)
    found = ((match[0], words) for tic, words in TICS.items() for match in re.finditer(tic, prose))
    return [f"{tic.strip()!r}: write {words}" for tic, words in found]


def test_sentences_of_reports_are_idiomatic_and_use_the_standard_terms():
    sentences = tomllib.loads(text_of(SOURCE / "render" / "texts" / "en.toml"))
    words = JINJA.sub(" ", "\n\n".join(leaves(sentences)))
    assert [*tics(words), *offences(words)] == []


def test_pages_are_idiomatic():
    assert {str(path): tics(text_of(path)) for path in WRITTEN if tics(text_of(path))} == {}


def test_a_tic_is_found_in_prose_and_not_in_code():
    assert tics("It is no error, so that `it is no error` stays.") == [
        "', so that': write so",
        "'is no error': write is not, are not",
    ]
    assert not tics("There is no error; it is no longer there.\n\n```text\nis no error\n```\n")

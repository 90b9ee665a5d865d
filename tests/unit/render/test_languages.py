"""Every language states what English does, of the same sides, and no Python file states texts."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import nodes
from tests.every_result import RESULTS, result

import fairgauge
import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render.document import document
from fairgauge.render.formats import render
from fairgauge.render.grammar import LANGUAGES
from fairgauge.render.page import first_page, rule_grid
from fairgauge.render.words import LANGUAGE_CODES, in_language

OWN = {("people", "adjectives"), ("people", "plain"), ("terms", "plural"), ("terms", "many")}
"""Words of one language, that no other has."""
FURTHER = {("gap_verdict",)}
"""What English has from elsewhere."""
ENGLISH = {("diagnostic",), ("method",), ("verification",), ("swap_note",)}
"""What full documents alone state, which are in English; every other table is in all languages."""
TRANSLATED = {
    *(("layout",), ("terms", "in_words"), ("terms", "titles"), ("terms", "excluded")),
    *(("terms", "lacking"), ("goal", "text"), ("terms", "candidate")),
}
"""What English has from code and from the layouts of documents."""
ENGLISH_WORDS = re.compile(
    r"\b(?:the|and|of|is|are|were|with|without|than|have|missing|against|inconclusive"
    r"|accuracy(?!=)|warning|differs|cannot|better|within|rows|pass|fail"
    r"|(?:selection|positive|negative|error) rate)\b",
    re.IGNORECASE,
)
OTHERS = [name for name in LANGUAGE_CODES if name != "en"]


def texts_of(name: str) -> dict[str, Any]:
    return LANGUAGES[name]({}).table


def places(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, text in table.items():
        place = (*path, key)
        if place in OWN | FURTHER | ENGLISH | TRANSLATED:
            continue
        if isinstance(text, Mapping):
            yield from places(text, place)
        else:
            yield place


@pytest.mark.parametrize("name", OTHERS)
def test_a_language_has_every_code_and_place_of_english_and_no_other(name):
    """What lacks a text is silently absent from a page."""
    assert set(places(texts_of(name))) == set(places(texts_of("en")))


@pytest.mark.parametrize("name", LANGUAGE_CODES)
def test_every_text_is_a_template(name):
    grammar = LANGUAGES[name]({})
    helpers = grammar.env.globals.keys() - jinja2.defaults.DEFAULT_NAMESPACE - {"inf"}

    def parse(table: Mapping[str, Any]) -> None:
        for text in table.values():
            if isinstance(text, Mapping):
                parse(text)
            elif isinstance(text, str):
                grammar.env.compile(text)
                parsed = grammar.env.parse(text)
                used = parsed.find_all((nodes.Call, nodes.Getattr, nodes.Getitem))
                asked = {*parsed.find_all(nodes.Name)} - {of.node for of in used}
                # where a fact is absent, a helper of its name would be printed
                assert not {of.name for of in asked} & helpers, text

    parse(grammar.table)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("kind", sorted(RESULTS))
def test_a_page_states_the_same_in_another_language(kind, name):
    made = result(kind)
    english = first_page(made)
    with in_language(name):
        other = first_page(made)
    assert other.headline
    stated = {place: [text for text, _ in texts] for place, texts in other.texts.items()}
    assert [*filter(stated.get, stated)] == [place for place, of in english.texts.items() if of]
    assert len(stated["verdict"]) == len(english.texts["verdict"])
    every = [text for texts in stated.values() for text in texts]
    assert not [text for text in every if "  " in text or not text.strip()]


@pytest.mark.parametrize(
    "kind", ["loans", "inconclusive", "models", "find", "pairs", "same answers", "plan", "check"]
)
def test_the_first_lines_in_german_have_no_english_words(kind):
    made = result(kind)
    with in_language("de"):
        opening = document(made)
        answers = [text for said in first_page(made).texts.values() for text, _ in said]
        grid = rule_grid(first_page(made))
    said = [opening.title, opening.beside, opening.verdict, *answers]
    said += [grid.legend, *grid.notes] if grid else []
    english = {text: ENGLISH_WORDS.findall(text) for text in said}
    assert not {text: words for text, words in english.items() if words}


def test_cells_of_the_grid_are_in_german():
    page = render(result("loans"), "markdown", lang="de", full=True)
    grid = page.partition("|  | Regel 1")[2].partition("<sub>")[0]
    assert re.search(r"verletzt|eingehalten|unentschieden", grid)
    assert " zu " in grid
    assert not re.search(r"\b(?:fail|pass|inconclusive|v)\b", grid)


def test_a_report_is_saved_in_german(tmp_path):
    counts = fg.confusion("sex", {"F": {"tp": 60, "fn": 140}, "M": {"tp": 150, "fn": 50}})
    report = fg.audit(counts, metrics="true_positive_rate.difference", rules=["DI >= 0.8"])
    words = {"groups": {"sex": {"F": "Frauen", "M": "Männer"}}, "label_positive": "zurückgezahlt"}
    report.save(tmp_path / "bericht.html", lang="de", words=words)
    page = (tmp_path / "bericht.html").read_text(encoding="utf-8")
    assert 'lang="de"' in page
    assert "Was untersucht wurde" in page
    assert "Von 100 Frauen, die zurückgezahlt haben, " in page
    assert "What was looked at" not in page
    assert "Verletzt" in page or "verletzt" in page
    assert "Was untersucht wurde" in render(report, "text", lang="de", full=True)
    rows = {"sex": [*"fm", None] * 50, "hired": [1, 0, 1, None, 1, 0] * 25}
    text = render(fg.audit(rows, prediction="hired", positive=1, sensitive="sex"), "text",
                  lang="de", full=True)  # fmt: skip
    assert " % der Zeilen (" in text
    assert not re.search(r"der rows|ohne prediction|\(prediction\)", text)
    assert str(report.brief().headings[0]) == "What was looked at"


@pytest.mark.parametrize(
    ("table", "codes"), [("reason", ReasonCode), ("diagnostic", DiagnosticCode)]
)
def test_every_code_has_a_text(table, codes):
    """Those of verdicts alone are stated with the numbers that decide (``because``)."""
    texts = texts_of("en")
    without = {str(code) for code in codes} - texts[table].keys()
    assert without <= (texts["because"].keys() if table == "reason" else set())


@pytest.mark.parametrize("name", LANGUAGE_CODES)
@pytest.mark.parametrize(
    ("reasons", "place"),
    [
        ([], "data"),
        ([None], "data"),
        ([Reason.of(ReasonCode.FEW_ROWS, n=3, minimum=20)], "data"),
        ([Reason.of(ReasonCode.FEW_EXPECTED, expected=0, minimum=5)], "one_outcome"),
        ([Reason.of(ReasonCode.FEW_EXPECTED, expected=0.4, minimum=5)], "rare_outcome"),
        ([Reason.of(ReasonCode.FEW_CLUSTERS, clusters=3, minimum=10)], "few_clusters"),
    ],
)
def test_why_data_are_insufficient_in_few_words(name, reasons, place):
    grammar = LANGUAGES[name]({})
    assert grammar.insufficient(reasons) == grammar.table["few_data"][place]


@pytest.mark.parametrize("name", LANGUAGE_CODES)
def test_a_minimum_that_was_asked_speaks_for_itself(name):
    grammar = LANGUAGES[name]({})
    small = Reason.of(ReasonCode.SMALL_GROUP, n=159, minimum=300)
    few = grammar.insufficient([small])
    assert "300" in few
    assert grammar.table["few_data"]["data"] not in few
    assert grammar.because(small) == grammar.reason(small)


def test_the_one_line_of_a_verdict_has_the_word_of_its_language():
    cells = {"a": {"tp": 10, "fn": 190}, "b": {"tp": 150, "fn": 50}}
    report = fg.audit(fg.confusion("g", cells), rules="true_positive_rate.ratio >= 0.8")
    line = render(report, "text", quiet=True, lang="de")
    assert line.count("VERLETZT") == 2
    assert "FAIL" not in line


ROOT = Path(fairgauge.__file__).parent
PACKAGES = ("render", "results", "statements")
TWO_WORDS = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
REFUSALS = ("Error", "Exception", "Warning", "warn")
EXCUSED = {
    "render/documents/audit.py": 2, "render/documents/filing.py": 8, "render/documents/why.py": 1,
    "render/formats.py": 2, "render/words/question_sentences.py": 1,
    "render/writers/audit_page.py": 3, "render/writers/html.py": 2, "render/writers/pdf.py": 2,
    "render/writers/pipelines.py": 4, "render/writers/plots.py": 2, "render/writers/xlsx.py": 1,
    "results/alternatives.py": 2, "results/codec.py": 2, "results/comparison.py": 2,
    "results/gap_decomposition.py": 2, "results/monitor_results.py": 18, "results/name_swaps.py": 3,
    "results/report.py": 2, "results/scopes.py": 6, "statements/sections.py": 2,
    "results/shown_result.py": 6, "results/plan.py": 2, "results/subgroup_search.py": 2,
    "results/threshold_choice.py": 2, "statements/compared.py": 1, "statements/why.py": 1,
}  # fmt: skip
"""How many texts each file still states in English: these numbers are only to become smaller."""


def stated(tree: ast.AST) -> Iterator[str]:
    """Yield texts of two words or more that are no docstring, error or text of a raise."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(REFUSALS):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if TWO_WORDS.search(node.value):
                yield node.value
            continue
        yield from stated(node)


def test_no_file_states_more_than_it_is_excused():
    files = {
        str(path.relative_to(ROOT)): path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    found = {name: len([*stated(ast.parse(path.read_text()))]) for name, path in files.items()}
    assert {name: n for name, n in found.items() if n > EXCUSED.get(name, 0)} == {}
    assert [name for name in EXCUSED if not found.get(name)] == []  # no longer to be excused

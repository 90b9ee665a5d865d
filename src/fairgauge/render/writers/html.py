"""A document as one HTML file that asks nothing of any other, under a strict content policy."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.util import cache_from_source
from itertools import count, groupby
from pathlib import Path

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2 import __version__ as jinja_version
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from fairgauge.render import _document_tree as tree
from fairgauge.render.charts import charts
from fairgauge.render.charts.charts import placed_times
from fairgauge.render.charts.score_sections import scored
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import called, capitalised, printable
from fairgauge.render.words.glossary import anchor
from fairgauge.render.words.verdict_sentences import verdict_word
from fairgauge.render.writers.tight_script import tight
from fairgauge.results.report import Report


def write(document: tree.DocumentTree, shown: object = None, *, tight: str = "") -> str:
    """Write a document as one self-contained HTML page.

    ``tight`` is a class of the style sheet with smaller print, where a page has no room.
    """
    report = shown if isinstance(shown, Report) else None
    scores = scored(report) if report else []
    style = css("style.css") + css("first_page.css")
    script = scripts("script.js")
    return environment().get_template("page.html.j2").render(
        document=document,
        tight=tight,
        fresh=anchors(),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=policy(style, script),
        scores=scores,
        more_scores=_features_with_scores(report) - len(scores),
        decides=question.decision_words(report) if report else "",
    ) + "\n"  # fmt: skip


def _features_with_scores(report: Report | None) -> int:
    return len({each.feature for each in report.scores if each.low}) if report else 0


class _CompiledTemplates(BytecodeCache):
    """Compiled templates, kept where Python keeps compiled modules and under the same conditions.

    Compiling the page takes a sixth of the time of a small audit from file to HTML.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        version = "jinja" + "".join(filter(str.isalnum, jinja_version))
        return cache_from_source(filename or name, optimization=version)

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError), Path(bucket.key).open("rb") as file:
            bucket.load_bytecode(file)  # of this template as it is now, else nothing

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        whole = Path(bucket.key)
        part = whole.with_name(f"{whole.name}.{os.getpid()}")
        with suppress(OSError):
            whole.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(bucket.bytecode_to_string())
            part.replace(whole)


@cache
def environment() -> Environment:
    """Return the templates; every value is escaped."""
    environment = Environment(
        loader=PackageLoader("fairgauge.render"),
        bytecode_cache=_CompiledTemplates(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "called": _isolated,
        "capital": capitalised,
        "count": numbers.count,
        "g": "{:.4g}".format,  # a place on a chart in as few digits as it needs
        "heading": _heading,
        "kind": _kind,
        "name": called,
        "outcome": verdict_word,
        "printable": printable,
        "code": lambda text: Markup("\n").join(map(_whole_options, text.split("\n"))),
        "prose": _whole_options,
        "short_rows": _short_rows,
    }
    environment.globals |= {
        "anchor": anchor,
        "answered": _answered,
        "by_key": lambda drawn: [(k, list(run)) for k, run in groupby(drawn, lambda d: d.key)],
        "first_page_style": lambda: Markup(css("first_page.css", screen=True)),  # noqa: S704 - ours
        "dotted": _dotted,
        "grid_axes": charts.grid_axes,
        "runs": _runs,
        "placed": charts.placed,
        "placed_on": charts.placed_on,
        "placed_times": placed_times,
    }
    return environment


def _isolated(name: object) -> Markup:
    """Return a name of the user as HTML: harmless, and of its own direction."""
    return Markup("<bdi>{}</bdi>").format(called(name))


_OPTION = re.compile(r"(?<![\w-])(--\w[\w-]*)")


def _whole_options(text: object) -> Markup:
    """Return a text as HTML in which the name of an option (``--column``) is never broken."""
    whole = Markup('<span class="option">{}</span>')
    parts = enumerate(_OPTION.split(printable(text)))
    return Markup("").join(whole.format(part) if i % 2 else escape(part) for i, part in parts)


def _heading(text: str) -> str:
    """Return a text with a capital in front, the others as they are."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer of a first page: its sentences, those with dots apart, and what is drawn below."""

    question: str
    sentences: tuple[str, ...]
    listed: bool
    tag: str
    drawn: tuple[tree.DotArrays, ...]
    exhibits: tuple[tree.Block, ...]


def _answered(document: tree.DocumentTree) -> list[_Answer]:
    """Return the questions that a first page answers, and last the tables of every group.

    Drawings stand with the findings.
    """
    brief, found = document.brief, []
    exhibits = document.exhibits
    last = max((i for i, each in enumerate(exhibits) if isinstance(each, tree.Table)), default=None)
    tables = tuple(
        each for i, each in enumerate(exhibits)
        if isinstance(each, (tree.RuleGrid, tree.Table)) or (last is not None and i > last)
    )  # fmt: skip
    for question_asked, sentences in brief.answers:
        here = exhibits if sentences is brief.found else ()
        drawn = tuple(each for each in here if isinstance(each, tree.DotArrays))
        others = tuple(each for each in here if each not in (*drawn, *tables))
        stated = {each.sentence for each in drawn}
        rest = tuple(text for text in map(str, sentences) if text not in stated)
        listed = sentences is not brief.looked_at and sentences is not brief.found
        tag = "ol" if sentences is brief.steps else "ul"
        found.append(_Answer(question_asked, rest, listed, tag, drawn, others))
    return [*found, _Answer("", (), False, "ul", (), tables)] if tables else found


_ROW = 10


def _dotted(start: int, end: int) -> str:
    """Return the path of some of a hundred dots, filled by rows; its style draws the dots.

    >>> _dotted(8, 11)
    'M85 5h10.01M5 15h.01'
    """
    parts = []
    while start < end:
        row, column = divmod(start, _ROW)
        last = min(end, (row + 1) * _ROW)
        length = _ROW * (last - start - 1)
        parts.append(f"M{_ROW * column + 5} {_ROW * row + 5}h{length or ''}.01")
        start = last
    return "".join(parts)


def _kind(block: object) -> str:
    """Return the name of the macro that writes a block."""
    return type(block).__name__.casefold()


def _runs(blocks: Iterable[tree.Block]) -> list[tuple[str, list[tree.Block]]]:
    """Return blocks in runs of one kind: charts beside each other share a grid."""
    return [(kind, list(run)) for kind, run in groupby(blocks, key=_kind)]


def anchors(own: str = "") -> Callable[[str], str]:
    """Return a function that makes an anchor which no other part of a page has."""
    numbered = count()
    return lambda kind: f"{kind}{own}-{next(numbered)}"


def _short_rows(table: tree.Table) -> Markup:
    """Return the rows of a table that may be long, with as few tags as HTML asks for.

    End tags of rows and cells are optional, as is the scope of headings that fill a column; the
    style sheet aligns the numbers and isolates names.
    """
    return Markup("\n").join(
        Markup("<tr><th>{}{}").format(
            printable(first.text),
            Markup("").join(Markup("<td>") + printable(cell.text) for cell in others),
        )
        for first, *others in table.rows
    )


def asset(name: str) -> str:
    """Return one of the files that pages are made of."""
    return files("fairgauge.render").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def scripts(*names: str) -> str:
    """Return scripts one after the other, without what only their readers need."""
    return tight("\n".join(map(asset, names)))


@cache
def css(name: str, *, screen: bool = False) -> str:
    """Return a style sheet without what only its readers need; for a screen alone without print."""
    text = re.sub(r"/\*.*?\*/", "", asset(name), flags=re.DOTALL)
    if screen:
        text = text.partition("@media print")[0]
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", text)).replace(";}", "}").strip()


def policy(style: str, script: str) -> str:
    """Return the content security policy: our own style and script, and nothing else."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def write_notebook(document: tree.DocumentTree, shown: object = None) -> str:
    """Write a document as a fragment of HTML."""
    del shown
    styled = tuple(each for each in document.exhibits if not isinstance(each, tree.TimeChart))
    document = replace(document, exhibits=styled)
    # cells of one notebook share their anchors: other charts have others
    own = hashlib.sha256(repr(styled).encode()).hexdigest()[:8]
    charted = any(isinstance(each, tree.Chart) for each in styled)
    template = environment().get_template("notebook.html.j2")
    written = template.render(document=document, charted=charted, fresh=anchors(f"-{own}"))
    return f"{written}\n"

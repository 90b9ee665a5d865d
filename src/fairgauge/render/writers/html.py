"""A document as one HTML file that asks nothing of any other, under a strict content policy."""

from __future__ import annotations

import base64
import hashlib
import re
import runpy
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from itertools import count, groupby
from pathlib import Path

from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from fairgauge.render import _document_tree as tree
from fairgauge.render.chart_axes import chart_axis, grid_axes, placed_on, placed_times
from fairgauge.render.grammar import Templates, in_words, spoken
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised, printable
from fairgauge.render.words.verdict_sentences import verdict_word


def write(document: tree.DocumentTree, shown: object = None, *, whole: bool = True) -> str:
    """Write a document as one self-contained HTML page.

    ``whole`` is whether it is all of the report.
    """
    del shown
    style = css("style.css") + css("first_page.css")
    return environment().get_template("page.html.j2").render(
        document=document,
        whole=whole,
        fresh=anchors(),
        frame=spoken().terms["frame"],
        roles=spoken().terms["record"]["roles"],
        style=Markup(style),  # noqa: S704 - our own file
        policy=policy(style),
    ) + "\n"  # fmt: skip


@cache
def environment() -> Templates:
    """Return the templates; every value is escaped, and harmless where it is printed."""
    environment = Templates(
        loader=PackageLoader("fairgauge.render"),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else printable(value),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        # harmless, and of its own direction
        "called": lambda name: Markup("<bdi>{}</bdi>").format(called(name)),
        "capital": capitalised,
        "count": numbers.count,
        "g": "{:.4g}".format,  # a place on a chart in as few digits as it needs
        "kind": _kind,
        "name": called,
        "outcome": lambda outcome: in_words(verdict_word(outcome)),
        "short_rows": _short_rows,
    }
    environment.globals |= {
        "newline": Markup("\n"),
        "answered": _answers,
        "by_key": lambda drawn: [(k, list(run)) for k, run in groupby(drawn, lambda d: d.key)],
        "dotted": _dots_path,
        "runs": lambda blocks: [(kind, list(run)) for kind, run in groupby(blocks, key=_kind)],
        **{each.__name__: each for each in (chart_axis, grid_axes, placed_on, placed_times)},
    }
    return environment


def _answers(document: tree.DocumentTree) -> Iterator[dict[str, object]]:
    # the answers of a first page; drawings stand with the findings, tables and what follows last
    brief, exhibits = document.brief, document.exhibits
    last = max((i for i, each in enumerate(exhibits) if isinstance(each, tree.Table)), default=None)
    tables = tuple(
        each for i, each in enumerate(exhibits)
        if isinstance(each, (tree.RuleGrid, tree.Table)) or (last is not None and i > last)
    )  # fmt: skip
    for question_asked, sentences in brief.answers:
        here = exhibits if sentences is brief.found else ()
        drawn = tuple(each for each in here if isinstance(each, tree.DotArrays))
        stated = {each.sentence for each in drawn}
        yield {
            "question": question_asked,
            "sentences": [text for text in map(str, sentences) if text not in stated],
            "listed": sentences is not brief.looked_at and sentences is not brief.found,
            "tag": "ol" if sentences is brief.steps else "ul",
            "drawn": drawn,
            "exhibits": [each for each in here if each not in (*drawn, *tables)],
        }
    if tables:
        yield {"exhibits": tables}


_ROW = 10


def _dots_path(start: int, end: int) -> str:
    """Return the path of some of a hundred dots, filled by rows; its style draws the dots.

    >>> _dots_path(8, 11)
    'M85 5h10.01M5 15h.01'
    """
    parts = []
    while start < end:
        row, column = divmod(start, _ROW)
        last = min(end, (row + 1) * _ROW)
        parts.append(f"M{10 * column + 5} {10 * row + 5}h{10 * (last - start - 1) or ''}.01")
        start = last
    return "".join(parts)


def _kind(block: object) -> str:
    return type(block).__name__.casefold()


def anchors() -> Callable[[str], str]:
    """Return a function that makes an anchor which no other part of a page has."""
    numbered = count()
    return lambda kind: f"{kind}-{next(numbered)}"


def _short_rows(table: tree.Table) -> Markup:
    # end tags of rows and cells are optional, as is the scope of headings that fill a column; the
    # style sheet aligns the numbers and isolates names
    texts = ([printable(cell.text) for cell in row] for row in table.rows)
    return Markup("\n").join(Markup("<tr><th>") + Markup("<td>").join(row) for row in texts)


def asset(name: str) -> str:
    """Return one of the files that pages are made of."""
    path = files("fairgauge.render").joinpath("templates", name)
    if path.is_file():
        return path.read_text(encoding="utf-8")
    # the wheel holds what is translated from Python; a checkout translates it anew
    translator = Path(__file__).parents[4] / "docs" / "to_javascript.py"
    return str(runpy.run_path(str(translator))["script"](name))


@cache
def scripts(*names: str) -> str:
    """Return scripts one after the other, without the comments that only their readers need."""
    return re.sub(r"(?m)^ *(//.*\n)?", "", "\n".join(map(asset, names)))


@cache
def css(name: str) -> str:
    """Return a style sheet without what only its readers need."""
    text = re.sub(r"/\*.*?\*/|\s+", " ", asset(name), flags=re.DOTALL)
    return re.sub(r" *([{};,>]|(?<=[a-z]):(?= )) *", r"\1", text).replace(";}", "}").strip()


def policy(style: str, *scripts: str) -> str:
    """Return the content security policy: our own style and scripts, and nothing else."""
    own = " ".join(map(_digest, scripts)) or "'none'"
    ours = f"style-src {_digest(style)}; script-src {own}"
    return f"default-src 'none'; {ours}; img-src data:; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def write_notebook(document: tree.DocumentTree, shown: object = None) -> str:
    """Write a document as a frame of a notebook, which has no access to it."""
    page = escape(write(document, shown, whole=False))
    frame = ' sandbox="" title="fairgauge" width="100%" height="800" frameborder="0"'
    return f'<iframe{frame} srcdoc="{page}"></iframe>\n'

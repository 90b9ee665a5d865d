"""ONE renderer of documents: the sections, tables and texts that `layouts.toml` lists, of any kind.

Rows come from *streams*: functions of the modules in `documents`, or fields of the result. What is
drawn is made there too; everything else of a document is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from fairgauge.enums import Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import TONES, document_of
from fairgauge.render.documents.report_notes import opening_warnings, report_warnings
from fairgauge.render.streams import field, fields_with_rows, layouts, stream, streams_of
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import all_called, called, capitalised
from fairgauge.render.words.metric_words import (
    metric_number,
    metric_range,
    metric_value,
    metric_words,
    shown_range,
)
from fairgauge.render.words.verdict_sentences import outcome_word
from fairgauge.results.shown_result import ShownResult

# ---- formats: how a value is written. A new one is a line here, never one in a kind.


_MET: dict[Outcome, str] = {
    Outcome.PASS: "yes",
    Outcome.FAIL: "no",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_EVALUATED: "insufficient data",
}


def _ends(ends: Iterable[float] | None) -> str:
    if ends is None:
        return ""
    low, high = ends
    return shown_range(low, high, tree.Unit.POINTS, sign=True)


def _people(value: float | None) -> str:
    return "no practical number" if value == float("inf") else numbers.count(value)


FORMATS: dict[str, Callable[[Any], str]] = {
    "": lambda v: "" if v is None else called(v),
    "code": lambda v: "" if v is None else str(v),
    "value": lambda v: "" if v is None else str(v),
    "words": metric_words,
    "count": numbers.count,
    "people": _people,
    "practical": lambda v: "-" if v is None else "more than practical" if v > 1e6 else f"{v:,}",
    "pct": numbers.percent,
    "points": lambda v: "-" if v is None else numbers.points(v),
    "amount": lambda v: "-" if v is None else numbers.amount(v, 2),
    "ratio": lambda v: "" if v is None else f"{v:.2f}",
    "fixed": lambda v: "" if v is None else f"{v:.4f}",
    "g": lambda v: "" if v is None else numbers.minus(f"{v:g}"),
    "ends": _ends,
    "p": lambda v: numbers.probability(v, ""),
    "verdict": lambda v: outcome_word(v) if isinstance(v, Outcome) else str(v),
    "met": lambda v: _MET[v],
    "yes": lambda v: "" if v is None else "yes" if v else "no",
}
OF_METRIC: dict[str, Callable[[Any, Any], str]] = {
    "metric": metric_value,
    "number": metric_number,
    "range": lambda metric, ends: "" if ends is None else metric_range(metric, *ends),
}
"""Of values of the metric, or the rate, of which the row is."""
_TEXTS = frozenset(("", "code", "words", "verdict", "met", "yes"))
_TONED = frozenset(("verdict", "met"))


def _written(row: Any, path: str, form: str) -> str:
    if form in OF_METRIC:
        return OF_METRIC[form](field(row, "definition"), field(row, path))
    return FORMATS[form](field(row, path))


def _cell(row: Any, path: str, form: str) -> tree.Cell:
    """Return the cell of a column ``field:format``, with another ``/field=format`` below it."""
    above, _, under = form.partition("/")
    below = _written(row, *under.split("=")) if under else ""
    tone = TONES.get(field(row, path), tree.Tone.PLAIN) if form in _TONED else tree.Tone.PLAIN
    return tree.Cell(_written(row, path, above), below=below, tone=tone, name=not form)


# ---- texts


_SPACES = re.compile("[ \n]+")
"""Not those that no line breaks at."""


@cache
def _environment() -> Environment:
    made = Environment(autoescape=False, undefined=StrictUndefined)  # noqa: S701 - writers escape
    made.filters |= {
        "called": called,
        "cap": capitalised,
        "count": numbers.count,
        "g": lambda value: f"{value:g}",
        "many": lambda n, one, many: numbers.plural(n, one, many),
        "names": all_called,
        "numbered": numbers.numbered,
        "pct": numbers.percent,
        "pp": lambda value: f"{100 * value:.1f} pp",
        "points": numbers.points,
        "sentence": lambda parts: (
            "; ".join(text) + "." if (text := list(filter(None, parts))) else ""
        ),
        "series": numbers.listing,
        "words": metric_words,
    }
    return made


@cache
def _template(text: str) -> Template:
    return _environment().from_string(text)


class _Document:
    """Makes the parts of one document."""

    def __init__(self, result: ShownResult, *, full: bool) -> None:
        self.kind = result.KIND.name
        self.layout = layouts().get(self.kind) or _layout_of_fields(result)
        self.full = full
        facts = streams_of(self.kind).get("facts")
        self.facts = {"r": result, "full": full, **(facts(result) if facts else {})}

    def text(self, text: str, **more: Any) -> str:
        """Return a text with what it names; most of them name nothing."""
        if "{" in text:
            text = _template(text).render(**self.facts, **more)
        return _SPACES.sub(" ", text).strip(" \n")

    def texts(self, texts: Iterable[str], **more: Any) -> tuple[str, ...]:
        return tuple(filter(None, (self.text(each, **more) for each in texts)))

    def sections(
        self, parts: Iterable[Mapping[str, Any]], root: Any, place: str = "", **more: Any
    ) -> Iterator[tree.Section]:
        for part in parts:
            if part.get("full", self.full) != self.full:
                continue
            if "each" not in part:
                yield from self.section(part, root, place, **more)
                continue
            for i, own in enumerate(stream(self.kind, part["each"], root)):
                yield from self.section(part, own, f"{place}-{i}", each=own)

    def section(
        self, part: Mapping[str, Any], root: Any, place: str = "", **more: Any
    ) -> Iterator[tree.Section]:
        blocks = [
            block
            for name in part.get("blocks", ())
            if self.full or not name.startswith("full:")
            for block in self.blocks(name.removeprefix("full:"), root, **more)
        ]
        blocks += self.sections(part.get("parts", ()), root, place, **more)
        title = self.text(part["title"], **more)
        if blocks:
            listed = "" if part.get("unlisted") else self.text(part.get("short", title), **more)
            folded = bool(self.text(part.get("folded", ""), **more))
            yield tree.Section(f"{part['id']}{place}", title, tuple(blocks), folded, listed)

    def blocks(self, name: str, root: Any, **more: Any) -> Iterator[tree.Block]:
        """Yield what a name of a section stands for: a table, a text, or what is drawn."""
        if name in self.layout.get("tables", {}):
            tables = self.layout["tables"]
            if "of" in tables[name]:  # as in another kind
                tables = layouts()[tables[name]["of"]]["tables"]
            like = tables.get(tables[name].get("like"), {})
            yield from self.table({**like, **tables[name]}, root, **more)
            return
        if name in self.layout.get("facts", {}):
            facts = self.layout["facts"][name].items()
            pairs = ((word, self.text(text, **more)) for word, text in facts)
            if kept := tuple(pair for pair in pairs if pair[1]):
                yield tree.Facts(kept)
            return
        text = self.layout.get("texts", {}).get(name)
        if isinstance(text, str):
            yield from map(tree.Paragraph, self.texts([text], **more))
        elif isinstance(text, list):
            if items := self.texts(text, **more):
                yield tree.Items(items)
        elif text is not None:
            for each in self.texts([text["text"]], **more):
                yield tree.Paragraph(each, tree.Tone(text["tone"]))
        else:
            found = list(stream(self.kind, name, root))
            strings = tuple(each for each in found if isinstance(each, str))
            yield from (each for each in found if not isinstance(each, str))
            if strings:
                yield tree.Items(strings)

    def table(self, layout: Mapping[str, Any], root: Any, **more: Any) -> Iterator[tree.Block]:
        every: Sequence[Any] = list(stream(self.kind, layout["rows"], root))
        if not every:
            return
        columns, cells = [], []
        for column in layout["columns"]:
            path, form, heading = (*column.split(":", 2), "", "")[:3]
            if form.startswith("?"):  # a column that only some results have values for
                form = form[1:]
                if all(field(row, path) in (None, "") for row in every):
                    continue
            head = self.text(heading, **more) or path.rpartition(".")[2].replace("_", " ")
            columns.append(tree.Column(head, numeric=form not in _TEXTS))
            cells.append((path, form))
        rows = [(row, tuple(_cell(row, *cell) for cell in cells)) for row in every]
        if "across" in layout:
            keys = list(dict.fromkeys(row[layout["across"]["by"]] for row in every))
            columns += [tree.Column(called(key)) for key in keys]
            rows = list(_across(rows, layout["across"], keys))
        most = layout.get("most", len(rows))
        yield tree.Table(
            self.text(layout["caption"], **more),
            tuple(columns),
            tuple(cells for row, cells in rows if not _is_total(row))[:most],
            tuple(cells for row, cells in rows if _is_total(row)),
            notes=self.texts(layout.get("notes", ()), **more),
            titled=layout.get("titled", False),
            stacked=layout.get("stacked", len(columns) > 4),
            id=layout.get("id", ""),
        )
        if len(rows) > most:
            yield tree.Paragraph(f"{len(rows) - most:,} more in the JSON report.", tree.Tone.SOFT)


def _layout_of_fields(result: ShownResult) -> dict[str, Any]:
    """Return the layout of a kind of a plug-in that states none: a table of each of its fields."""
    tables = {
        name: {
            "rows": name,
            "caption": capitalised(name),
            "columns": [f"{column}:value" for column in columns],
        }
        for name, columns in fields_with_rows(type(result)).items()
    }
    sections = [{"id": name, "title": capitalised(name), "blocks": [name]} for name in tables]
    return {"title": result.KIND.title, "beside": "", "sections": sections, "tables": tables}


def _is_total(row: Any) -> bool:
    return isinstance(row, Mapping) and bool(row.get("total"))


def _across(
    rows: Iterable[tuple[Any, tuple[tree.Cell, ...]]], layout: Mapping[str, str], keys: list[str]
) -> Iterator[tuple[Any, tuple[tree.Cell, ...]]]:
    """Yield rows that begin alike as one, with a cell for every value of a field."""
    made: dict[Any, tuple[Any, dict[str, tree.Cell]]] = {}
    for row, cells in rows:
        _, line = made.setdefault(cells, (row, {}))
        below = row[layout["below"]] if "below" in layout else ""
        line[row[layout["by"]]] = tree.Cell(row[layout["cell"]], below=below)
    for cells, (row, line) in made.items():
        yield row, (*cells, *(line.get(key, tree.Cell("")) for key in keys))


def document(result: ShownResult, *, full: bool = False) -> tree.DocumentTree:
    """Return the document of a result, by the layout of its kind.

    A stream ``frame`` makes what else the whole document has, such as its exhibits.
    """
    made = _Document(result, full=full)
    layout = made.layout
    frame: dict[str, Any] = {
        "title": made.text(layout["title"]),
        "beside": made.text(layout["beside"]),
        "lead": made.texts(layout.get("lead", ())),
        "verdict": made.text(layout.get("verdict", "")),
        "tone": tree.Tone(made.text(layout.get("tone", "plain"))),
        "not_shown": () if full else layout.get("not_shown", ()),
        "file_name": layout.get("file_name", made.kind),
        "warnings": opening_warnings(report_warnings(getattr(result, "diagnostics", ()))),
        "sections": made.sections(layout["sections"], result),
    }
    if full:  # what a short PDF has beside its first page
        filed = [{**each, "full": True} for each in layout["sections"] if each.get("filed")]
        frame["filed"] = [
            block
            for section in made.sections(filed, result)
            for block in (tree.Heading(section.title), *section.blocks)
        ]
    more: Callable[..., dict[str, Any]] | None = streams_of(made.kind).get("frame")
    return document_of(result, **(frame | (more(result, full=full) if more else {})))

"""ONE renderer of documents: the sections, tables and texts that `layouts.toml` lists, of any kind.

Rows come from *streams*: functions of the modules in `documents`, or fields of the result. What is
drawn is made there too; everything else of a document is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import Any

from fairgauge.enums import CountedAs, Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.report_notes import TONES, opening_warnings, report_warnings
from fairgauge.render.grammar import Grammar, in_words, spoken
from fairgauge.render.streams import field, fields_with_rows, layouts, stream, streams_of
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised, printable
from fairgauge.render.words.metric_words import published_ratio, shown_range
from fairgauge.render.words.question_sentences import chosen_rows
from fairgauge.render.words.verdict_sentences import verdict_word
from fairgauge.results.shown_result import CountedValue, ShownResult

# ---- formats: how a value is written. A new one is a line here, never one in a kind.


def _people(value: float | None) -> str:
    return spoken().terms["too_many"] if value == float("inf") else numbers.count(value)


FORMATS: dict[str, Callable[[Any], str]] = {
    "": lambda v: "" if v is None else called(v),
    "code": lambda v: "" if v is None else str(v),
    "value": lambda v: "" if v is None else str(v),
    "count": numbers.count,
    "people": _people,
    "practical": lambda v: "-" if v is None else _people(v if v <= 1e6 else float("inf")),
    "pct": numbers.percent,
    "points": lambda v: "-" if v is None else numbers.points(v),
    "amount": lambda v: "-" if v is None else numbers.amount(v, 2),
    "ratio": lambda v: "" if v is None else numbers.minus(f"{v:.2f}"),
    "published": published_ratio,
    "tenths": lambda v: numbers.minus(f"{v:,.1f}"),
    "ends": lambda v: "" if v is None else shown_range(v.low, v.high, tree.Unit.POINTS, sign=True),
    "p": lambda v: numbers.probability(v, ""),
    "verdict": lambda v: in_words(verdict_word(v) if isinstance(v, Outcome) else str(v)),
    "met": lambda v: spoken().terms["met"][str(v)],
    "yes": lambda v: "" if v is None else spoken().terms["met"]["pass" if v else "fail"],
}
_TEXTS = frozenset(("", "code", "verdict", "met", "yes"))
_TONED = frozenset(("verdict", "met"))


def _cell(g: Grammar, row: object, path: str, form: str) -> tree.Cell:
    # the cell of a column ``field:format``, with another ``/field=format`` below it
    above, _, under = form.partition("/")
    path_below, _, form_below = under.partition("=")
    text = FORMATS[above](field(row, path))
    below = g.cell(FORMATS[form_below](field(row, path_below))) if under else ""
    tone = TONES.get(field(row, path), tree.Tone.PLAIN) if form in _TONED else tree.Tone.PLAIN
    text = text if above in _TEXTS else g.cell(text)
    return tree.Cell(text, below=below, tone=tone, name=not form)


# ---- texts


_SPACES = re.compile("[ \n]+")
"""Not those that no line breaks at."""


def counted_table(counted: Sequence[CountedValue]) -> str:
    """Return the table of what values were counted as, in columns of text."""
    heads = ("column", "role", "value", "counted_as", "rows", "cases")
    rows = [[str(row[head]) for head in heads if row[head] is not None]
            for row in counted_values(counted)]  # fmt: skip
    rows.insert(0, [head.replace("_", " ") for head in heads[: len(rows[0])]])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"{{:{'<' if i < 4 else '>'}{width}}}" for i, width in enumerate(widths))
    return "\n".join(line.format(*row).rstrip() for row in rows)


def counted_values(counted: Sequence[CountedValue]) -> list[dict[str, object]]:
    """Return each value with the words for its role and for what it is counted as."""
    g, whole = spoken(), (CountedAs.UNCOUNTED, CountedAs.FURTHER)
    words, apart = g.table["counted_as"], any(each.cases != each.rows for each in counted)
    return [
        {
            "column": called(e.column), "role": words["roles"][e.role],
            "value": g.say("counted_as", "others", n=e.others) if e.others
            else called(e.value) if e.value is not None
            else words["any" if e.as_ in whole else "none"],
            "counted_as": words["states"].get(e.as_) or called(e.as_ or ""),
            "rows": e.rows, "cases": e.cases if apart else None,
        }
        for e in counted
    ]  # fmt: skip


class DocumentParts:
    """Makes the parts of one document."""

    def __init__(self, result: ShownResult, *, full: bool = True, paper: bool = False) -> None:
        self.kind = result.KIND.name
        of_kinds = layouts()
        self.layout = of_kinds.get(self.kind) or _layout_of_fields(result)
        self.shared = of_kinds["shared"]
        self.tables = {**self.shared["tables"], **self.layout.get("tables", {})}
        self.full, self.paper = full, paper
        self.translated: Mapping[str, str] = spoken().table.get("layout", {})
        facts = streams_of(self.kind).get("facts")
        level = getattr(result, "confidence", None) or getattr(result, "spec", {}).get("confidence")
        ci = spoken().terms["ci"].format(level=f"{100 * (level or 0.95):.10g}")
        self.facts = {"r": result, "full": full, "ci": ci, **(facts(result) if facts else {})}

    def text(self, text: str, **more: object) -> str:
        """Return a text, in the language that is asked for, with what it names."""
        text = _SPACES.sub(" ", text)
        text = self.translated.get(text) or self.translated.get(text.casefold(), text)
        if "{" in text:
            text = spoken().made(text).render(**self.facts, **more)
        return _SPACES.sub(" ", text).strip(" \n")

    def stated(self, name: str) -> str:
        """Return a text of the layout, else the fact of this name, which may hold users' names."""
        found = self.layout.get(name)
        return self.text(found) if found is not None else str(self.facts.get(name) or "")

    def texts(self, texts: Iterable[str], **more: object) -> tuple[str, ...]:
        return tuple(filter(None, (self.text(each, **more) for each in texts)))

    def sections(
        self, parts: Iterable[Mapping[str, Any]], root: Any, place: str = "", **more: object
    ) -> Iterator[tree.Section]:
        for part in parts:
            filed = self.paper and part.get("filed")
            if part.get("full", self.full) != self.full and not filed:
                continue
            if "each" not in part:
                yield from self.section(part, root, place, **more)
                continue
            for i, own in enumerate(stream(self.kind, part["each"], root)):
                yield from self.section(part, own, f"{place}-{i}", each=own)

    def section(
        self, part: Mapping[str, Any], root: Any, place: str = "", **more: object
    ) -> Iterator[tree.Section]:
        blocks: list[tree.Block] = []
        for name in part.get("blocks", ()):
            if self.full or not name.startswith("full:"):
                blocks += self.blocks(name.removeprefix("full:"), root, **more)
        blocks += self.sections(part.get("parts", ()), root, place, **more)
        title = self.text(part["title"], **more)
        if blocks:
            listed = "" if part.get("unlisted") else self.text(part.get("short", title), **more)
            folded = bool(self.text(part.get("folded", ""), **more))
            yield tree.Section(f"{part['id']}{place}", title, tuple(blocks), folded, listed)

    def blocks(self, name: str, root: object, **more: object) -> Iterator[tree.Block]:
        """Yield what a name of a section stands for: a table, a text, or what is drawn."""
        if (table := self.tables.get(name)) is not None:
            like = self.tables.get(table.get("like"), {})
            yield from self.table({**like, **table}, root, **more)
            return
        if name in self.layout.get("facts", {}):
            facts = self.layout["facts"][name].items()
            pairs = ((self.text(word), self.text(text, **more)) for word, text in facts)
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

    def table(self, layout: Mapping[str, Any], root: Any, **more: object) -> Iterator[tree.Block]:
        every: Sequence[Any] = (
            counted_values(getattr(root, "counted", ()))
            if layout["rows"] == "counted_values"
            else [*stream(self.kind, layout["rows"], root)]
        )
        if not every:
            return
        columns, cells = [], []
        for column in layout["columns"]:
            path, form, heading = (*column.split(":", 2), "", "")[:3]
            if form.startswith("?"):  # a column that only some results have values for
                form = form[1:]
                if all(field(row, path) in (None, "") for row in every):
                    continue
            head = self.text(heading or path.rpartition(".")[2].replace("_", " "), **more)
            columns.append(tree.Column(head, numeric=form not in _TEXTS))
            cells.append((path, form))
        g = spoken()
        rows = [(row, tuple(starmap(partial(_cell, g, row), cells))) for row in every]
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
            text = spoken().say("read", "more_rows", n=len(rows) - most) or ""
            yield tree.Paragraph(text, tree.Tone.SOFT)


def _layout_of_fields(result: ShownResult) -> dict[str, Any]:
    # the layout of a kind of a plug-in that states none: a table of each of its fields
    tables = {}
    for name, columns in fields_with_rows(type(result)).items():
        headed = [f"{column}:value" for column in columns]
        tables[name] = {"rows": name, "caption": capitalised(name), "columns": headed}
    sections = [{"id": name, "title": capitalised(name), "blocks": [name]} for name in tables]
    return {"title": result.KIND.title, "beside": "", "sections": sections, "tables": tables}


def _is_total(row: object) -> bool:
    return isinstance(row, Mapping) and bool(row.get("total"))


def _across(
    rows: Iterable[tuple[Any, tuple[tree.Cell, ...]]], layout: Mapping[str, str], keys: list[str]
) -> Iterator[tuple[Any, tuple[tree.Cell, ...]]]:
    g, made = spoken(), dict[Any, tuple[Any, dict[str, tree.Cell]]]()
    for row, cells in rows:
        _, line = made.setdefault(cells, (row, {}))
        below = row[layout["below"]] if "below" in layout else ""
        line[row[layout["by"]]] = tree.Cell(g.cell(row[layout["cell"]]), below=g.cell(below))
    for cells, (row, line) in made.items():
        yield row, (*cells, *(line.get(key, tree.Cell("")) for key in keys))


def document(
    result: ShownResult, *, full: bool = False, paper: bool = False, quiet: bool = False
) -> tree.DocumentTree:
    """Return the document of a result, by the layout of its kind; if ``quiet`` without sections.

    A stream ``frame`` makes what else the whole document has, such as its exhibits. On ``paper``
    there is what is filed beside what one screen has.
    """
    made = DocumentParts(result, full=full, paper=paper)
    layout = made.layout
    more: Callable[..., dict[str, Any]] | None = streams_of(made.kind).get("frame")
    own = more(result, full=full) if more else {}
    lead = own.get("lead", made.texts(layout.get("lead", ())))
    warnings = opening_warnings(report_warnings(getattr(result, "diagnostics", ())))
    sections = list(layout["sections"])
    last = next((i for i, e in enumerate(sections) if e["id"] == "provenance"), len(sections))
    sections[last:last] = made.shared["sections"]
    return tree.DocumentTree(
        title=made.text(layout.get("title", "")),
        beside=printable(own.get("beside") or made.stated("beside")),
        lead=(*lead, *chosen_rows(result)),
        cover=tuple(own.get("cover", ())),
        verdict=made.stated("verdict"),
        tone=tree.Tone(made.stated("tone") or "plain"),
        sections=() if quiet else tuple(made.sections(sections, result)),
        created=printable(getattr(result, "created", "")),
        version=printable(getattr(result, "version", "")),
        brief=own.get("brief") or result.brief(),
        exhibits=tuple(own.get("exhibits", ())),
        not_shown=() if full else made.texts(layout.get("not_shown", ())),
        subject=own.get("subject", ""),
        warnings=tuple(own.get("warnings", warnings)),
        warned=own.get("warned", 0),
        file_name=layout.get("file_name", made.kind),
        to_publish=tuple(own.get("to_publish", ())),
    )

"""ONE builder of first pages: every statement in every place for which its language has a text.

Beside them stands what is drawn of statements: dots, strata, and the grid of rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fairgauge.enums import Favourable, Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render.grammar import LANGUAGES, Grammar, english
from fairgauge.render.words import ASKED
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.results.report import COUNTS, Report
from fairgauge.results.scopes import function_at
from fairgauge.results.shown_result import Brief, Sentence, ShownResult
from fairgauge.results.statement import Event, Page, Side, Statement
from fairgauge.start.records import dataclass, field, replace

PLACES = ("looked", "found", "certain", "limits", "next")
MOST = {"headline": 1, "looked": 9, "found": 9, "certain": 9, "limits": 4, "next": 3}
_PARTS = {"looked": "looked_at", "certain": "certainty"}
"""The parts of a first page as results name them."""


@dataclass(frozen=True, slots=True)
class WordedPage:
    """A page in words: the same for every format; at each place sentences with their statements."""

    language: Grammar
    question: str  # that of what was found
    texts: Mapping[str, tuple[tuple[str, Statement], ...]]
    page: Page = field(repr=False)

    @property
    def headline(self) -> str:
        return next((text for text, _ in self.texts["headline"]), "")


def word_page(
    page: Page, language: str = "en", words: dict[str, object] | None = None
) -> WordedPage:
    """Return a page in one language, in the words of the user for it."""
    g = LANGUAGES[language](page.words if words is None else page.words | words)
    if not (g.words.get("positive") or g.words.get("negative")):
        g.words |= g.table["page"].get("decision", {}).get(page.kind, {})

    def sentences(place: str) -> tuple[tuple[str, Statement], ...]:
        texts = [(text, s) for s in page.statements if (text := g.say(s.code, place, s))]
        if place == "next":  # a code before the colon names who takes a step
            steps = [(*text.partition(": "), s) for text, s in texts]
            texts = [(f"{g.table['actor'][actor]}: {step}", s) for actor, _, step, s in steps]
        return tuple(dict(texts).items())[: MOST.get(place)]

    compared = [s for s in page.statements if s.code in ("differs", "headline") and s.shown]
    codes = {s.code for s in page.statements}
    undirected = g.words.get("favourable") == Favourable.NEITHER or "state_direction" in codes
    question = g.made(g.table["page"]["found"][page.kind]).render(
        neutral=bool(compared or undirected) and not any(s.harm == "worse" for s in compared),
        alarms="alarm" in codes,
    )
    texts = {place: sentences(place) for place in ("headline", "verdict", *PLACES)}
    return WordedPage(g, question, texts, page)


def rows_read(worded: WordedPage) -> str:
    """Return how many rows a result is of, and how many of them are used, in few words."""
    s = next(s for s in worded.page.statements if s.code == "rows")
    return (worded.language.say("rows", "looked", s) or "").removesuffix(".")


def stated_by_author(report: Report) -> list[str]:
    """Return what a first page states of rows excluded, groups merged and, of counts, asked."""
    of_counts = ("question", "taken_as_better") if report.data.source == COUNTS else ()
    states, codes = ("excluded", "missing", "named"), ("ignorable", *of_counts)
    looked = first_page(report).texts["looked"]
    return [text for text, s in looked if s.code in codes or s.facts.get("state") in states]


def counts_of(g: Grammar, s: Statement) -> str:
    """Return both sides of a cell of the grid as counts, "36 v 53"; its value where it has none."""
    shares = s.of is not None and s.of.kind in ("share", "fit", "misfit")
    found = g.counted(s) if shares else None
    if found and found["hundred"]:
        return f"{found['mine']} {g.terms['versus']} {found['theirs']}"
    if found and found["per"] is None:
        mine, theirs = (f"{found[a]}/{found[b]}" for a, b in (("mine", "of"), ("theirs", "n")))
        return f"{mine} {g.terms['versus']} {theirs}"
    return g.say("cell", "value", s) or ""


def brief_of_page(worded: WordedPage) -> Brief:
    """Return a page as the brief that every writer shows."""
    g, names = worded.language, {**_PARTS, "next": "steps"}
    parts = {
        names.get(place, place): tuple(Sentence(text, s.sources) for text, s in texts)
        for place, texts in worded.texts.items()
        if place != "headline"
    }
    headed = [each for _, s in worded.texts["headline"] for each in (s, *s.parts)]
    sources = (source for each in headed for source in each.sources)  # it states its parts beside
    return Brief(
        headline=Sentence(worded.headline, tuple(dict.fromkeys(sources))),
        question=worded.question,
        language=next(name for name, of in LANGUAGES.items() if type(g) is of),
        headings=tuple(g.table["page"][place] for place in PLACES if place != "found"),
        **parts,
    )


def first_page(result: ShownResult) -> WordedPage:
    """Return the first page of a result in the language that is asked for."""
    page: Page = function_at(result.KIND.page)(result)
    language, words = ASKED.get()
    if language != "en":  # words that a result was asked with are English
        kept = {key: page.words[key] for key in _KEPT if key in page.words}
        unit = {key: of for key, of in page.words.items() if key == "unit" and of in _OF_COUNTS}
        page = replace(page, words=kept | unit)
    return word_page(page, language, dict(words))


def said(result: ShownResult, statements: Iterable[Statement], *places: str) -> list[str]:
    """Return what some statements about a result are, each at some places of a page."""
    say = first_page(result).language.say
    return [text for s in statements for place in places if (text := say(s.code, place, s))]


_KEPT = ("favourable", "values")
"""What of the words of a page is of no language."""
_OF_COUNTS = ("cases", "people")
"""The units that are no word of the user, which every language has."""


def brief_of(result: ShownResult) -> Brief:
    """Return the first page of a result as every writer shows it."""
    if not result.KIND.page:
        return Brief(headline=Sentence(result.KIND.title))
    return brief_of_page(first_page(result))


def placed(result: ShownResult) -> tuple[Statement, ...]:
    """Return what a first page states, each with the parts of the page that state it."""
    page: Page = function_at(result.KIND.page)(result)
    stated_in: dict[int, list[str]] = {}
    for place, texts in word_page(page).texts.items():
        for _, s in texts:
            stated_in.setdefault(id(s), []).append(_PARTS.get(place, place))
    shown = (s for s in page.statements if id(s) in stated_in)
    return tuple(replace(s, part=tuple(stated_in[id(s)])) for s in shown)


def stated(stated_by: str, place: str, *parts: object) -> str:
    """Return what a part of a result states, without words of the user."""
    s: Statement = function_at(stated_by)(*parts)
    return english().say(s.code, place, s) or ""


# mypy: disable-error-code="no-any-return"
# Texts are read from files.


_MOST_STRATA = 14


def exhibits(worded: WordedPage, elsewhere: str) -> Iterator[tree.Block]:
    """Yield what is drawn of a first page; numbers for which there is no room are ``elsewhere``."""
    found = worded.texts["found"]
    for text, s in found:
        if (arrays := dots(worded.language, text, s)) is not None:
            yield arrays
    if (within := next((s for _, s in found if s.code == "adjusted"), None)) is not None:
        yield from strata_chart(worded.language, within, elsewhere)
    if (drawn := rule_grid(worded)) is not None:
        yield drawn


def dots(g: Grammar, text: str, s: Statement) -> tree.DotArrays | None:
    """Return both sides as a hundred dots each, with the gap as rings where one is worse off."""
    if s.code != "differs" or s.of is None or s.of.kind not in ("share", "fit", "misfit"):
        return None
    found = g.counted(s)
    if found is None or not found["hundred"] or s.who is None or s.than is None:
        return None
    mine, theirs = found["counts"]
    ringed = theirs - mine if s.harm == "worse" else 0
    if s.of.event is not None:
        filled, rest = g.was(s.of.event), g.was(s.of.event.opposite)
    else:
        kind = "class_" if s.of.classes else ""
        filled, rest = g.table["fits"][f"{kind}fit"], g.table["fits"][f"{kind}misfit"]
        if s.of.kind == "misfit":
            filled, rest = rest, filled
    among = s.of.among
    arrays = (
        _array(g, among, s.who, mine, ringed, filled),
        _array(g, among, s.than, theirs, 0, filled),
    )
    return tree.DotArrays(text, arrays, (filled, g.table["page"]["filled"] if ringed else "", rest))


def _array(
    g: Grammar, among: Event | None, side: Side, count: int, rings: int, filled: str
) -> tree.DotArray:
    whom = f"{g.table['page']['of_100']} {g.joined(g.some(side, 'dative'), among)}"
    counted = ""
    if side.hits is not None and side.n is not None:
        counted = f"{g.count(side.hits)} {g.terms['of']} {g.count(side.n)}"
    return tree.DotArray(count, rings, whom, counted, f"{capitalised(whom)}, {count} {filled}")


def strata_chart(g: Grammar, within: Statement, elsewhere: str) -> Iterator[tree.Chart]:
    """Yield the shares of both sides in the largest strata that a difference is adjusted for."""
    if within.of is None or within.of.event is None:
        return
    inside = [s for s in within.facts["every"] if None not in (s.who.rate, s.than.rate)]
    largest = sorted(inside, key=lambda s: -sum(s.facts["sizes"]))[:_MOST_STRATA]
    texts = g.table["strata"]
    rows = tuple(
        tree.ChartRow(
            called(s.facts["stratum"]), tree.Mark(s.who.rate),
            texts["shares"].format(*(f"{100 * side.rate:.0f}" for side in (s.who, s.than))),
            texts["sizes"].format(*map(g.count, s.facts["sizes"])),
            before=tree.Mark(s.than.rate),
        )
        for s in inside if s in largest
    )  # fmt: skip
    if not rows:
        return
    both = {"mine": within.who, "theirs": within.than}
    sides = {name: g.joined(g.some(side), within.of.among) for name, side in both.items() if side}
    names = {each.facts["stratum"] for each in largest}
    others = [s.facts["stratum"] for s in within.parts if s.facts["stratum"] not in names]
    notes = [texts["key"].format(shares=rows[0].text, sizes=rows[0].below, **sides)]
    if len(rows) < len(inside):
        notes.append(g.say("strata", "others", within, drawn=len(rows), elsewhere=elsewhere))
    if others:
        notes.append(g.say("strata", "significant", within, names=others))
    yield tree.Chart(
        g.say("strata", "caption", within) or "", rows, tree.Unit.PERCENT,
        notes=tuple(filter(None, notes)), legend=texts["legend"].format(**sides),
    )  # fmt: skip


def rule_grid(worded: WordedPage) -> tree.RuleGrid | None:
    """Return the rules with what they come to for each group; None without rules."""
    table, g = worded.page.grid, worded.language
    if table is None:
        return None
    parts: dict[object, list[Any]] = {}
    cells: list[tree.GridCell] = []
    for feature, *row in table.rows:
        drawn = tuple(None if s is None else _cell(g, s) for s in row)
        cells += filter(None, drawn)
        parts.setdefault(feature, []).append((_head(g, feature, row), drawn, row))
    more = table.facts["more"]
    return tree.RuleGrid(
        g.table["grid"]["worst" if more["row"] else "caption"],
        tuple(_rule(g, rule) for rule in table.facts["rules"]),
        tuple(
            (_title(g, feature, [s for *_, row in lines for s in row if s]),
             tuple((head, drawn) for head, drawn, _ in lines))
            for feature, lines in parts.items()
        ),
        tuple(_notes(worded, cells)),
        legend=g.table["grid"]["legend"] if any(c.mark.low is not None for c in cells) else "",
    )  # fmt: skip


def _rule(g: Grammar, rule: Statement) -> tree.GridRule:
    phrase, text = g.say("allowed", "text", rule), rule.facts["text"]
    unit = tree.Unit.RATIO if rule.by == "ratio" else tree.Unit.POINTS
    if rule.by != "ratio" and (rule.of is None or rule.of.kind in ("mean", "number")):
        unit = tree.Unit.NUMBER
    heading = g.say("grid", "rule", number=rule.facts["at"], phrase=phrase) or ""
    below = text if phrase != text else ""
    return tree.GridRule(heading, below, unit, rule.facts["neutral"], rule.facts["limits"])


def _head(g: Grammar, feature: object, row: list[Statement | None]) -> tree.Cell:
    # the people of a row; below, their values where these are not in the name
    first = next(s for s in row if s is not None)
    if feature is None or first.who is None:
        return tree.Cell(called(feature) if feature else g.say("grid", "whole") or "")
    people = [e for e in (first.who, first.facts.get("across") and first.than) if e]
    named = [(g.heading(side), " & ".join(value for _, value in side.values)) for side in people]
    below = [called(value) for name, value in named if called(value) not in name]
    return tree.Cell(g.listing([name for name, _ in named]), below=g.listing(below))


def _cell(g: Grammar, s: Statement) -> tree.GridCell:
    ends, outcome = s.interval, s.verdict or ""
    low, high = (ends.low, ends.high) if ends else (None, None)
    mark = tree.Mark(s.value, low, high, sparse=outcome == "not_evaluated")
    notes = ("a",) * s.facts["alone"] + ("b",) * (outcome == "fail" and s.harm == "better")
    counts = "".join(filter(None, [counts_of(g, s), g.say("cell", "at", s)]))
    return tree.GridCell(counts, mark, g.say("cell", "place", s) or "", Outcome(outcome), notes)


def _title(g: Grammar, feature: object, stated: list[Any]) -> str:
    # a feature, and who is compared in it: "race: each group and all other people"
    first = stated[0]
    if feature is None:
        return g.table["grid"]["table"]
    if first.who is None:
        return capitalised(g.feature((feature, None)))
    compared = [s for s in stated if s.than is not None and not s.facts.get("of_all")]
    than = {g.name(s.than) for s in compared}
    code = "others" if any(s.than.kind == "others" for s in compared) else "each"
    if first.facts["two"] and first.than is not None:
        code = "one"
    label = g.feature((feature, [column for column, _ in first.who.values]))
    if code == "each" and len(than) != 1:
        return label
    other = g.heading(first.than) if code == "one" else min(than, default="")
    return g.say("grid", code, feature=label, who=g.heading(first.who), than=other) or ""


def _notes(worded: WordedPage, cells: list[tree.GridCell]) -> Iterator[str]:
    g, table = worded.language, worded.page.grid
    assert table is not None
    facts = table.facts
    versus = f" {g.terms['versus']} "
    of_100 = next((c.counts for c in cells if versus in c.counts and "/" not in c.counts), None)
    if facts["level"] is not None:
        yield g.say("grid", "decides", counts=of_100, **facts) or ""
    outcomes = {cell.outcome for cell in cells}
    letters = {letter for cell in cells for letter in cell.notes}
    open_ = [o for o in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED) if o in outcomes]
    if open_:
        yield " ".join(filter(None, (g.say("grid", str(o), why=facts["why"]) for o in open_)))
    yield from (g.table["grid"][letter] for letter in ("a", "b") if letter in letters)
    more = ((noun, n) for noun, n in facts["more"].items() if n > 0)
    yield from (g.say("grid", "more", n=n, noun=noun) or "" for noun, n in more)

"""What is drawn of statements: dots beside what was found, strata, and the grid of rules."""

# mypy: disable-error-code="no-any-return"
# Texts are read from files.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairgauge.enums import Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render.grammar import Grammar
from fairgauge.render.page import Told, counts_of
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.results.report import Report
from fairgauge.results.statement import Side
from fairgauge.statements.compared import side_of

_MOST_STRATA = 14


def exhibits(told: Told, elsewhere: str) -> Iterator[tree.Block]:
    """Yield what is drawn of a first page; numbers for which there is no room are ``elsewhere``."""
    found = next((said for place, _, said in told.answers if place == "found"), ())
    for text, s in found:
        if (arrays := dots(told.language, text, s)) is not None:
            yield arrays
    if (within := next((s for _, s in found if s.code == "adjusted"), None)) is not None:
        yield from strata_chart(told.language, within, elsewhere)
    if (drawn := rule_grid(told)) is not None:
        yield drawn


def dots(g: Grammar, text: str, s: Any) -> tree.DotArrays | None:
    """Return both sides as a hundred dots each, with the gap as rings where one is worse off."""
    if s.code != "differs" or s.of is None or s.of.kind not in ("share", "fit", "misfit"):
        return None
    found = g.counted(s)
    if found is None or not found["hundred"]:
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
    arrays = [
        _array(g, s, side, count, rings, filled)
        for side, count, rings in ((s.who, mine, ringed), (s.than, theirs, 0))
    ]
    key = (filled, g.table["page"]["filled"] if ringed else "", rest)
    return tree.DotArrays(text, (arrays[0], arrays[1]), key)


def _array(g: Grammar, s: Any, side: Side, count: int, rings: int, filled: str) -> tree.DotArray:
    whom = f"{g.table['page']['of_100']} {g.joined(g.some(side), s.of and s.of.among)}"
    counted = ""
    if side.hits is not None and side.n is not None:
        counted = f"{g.count(side.hits)} {g.terms['of']} {g.count(side.n)}"
    return tree.DotArray(count, rings, whom, counted, f"{capitalised(whom)}, {count} {filled}")


def strata_chart(g: Grammar, within: Any, elsewhere: str) -> Iterator[tree.Chart]:
    """Yield the shares of both sides in the largest strata that a difference is adjusted for."""
    if within.of is None or within.of.event is None:
        return
    inside = [s for s in within.facts["every"] if None not in (s.who.rate, s.than.rate)]
    largest = sorted(inside, key=lambda s: -sum(s.facts["sizes"]))[:_MOST_STRATA]
    texts = g.table["strata"]
    rows = tuple(
        tree.ChartRow(
            called(s.facts["stratum"]), tree.Mark(s.who.rate),
            _sides(texts["shares"], [f"{100 * side.rate:.0f}" for side in (s.who, s.than)]),
            _sides(texts["sizes"], [g.count(size) for size in s.facts["sizes"]]),
            before=tree.Mark(s.than.rate),
        )
        for s in inside if s in largest
    )  # fmt: skip
    if not rows:
        return
    sides = {
        "mine": g.joined(g.some(within.who), within.of.among),
        "theirs": g.joined(g.some(within.than), within.of.among),
    }
    drawn = [
        s for s in within.parts if s.facts["stratum"] not in {e.facts["stratum"] for e in largest}
    ]
    notes = [
        texts["key"].format(shares=rows[0].text, sizes=rows[0].below, **sides),
    ]
    if len(rows) < len(inside):
        notes.append(g.say("strata", "others", within, drawn=len(rows), elsewhere=elsewhere))
    if drawn:
        names = [s.facts["stratum"] for s in drawn]
        notes.append(g.say("strata", "significant", within, names=names))
    yield tree.Chart(
        g.say("strata", "caption", within) or "", rows, tree.Unit.PERCENT,
        notes=tuple(filter(None, notes)), legend=texts["legend"].format(**sides),
    )  # fmt: skip


def _sides(text: str, numbers: list[str]) -> str:
    return text.format(mine=numbers[0], theirs=numbers[1])


def rule_grid(told: Told) -> tree.RuleGrid | None:
    """Return the rules with what they come to for each group; None without rules."""
    table, g = told.page.grid, told.language
    if table is None:
        return None
    parts: dict[Any, list[Any]] = {}
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
        tuple(_notes(told, cells)),
        legend=g.table["grid"]["legend"] if any(c.mark.low is not None for c in cells) else "",
    )  # fmt: skip


def _rule(g: Grammar, rule: Any) -> tree.GridRule:
    phrase, text = g.say("allowed", "text", rule), rule.facts["text"]
    unit = tree.Unit.RATIO if rule.by == "ratio" else tree.Unit.POINTS
    if rule.by != "ratio" and (rule.of is None or rule.of.kind in ("mean", "number")):
        unit = tree.Unit.NUMBER
    heading = g.say("grid", "rule", number=rule.facts["at"], phrase=phrase) or ""
    below = text if phrase != text else ""
    return tree.GridRule(heading, below, unit, rule.facts["neutral"], rule.facts["limits"])


def _head(g: Grammar, feature: Any, row: list[Any]) -> tree.Cell:
    """Return the people of a row; below, their values where these are not in the name."""
    first = next(s for s in row if s is not None)
    if feature is None or first.who is None:
        return tree.Cell(called(feature) if feature else g.say("grid", "whole") or "")
    people = [first.who, first.than] if first.facts.get("across") else [first.who]
    named = [(g.heading(side), " & ".join(value for _, value in side.values)) for side in people]
    below = [called(value) for name, value in named if called(value) not in name]
    return tree.Cell(g.listing([name for name, _ in named]), below=g.listing(below))


def _cell(g: Grammar, s: Any) -> tree.GridCell:
    ends, outcome = s.interval, s.verdict or ""
    mark = tree.Mark(
        s.value, ends and ends.low, ends and ends.high, sparse=outcome == "not_evaluated"
    )
    notes = ("a",) * s.facts["alone"] + ("b",) * (outcome == "fail" and s.harm == "better")
    counts = "".join(filter(None, [counts_of(g, s), g.say("cell", "at", s)]))
    return tree.GridCell(counts, mark, g.say("cell", "place", s) or "", Outcome(outcome), notes)


def _title(g: Grammar, feature: Any, stated: list[Any]) -> str:
    """Return a feature, and who is compared in it: "race: each group and all other people"."""
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
    elif code == "each" and len(than) != 1:
        code = "several"
    label = g.feature((feature, [column for column, _ in first.who.values]))
    sides: dict[str, Any] = {
        "who": g.heading(first.who),
        "than": g.heading(first.than) if code == "one" else min(than, default=""),
    }
    return g.say("grid", code, feature=label, **sides) or ""


def _notes(told: Told, cells: list[tree.GridCell]) -> Iterator[str]:
    g, table = told.language, told.page.grid
    assert table is not None
    texts, facts = g.table["grid"], table.facts
    of_100 = next((c.counts for c in cells if " v " in c.counts and "/" not in c.counts), None)
    if facts["level"] is not None:
        yield g.say("grid", "decides", counts=of_100, **facts) or ""
    outcomes = {cell.outcome for cell in cells}
    letters = {letter for cell in cells for letter in cell.notes}
    if facts["alternatives"]:
        yield texts["alternatives"]
    undecided = [
        g.say("grid", str(outcome), why=facts["why"])
        for outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
        if outcome in outcomes
    ]
    if undecided:
        yield " ".join(filter(None, undecided))
    yield from (texts[letter] for letter in ("a", "b") if letter in letters)
    yield from (texts["deciding"][kind] for kind in facts["kinds"] if kind in texts["deciding"])
    yield from (
        g.say("grid", "more", n=n, noun=noun) or "" for noun, n in facts["more"].items() if n > 0
    )


def group_names(told: Told, report: Report) -> dict[tuple[str | None, str | None], str]:
    """Return what the first page calls groups that tables call by another name, their value."""
    g, named = told.language, told.page.words.get("groups", {})
    return {
        (each.feature, each.group): g.name(
            side_of(each.feature, each.group, each.feature_id, each.group_id)
        )
        for each in report.groups
        if each.feature in named
    }


def deciding_interval(told: Told) -> str:
    """Return which confidence interval of a comparison decides its rule, and which are others."""
    facts = told.page.grid.facts if told.page.grid else {}
    return told.language.say("grid", "decides", counts=None, **facts | {"level": None}) or ""

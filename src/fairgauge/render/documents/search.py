"""What documents of a search for subgroups and of swapped names have besides their fields."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.enums import Level
from fairgauge.question.specification import read_spec
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.report_notes import TONES
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.page import said
from fairgauge.render.streams import layouts
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import shown, shown_range, titled
from fairgauge.results.codec import to_dict
from fairgauge.results.name_swaps import PairsAudit, SwapVerdict
from fairgauge.results.subgroup_search import Subgroup, SubgroupSearch
from fairgauge.statements.compared import unit_of
from fairgauge.statements.search import nearer_end, spread_statement


def _columns(found: SubgroupSearch) -> dict[str, str]:
    # the columns of conditions, each with its feature: apart from our own of that name
    own = layouts()["csv"]["find"]["subgroups"]["columns"]
    names = (feature.name for feature in found.question.features)
    return {f"feature {name}" if name in own else name: name for name in names}


def _row(found: SubgroupSearch, each: Subgroup) -> dict[str, object]:
    own = to_dict(each) | {"subgroup": each.name, "guaranteed": nearer_end(found, each)}
    return {**{column: each.conditions.get(of) for column, of in _columns(found).items()}, **own}


def _notes(found: SubgroupSearch) -> Iterator[str]:
    g = spoken()
    for each in found.question.features:
        cuts = [f"{cut:g}" for cut in each.cuts]
        facts: dict[str, object] = {"name": each.name, "cuts": cuts, "values": each.values}
        yield g.say("searched_values", str(each.made), **facts) or ""
    if found.too_few:
        n, least = found.too_few, found.question.min_rows
        yield g.say("searched_values", "too_few", n=n, least=least) or ""
    if found.duplicates:
        yield g.say("searched_values", "duplicates", n=found.duplicates) or ""
    notes = (each for each in found.diagnostics if each.level is Level.NOTE)
    yield from (f"{capitalised(each.message)}." for each in notes)


STREAMS = {
    "facts": lambda found: {
        "whom": unit_of(read_spec(found.spec)),
        "constant": found.is_constant,
        "rate": titled(found.question.definition.title),
    },
    "columns": _columns,
    "members": lambda f: [_row(f, each) for each in f.worse if each.explained_by is None],
    "explained": lambda f: [_row(f, each) for each in f.worse if each.explained_by is not None],
    "listed": lambda f: [_row(f, each) for each in (*f.worse, *f.undecided)],
    "notes": lambda found: [*filter(None, _notes(found))],
}


def _differences(audit: PairsAudit) -> Iterator[dict[str, object]]:
    for each in audit.distinct:
        unit = tree.Unit.POINTS if each.of_decisions else tree.Unit.NUMBER
        yield {
            "compared": f"{called(each.group)} vs {called(each.reference)}",
            "model": each.model,
            "difference": shown(each.value, unit, sign=True),
            "interval": shown_range(each.low, each.high, unit, sign=True),
            "margin": (each.margin or 0) * (100 if each.of_decisions else 1) or None,
            "p": each.p_equivalence if each.verdict is SwapVerdict.EQUIVALENT else each.p_adjusted,
            "verdict": str(each.verdict),
        }


SWAPS = {
    "facts": lambda audit: {
        "verdict": in_words(str(audit.verdict)).upper(),
        "tone": str(TONES[audit.verdict]),
    },
    "difference_rows": _differences,
    "edits": lambda audit: said(audit, map(spread_statement, audit.placebo), "certain"),
    "noted": lambda audit: [each.message for each in audit.notes],
}

"""What the document of a search for subgroups has besides its fields: members, notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairgauge.enums import Level, SearchedValues
from fairgauge.render import _document_tree as tree
from fairgauge.render.streams import layouts
from fairgauge.render.words import numbers
from fairgauge.render.words.command_line import command_against, command_inside
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.question_sentences import unit_of
from fairgauge.results.codec import to_dict
from fairgauge.results.subgroup_search import Subgroup, SubgroupSearch
from fairgauge.statements.search import guaranteed


def _facts(found: SubgroupSearch) -> dict[str, Any]:
    return {"whom": unit_of(found.spec), "constant": found.is_constant}


def _columns(found: SubgroupSearch) -> dict[str, str]:
    """Return the columns of conditions, each with its feature: apart from our own of that name."""
    own = layouts()["csv"]["find"]["subgroups"]["columns"]
    names = (feature.name for feature in found.question.features)
    return {f"feature {name}" if name in own else name: name for name in names}


def _row(found: SubgroupSearch, each: Subgroup) -> dict[str, Any]:
    own = to_dict(each) | {"subgroup": each.name, "guaranteed": guaranteed(found, each)}
    conditions = {column: each.conditions.get(of) for column, of in _columns(found).items()}
    return {**conditions, **own}


def _members(found: SubgroupSearch) -> list[Subgroup]:
    return [each for each in found.worse if each.explained_by is None]


def _commands(found: SubgroupSearch) -> Iterator[tree.Block]:
    for each in _members(found)[:1]:
        name = called(each.name)
        if (against := command_against(found, each)) is not None:
            yield tree.Paragraph(f"To compare {name} with all others in a report:")
            yield tree.Code(against)
        if (inside := command_inside(found, each)) is not None:
            whom = numbers.numbered(each.rows, unit_of(found.spec))
            yield tree.Paragraph(
                f"To audit the {whom} of {name} by the other features of few values, which "
                "compares groups inside it, and not it with other rows:"
            )
            yield tree.Code(inside)
        where = f"where=found.where(found.worse[{found.worse.index(each)}])"
        yield tree.Paragraph(f"In Python: the same data and columns with {where}.")


def _notes(found: SubgroupSearch) -> Iterator[str]:
    """Yield how values of features were made, and what was not tested."""
    for each in found.question.features:
        if each.made is SearchedValues.QUINTILES:
            cuts = numbers.listing([f"{cut:g}" for cut in each.cuts])
            yield f"{called(each.name)} was cut into fifths of the rows at {cuts}."
        elif each.made is SearchedValues.MOST_FREQUENT:
            yield (
                f"Of {called(each.name)} the {len(each.values) - 1} most frequent values were "
                f"searched, and all others together as {called(each.values[-1])}."
            )
    if found.too_few:
        least = numbers.numbered(found.question.min_rows)
        yield (
            f"{numbers.numbered(found.too_few, 'subgroups')} of at least {least} "
            f"{numbers.plural(found.too_few, 'was', 'were')} not tested: fewer than 20 rows that "
            "the rate is a share of, in it or outside it."
        )
    if found.duplicates:
        hold = numbers.plural(found.duplicates, "conjunction holds", "conjunctions hold")
        yield f"{found.duplicates:,} {hold} the same rows as one with fewer conditions."
    yield from (
        f"{capitalised(each.message)}."
        for each in found.diagnostics
        if each.level is not Level.WARNING
    )


STREAMS = {
    "facts": _facts,
    "columns": _columns,
    "members": lambda found: [_row(found, each) for each in _members(found)],
    "explained": lambda f: [_row(f, each) for each in f.worse if each.explained_by is not None],
    "listed": lambda f: [_row(f, each) for each in (*f.worse, *f.undecided)],
    "commands": _commands,
    "notes": _notes,
}

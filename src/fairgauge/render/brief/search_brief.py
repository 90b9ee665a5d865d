"""The brief of a search for subgroups: where a rate is worse, and by how much at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render.documents.search_document import (
    claim,
    detectable,
    examined,
    guaranteed,
    nothing_shown,
)
from fairgauge.render.words.display_names import called
from fairgauge.render.words.numbers import count, numbered, percent, plural, points
from fairgauge.results.brief import Brief, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.subgroup_search import SubgroupSearch

_MOST_FOUND = 3


def search_brief(found: SubgroupSearch) -> Brief:
    """Return the brief of a search for subgroups."""
    return Brief(
        headline=_headline(found),
        verdict=(),
        looked_at=(
            Sentence(
                f"{numbered(found.overall.rows, 'rows')}: {examined(found)}",
                ("overall", "examined", "question"),
            ),
        ),
        found=tuple(_found(found)),
        certainty=tuple(_certainty(found)),
        limits=(
            Sentence(
                "Why: a subgroup is a place to look, and its difference may be due to something "
                "that no feature holds."
            ),
        ),
        steps=tuple(_steps(found)),
        question="Where it is worse, and by how much",
    )


def _headline(found: SubgroupSearch) -> Sentence:
    rate, number = called(found.question.definition.title), len(found.worse)
    if not found.examined:
        return Sentence("No subgroup has enough rows to be examined", ("examined",))
    if not number:
        return Sentence(f"No subgroup is shown to have a {found.question.worse} {rate}", ("worse",))
    members = [called(each.name) for each in found.worse if each.explained_by is None]
    more = f" and {len(members) - 1:,} more" if len(members) > 1 else ""
    verb = plural(len(members), "has", "have")
    return Sentence(f"{members[0]}{more} {verb} a {found.question.worse} {rate}", ("summary",))


def _found(found: SubgroupSearch) -> Iterator[Sentence]:
    if not found.worse:
        yield Sentence(nothing_shown(found), ("worse",))
        return
    yield Sentence(f"Of these subgroups {claim(found)}", ("worse", "summary"))
    members = [each for each in found.worse if each.explained_by is None]
    for each in members[:_MOST_FOUND]:
        yield Sentence(
            f"{called(each.name)} (n = {count(each.n)}): {percent(each.rate)} vs "
            f"{percent(each.reference_rate)} ({points(each.difference)} pp, at least "
            f"{points(guaranteed(found, each))} pp).",
            (f"worse[{found.worse.index(each)}]",),
        )
    if (more := len(members) - _MOST_FOUND) > 0:
        yield Sentence(f"{more:,} more {plural(more, 'is', 'are')} listed below.", ("summary",))


def _certainty(found: SubgroupSearch) -> Iterator[Sentence]:
    if not found.examined:
        return
    undecided, not_worse = found.undecided_count, found.not_worse_count
    yield Sentence(
        f"{numbered(undecided, 'subgroups')} cannot be decided; {count(not_worse)} "
        f"{plural(not_worse, 'is', 'are')} shown not to be worse.",
        ("undecided_count", "not_worse_count"),
    )
    yield Sentence(detectable(found), ("detectable",))


def _steps(found: SubgroupSearch) -> Iterator[Sentence]:
    if found.worse:
        first = next(each for each in found.worse if each.explained_by is None)
        yield Sentence(f"Audit {called(first.name)} by the other features: the command is below.")
        yield Sentence("Find where its difference arises: fairgauge why --strata COLUMN.")
    elif found.undecided:
        yield Sentence("Collect more rows of the subgroups that cannot be decided.", ("undecided",))

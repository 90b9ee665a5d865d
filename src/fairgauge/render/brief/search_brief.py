"""The brief of a search for subgroups: where a rate is worse, and by how much at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import SearchedReference
from fairgauge.render.words.command_line import command_inside
from fairgauge.render.words.display_names import called
from fairgauge.render.words.numbers import count, listing, numbered, percent, plural, points
from fairgauge.render.words.search_sentences import (
    audited_by,
    bad_words,
    claim,
    counted,
    detectable,
    detected,
    examined,
    guaranteed,
    nothing_shown,
    of_scores,
    of_whom,
)
from fairgauge.results.brief import Brief, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.subgroup_search import SubgroupSearch

_MOST_FOUND = 3
_MOST_NAMED = 2
_USUAL_SHARE = 0.1


def search_brief(found: SubgroupSearch) -> Brief:
    """Return the brief of a search for subgroups."""
    return Brief(
        headline=_headline(found),
        verdict=(),
        looked_at=(
            Sentence(
                f"{numbered(found.overall.rows, of_whom(found))}: {examined(found)}",
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
        question="Where, and by how much",
    )


def _headline(found: SubgroupSearch) -> Sentence:
    bad = bad_words(found.question)
    if not found.examined:
        return Sentence("No subgroup has enough rows to be examined", ("examined",))
    if not found.worse:
        by_share = detected(found)
        would = by_share.get(_USUAL_SHARE) or next(iter(by_share.values()), None)
        none = f"No subgroup is shown to be {bad}"
        if would is None:
            return Sentence(none, ("worse",))
        once = ", once chosen" if found.question.split is not None else ""
        return Sentence(
            f"{none}; {would} of the {counted(found)} would probably have been found{once}",
            ("worse", "detectable"),
        )
    members = [called(each.name) for each in found.worse if each.explained_by is None]
    if of_scores(found.question):
        more = f" and {len(members) - 1:,} more" if len(members) > 1 else ""
        verb = plural(len(members), "is", "are")
        return Sentence(f"{members[0]}{more} {verb} {bad}", ("summary",))
    places = [f"in {name}" for name in members[:_MOST_NAMED]]
    if (more_places := len(members) - len(places)) > 0:
        places.append(f"in {numbered(more_places, 'more subgroups')}")
    rate = called(found.question.definition.title)
    others = found.question.reference == SearchedReference.OTHERS
    than = "elsewhere" if others else "overall"
    return Sentence(
        f"The {rate} is {found.question.worse} {listing(places)} than {than}",
        ("summary", "question"),
    )


def _found(found: SubgroupSearch) -> Iterator[Sentence]:
    if not found.worse:
        yield Sentence(nothing_shown(found), ("worse",))
        return
    yield Sentence(f"Of these subgroups {claim(found)}", ("worse", "summary"))
    members = [each for each in found.worse if each.explained_by is None]
    for each in members[:_MOST_FOUND]:
        rates = f"{percent(each.rate)} vs {percent(each.reference_rate)}, "
        yield Sentence(
            f"{called(each.name)} (n = {count(each.n)}): "
            f"{'' if of_scores(found.question) else rates}{points(each.difference)} pp, at least "
            f"{points(guaranteed(found, each))} pp.",
            (f"worse[{found.worse.index(each)}]",),
        )
    if (more := len(members) - _MOST_FOUND) > 0:
        yield Sentence(f"{more:,} more {plural(more, 'is', 'are')} listed below.", ("summary",))


def _certainty(found: SubgroupSearch) -> Iterator[Sentence]:
    if not found.examined:
        return
    undecided, not_worse = found.undecided_count, found.not_worse_count
    yield Sentence(
        f"{numbered(undecided, 'subgroups')} {plural(undecided, 'is', 'are')} inconclusive; "
        f"{count(not_worse)} "
        f"{plural(not_worse, 'is', 'are')} shown not to be {bad_words(found.question)}.",
        ("undecided_count", "not_worse_count"),
    )
    yield Sentence(detectable(found), ("detectable",))


def _steps(found: SubgroupSearch) -> Iterator[Sentence]:
    if found.worse:
        first = next(each for each in found.worse if each.explained_by is None)
        if command_inside(found, first) is not None:
            name = called(first.name)
            yield Sentence(f"Audit {name} {audited_by(found, first)}: the command is below.")
        if not of_scores(found.question):
            yield Sentence("Find where the difference arises: fairgauge why (strata).")
    elif found.undecided:
        yield Sentence("Collect more rows of the subgroups that are inconclusive.", ("undecided",))

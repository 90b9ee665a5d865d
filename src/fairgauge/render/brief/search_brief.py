"""The brief of a search for subgroups: where a rate is worse, and by how much at least."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.catalogue.decomposable import has_decomposition
from fairgauge.enums import SearchedReference
from fairgauge.render.brief._next_steps import analyst, owner, supplier
from fairgauge.render.brief._vocabulary import excluded_in_words
from fairgauge.render.words.command_line import command_against, command_decomposing, command_inside
from fairgauge.render.words.display_names import called
from fairgauge.render.words.numbers import listing, numbered, percent, plural, points
from fairgauge.render.words.search_sentences import (
    HEADING,
    among,
    audited_by,
    claim,
    decided,
    detectable,
    examined,
    guaranteed,
    is_constant,
    nothing_shown,
    sized,
    without_tolerance,
    would_have_been_found,
)
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.subgroup_search import SubgroupSearch

_MOST_FOUND = 3
_MOST_NAMED = 2
_MANY_MEMBERS = 9
_USUAL_SHARE = 0.1
_MOST_ROWS = 1e6


def search_brief(found: SubgroupSearch) -> Brief:
    """Return the brief of a search for subgroups."""
    return Brief(
        headline=_headline(found),
        verdict=(_verdict(found),),
        looked_at=(
            Sentence(examined(found), ("overall", "examined", "question")),
            *(Sentence(text, ("diagnostics",)) for text in excluded_in_words(found.diagnostics)),
        ),
        found=tuple(_found(found)),
        certainty=tuple(_certainty(found)),
        limits=(
            Sentence(
                "Why: a subgroup is a place to look, and its difference may arise from something "
                "that no feature holds."
            ),
        ),
        steps=tuple(_steps(found)),
        question="Where, and by how much",
    )


def _headline(found: SubgroupSearch) -> Sentence:
    if not found.examined:
        return Sentence("No subgroup has enough rows to be examined", ("examined",))
    if is_constant(found):
        title, rate = called(found.question.definition.title), percent(found.overall.rate)
        return Sentence(f"The {title} is {rate} in all subgroups", ("overall",))
    if not found.worse:
        none = f"No subgroup is shown to be worse{among(found)}"
        would = None if found.lacks_outcomes else would_have_been_found(found, _USUAL_SHARE)
        if would is None:
            return Sentence(none, ("worse",))
        return Sentence(f"{none}; {would}", ("worse", "detectable"))
    members = [called(each.name) for each in found.worse if each.explained_by is None]
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


def _verdict(found: SubgroupSearch) -> Sentence:
    if not found.worse:
        return Sentence(nothing_shown(found), ("worse",))
    of = f"Of the {numbered(found.examined, 'subgroups')}"
    return Sentence(f"{of} {claim(found)}", ("examined", "worse", "summary"))


def _found(found: SubgroupSearch) -> Iterator[Sentence]:
    members = [each for each in found.worse if each.explained_by is None]
    for each in members[:_MOST_FOUND]:
        rates = f"{percent(each.rate)} vs {percent(each.reference_rate)}, "
        yield Sentence(
            f"{called(each.name)} ({sized(found, each)}): "
            f"{rates}{points(each.difference)} pp, at least "
            f"{points(guaranteed(found, each))} pp.",
            (f"worse[{found.worse.index(each)}]",),
        )
    if (more := len(members) - _MOST_FOUND) > 0:
        where = f"under “{HEADING}”"
        yield Sentence(f"{more:,} more {plural(more, 'is', 'are')} {where}.", ("summary",))


def _certainty(found: SubgroupSearch) -> Iterator[Sentence]:
    if not found.examined or is_constant(found):
        return
    yield Sentence(decided(found), ("undecided_count", "not_worse_count"))
    yield Sentence(detectable(found), ("detectable",))


def _steps(found: SubgroupSearch) -> Iterator[Sentence]:
    if found.worse:
        first = next(each for each in found.worse if each.explained_by is None)
        if len(found.summary) > _MANY_MEMBERS:
            yield analyst(
                "search only features along which the rate ought to be the same: along one that a "
                "model decides by it may differ by design.",
                ("summary",),
            )
        name, where = called(first.name), f"under “{HEADING}”"
        if command_against(found, first) is not None:
            yield analyst(f"compare {name} with all others in a report: the command is {where}.")
        elif command_inside(found, first) is not None:
            by = audited_by(found, first)
            yield analyst(f"audit the rows of {name} {by}: the command is {where}.")
        of = found.question.definition
        if not found.own and has_decomposition(of):
            line = command_decomposing(found.spec, of)
            yield analyst(f"find where the difference arises ({line} --strata COLUMN).")
    elif found.undecided and not found.is_constant:
        if not found.question.tolerance:
            yield owner(without_tolerance(), ("question",))
        largest = found.undecided[0]
        if largest.rows_needed is not None and largest.rows_needed <= _MOST_ROWS:
            rows = float(f"{largest.rows_needed:.2g}")
            yield supplier(
                f"collect more rows: in a table of about {rows:,.0f}, and not "
                f"{found.overall.rows:,}, the difference of {called(largest.name)} "
                f"({points(largest.difference)} pp) would probably be shown, if it is as large as "
                "it seems; the largest of many estimates mostly is not.",
                ("undecided[0]",),
            )

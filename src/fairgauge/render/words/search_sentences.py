"""Sentences of a search for subgroups: what was examined, claimed, and could have been found."""

from __future__ import annotations

from fairgauge.enums import DiagnosticCode, SearchedReference, Worse
from fairgauge.render.words import numbers
from fairgauge.render.words.command_line import other_features
from fairgauge.render.words.display_names import called
from fairgauge.render.words.question_sentences import unit_of
from fairgauge.results.subgroup_search import SearchQuestion, Subgroup, SubgroupSearch


def counted(found: SubgroupSearch) -> str:
    """Return what the rate is a share of: ``observed negatives``."""
    described = found.question.definition.among.described
    return of_whom(found) if described == "rows" else described


def complete(found: SubgroupSearch) -> str:
    """Return what else they have, of which other rows have one alone: `` with a prediction``."""
    lacking = {f"missing {each}": each for each in ("label", "prediction")}
    without = [
        lacking[note["reason"]]
        for note in found.diagnostics
        if note.code is DiagnosticCode.EXCLUDED and note["reason"] in lacking
    ]
    return f" with a {numbers.listing(without)}" if without else ""


def among(found: SubgroupSearch) -> str:
    """Return of which rows alone something is shown: `` among the rows with a prediction``."""
    with_outcomes = complete(found)
    return f" among the {of_whom(found)}{with_outcomes}" if with_outcomes else ""


def of_whom(found: SubgroupSearch) -> str:
    """Return what is counted: people, cases, or rows."""
    return unit_of(found.spec)


def examined(found: SubgroupSearch) -> str:
    """State how many rows, which subgroups were examined, and what each is compared with."""
    question = found.question
    features = len(question.features)
    deepest = min(question.depth, features)
    against = "all other rows" if question.reference is SearchedReference.OTHERS else "all rows"
    text = (
        f"{numbers.numbered(found.overall.rows, of_whom(found))}: "
        f"{numbers.numbered(found.examined, 'subgroups')} of up to {deepest} of "
        f"{numbers.numbered(features, 'features')}, each against {against}."
    )
    if question.tolerance:
        text += f" Worse means {question.worse} by more than {in_points(question.tolerance)}."
    return text


def claim(found: SubgroupSearch) -> str:
    """State how many subgroups are worse, with which chance of error, and what explains them."""
    number, alpha = len(found.worse), f"{100 * found.question.alpha:.4g}%"
    chance = f"at most {alpha} of such searches name any that is not"
    are = numbers.plural(number, "is", "are")
    text = f"{number:,} {are} shown to be worse ({chance})"
    members, others = len(found.summary), number - len(found.summary)
    if others:
        account = numbers.plural(members, "accounts", "account")
        rest = "the other" if others == 1 else f"the other {others:,}"
        text += f"; {members:,} {account} for {rest}"
    return f"{text}."


def audited_by(found: SubgroupSearch, subgroup: Subgroup) -> str:
    """Return by what the rows of a subgroup are audited."""
    others = len(found.question.features) - len(subgroup.conditions)
    few = len(other_features(found, subgroup))
    return "by the other features" if few == others else "by the other features of few values"


def is_constant(found: SubgroupSearch) -> bool:
    """Return whether the rate is the same 0% or 100% in every subgroup; rounded counts hide it."""
    return found.is_constant and found.question.min_cell is None


def nothing_shown(found: SubgroupSearch) -> str:
    """State what follows where no subgroup is shown to be worse, or why none was examined."""
    if not found.examined:
        fewest = found.question.min_rows
        return (
            f"No subgroup has {fewest:,} rows, with 20 that the rate is a share of in it and 20 "
            "outside it."
        )
    if is_constant(found):
        return (
            "The rate is the same in all subgroups, as with a constant score or decision: no "
            "subgroup can differ, and nothing is decided."
        )
    if found.is_constant:
        return (
            f"In counts rounded to multiples of {found.question.min_cell:,} the rate is "
            f"{numbers.percent(found.overall.rate)} of all rows, as with a constant score or "
            "decision: they do not show whether any subgroup differs."
        )
    lacking = "; rows that lack a clear outcome or a count could hide one" * found.lacks_outcomes
    return f"This does not show that none is worse{lacking}."


def decided(found: SubgroupSearch) -> str:
    """State how many subgroups are inconclusive, and how many are shown not to be worse."""
    undecided, not_worse = found.undecided_count, found.not_worse_count
    if undecided == found.examined > 1:
        return (
            f"All {undecided:,} subgroups are inconclusive: none is shown to be worse, and none is "
            "shown not to be worse."
        )
    return (
        f"{numbers.numbered(undecided, 'subgroups')} "
        f"{numbers.plural(undecided, 'is', 'are')} inconclusive; {not_worse:,} "
        f"{numbers.plural(not_worse, 'is', 'are')} shown not to be worse{among(found)}."
    )


def detectable(found: SubgroupSearch) -> str:
    """State what would have been found."""
    by_share = detected(found)
    if not by_share:
        return "No difference would probably have been found: the table is too small."
    at = f",{among(found)}" if among(found) else ""
    (largest, by), *others = by_share.items()
    more = "".join(f", {each} in one of {100 * share:g}%" for share, each in others)
    return (
        f"Would have been found (80% power{at}): {_off(found.question)} {by} in a subgroup of "
        f"{100 * largest:g}% of the {counted(found)}{more}."
    )


def would_have_been_found(found: SubgroupSearch, usual: float) -> str | None:
    """State in the words of a headline which subgroup would have been found; None if none."""
    by_share = detected(found)
    if not by_share:
        return None
    share = usual if usual in by_share else next(iter(by_share))
    return (
        f"{_off(found.question)} {by_share[share]} in a subgroup of {100 * share:g}% of the "
        f"{counted(found)} would probably have been found"
    )


def _off(question: SearchQuestion) -> str:
    """Return what is by so much on the worse side: ``a false positive rate higher``."""
    title = called(question.definition.title)
    return f"{'an' if title[0] in 'aeiou' else 'a'} {title} {question.worse}"


def detected(found: SubgroupSearch) -> dict[float, str]:
    """Return what would have been found, by the share of a subgroup: ``by 6.2 pp``."""
    return {
        each.share: f"by {in_points(each.difference)}"
        for each in found.detectable
        if each.difference is not None
    }


def sized(found: SubgroupSearch, each: Subgroup) -> str:
    """Return of how many the rate of a subgroup is a share: ``186 observed positives``."""
    return f"{numbers.count(each.n)} {counted(found)}"


HEADING = "Where it is worse"
"""The heading under which what is worse is listed, with its commands."""


def without_tolerance() -> str:
    """Return a step: to state a tolerance, where none was asked, and what it would decide."""
    return (
        "state which difference counts (--tolerance 0.05: worse by more than 5 pp): without it "
        "only a subgroup that is better can be shown not to be worse."
    )


def guaranteed(found: SubgroupSearch, each: Subgroup) -> float:
    """Return the end of the interval that is nearer to no difference."""
    return each.low if found.question.worse is Worse.HIGHER else each.high


def in_points(value: float) -> str:
    """Return a share, or a difference of shares, in percentage points."""
    return f"{100 * value:.1f} pp"

"""The brief of a decomposition: how large a gap is, and what becomes of it within strata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import ClassKind, DiagnosticCode, GapPartKind, GapVerdict, WhyInconclusive
from fairgauge.render.brief._compared_means import quantity
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.brief._gap_in_words import GapInWords, gap_words
from fairgauge.render.brief._next_steps import analyst, owner, reader, supplier
from fairgauge.render.brief._vocabulary import Vocabulary, interval_in_words
from fairgauge.render.words.decomposition_sentences import (
    CAVEAT,
    CHANGED_BY_DECISION,
    MISSING_ROWS,
    OF_SUPPORT,
    adjusted_for,
    describe_adjusted,
    describe_detectable,
    describe_gap_verdict,
    describe_heterogeneity,
    describe_not_compared,
    describe_outlying,
    differing_elsewhere,
    differs_in,
    each_of,
    each_verdict,
    is_of_one_outcome,
    missing_columns,
    outlying_places,
    place_name,
    rows_words,
    strata_words,
    verdict_and_controls,
    verdict_words,
    with_controls,
    within_words,
)
from fairgauge.render.words.display_names import all_called, called, capitalised, group_called
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import compared_rate, metric_words
from fairgauge.render.words.numbers import listing, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.disadvantage import adverse_sign
from fairgauge.results.disparities import is_reference_first
from fairgauge.results.gap_decomposition import Decomposition, Gap, StratumGap, test_of

_MOST_GAPS, _MOST_NAMED = 2, 4
_MOST_PLACES = 3
_VARIES = (WhyInconclusive.VARIES, WhyInconclusive.MAY_VARY, WhyInconclusive.IN_A_STRATUM)
_OF_FIRST = ("parts", "detectable")
"""What is stated of the first gap alone: other averages, and what would have been shown."""


def decomposition_brief(found: Decomposition) -> Brief:
    """Return the brief of a decomposition, of its first gaps in detail."""
    ordered = [(i, found.with_regression(gap)) for i, gap in found.described()]
    once: dict[object, tuple[int, Gap]] = {}
    for each in ordered:
        once.setdefault(test_of(each[1]), each)
    (at, first), *others = once.values()
    shown = [each for each in others if each[1].verdict_with_controls is not GapVerdict.NO_GAP]
    gaps = [(at, first), *shown[: _MOST_GAPS - 1]]
    more = [each for each in others if each not in gaps]
    words = gap_words(found)
    undecided = [*_undecided(ordered, words)]
    return Brief(
        headline=_headline(ordered, words),
        verdict=(
            *(Sentence(text, (f"gaps[{at}].verdict",)) for text in _verdict(first)),
            *(Sentence(f"Inconclusive for {groups}.", verdicts) for groups, verdicts in undecided),
        ),
        looked_at=(
            Sentence(f"{rows_words(found)}.", ("data.rows", "used")),
            Sentence(_divided(first, words), (f"gaps[{at}].columns",)),
        ),
        found=tuple(_found(gaps, more, words)),
        certainty=tuple(_certainty(found, gaps, words)),
        limits=(
            *map(Sentence, (CAVEAT, CHANGED_BY_DECISION, "Other times and places.")),
            *_left_within(found),
        ),
        steps=tuple(_steps(found, words)),
        question="How large the gap is, and where it lies",
    )


def below_neutral(found: Decomposition, gap: Gap, neutral: float) -> str:
    """Return who has it less often, or a lower average, where a number is below no difference."""
    words = gap_words(found)
    estimate, row = gap.estimate, compared_rate(gap.estimate.definition)
    one, other = words.group(estimate.feature, estimate.group), words.reference(estimate)
    if is_reference_first(estimate.definition):
        one, other = other, one
    if row is None or estimate.class_scope.kind is not ClassKind.NONE:
        return ""
    at = words.at(estimate.class_scope, estimate.threshold)
    if isinstance(row, Rate):
        rate, adverse = RateWords(at, row), adverse_sign(row, at.favourable)
        lower = rate.less_often(one, other, lower=True) if rate.known else ""
    else:
        adverse = adverse_sign(row, words.favourable)
        lower = f"{capitalised(quantity(words.spec, row))} is lower for {one} than for {other}"
    worse = f" (worse for {one if adverse < 0 else other})" if adverse else ""
    below = f"Below {neutral:g}: {lower}{worse}; above it the reverse."
    return below if lower else ""


def _verdict(gap: Gap) -> Iterator[str]:
    """Yield the verdict; where differences vary, which strata are a finding by themselves."""
    places, strata = list(map(place_name, outlying_places(gap))), strata_words(gap)
    if gap.reason is not WhyInconclusive.VARIES or not places:
        subject = "The difference " if gap.verdict is GapVerdict.REMAINS else ""
        stated = f"{subject}{verdict_and_controls(gap, strata, all_called(gap.controls))}"
        yield f"{capitalised(stated)}."
        if named := differs_in(gap):
            yield f"The difference is statistically significant in {named}, {_together(gap)}."
        return
    also = with_controls(gap, all_called(gap.controls))
    yield f"Inconclusive over {strata} as a whole: the difference is not the same everywhere{also}."
    named, are = listing(places, most=_MOST_PLACES), plural(len(places), "is", "are")
    yield (
        f"That {named} {are} unlike the others is statistically significant: a finding about "
        f"{plural(len(places), named, 'these')} alone."
    )


def _together(gap: Gap) -> str:
    return f"all {each_of(gap, several=True)} judged together"


def _divided(gap: Gap, words: Vocabulary) -> str:
    """Return what a gap is divided into."""
    group = words.group(gap.estimate.feature, gap.estimate.group)
    return (
        f"The gap between {group} and {words.reference(gap.estimate)} is divided in two parts: "
        f"that they are spread differently over {strata_words(gap)} (composition), and that they "
        f"differ in the same {each_of(gap)} (within). Each {each_of(gap)} is one stratum."
    )


def _headline(ordered: Sequence[tuple[int, Gap]], words: Vocabulary) -> Sentence:
    """Return what becomes of the first gap, which others are inconclusive, which strata stand out.

    Others are not stated to be inconclusive where a difference remains, which is graver.
    """
    at, gap = ordered[0]
    group = group_called(gap.estimate.group, gap.estimate.feature)
    metric = metric_words(gap.estimate.definition)
    in_words = GapInWords(words, gap)
    if in_words.known:
        text = in_words.headline()
    elif gap.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES):
        text = f"The {metric} of {group} {gap.verdict} {within_words(gap)}"
    else:
        text = f"{group}, {metric}: {verdict_words(gap)}"
    if named := differs_in(gap):
        one = "a difference " * (gap.reason is not WhyInconclusive.VARIES)
        text += f", and {one}is statistically significant in {named}"
    text += describe_not_compared(gap) + with_controls(gap, all_called(gap.controls))
    sources = [f"gaps[{at}].verdict", f"gaps[{at}].reason", f"gaps[{at}].support"]
    sources += [f"gaps[{at}].adjusted"] * bool(gap.controls)
    for groups, verdicts in _undecided(ordered, words):
        text += f"; what remains {within_words(gap)} is inconclusive for {groups}"
        sources += verdicts
    for i, each in ordered:
        own = in_words.outlying() if i == at else ""
        if outlying := own or describe_outlying(each):
            of = (
                "" if i == at else f"of {group_called(each.estimate.group, each.estimate.feature)} "
            )
            return Sentence(f"{text}; {of}{outlying}", (*sources, f"gaps[{i}].strata"))
    return Sentence(text, tuple(sources))


def _undecided(
    ordered: Sequence[tuple[int, Gap]], words: Vocabulary
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield for which groups a gap is inconclusive, beside a first one of which nothing is left.

    And where that stands.
    """
    rates = {test_of(gap)[-1] for _, gap in ordered}
    names = {
        f"{words.group(gap.estimate.feature, gap.estimate.group)}"
        f"{f' ({metric_words(gap.estimate.definition)})' if len(rates) > 1 else ''}": (
            f"gaps[{i}].verdict"
        )
        for i, gap in ordered
        if gap.verdict_with_controls is GapVerdict.INCONCLUSIVE
    }
    if names and ordered[0][1].verdict_with_controls.is_pass:
        named = listing(list(names), most=_MOST_NAMED)
        yield named, tuple(names.values())


def _left_within(found: Decomposition) -> Iterator[Sentence]:
    """Yield that numbers in few intervals confound within these."""
    few = [each for each in found.diagnostics if each.code is DiagnosticCode.FEW_INTERVALS]
    if few:
        columns = listing([called(each["column"]) for each in few])
        text = f"A part of what {columns} {plural(len(few), 'confounds', 'confound')} remains"
        yield Sentence(f"{text} within fewer than five intervals.", ("diagnostics",))


def _found(
    gaps: Sequence[tuple[int, Gap]], more: Sequence[tuple[int, Gap]], words: Vocabulary
) -> Iterator[Sentence]:
    for i, gap in gaps:
        in_words = GapInWords(words, gap)
        if overall := in_words.overall():
            yield Sentence(overall, (f"gaps[{i}].overall",))
        stated = in_words.sentences() if in_words.known else [f"{gap.estimate.says}."]
        for text in stated:
            yield Sentence(text, (f"gaps[{i}].estimate", f"gaps[{i}].parts", f"gaps[{i}].strata"))
    if more:
        rates = {test_of(gap)[-1] for _, gap in (*gaps, *more)}
        named = [
            f"{words.group(gap.estimate.feature, gap.estimate.group)}"
            f"{f', {metric_words(gap.estimate.definition)}' if len(rates) > 1 else ''}"
            f" ({each_verdict(gap)})"
            for _, gap in more
        ]
        comparisons = plural(len(more), "comparison", "comparisons")
        yield Sentence(
            f"{len(more):,} more {comparisons}: {listing(named, most=_MOST_NAMED)}.",
            tuple(f"gaps[{i}].verdict" for i, _ in more),
        )


def _certainty(
    found: Decomposition, gaps: Sequence[tuple[int, Gap]], words: Vocabulary
) -> Iterator[Sentence]:
    for place, (at, gap) in enumerate(gaps):
        who = f"{called(gap.estimate.group)}: " if len(found.gaps) > 1 else ""
        for text, key in _certainty_of(gap, GapInWords(words, gap)):
            if text and (place == 0 or key not in _OF_FIRST):
                yield Sentence(f"{who}{text}", (f"gaps[{at}].{key}",))
                who = ""
    yield Sentence(f"{interval_in_words(found.confidence)}.", ("confidence",))


def _certainty_of(gap: Gap, in_words: GapInWords) -> Iterator[tuple[str, str]]:
    """Yield sentences, each with the key of what it states; of a ratio in its own numbers."""
    divided = in_words.divided
    yield describe_gap_verdict(gap, brief=divided), "verdict"
    if divided:
        yield in_words.interval_sentence() or "", "estimate"
        if gap.reason is not WhyInconclusive.TOO_FEW:
            yield in_words.averages(), "parts"
    elif gap.controls:
        yield describe_adjusted(gap, brief=True), "adjusted"
    varies = in_words.variation() if divided else describe_heterogeneity(gap)
    yield varies, "heterogeneity"
    size = in_words.distance(gap.detectable) if divided and gap.detectable is not None else ""
    yield describe_detectable(gap, size), "detectable"


def _steps(found: Decomposition, words: Vocabulary) -> Iterator[Sentence]:
    gaps = [found.with_regression(gap) for _, gap in found.gravest()]
    strata, within = strata_words(gaps[0]), ""
    if gaps[0].controls:
        strata = adjusted_for(gaps[0])
        within = f" within the same {strata}"
    several = len(found.gaps) > 1
    places = dict.fromkeys(
        f"{name} ({called(gap.estimate.group)})" if several else name
        for gap in gaps
        for name in _outlying_worse(gap, words)
    )
    remaining = [
        (gap, _worse_elsewhere(gap, words)) for gap in gaps if _remains(gap) or _varies(gap)
    ]
    of, worse = next(filter(lambda each: each[1], remaining), (gaps[0], []))
    sides = called(of.estimate.group), called(reference_name(of.estimate.reference))
    difference = f"the difference of {sides[0]} from {sides[1]}" if several else "the difference"
    alone = f" by {strata_words(of)} alone" * bool(within)
    together = f", {_together(of)}" * (len(of.strata) > 1)
    shown = (
        f"of {listing(worse, most=_MOST_PLACES)}: {difference}{alone} there is statistically "
        f"significant{together}."
    )
    if places:
        named = listing(list(places), most=_MOST_PLACES)
        yield reader(
            f"read cases of {named} first{within and f',{within}'}: the difference{alone} there is "
            f"unlike all others.{f' Then {shown}' if worse else ''}"
        )
    elif within and any(map(_remains, gaps)):
        where = f"{difference}{alone} is statistically significant"
        first = f": {listing(worse, most=_MOST_PLACES)} first, where {where}" if worse else ""
        yield reader(f"read cases of both sides{within}{first}.")
    elif worse:
        yield reader(f"read cases {shown}")
    if any(map(_remains, gaps)):
        yield owner(f"decide whether what remains within {strata} is tolerable.")
    yield from _to_complete(found.gaps, gaps)
    if any(map(_is_accounted_for, gaps)):
        yield owner(f"ask whether {strata} should count, and why groups differ in them.")
    undecided = [gap for gap in found.gaps if gap.verdict is GapVerdict.INCONCLUSIVE]
    if not all(is_of_one_outcome(gap) or gap.reason in MISSING_ROWS for gap in undecided):
        if {gap.reason for gap in undecided} <= set(OF_SUPPORT):
            groups = dict.fromkeys(called(gap.estimate.group) for gap in undecided)
            of_groups = f" (for {listing(list(groups), most=_MOST_PLACES)})" if several else ""
            yield analyst(
                f"find out why values of {strata_words(gaps[0])} have {words.noun} of one side "
                f"alone{of_groups}, or compare within coarser strata that both sides are in."
            )
        elif {gap.reason for gap in undecided} == {WhyInconclusive.NOT_TESTED}:
            yield analyst(
                f"state --cluster by units of which each {each_of(gaps[0])} has two or more on "
                "either side, or compare within coarser strata."
            )
        elif not (places or (worse and _varies(of))):
            yield analyst(
                "look at the strata one by one: an average may hide what remains in some."
            )
        yield from _other_strata(found)
    if found.verdict is GapVerdict.NO_GAP:
        yield owner("state which difference would be too small to matter, with --margin.")


def _to_complete(gaps: Sequence[Gap], adjusted: Sequence[Gap]) -> Iterator[Sentence]:
    """Yield which values to complete, without which a gap is inconclusive."""
    if lacking := _with_missing_strata(adjusted):
        yield supplier(f"complete {lacking}, and ask again.")
    named = (
        "complete the outcomes that are missing", "complete the groups that are missing",
        "complete the weights, counts or values of conditions that are missing",
        "state what the values in the warnings mean (--positive, --unknown, --recode, --where)",
    )  # fmt: skip
    for reason, what in zip(MISSING_ROWS, named, strict=True):
        if any(gap.reason is reason for gap in gaps):
            yield supplier(f"{what}, and ask again.")


def _with_missing_strata(gaps: Sequence[Gap]) -> str:
    """Return the columns of which rows without a value make a gap inconclusive."""
    columns = [
        column
        for gap in gaps
        if gap.reason is WhyInconclusive.MISSING_STRATA or gap.confounded
        for column in (missing_columns(gap) if gap.confounded else gap.columns)
    ]
    return all_called(dict.fromkeys(columns))


def _remains(gap: Gap) -> bool:
    """Return whether a difference remains, with controls by their regression."""
    return _quoted_verdict(gap) in (GapVerdict.REMAINS, GapVerdict.REVERSES)


def _is_accounted_for(gap: Gap) -> bool:
    """Return whether no difference is shown to remain, with controls by their regression."""
    return _quoted_verdict(gap) is GapVerdict.ACCOUNTED_FOR


def _quoted_verdict(gap: Gap) -> GapVerdict:
    """Return the verdict, with controls that of their regression unless it is inconclusive."""
    beside = gap.regression_verdict
    return gap.verdict if beside is None or beside is GapVerdict.INCONCLUSIVE else beside


def _varies(gap: Gap) -> bool:
    """Return whether strata may be named because differences vary; of years none is."""
    return gap.reason in _VARIES


def _worse_elsewhere(gap: Gap, words: Vocabulary) -> list[str]:
    """Return the strata in which those who are worse off are shown to be, largest first.

    They are shown by the tests of all strata together, and are not unlike all others.
    """
    return [place_name(each) for each in differing_elsewhere(gap) if _is_worse(gap, each, words)]


def _outlying_worse(gap: Gap, words: Vocabulary) -> list[str]:
    """Return what is unlike all others, of where those who are worse off are shown to be."""
    return [place_name(each) for each in outlying_places(gap) if _is_worse(gap, each, words)]


def _is_worse(gap: Gap, each: StratumGap, words: Vocabulary) -> bool:
    """Return whether a stratum shows a difference against those who are worse off.

    These are those of the difference that remains, else of the gap, else by what is better.
    """
    if each.interval is None or 0 in each.interval:
        return False
    estimate = gap.estimate
    neutral, size = estimate.definition.neutral, estimate.value
    if gap.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES):
        size = gap.part(GapPartKind.WITHIN).value
    sign = 0.0 if size is None else size - neutral
    row = compared_rate(estimate.definition)
    if not gap.is_shown and row is not None:
        favourable = words.at(estimate.class_scope, estimate.threshold).favourable
        sign = adverse_sign(row, favourable)
    return sign * (each.difference or 0.0) > 0 or sign == 0


def _other_strata(found: Decomposition) -> Iterator[Sentence]:
    """Yield that an inconclusive answer may depend on which of several columns are compared."""
    if len(columns := found.gaps[0].columns) > 1:
        names = all_called(columns)
        yield owner(
            f"state which of {names} should count, and have only these compared: the answer may "
            "depend on it."
        )

"""The brief of a decomposition: how large a gap is, and what becomes of it within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import GapVerdict, WhyInconclusive
from fairgauge.render.brief._gap_in_words import GapInWords, gap_words
from fairgauge.render.words.decomposition_sentences import (
    CAVEAT,
    describe_adjusted,
    describe_detectable,
    describe_gap_verdict,
    describe_heterogeneity,
    describe_not_compared,
    describe_outlying,
    describe_trend,
    outlying_places,
    rows_words,
    strata_words,
    stratum_name,
    stratum_unit,
    verdict_words,
)
from fairgauge.render.words.display_names import called, capitalised, group_called
from fairgauge.render.words.metric_words import metric_words, with_unit
from fairgauge.render.words.numbers import listing, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.gap_decomposition import test_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.render.brief._vocabulary import Vocabulary
    from fairgauge.results.gap_decomposition import Decomposition, Gap

_MOST_GAPS, _MOST_NAMED = 2, 4
_MOST_PLACES = 3


def decomposition_brief(found: Decomposition) -> Brief:
    """Return the brief of a decomposition, of its gravest gaps in detail."""
    ordered = found.gravest()
    once: dict[object, tuple[int, Gap]] = {}
    for each in ordered:
        once.setdefault(test_of(each[1]), each)
    (at, first), *others = once.values()
    shown = [each for each in others if each[1].verdict is not GapVerdict.NO_GAP]
    gaps = [(at, first), *shown[: _MOST_GAPS - 1]]
    more = [each for each in others if each not in gaps]
    words = gap_words(found)
    return Brief(
        headline=_headline(ordered, words),
        verdict=(Sentence(f"{capitalised(_verdict(first))}.", (f"gaps[{at}].verdict",)),),
        looked_at=(
            Sentence(
                f"{rows_words(found)}, by {listing([called(name) for name in first.columns])}.",
                ("data.rows", "used", f"gaps[{at}].columns"),
            ),
        ),
        found=tuple(_found(gaps, more, words)),
        certainty=tuple(
            each for i, gap in gaps for each in _certainty(i, gap, named=len(found.gaps) > 1)
        ),
        limits=(Sentence(CAVEAT),),
        steps=tuple(_steps(found)),
        question="How large the gap is, and where it lies",
    )


def _verdict(gap: Gap) -> str:
    """Return the verdict; where differences vary, with the strata that are unlike all others."""
    places = [name for name, _ in outlying_places(gap)]
    if gap.reason is not WhyInconclusive.VARIES or not places:
        return verdict_words(gap)
    are = plural(len(places), "is", "are")
    return f"inconclusive over all strata: {listing(places, most=_MOST_PLACES)} {are} unlike others"


def _headline(ordered: Sequence[tuple[int, Gap]], words: Vocabulary) -> Sentence:
    """Return what becomes of the gravest gap, and which strata stand out, if any."""
    at, gap = ordered[0]
    group = group_called(gap.estimate.group, gap.estimate.feature)
    metric = metric_words(gap.estimate.definition)
    in_words = GapInWords(words, gap)
    if in_words.known:
        text = in_words.headline()
    elif gap.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES):
        text = f"The {metric} of {group} {gap.verdict} within {strata_words(gap)}"
    else:
        text = capitalised(f"{group}, {metric}: {verdict_words(gap)}")
    text += describe_not_compared(gap)
    sources = [f"gaps[{at}].verdict", f"gaps[{at}].reason", f"gaps[{at}].support"]
    for i, each in ordered:
        if outlying := describe_outlying(each):
            of = (
                "" if i == at else f"of {group_called(each.estimate.group, each.estimate.feature)} "
            )
            places = [f"gaps[{i}].strata", *([f"gaps[{i}].by_column"] if each.by_column else [])]
            return Sentence(f"{text}; {of}{outlying}", (*sources, *places))
    return Sentence(text, tuple(sources))


def _found(
    gaps: Sequence[tuple[int, Gap]], more: Sequence[tuple[int, Gap]], words: Vocabulary
) -> Iterator[Sentence]:
    for i, gap in gaps:
        in_words = GapInWords(words, gap)
        stated = in_words.sentences() if in_words.known else [f"{gap.estimate.says}."]
        for text in stated:
            yield Sentence(text, (f"gaps[{i}].estimate", f"gaps[{i}].parts", f"gaps[{i}].strata"))
    if more:
        rates = {test_of(gap)[-1] for _, gap in (*gaps, *more)}
        named = [
            f"{words.group(gap.estimate.feature, gap.estimate.group)}"
            f"{f', {metric_words(gap.estimate.definition)}' if len(rates) > 1 else ''}"
            f" ({gap.verdict})"
            for _, gap in more
        ]
        comparisons = plural(len(more), "comparison", "comparisons")
        yield Sentence(
            f"{len(more):,} more {comparisons}: {listing(named, most=_MOST_NAMED)}.",
            tuple(f"gaps[{i}].verdict" for i, _ in more),
        )


def _certainty(at: int, gap: Gap, *, named: bool) -> Iterator[Sentence]:
    texts = (
        (describe_gap_verdict(gap), "verdict"),
        (describe_adjusted(gap, brief=True) if gap.controls else "", "adjusted"),
        (describe_trend(gap), "trend"),
        (describe_heterogeneity(gap, brief=True), "heterogeneity"),
        (describe_detectable(gap), "detectable"),
    )
    who = f"{called(gap.estimate.group)}: " if named else ""
    for text, key in texts:
        if text:
            yield Sentence(f"{who}{text}", (f"gaps[{at}].{key}",))
            who = ""


def _steps(found: Decomposition) -> Iterator[Sentence]:
    verdicts = {gap.verdict for gap in found.gaps}
    places = dict.fromkeys(name for _, gap in found.gravest() for name, _ in outlying_places(gap))
    if places:
        named = listing(list(places), most=_MOST_PLACES)
        yield Sentence(f"Read cases of {named} first: the difference there is unlike all others.")
    elif verdicts & {GapVerdict.REMAINS, GapVerdict.REVERSES}:
        largest = next((name for _, gap in found.gravest() if (name := _largest(gap))), "")
        where = f": {largest} first" if largest else ""
        yield Sentence(f"Read cases of the strata in which the difference is largest{where}.")
    if GapVerdict.ACCOUNTED_FOR in verdicts:
        yield Sentence("Ask whether the strata may rightly decide, and why groups differ in them.")
    if GapVerdict.INCONCLUSIVE in verdicts:
        if not places:
            yield Sentence(
                "Look at the strata one by one: an average may hide what remains in some."
            )
        yield from _other_strata(found)
    if not verdicts - {GapVerdict.NO_GAP}:
        yield Sentence("State which difference would be too small to matter, with --margin.")


def _largest(gap: Gap) -> str:
    """Return the stratum with the largest difference, where differences vary and it is no zero."""
    differ = [each for each in gap.strata if each.interval is not None and 0 not in each.interval]
    if not gap.varies or not differ:
        return ""
    most = max(differ, key=lambda each: abs(each.difference or 0.0))
    size = with_unit(most.difference, stratum_unit(gap), sign=True)
    return f"{stratum_name(most)} ({size})"


def _other_strata(found: Decomposition) -> Iterator[Sentence]:
    """Yield that an inconclusive answer depends on which strata are compared, where it may."""
    for i, gap in found.gravest():
        others = {each.verdict: each for each in gap.other_intervals}
        others.pop(gap.verdict, None)
        if gap.verdict is GapVerdict.INCONCLUSIVE and others:
            each = next(iter(others.values()))
            yield Sentence(
                "The answer depends on which strata are compared: with numbers cut into "
                f"{each.intervals} intervals it would be “{verdict_words(each)}”.",
                (f"gaps[{i}].other_intervals",),
            )
            return
    if len(columns := found.gaps[0].columns) > 1:
        names = listing([called(name) for name in columns])
        yield Sentence(
            f"The answer may depend on which strata are compared: state which of {names} may "
            "rightly decide, and compare within these alone."
        )

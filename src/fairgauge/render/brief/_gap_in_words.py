"""A gap and its parts as counts of people, in the words of the user."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairgauge.catalogue.moments import Mean
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    ClassKind,
    GapPartKind,
    GapVerdict,
    Profile,
    StratumWeights,
    WhyInconclusive,
)
from fairgauge.identity import FeatureId, GroupId
from fairgauge.render._document_tree import Unit
from fairgauge.render.brief._compared_means import ComparedMeans
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.brief._frequencies import (
    Frequencies,
    Share,
    common_counts,
    frequencies,
    range_words,
)
from fairgauge.render.brief._vocabulary import ANY_DECISION, Vocabulary
from fairgauge.render.words.decomposition_sentences import (
    OTHER_DIRECTION,
    adjusted_for,
    describe_adjusted,
    describe_overall,
    differs_in,
    direction,
    each_of,
    excluded_words,
    extrapolated,
    outlying_alone,
    outlying_places,
    place_name,
    strata_words,
    within_words,
)
from fairgauge.render.words.display_names import all_called, capitalised
from fairgauge.render.words.metric_words import compared_rate, shown, shown_ends
from fairgauge.results.disparities import gap as distance
from fairgauge.results.estimates import Estimate
from fairgauge.results.gap_decomposition import (
    UNADJUSTED,
    Decomposition,
    Gap,
    StratumGap,
    averages_of,
)
from fairgauge.results.scopes import Interval

_MOST_STRATA = 2
_PER_HUNDRED = 100
_RARE = Fraction(1, 10)
_SPREAD = (GapPartKind.COMPOSITION, GapPartKind.NOT_COMPARABLE)
"""The parts of a gap that are no difference within strata."""


def gap_words(found: Decomposition) -> Vocabulary:
    """Return the words of a decomposition."""
    named: dict[tuple[str, str], tuple[FeatureId | None, GroupId | None]] = {}
    for gap in found.gaps:
        each, feature = gap.estimate, str(gap.estimate.feature)
        if gap.other_group is not None:
            named.setdefault((feature, gap.other_group), (None, None))
        named[feature, str(each.group)] = (each.feature_id, each.group_id)
    groups = [(*key, *ids) for key, ids in named.items()]
    return Vocabulary(found.spec, groups, decisions=_decisions(found.spec))


def _decisions(spec: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what the scores beyond a threshold and the others are called; None of predictions."""
    if spec.get("prediction") or not spec.get("score"):
        return None
    cuts: Sequence[float] | str = spec.get("threshold") or ()
    exclusive = Profile(spec.get("profile") or Profile.DOCUMENTED).rules.threshold_is_exclusive
    if spec.get("score_of") is not None or isinstance(cuts, str) or len(cuts) != 1 or exclusive:
        return ANY_DECISION
    return f"a score of at least {cuts[0]:g}", f"a score below {cuts[0]:g}"


class GapInWords:
    """A gap in a share of people, or in an average, read from the side that is worse off.

    Attributes
    ----------
    known : whether there are words for it: it is of a share of a decision or an outcome, or of the
        mean of a column.
    of : the number of people of which differences of shares are counts.
    """

    def __init__(self, words: Vocabulary, gap: Gap) -> None:
        estimate = gap.estimate
        row = compared_rate(estimate.definition)
        of_class = estimate.class_scope.kind is not ClassKind.NONE
        self._words = words
        self.gap, self.known = gap, isinstance(row, Rate | Mean) and not of_class
        self.of, self.by_ratio = _PER_HUNDRED, gap.scale == "ratio"
        self.means: ComparedMeans | None = None
        if isinstance(row, Mean) and not of_class:
            self.means = ComparedMeans(words, estimate, row, alone=True)
            self.known = self.means.known
            self.subject, self.other = self.means.subject, self.means.other
            self.turned = self.subject != words.group(estimate.feature, estimate.group)
        if not isinstance(row, Rate) or of_class:
            return
        self.rate = RateWords(words.at(estimate.class_scope, estimate.threshold), row)
        self.known = self.rate.known and self.rate.event is not None
        self.subject = words.group(estimate.feature, estimate.group)
        self.other = words.reference(estimate)
        better = self.rate.worse(distance(estimate)) is False
        self.turned = better and words.other_group(estimate) is not None
        if self.turned:
            self.subject, self.other = self.other, self.subject
        self.weighted = bool(words.spec.get("weight"))
        if self.known and (found := self._frequencies(*self._shares(estimate))) is not None:
            self.of = found.of or _PER_HUNDRED

    def headline(self) -> str:
        """Return who has it less often, and what becomes of that within strata."""
        within = within_words(self.gap)
        text, reason = self.compared(), self.gap.reason
        average = reason is WhyInconclusive.IN_A_STRATUM or bool(differs_in(self.gap))
        none = f"no difference is shown{' on average' * average}"
        becomes = {
            GapVerdict.REMAINS: f", also {within}{' on average' if self.gap.varies else ''}",
            GapVerdict.REVERSES: f", but the reverse holds {within}",
            GapVerdict.WITHIN_MARGIN: f", but {within} by no more than the margin",
            GapVerdict.ACCOUNTED_FOR: f", but {within} {none}",
            GapVerdict.NO_GAP: "",
            GapVerdict.INCONCLUSIVE: f"; what remains {within} is inconclusive",
        }
        if reason is WhyInconclusive.VARIES:  # a stratum that is named states how
            named = outlying_places(self.gap)
            return text if named else f"{text}; {within} the difference varies"
        if reason is WhyInconclusive.OFFSET:
            return f"{text}, but {within} there is one"
        if reason is WhyInconclusive.IN_A_STRATUM:
            return f"{text}, but {within} {none}"
        if reason is WhyInconclusive.ONE_SIDED:
            alone = f"{each_of(self.gap, several=True)} with none of the other side"
            return f"{text}; {within} {none}, but most of the gap lies in {alone}"
        if reason is WhyInconclusive.MISSING_STRATA and (whole := self.gap.overall) is not None:
            of_all = replace(self.gap, estimate=whole, p_adjusted=whole.p_adjusted)
            text = GapInWords(self._words, of_all).compared()
        return f"{text}{becomes[self.gap.verdict]}"

    def outlying(self) -> str:
        """Return who has it more often in the one stratum of the other direction, if shown."""
        places = outlying_places(self.gap)
        if not self.known or self.means is not None or not self.gap.is_shown or len(places) != 1:
            return ""
        (each,) = places
        if direction(self.gap, each) != OTHER_DIRECTION:
            return ""
        if each.interval is None or 0 in each.interval:
            return ""
        lower = ((each.difference or 0.0) < 0) != self.turned
        return f"in {place_name(each)} {self.rate.they_often(self.subject, lower=lower)}"

    def compared(self) -> str:
        """Return who has it less often or a lower average, or that no difference is shown."""
        shown = self.gap.is_shown_together
        together = " once all gaps are tested together" if self.gap.is_shown else ""
        if self.means is not None:
            none = f"No difference between {self.subject} and {self.other} in the {self.means.name}"
            return (shown and self.means.headline()) or f"{none} is shown{together}"
        if shown:
            lower = (distance(self.gap.estimate) < 0) != self.turned
            return self.rate.less_often(self.subject, self.other, lower=lower)
        pair = self.rate.pair(self.subject, self.other)
        return f"No difference between {pair} in {self.rate.how_often} is shown{together}"

    def overall(self) -> str:
        """Return the gap over all rows, a mean by its column; nothing where all have a stratum."""
        whole = self.gap.overall
        if whole is None or self.means is None:
            return describe_overall(self.gap)
        means = ComparedMeans(self._words, whole, self.means.row, alone=True)
        stated = filter(None, (means.sentence(), means.interval_sentence()))
        return describe_overall(self.gap, " ".join(stated))

    def sentences(self) -> Iterator[str]:
        """Yield both shares as counts, the parts of their difference, and strata that stand out."""
        estimate = self.gap.estimate
        if self.means is not None:
            yield self.means.sentence() or f"{estimate.says}."
            yield from self._parts()
            return
        counted = self._counted(estimate)
        yield f"{counted}." if counted else f"{estimate.says}."
        yield from self._parts()
        for each in outlying_places(self.gap)[:_MOST_STRATA]:
            if counted := self._counted(each):
                how = direction(self.gap, each)
                same = f"{counted[0].lower()}{counted[1:]}"
                yield f"In {place_name(each)} the difference is {how}: {same}."

    def _shares(self, each: Estimate | StratumGap) -> list[Share | None]:
        """Return the shares of the subject and of the other."""
        sides = (each.rate_group, each.n_group), (each.rate_reference, each.n_reference)
        return [self._share(*side) for side in sides[:: -1 if self.turned else 1]]

    def _frequencies(self, one: Share | None, other: Share | None) -> Frequencies | None:
        """Return both shares as counts, which differ where the gap is shown or shares are rare."""
        if one is None or other is None:
            return None

        def tell_apart(rates: Sequence[Fraction]) -> bool:
            rare = min(*rates, *(1 - rate for rate in rates)) < _RARE
            return rates[0] != rates[1] or not (rare or self.gap.is_shown)

        found = one.rate != other.rate and common_counts((one, other), tell_apart)
        if found:
            return Frequencies(found[0], *found[1])
        if one.rate == other.rate or one.hits is None or other.hits is None:
            return frequencies(one, other)
        return Frequencies(None, one.hits, other.hits)

    def _counted(self, each: Estimate | StratumGap) -> str | None:
        one, other = self._shares(each)
        found = self._frequencies(one, other)
        if one is None or other is None or found is None:
            return None
        sizes = (one.size, other.size) if found.of is None else (found.of, found.of)
        first, second = (f"{size:,}" for size in sizes if size is not None)
        beside = self.rate.counted_beside(second, self.other, f"{found.reference:,}")
        return f"{self.rate.counted(first, self.subject, f'{found.group:,}')}; {beside}"

    def _share(self, rate: float | None, n: float | None) -> Share | None:
        if rate is None or not n:
            return None
        if self.weighted:
            return Share(Fraction(rate), size=math.floor(n))
        return Share.counted(round(rate * n), round(n))

    @property
    def divided(self) -> bool:
        """Return whether its parts are stated in words: there are some, of a ratio above 0."""
        values = [self.gap.part(kind).value for kind in (GapPartKind.WITHIN, *_SPREAD)]
        return self.known and all(v is not None and (v > 0 or not self.by_ratio) for v in values)

    def _parts(self) -> Iterator[str]:
        """Yield the difference to quote, the one within strata or by regression, and the parts."""
        if not self.divided:
            return
        within, composition, alone = (
            self.sized_with(part.value, part.interval)
            for part in map(self.gap.part, (GapPartKind.WITHIN, *_SPREAD))
        )
        both, outside = "two", ""
        if self.gap.part(GapPartKind.NOT_COMPARABLE).value != self.gap.estimate.definition.neutral:
            where, both = each_of(self.gap, several=True), "three"
            outside = f", and {where} with none of the other side for {self._factor(alone)}"
        sides = f"{capitalised(self.subject)}, compared with {self.other}"
        stated = f"{sides} in the same {each_of(self.gap)}: on average {within}."
        if self.gap.controls:
            yield self._adjusted(sides)
            only = f"by {strata_words(self.gap)} alone, without {all_called(self.gap.controls)}"
            stated = f"In the same {each_of(self.gap)}, {only}: on average {within}."
            both = f"last {both}"
        elif self.gap.reason is WhyInconclusive.VARIES:
            stated += f" It varies: quote each {each_of(self.gap)} separately, not this average."
        elif self.gap.reason in UNADJUSTED:
            stated += f" This is no {self.gap.scale} to quote: the verdict states why."
        else:
            same = f"{self._words.noun} in the same {each_of(self.gap)}"
            average = f", an average of what varies over {strata_words(self.gap)}" * self.gap.varies
            stated += f" To compare {same}, quote this {self.gap.scale} (within){average}."
        yield (
            f"{stated} That they are spread differently over {strata_words(self.gap)} "
            f"(composition) accounts for {self._factor(composition)}{outside}; the {both} "
            f"{'multiply' if self.by_ratio else 'add up'} to the gap."
        )

    def _adjusted(self, sides: str) -> str:
        """Return the difference by regression with controls, which is the one to quote."""
        found = self.gap.adjusted
        if found is None:
            return describe_adjusted(self.gap)
        return (
            f"{sides}, adjusted for {adjusted_for(self.gap)} by regression: on average "
            f"{self.sized_with(*found.at(self.gap.scale))}. This is the {self.gap.scale} to "
            f"quote.{excluded_words(self.gap)}{extrapolated(self.gap, found)}"
        )

    @property
    def _times(self) -> str:
        return f" times as {'often' if self.means is None else 'high'}"

    def _factor(self, sized: str) -> str:
        """Return what a part of a ratio multiplies, which is no comparison of people by itself."""
        return f"a factor of {sized.replace(self._times, '')}" if self.by_ratio else sized

    def sized(self, value: float) -> str:
        """Return a difference or a ratio of the worse-off side: "0.68 times as often"."""
        if not self.by_ratio:
            return self.apart(value)
        value = value if not self.turned else 1 / value if value > 0 else math.inf
        return f"{shown(value, Unit.RATIO)}{self._times}"

    def apart(self, value: float) -> str:
        """Return a difference of the worse-off side: "3.6 more of 100"; of means "3 lower"."""
        value = -value if self.turned else value
        return (
            _as_amount(value)
            if self.means is not None
            else f"{_as_count(value, self.of)} of {self.of:,}"
        )

    def _ends(self, interval: Interval) -> tuple[float, float]:
        low, high = interval
        if not self.turned:
            return low, high
        if self.by_ratio:
            return (1 / high, 1 / low) if low > 0 else (1 / high, math.inf)
        return -high, -low

    def sized_with(self, value: float | None, interval: Interval | None) -> str:
        """Return a difference or a ratio with its interval."""
        if value is None or interval is None:
            return "unknown"
        ends = self._ends(interval)
        level = f"{100 * interval.level:.4g}% CI"
        if self.by_ratio:
            span = "between {} and {}".format(*shown_ends(*ends, Unit.RATIO))
        elif self.means is None:
            span = range_words(ends, self.of).removesuffix(f" of {self.of:,}")
        else:
            span = self.means.span(ends)
        return f"{self.sized(value)} ({level} {span})"

    def interval_sentence(self) -> str | None:
        """Return the interval of the gap: "Women, compared with men: between 11 and 17 fewer"."""
        if self.means is not None:
            return self.means.interval_sentence()
        interval = self.gap.estimate.interval
        if interval is None or self.rate.event is None:
            return None
        ends = self._ends(interval)
        level = f"{100 * interval.level:.4g}% CI"
        if self.by_ratio:
            text = self.rate.times_as_often(ends, self.subject, self.other)
            return f"{capitalised(text or '')} ({level})."
        subject, other = (self.rate.among(each) for each in (self.subject, self.other))
        return (
            f"{capitalised(subject)}, compared with {other}: {range_words(ends, self.of)} "
            f"{self.rate.event.happened} ({level})."
        )

    def averages(self) -> str:
        """Return whether all ways to average over strata show the same, else what each shows."""
        gap, strata = self.gap, strata_words(self.gap)
        sides = (self.subject, self.other)[:: -1 if self.turned else 1]
        named = {
            StratumWeights.AVERAGE: "with the mean of both sides’ shares",
            StratumWeights.GROUP: f"weighted by the shares of {sides[0]}",
            StratumWeights.REFERENCE: f"weighted by the shares of {sides[1]}",
            StratumWeights.MANTEL_HAENSZEL: (
                f"by Mantel and Haenszel’s weights (“adjusted for {strata}” in an audit)"
            ),
            None: "by regression",
        }
        known = [(*each, self._shows(each[2])) for each in averages_of(gap)]
        if len({shows for *_, shows in known}) > 1:
            depends = gap.reason is WhyInconclusive.DEPENDS_ON_WEIGHTS
            deciding = (StratumWeights.GROUP, StratumWeights.REFERENCE)
            sized = (
                f"{named[weights]} {self.sized_with(value, ends)}"
                for weights, value, ends, shows in known
                if (shows if depends else weights in deciding)
            )
            these = "These show a difference" if depends else "These decide the verdict"
            return (
                f"The {len(known)} ways to average over {strata} do not all show the same. "
                f"{these}: {'; '.join(sized)}."
            )
        values = [value for _, value, _, _ in known]
        ends = sorted((min(values), max(values)), key=abs, reverse=self.by_ratio and self.turned)
        agree = f"All {len(known)} ways to average over {strata} agree"
        agree += "" if known[0][-1] else " that no difference is shown"
        return f"{agree}: {_between(*map(self.sized, ends))}."

    def _shows(self, interval: Interval | None) -> int:
        """Return the sign of the difference that an interval shows; 0 where it shows none."""
        neutral = self.gap.estimate.definition.neutral
        if interval is None or neutral in interval:
            return 0
        return 1 if interval.low > neutral else -1

    def variation(self) -> str:
        """Return whether the difference varies over strata; nothing where it is not tested."""
        gap, one = self.gap, each_of(self.gap)
        if gap.heterogeneity is None:
            return ""
        alone = [
            f"{place_name(each)} ({self.apart(each.difference or 0.0)}; "
            f"{self.apart(each.others)} on average in the others, weighted by precision)"
            for each in outlying_places(gap)[:_MOST_STRATA]
            if each.others is not None
        ]
        named = "; ".join(alone)
        unlike = f" Unlike all others: {named}." if alone else ""
        if gap.varies:
            return (
                f"The difference is not the same in every {one}, by more than sampling variation: "
                f"an average holds for no {one} in particular.{unlike}"
            )
        if alone:
            return (
                f"All {each_of(gap, several=True)} together do not show that the difference "
                f"varies; unlike all others by itself: {named}."
            )
        if unlike := outlying_alone(gap):
            return f"Tested for this gap alone, unlike all others: {unlike}."
        return f"The data do not show whether the difference varies over {strata_words(gap)}."

    def distance(self, value: float) -> str:
        """Return the size of a difference without its direction: "7.0 of 100"."""
        value = value if self.by_ratio else abs(value)
        return self.sized(value).replace(" more of", " of").removesuffix(" higher")


def _between(one: str, other: str) -> str:
    """Return a range of sizes of one unit, or that they are the same.

    >>> _between("17.1 fewer of 100", "17.2 fewer of 100"), _between("3 lower", "1 higher")
    ('between 17.1 and 17.2 fewer of 100', 'between 3 lower and 1 higher')
    """
    (first, _, unit), (second, _, same) = one.partition(" "), other.partition(" ")
    if one == other:
        return one
    return f"between {first if unit == same else one} and {second} {same}"


def _as_amount(value: float) -> str:
    """Return a difference of averages: lower or higher by so much."""
    return f"{shown(abs(value), Unit.NUMBER)} {'lower' if value < 0 else 'higher'}"


def _as_count(value: float, of: int) -> str:
    """Return a difference of shares as a count of so many people, which may be a part of one.

    >>> _as_count(-0.178, 100), _as_count(0.0036, 1_000), _as_count(-0.0003, 100)
    ('17.8 fewer', '3.6 more', 'less than 0.1')
    """
    text = f"{abs(of * value):,.1f}"
    return "less than 0.1" if text == "0.0" else f"{text} {'fewer' if value < 0 else 'more'}"
